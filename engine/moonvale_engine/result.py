"""The result of a game: the order of the final places (END-6, END-7)."""

from __future__ import annotations

from moonvale_engine.state import State, clockwise


def places(s: State) -> list[int]:
    """Return the seats from the first place to the last: fewest points first, ties by the holder and clockwise from there.

    Those who resigned come last, in reverse order of resigning.
    """
    playing = [seat for seat in clockwise(s, s.holder) if seat not in s.resigned]
    playing.sort(key=lambda seat: s.totals[seat])
    return playing + list(reversed(s.resigned))
