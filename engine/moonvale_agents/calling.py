"""The call: what it is worth to end the round, as likely as no other village will count less."""

from __future__ import annotations

from math import erf, fsum, sqrt
from typing import Final

from moonvale_agents.estimates import Slot
from moonvale_agents.reading import Reading
from moonvale_engine.scoring import FAILED_CALL

LONG: Final = 5.0  # turns of each player, in which a village becomes as good as it will


def call_gain(r: Reading) -> float:
    """Return what a call is worth, in place of playing on: own points, and the turns that the others don't get."""
    own = r.cost(r.mine(), 0)
    success = 1.0
    gain = 0.0
    for seat, village in enumerate(r.villages):
        if seat != r.me and seat not in r.s.resigned:
            last = r.cost(village, 1, may_call=False) - r.judgement.last
            success *= chance_of_success(own, last, _variance(r.mine()) + _variance(village) + r.judgement.luck**2)
            gain += r.shares[seat] * (_played_on(r, r.cost(village, 0)) - last)
    zero = 0.0 if r.s.options.successful_call == "zero" else min(0.0, own)
    points = success * zero + (1 - success) * (own + FAILED_CALL)
    return gain + _played_on(r, own) - points - r.judgement.caution


def _played_on(r: Reading, now: float) -> float:
    """Return what a village that would count so much now will count if the round goes on: the more turns, the less."""
    part = min(1.0, len(r.s.deck) / r.players / LONG)
    return now - part * (1 - r.judgement.rest) * max(0.0, now)


def chance_of_success(own: float, other: float, variance: float) -> float:
    """Return the chance that a village with this mean counts no less than the own one; a tie is enough (END-4)."""
    return 0.5 + 0.5 * erf((other - own + 0.5) / sqrt(2 * variance + 0.01))


def _variance(village: list[Slot]) -> float:
    return fsum([slot.variance for slot in village])
