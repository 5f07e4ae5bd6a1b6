"""The call: what it is worth to end the round, as likely as no other village will count less."""

from __future__ import annotations

from math import erf, fsum, sqrt

from moonvale_agents.estimates import Slot
from moonvale_agents.reading import Reading
from moonvale_engine.scoring import FAILED_CALL


def call_gain(r: Reading) -> float:
    """Return what a call is worth, in place of playing on: own points, and the turns that the others don't get."""
    own = r.cost(r.mine(), 0)
    success = 1.0
    gain = 0.0
    for seat, village in enumerate(r.villages):
        if seat != r.me and seat not in r.s.resigned:
            last = r.cost(village, 1, may_call=False)
            success *= chance_of_success(own, last, _variance(r.mine()) + _variance(village) + r.judgement.luck**2)
            gain += r.shares[seat] * (r.costs[seat] - last)
    zero = 0.0 if r.s.options.successful_call == "zero" else min(0.0, own)
    points = success * zero + (1 - success) * (own + FAILED_CALL)
    return gain + r.costs[r.me] - points - r.judgement.caution


def chance_of_success(own: float, other: float, variance: float) -> float:
    """Return the chance that a village with this mean counts no less than the own one; a tie is enough (END-4)."""
    return 0.5 + 0.5 * erf((other - own + 0.5) / sqrt(2 * variance + 0.01))


def _variance(village: list[Slot]) -> float:
    return fsum([slot.variance for slot in village])
