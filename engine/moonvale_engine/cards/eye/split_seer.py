"""Split Seer (8): looks at one facedown card of each village. Ruling E08-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import DRAWN, EYE, Card
from moonvale_engine.choices import cards, picked
from moonvale_engine.decisions import LOOK
from moonvale_engine.effects import if_a_card_lies_facedown
from moonvale_engine.state import State
from moonvale_engine.steps import AGAIN, ask


def _facedown_cards_of_other_villages(s: State) -> list[int]:
    """Those of the villages that were not looked into; X is a mask of those that were."""
    return [action for action in cards(s, 0) if not s.x >> (action >> 6 & 3) & 1]


def _look(s: State, action: int) -> int:
    s.x |= 1 << (action >> 6 & 3)
    moves.look(s, s.seat, [picked(s, action)])
    return AGAIN


SPLIT_SEER = Card(
    "split_seer",
    id=22,
    number=8,
    deck=EYE,
    ability=DRAWN,
    usable=if_a_card_lies_facedown,
    program=(ask(LOOK, _facedown_cards_of_other_villages, then=_look),),
)
