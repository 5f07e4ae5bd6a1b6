"""Scoring abilities, chosen with all villages open: each is tried on a copy, and the scores that it makes compared."""

from __future__ import annotations

from math import fsum

from moonvale_agents.reading import Reading
from moonvale_engine import actions as act
from moonvale_engine.events import NOBODY
from moonvale_engine.scoring import village_sum
from moonvale_engine.state import State, type_of


def use_at_scoring(r: Reading, action: int) -> float:
    """A Regifter gives a card away, a Nelly is tucked under one, or a Mad Bomber takes one along."""
    s = r.s.copy()
    h = s.villages[r.me][act.x_of(action)]
    score = type_of(s, h).score
    assert score is not None
    score(s, h, action)
    return _standing(s, r.shares) - _standing(r.s, r.shares)


def _standing(s: State, shares: list[float]) -> float:
    """Return how well the reader would come off if the round were scored now."""
    points = [float(village_sum(s, seat)) for seat in range(s.options.players)]
    if s.caller != NOBODY:
        own = points[s.caller]
        if own == min(points):
            points[s.caller] = min(0.0, own) if s.options.successful_call == "lower" else 0.0
        elif s.villages[s.caller]:
            points[s.caller] = own + s.rules.failed_call
    return -fsum([share * point for share, point in zip(shares, points, strict=True)])
