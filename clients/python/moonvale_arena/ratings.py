"""Ratings of entrants, with their uncertainty: Weng and Lin's Bayesian approximation of the Plackett-Luce model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from moonvale_arena.errors import fail_without


class Rating(NamedTuple):
    """A rating: 25 before the first game, and how far it may be off (a standard deviation)."""

    mean: float
    deviation: float


def rate(entrants: int, blocks: Sequence[Mapping[int, float]]) -> list[Rating]:
    """Return each entrant's rating after these blocks, in their order. Raises ArenaError without the library.

    blocks: the mean place of each entrant that took part, the lower the better; the same means a draw. A block counts
    as one match, since its games are of one deal.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError as error:
        raise fail_without("openskill") from error
    model = PlackettLuce()
    ratings = [model.rating() for _ in range(entrants)]
    for places in blocks:
        playing = list(places)
        rated = model.rate([[ratings[entrant]] for entrant in playing], ranks=[places[entrant] for entrant in playing])
        for entrant, (rating,) in zip(playing, rated, strict=True):
            ratings[entrant] = rating
    return [Rating(rating.mu, rating.sigma) for rating in ratings]
