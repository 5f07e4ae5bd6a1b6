"""Dracula (10): the five pile cards below it go below the deck. Ruling E10-1."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves
from moonvale_engine.abilities import judged_pile
from moonvale_engine.cards.card import DRAWN, EYE, Card
from moonvale_engine.state import State
from moonvale_engine.steps import NEXT, do

BURIED: Final = 5


def _if_a_card_lies_below(s: State, h: int) -> bool:
    return judged_pile(s).index(h) > 0


def _bury(s: State, action: int) -> int:
    depth = len(s.pile) - s.pile.index(s.noted[0])
    moves.pile_to_deck_bottom(s, depth, BURIED)
    return NEXT


DRACULA = Card(
    "dracula",
    id=24,
    number=10,
    deck=EYE,
    ability=DRAWN,
    usable=_if_a_card_lies_below,
    program=(do(_bury),),
)
