"""Apprentice Tanner (5): placed faceup at an end of the own village, then flips another card. Rulings C05-1, ABL-4."""

from __future__ import annotations

from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import any_other_card, own_ends
from moonvale_engine.decisions import PLACE, TARGET
from moonvale_engine.effects import flip_picked, hand_to_chosen_end
from moonvale_engine.state import State
from moonvale_engine.steps import ask


def _in_hand_or_any_card(s: State, h: int) -> bool:
    return s.hand == h or any(s.villages)


APPRENTICE_TANNER = Card(
    "apprentice_tanner",
    id=5,
    number=5,
    deck=COIN,
    ability=DRAWN,
    usable=_in_hand_or_any_card,
    stays=True,
    program=(
        ask(PLACE, own_ends, then=hand_to_chosen_end),
        ask(TARGET, any_other_card, then=flip_picked),
    ),
    activated_step=1,
)
