"""The result of a game: the order of the final places (END-6, END-7)."""

from __future__ import annotations

from typing import NamedTuple

from moonvale_engine.state import State, clockwise


class Result(NamedTuple):
    """How a game ended: why (an OVER_ constant of ``events``), the seats by place, their points in all and by round."""

    reason: int
    places: tuple[int, ...]
    totals: tuple[int, ...]
    scores: tuple[tuple[int, ...], ...]


def result(s: State) -> Result | None:
    """Return the result of a game that is over, else None."""
    if not s.is_over():
        return None
    players = s.options.players
    rounds = [s.scores[i : i + players] for i in range(0, len(s.scores), players)]
    return Result(s.over, tuple(places(s)), s.totals, tuple(rounds))


def places(s: State) -> list[int]:
    """Return the seats from the first place to the last: fewest points first; ties: the holder, then clockwise.

    Those who resigned come last, in reverse order of resigning.
    """
    playing = [seat for seat in clockwise(s, s.holder) if seat not in s.resigned]
    playing.sort(key=lambda seat: s.totals[seat])
    return playing + list(reversed(s.resigned))
