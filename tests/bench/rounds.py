"""Rounds: subjects measured in turn (A B C A B C ...), so that what slows the machine down slows all of them.

Figures are medians over the rounds with their quartiles; a ratio is taken within each round, then the median of those.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class Sample:
    """What one subject did in one round: how much, and the seconds of CPU and of the clock that it took.

    ``more``: what else was measured, such as milliseconds until half of the answers had come.
    """

    count: float
    cpu: float
    wall: float
    more: Mapping[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """How many a second of CPU."""
        return self.count / self.cpu

    @property
    def cost(self) -> float:
        """Microseconds of CPU for each."""
        return 1e6 * self.cpu / self.count

    @property
    def pace(self) -> float:
        """How many a second of the clock."""
        return self.count / self.wall


class Spread(NamedTuple):
    """A median, and the quartiles about it."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles of some values (at least one)."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def ratio(
    over: Sequence[Sample], under: Sequence[Sample], of: Callable[[Sample], float] = lambda sample: sample.rate
) -> Spread:
    """Return how many times one subject's figure is the other's, taken round by round."""
    return spread([of(a) / of(b) for a, b in zip(over, under, strict=True)])


def interleave(
    subjects: Mapping[str, Callable[[], Sample]], rounds: int, tell: Callable[[str], None]
) -> dict[str, list[Sample]]:
    """Measure all subjects in turn, round after round; a round before the first warms them up and is not kept."""
    samples: dict[str, list[Sample]] = {name: [] for name in subjects}
    for number in range(rounds + 1):
        for i, (name, measure) in enumerate(subjects.items()):
            tell(f"round {number} of {rounds}, {i + 1} of {len(subjects)}: {name}" if number else f"warm-up: {name}")
            sample = measure()
            if number:
                samples[name].append(sample)
    return samples
