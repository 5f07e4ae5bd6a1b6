"""When a difference is established: a test that may be looked at after every block, at any number of blocks.

A block gives each pair that met in it one number of 0..1: how often the first of the two was placed before the other.
If neither is better, its mean is 1/2 whatever its distribution. Against that a gambler bets, who starts with 1 and
never stakes more than is there: if the mean is 1/2, the gambler's capital ever reaches 1/alpha with a chance of at most
alpha (Ville's inequality). The bets are those of the hedged capital of Waudby-Smith and Ramdas, "Estimating means of
bounded random variables by betting" (2023), and so are the intervals, which hold at all numbers of blocks at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, sqrt
from typing import Final

EVEN: Final = 0.5
#: Of what can be lost, the gambler stakes at most this part.
_BOLDEST: Final = 0.75
_GRID: Final = 400


class Gambler:
    """Bets on both sides that the mean of numbers of 0..1 is not ``mean``. best: the most that the capital has been."""

    def __init__(self, mean: float = EVEN, alpha: float = 0.05) -> None:
        self.best = 1.0
        self._mean = mean
        self._most = 2 * log(2 / alpha)
        self._up = self._down = 1.0  # the capitals that bet on more, and on less; each began with half
        self._count = 0
        self._sum, self._squares = 0.5, 0.25  # with one number of 1/2, and its variance of 1/4, to begin with

    def bet(self, value: float) -> None:
        """Bet, then learn the next number."""
        mean = self._mean
        variance = self._squares / (self._count + 1)
        stake = sqrt(self._most / (variance * (self._count + 1) * log(self._count + 2)))
        distance = value - mean
        self._up *= 1 + min(stake, _BOLDEST / mean if mean else inf) * distance
        self._down *= 1 - min(stake, _BOLDEST / (1 - mean) if mean < 1 else inf) * distance
        self.best = max(self.best, (self._up + self._down) / 2)
        self._count += 1
        self._sum += value
        self._squares += (value - self._sum / (self._count + 1)) ** 2


def evidence(values: Sequence[float]) -> float:
    """Return the most that a gambler against a mean of 1/2 has ever had; its inverse is a p-value valid at any time."""
    gambler = Gambler()
    for value in values:
        gambler.bet(value)
    return gambler.best


def interval(values: Sequence[float], alpha: float = 0.05) -> tuple[float, float]:
    """Return between what the mean lies, at all numbers of blocks at once but with a chance of at most alpha.

    They are the means that no gambler has refuted; on a grid of 1/400, so each end is at most that too far out.
    """
    centre = min(max(round(_GRID * (sum(values) + 0.5) / (len(values) + 1)), 0), _GRID)
    low = _edge(values, alpha, 0, centre)
    high = _edge(values, alpha, _GRID, centre)
    return low / _GRID, high / _GRID


def _edge(values: Sequence[float], alpha: float, outer: int, inner: int) -> int:
    """Return where refuted means end, between an outer one and an inner one, by halving."""
    if not _refuted(values, alpha, outer / _GRID):
        return outer
    while abs(outer - inner) > 1:
        middle = (outer + inner) // 2
        if _refuted(values, alpha, middle / _GRID):
            outer = middle
        else:
            inner = middle
    return outer


def _refuted(values: Sequence[float], alpha: float, mean: float) -> bool:
    gambler = Gambler(mean, alpha)
    for value in values:
        gambler.bet(value)
        if gambler.best >= 1 / alpha:
            return True
    return False
