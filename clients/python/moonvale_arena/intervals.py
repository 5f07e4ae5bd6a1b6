"""Means over blocks, and between what they lie.

Games of a block are of one deal and of the same entrants, so they are no independent observations; blocks are. Hence
all intervals are taken over the means of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import atan, cos, inf, pi, sin, sqrt
from statistics import fmean, stdev

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over so many blocks, and between what it lies, with a chance of 95 %."""

    mean: float
    low: float
    high: float
    blocks: int


def of_points(means: Sequence[float]) -> Estimate:
    """Return the estimate of a mean without bounds: Student's interval over the means of blocks."""
    mean = fmean(means)
    half = _half(means)
    return Estimate(mean, mean - half, mean + half, len(means))


def of_share(means: Sequence[float]) -> Estimate:
    """Return the estimate of a share, of which each block has a mean of 0..1.

    Student's interval as if there were two blocks more, one of all and one of nothing, cut at 0 and 1. Without those
    it would be empty where all blocks agree, and much too short close to that.
    """
    more = [*means, 0.0, 1.0]
    half, centre = _half(more), fmean(more)
    mean = fmean(means)
    return Estimate(mean, max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half)), len(means))


def _half(means: Sequence[float]) -> float:
    return quantile(len(means) - 1) * stdev(means) / sqrt(len(means)) if len(means) > 1 else inf


@cache
def quantile(freedom: int) -> float:
    """Return how many standard errors Student's interval reaches to each side."""
    low, high = 0.0, 2.0
    while _within(high, freedom) < _CONFIDENCE:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < _CONFIDENCE else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """Return with which chance Student's t lies within -t..t: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = atan(t / sqrt(freedom))
    square = cos(angle) ** 2
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for i in range(1 + odd, freedom - 2 + odd, 2):
        term *= square * i / (i + 1)
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total
