"""Curator (2): turns an own card by 90 degrees, or discards an own sideways one, at any time. Rulings C02-1, C02-2."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.actions import DISCARD_RESIDENT, TURN_CARD, pack, verb_of, y_of, z_of
from moonvale_engine.cards.card import COIN, RESIDENT, Card
from moonvale_engine.discards import discard, offered, spotters
from moonvale_engine.hand import exchange_owed
from moonvale_engine.state import SIDEWAYS, State


def _turns_and_discards(s: State, spot: int, h: int) -> list[int]:
    village = s.villages[s.active]
    actions = [pack(TURN_CARD, spot, other) for other in range(len(village))]
    if len(village) > 1 or not exchange_owed(s):
        actions += [
            pack(DISCARD_RESIDENT, spot, i, declared)
            for i, other in enumerate(village)
            if s.flags[other] & SIDEWAYS and offered(s, other)
            for declared in range(spotters(s, s.active) + 1)
        ]
    return actions


def _turn_or_discard(s: State, h: int, action: int) -> None:
    target = s.villages[s.active][y_of(action)]
    if verb_of(action) == TURN_CARD:
        moves.turn_sideways(s, target)
    else:
        discard(s, s.active, target, z_of(action))


CURATOR = Card(
    "curator",
    id=2,
    number=2,
    deck=COIN,
    ability=RESIDENT,
    free=_turns_and_discards,
    use=_turn_or_discard,
    anytime=True,
)
