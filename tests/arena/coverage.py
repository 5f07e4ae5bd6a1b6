"""How often intervals contain what they should, and how often equal entrants are told apart, by simulation.

``python -m tests.arena.coverage [EVENTS]`` prints a table; the tests look at fewer events. A simulated deal favours
either the first or the second of two entrants by some luck of its own, which both seatings share; that is what makes
the games of a block depend on each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import NormalDist, fmean

from moonvale_arena import sequential
from moonvale_arena.intervals import Estimate, of_points, of_share


@dataclass(frozen=True, slots=True)
class Truth:
    """How entrants play: in a block of so many games the first one wins each with a chance that varies by its deal.

    share: the chance on average. likeness: 0 if games of a block are independent, 1 if all of them end alike.
    """

    share: float
    likeness: float
    games: int = 2

    def block(self, rng: Random) -> list[float]:
        """Return who won the games of a block: 1 or 0."""
        alike = float(rng.random() < self.share)
        return [alike if rng.random() < self.likeness else float(rng.random() < self.share) for _ in range(self.games)]


#: From even matches to one that is nearly always won; games of a block from independent to nearly the same.
TRUTHS = [Truth(share, likeness, 4) for share in (0.5, 0.25, 0.8, 0.97) for likeness in (0.0, 0.5, 0.9)]


def coverage(truth: Truth, blocks: int, events: int, seed: int, how: Callable[[Sequence[float]], Estimate]) -> float:
    """Return in which part of events the interval of the share contains it."""
    rng = Random(f"{seed} {truth} {blocks}")
    held = 0
    for _ in range(events):
        estimate = how([fmean(truth.block(rng)) for _ in range(blocks)])
        held += estimate.low <= truth.share <= estimate.high
    return held / events


def coverage_by_games(truth: Truth, blocks: int, events: int, seed: int) -> float:
    """Return the same for the usual interval over games, as if they were independent: what the arena must not do."""
    rng = Random(f"{seed} {truth} {blocks}")
    held = 0
    for _ in range(events):
        games = [won for _ in range(blocks) for won in truth.block(rng)]
        mean = fmean(games)
        half = NormalDist().inv_cdf(0.975) * sqrt(mean * (1 - mean) / len(games))
        held += mean - half <= truth.share <= mean + half
    return held / events


def coverage_of_points(blocks: int, events: int, seed: int) -> float:
    """Return in which part of events the interval of a mean of points contains it. Points are skewed."""
    rng = Random(f"{seed} points {blocks}")
    held = 0
    for _ in range(events):
        means = []
        for _ in range(blocks):
            luck = rng.expovariate(1 / 4)
            means.append(fmean([luck + rng.expovariate(1 / 4) for _ in range(4)]))
        estimate = of_points(means)
        held += estimate.low <= 8 <= estimate.high
    return held / events


def told_apart(truth: Truth, blocks: int, events: int, seed: int, alpha: float = 0.05) -> float:
    """Return in which part of events two entrants are told apart, if one looks after every block and stops then."""
    rng = Random(f"{seed} {truth} {blocks} looks")
    told = 0
    for _ in range(events):
        gambler = sequential.Gambler()
        for _ in range(blocks):
            gambler.bet(fmean(truth.block(rng)))
            if gambler.best >= 1 / alpha:
                told += 1
                break
    return told / events


def coverage_at_any_time(truth: Truth, blocks: int, events: int, seed: int) -> float:
    """Return in which part of events the interval that holds at any time contains the share, at the worst moment."""
    rng = Random(f"{seed} {truth} {blocks} any")
    held = 0
    for _ in range(events):
        gambler = sequential.Gambler(truth.share, 0.05)
        for _ in range(blocks):
            gambler.bet(fmean(truth.block(rng)))
        held += gambler.best < 20
    return held / events


def main(events: int = 10_000) -> None:
    """Print all of it."""
    print(f"95 % intervals, {events} events each: how many contain the truth\n")
    print("share  alike  blocks  over blocks  over games  at any time  told apart")
    for truth in TRUTHS:
        for blocks in (10, 50, 200):
            cells = (
                coverage(truth, blocks, events, 1, of_share),
                coverage_by_games(truth, blocks, events, 1),
                coverage_at_any_time(truth, blocks, events // 4, 1),
                told_apart(truth, blocks, events // 4, 1),
            )
            print(
                f"{truth.share:5.2f}  {truth.likeness:5.1f}  {blocks:6}  {cells[0]:11.1%}  {cells[1]:10.1%}"
                f"  {cells[2]:11.1%}  {cells[3]:10.1%}"
            )
    for blocks in (10, 50, 200):
        print(f"points, {blocks} blocks: {coverage_of_points(blocks, events, 1):.1%}")


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
