"""The log of a game: what its seats did, in order. Everything else that happened follows from it, by folding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from moonvale_engine import play
from moonvale_engine.errors import IllegalActionError
from moonvale_engine.events import Event
from moonvale_engine.options import Options
from moonvale_engine.state import State

RESIGNATION: Final = -1  # in place of an action: the seat gave up (END-7)

# Why an entry was made. Append-only.
BY_CALLER: Final = 0  # the seat's own client asked for it
CAUSES: Final[tuple[str, ...]] = ("caller",)


class Entry(NamedTuple):
    """One entry: the seat, its action or RESIGNATION, the cause, and the time in milliseconds since the epoch."""

    seat: int
    action: int
    cause: int = BY_CALLER
    time: int = 0


def enter(s: State, entry: Entry) -> None:
    """Carry out an entry. Raises IllegalActionError or GameOverError, and changes nothing then."""
    if entry.action == RESIGNATION:
        play.resign(s, entry.seat)
        return
    if not s.is_over() and entry.seat != play.seat_to_act(s):
        raise IllegalActionError(f"seat {entry.seat} is not to act")
    play.apply(s, entry.action)


def replay(options: Options, secret: bytes, entropy: tuple[bytes, ...], entries: Iterable[Entry]) -> State:
    """Return the state after all entries. Raises OptionError, IllegalActionError or GameOverError."""
    s = play.new_game(options, secret, entropy)
    for entry in entries:
        enter(s, entry)
    return s


def history(
    options: Options, secret: bytes, entropy: tuple[bytes, ...], entries: Iterable[Entry]
) -> Iterator[list[Event]]:
    """Yield the events of the creation (version 0), then those of each entry (version 1, 2, ...).

    The events are whole: give each viewer ``events.seen_by`` of them. Raises what ``replay`` raises.
    """
    happened: list[Event] = []
    s = play.new_game(options, secret, entropy, happened)
    yield happened
    for entry in entries:
        happened = s.events = []
        enter(s, entry)
        yield happened
