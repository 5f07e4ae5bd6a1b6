"""Intervals contain the truth as often as they say, and equal entrants are not told apart, by simulation."""

from __future__ import annotations

import pytest

from moonvale_arena.intervals import of_share, quantile
from tests.arena.coverage import (
    TRUTHS,
    Truth,
    coverage,
    coverage_at_any_time,
    coverage_by_games,
    coverage_of_points,
    told_apart,
)

EVENTS = 400
#: With so many events a coverage of 95 % is found below this once in a thousand times; seeds are fixed besides.
LEAST = 0.915


@pytest.mark.parametrize("blocks", [10, 50])
@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: f"{truth.share} {truth.likeness}")
def test_intervals_over_blocks_contain_the_share(truth: Truth, blocks: int) -> None:
    assert coverage(truth, blocks, EVENTS, 2, of_share) >= LEAST


def test_intervals_over_games_would_not() -> None:
    assert coverage_by_games(Truth(0.5, 0.9, 4), 50, EVENTS, 2) < 0.8


def test_intervals_of_points_hold() -> None:
    assert coverage_of_points(50, EVENTS, 2) >= 0.90


@pytest.mark.parametrize("likeness", [0.0, 0.9])
def test_equal_entrants_are_seldom_told_apart_though_one_looks_after_every_block(likeness: float) -> None:
    assert told_apart(Truth(0.5, likeness), 200, EVENTS, 2) <= 0.05 + 0.035


def test_different_ones_are() -> None:
    assert told_apart(Truth(0.8, 0.5), 50, 100, 2) >= 0.95


@pytest.mark.parametrize("truth", [Truth(0.5, 0.5), Truth(0.8, 0.5), Truth(0.97, 0.0)], ids=lambda t: str(t.share))
def test_intervals_at_any_time_contain_the_share_at_every_time(truth: Truth) -> None:
    assert coverage_at_any_time(truth, 100, EVENTS, 2) >= LEAST


def test_quantiles_are_those_of_students_tables() -> None:
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 30: 2.042, 120: 1.980}
    assert {freedom: round(quantile(freedom), 3) for freedom in table} == table
