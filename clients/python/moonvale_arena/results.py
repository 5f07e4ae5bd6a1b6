"""Results of games, as tables are made of them and as the results file keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from moonvale_client.bot import Fault

#: Buckets of the times of decisions: bucket i counts those of 2**i to 2**(i+1) microseconds, the last all longer ones.
TIME_BUCKETS: Final = 28


@dataclass(frozen=True, slots=True)
class Times:
    """What a seat took for its decisions: how many, seconds in all, the longest, and counts by bucket."""

    decisions: int = 0
    total: float = 0.0
    longest: float = 0.0
    buckets: tuple[int, ...] = ()


class Clock:
    """What a seat takes in a game, as it goes. left: seconds for all that is still to be decided."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._longest = self._total = 0.0
        self._decisions = 0
        self._buckets = [0] * TIME_BUCKETS

    def add(self, seconds: float) -> None:
        """Count a decision."""
        self.left -= seconds
        self._decisions += 1
        self._total += seconds
        self._longest = max(self._longest, seconds)
        self._buckets[min(max(int(seconds * 1e6).bit_length() - 1, 0), TIME_BUCKETS - 1)] += 1

    def times(self) -> Times:
        """Return what has been counted."""
        used = max([i + 1 for i, count in enumerate(self._buckets) if count], default=0)
        return Times(self._decisions, round(self._total, 6), round(self._longest, 6), tuple(self._buckets[:used]))


@dataclass(frozen=True, slots=True)
class SeatFault:
    """Why a seat has lost by rule, and in words what happened."""

    fault: Fault
    words: str


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended.

    seats: the entrant of each seat. places: the seats, from the first place to the last. scores: points of each
    finished round, seat by seat. faults: of each seat, None for those without.
    """

    number: int
    block: int
    lineup: tuple[int, ...]
    seats: tuple[int, ...]
    places: tuple[int, ...]
    scores: tuple[tuple[int, ...], ...]
    faults: tuple[SeatFault | None, ...]
    times: tuple[Times, ...]
    seconds: float = 0.0
    record: str = ""

    @property
    def by_rule(self) -> bool:
        """Whether any seat has lost by rule: points then say nothing, as nobody's bot played that seat to the end."""
        return any(self.faults)

    def place(self, seat: int) -> int:
        """Return a seat's place, counted from 0."""
        return self.places.index(seat)

    def to_json(self) -> dict[str, Any]:
        """Return the result as it is kept."""
        kept: dict[str, Any] = {
            "game": self.number,
            "block": self.block,
            "lineup": self.lineup,
            "seats": self.seats,
            "places": self.places,
            "scores": self.scores,
            "times": [[each.decisions, each.total, each.longest, each.buckets] for each in self.times],
            "seconds": self.seconds,
            "record": self.record,
        }
        if self.by_rule:
            kept["faults"] = [each and [each.fault, each.words] for each in self.faults]
        return kept

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> GameResult:
        """Read a result. Raises KeyError, TypeError or ValueError if it is none."""
        seats = tuple(kept["seats"])
        faults = kept.get("faults") or [None] * len(seats)
        return cls(
            number=kept["game"],
            block=kept["block"],
            lineup=tuple(kept["lineup"]),
            seats=seats,
            places=tuple(kept["places"]),
            scores=tuple([tuple(scores) for scores in kept["scores"]]),
            faults=tuple([each and SeatFault(*each) for each in faults]),
            times=tuple([Times(n, total, longest, tuple(buckets)) for n, total, longest, buckets in kept["times"]]),
            seconds=kept["seconds"],
            record=kept["record"],
        )
