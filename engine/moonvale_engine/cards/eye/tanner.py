"""Tanner (5): placed faceup at an end of the own village, turns all own facedown cards up. Rulings E05-1, ABL-4."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import DRAWN, EYE, Card
from moonvale_engine.choices import has_card, own_ends
from moonvale_engine.decisions import PLACE
from moonvale_engine.effects import hand_to_chosen_end
from moonvale_engine.state import FACEUP, SEAT, State
from moonvale_engine.steps import NEXT, ask, do


def _in_hand_or_any_own_facedown_card(s: State, h: int) -> bool:
    return s.hand == h or has_card(s, s.active, 0)


def _turn_all_faceup(s: State, action: int) -> int:
    for h in s.villages[s.stack[SEAT]]:
        if not s.flags[h] & FACEUP:
            moves.flip(s, h)
    return NEXT


TANNER = Card(
    "tanner",
    id=19,
    number=5,
    deck=EYE,
    ability=DRAWN,
    usable=_in_hand_or_any_own_facedown_card,
    stays=True,
    program=(
        ask(PLACE, own_ends, then=hand_to_chosen_end),
        do(_turn_all_faceup),
    ),
    activated_step=1,
)
