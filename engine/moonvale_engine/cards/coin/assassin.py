"""Assassin (8): a faceup card of any village goes to the bottom of the pile. Ruling C08-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import faceup_card, picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.effects import if_a_card_lies_faceup
from moonvale_engine.state import State
from moonvale_engine.steps import NEXT, ask


def _to_pile_bottom(s: State, action: int) -> int:
    moves.village_to_pile_bottom(s, picked(s, action))
    return NEXT


ASSASSIN = Card(
    "assassin",
    id=8,
    number=8,
    deck=COIN,
    ability=DRAWN,
    usable=if_a_card_lies_faceup,
    program=(ask(TARGET, faceup_card, then=_to_pile_bottom),),
)
