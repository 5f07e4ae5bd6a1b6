"""The log of a game: what its seats did, in order. Everything else that happened follows from it, by folding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from moonvale_engine import play
from moonvale_engine.errors import GameOverError, IllegalActionError
from moonvale_engine.events import AWAY, EVERYBODY, RETURNED, Event
from moonvale_engine.options import Options
from moonvale_engine.state import State

# What an entry is if it is no action of the open decision. Append-only, downwards.
RESIGNATION: Final = -1  # the seat gave up (END-7)
TAKEOVER: Final = -2  # an agent plays the seat from now on; no card is touched by it
RETURN: Final = -3  # the seat's player has taken it back
TABLE_ENTRIES: Final[dict[int, str]] = {RESIGNATION: "resign", TAKEOVER: "away", RETURN: "back"}

# Why an entry was made. Append-only.
BY_CALLER: Final = 0  # the seat's own client asked for it
BY_TIME_OUT: Final = 1  # the seat's time was out: it forfeits, or an agent chose for it
BY_BOT: Final = 2  # the bot that plays the seat chose
BY_AGENT: Final = 3  # an agent chose, which plays the seat since its time was out
FOR_FAILED_BOT: Final = 4  # an agent chose, since the bot that plays the seat failed to
CAUSES: Final[tuple[str, ...]] = ("caller", "timeout", "bot", "agent", "failed")


class Entry(NamedTuple):
    """One entry: the seat, its action or one of TABLE_ENTRIES, the cause, the time in milliseconds since the epoch."""

    seat: int
    action: int
    cause: int = BY_CALLER
    time: int = 0


def enter(s: State, entry: Entry) -> None:
    """Carry out an entry. Raises IllegalActionError or GameOverError, and changes nothing then."""
    if entry.action == RESIGNATION:
        play.resign(s, entry.seat)
        return
    if entry.action < 0:
        _tell(s, entry)
        return
    if not s.is_over() and entry.seat != play.seat_to_act(s):
        raise IllegalActionError(f"seat {entry.seat} is not to act")
    play.apply(s, entry.action)


def _tell(s: State, entry: Entry) -> None:
    """Carry out an entry about who plays a seat, which changes nothing on the table."""
    if entry.action not in TABLE_ENTRIES or not 0 <= entry.seat < s.options.players:
        raise IllegalActionError("the entry is neither an action nor one of those about a seat")
    if s.is_over():
        raise GameOverError("the game is over")
    if s.events is not None:
        s.events.append((AWAY if entry.action == TAKEOVER else RETURNED, entry.seat, 0, 0, EVERYBODY, ()))


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
