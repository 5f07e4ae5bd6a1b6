"""Nostro (7): sees all facedown cards of one village. Ruling C07-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import village_with_facedown_card
from moonvale_engine.decisions import TARGET
from moonvale_engine.effects import if_a_card_lies_facedown
from moonvale_engine.state import FACEUP, State
from moonvale_engine.steps import NEXT, ask


def _look(s: State, action: int) -> int:
    village = s.villages[action >> 6 & 3]
    moves.look(s, s.seat, [h for h in village if not s.flags[h] & FACEUP])
    return NEXT


NOSTRO = Card(
    "nostro",
    id=7,
    number=7,
    deck=COIN,
    ability=DRAWN,
    usable=if_a_card_lies_facedown,
    program=(ask(TARGET, village_with_facedown_card, then=_look),),
)
