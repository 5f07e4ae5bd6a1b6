"""Clocks: how long the seats of a game may think, and where each seat's time stands.

The store keeps a game's clock as it commits (store/scripts/clock.lua). Here the same follows from the log, entry by
entry, for whoever reads what happened before; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import Final

from moonvale_engine.events import NOBODY
from moonvale_engine.log import BY_CALLER, BY_TIME_OUT, RESIGNATION, RETURN, Entry
from moonvale_service.store import Ticking, Timing, When

PACKED_AFTER_MS: Final = 3600 * 1000  # its end, the log of a game is packed: who watched has seen it by then
LONGEST_MS: Final = 30 * 24 * 3600 * 1000
SHORTEST_MS: Final = 100


class TimeOut(Enum):
    """What happens when a seat's time is out."""

    FORFEIT = "forfeit"
    AGENT_DECIDES = "decides"
    AGENT_TAKES_OVER = "takes over"


@dataclass(frozen=True, slots=True)
class Clock:
    """How long the seats may think, in milliseconds: either each decision, or a bank and what each decision adds to it.

    ``agent``: the name of the one that plays when a seat's time is out.
    """

    per_decision: int = 0
    bank: int = 0
    increment: int = 0
    on_time_out: TimeOut = TimeOut.FORFEIT
    agent: str = ""

    def begun(self, players: int, seat: int, free: Collection[int], time: int) -> Ticking:
        """Return how the clock stands when the first decision is put to a seat. ``free``: seats without a limit."""
        banks = (self.bank,) * players if self.bank else ()
        return self._put(time, seat, banks, free)

    def after(self, ticking: Ticking, entry: Entry, was: int, seat: int, free: Collection[int]) -> Ticking:
        """Return how it stands after an entry, of a game in which ``was`` was to act, and now ``seat`` is.

        ``free``: seats without a limit, with the entry considered.
        """
        if not _answers(entry, was):
            return self._put(ticking.opened, seat, ticking.banks, free)
        banks = list(ticking.banks)
        if banks and _is_charged(entry):
            banks[was] = max(0, banks[was] - (entry.time - ticking.opened)) + self.increment
        return self._put(entry.time, seat, tuple(banks), free)

    def _put(self, opened: int, seat: int, banks: tuple[int, ...], free: Collection[int]) -> Ticking:
        deadline = 0
        if seat != NOBODY and seat not in free:
            deadline = opened + (self.per_decision or banks[seat])
        return Ticking(opened, deadline, banks)


def beginning(clock: Clock | None, players: int, seat: int, free: Collection[int], grace: int) -> Timing | None:
    """Return what the store does to the clock of a game that begins, with a decision of ``seat``; None: nothing."""
    if clock is None:
        return Timing(lease=0) if seat in free else None
    banks = (clock.bank,) * players if clock.bank else ()
    return _running(Timing(grace=grace, banks=banks), clock, seat, free)


def passing(
    clock: Clock | None,
    entries: Collection[Entry],
    was: int,
    seat: int,
    free: Collection[int],
    *,
    when: When,
    grace: int,
    lease: int,
) -> Timing | None:
    """Return what the store does to the clock with the entries of one commit; None: the game needs nothing of it.

    A game that is over is due once more, for its log to be packed.

    ``was``, ``seat``: who was to act before them all, and is after them. ``free``: seats that play without a limit, as
    bots do. ``lease``: for how many milliseconds the caller takes care of such a seat's next move, 0: it doesn't.
    """
    if clock is None:
        if seat == NOBODY:
            return Timing(lease=PACKED_AFTER_MS)
        return Timing(lease=lease if seat in free else -1) if free else None
    timing = Timing(when=when, grace=grace)
    answers = [entry for entry in entries if _answers(entry, was)]
    charged = [entry for entry in answers if _is_charged(entry)]
    if clock.bank and charged:
        timing = timing._replace(charged=was, added=clock.increment * len(charged))
    return _running(timing._replace(kept=not answers), clock, seat, free, lease)


def _running(timing: Timing, clock: Clock, seat: int, free: Collection[int], lease: int = 0) -> Timing:
    """Return a timing with the seat that is to act next; a game that is over waits for its log to be packed."""
    if seat == NOBODY:
        return timing._replace(lease=PACKED_AFTER_MS)
    if seat in free:
        return timing._replace(lease=lease)
    return timing._replace(next=seat, limit=clock.per_decision)


def _answers(entry: Entry, was: int) -> bool:
    """Whether an entry puts another decision, or the same one anew, in place of the open one."""
    return entry.seat == was and (entry.action >= 0 or entry.action == RETURN or entry.action == RESIGNATION)


def _is_charged(entry: Entry) -> bool:
    """Whether the time until an entry is the seat's own."""
    return entry.action >= 0 and entry.cause in (BY_CALLER, BY_TIME_OUT)
