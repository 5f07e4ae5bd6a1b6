"""The call: what it is worth to end the round, as likely as no other village will count less."""

from __future__ import annotations

from typing import Final

from moonvale_agents.reading import Reading

LONG: Final = 5.0  # turns of each player, in which a village becomes as good as it will


def call_gain(r: Reading) -> float:
    """Return what a call is worth, in place of playing on: own points, and the turns that the others don't get."""
    own = r.cost(r.mine(), 0) + r.judgement.attack * (r.players - 1)
    success = 1.0
    gain = 0.0
    for seat, village in enumerate(r.villages):
        if seat != r.me:
            last = r.cost(village, 1, may_call=False) - r.judgement.last
            success *= r.success(own, last, r.me, seat, r.judgement.luck)
            gain += r.shares[seat] * (_played_on(r, r.cost(village, 0)) - last)
    return gain + _played_on(r, r.cost(r.mine(), 0)) - r.called(own, success) - r.judgement.caution


def _played_on(r: Reading, now: float) -> float:
    """Return what a village that would count so much now will count if the round goes on: the more turns, the less."""
    part = min(1.0, len(r.s.deck) / r.players / LONG)
    return now - part * (1 - r.judgement.rest) * max(0.0, now)
