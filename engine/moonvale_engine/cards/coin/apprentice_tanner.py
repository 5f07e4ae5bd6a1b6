"""Apprentice Tanner (5): placed faceup at an end of the own village, then flips another card. Rulings C05-1, ABL-4."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import any_other_card, own_ends, picked
from moonvale_engine.decisions import PLACE, TARGET
from moonvale_engine.state import SEAT, State
from moonvale_engine.steps import NEXT, ask


def _in_hand_or_any_card(s: State, h: int) -> bool:
    return s.hand == h or any(s.villages)


def _place(s: State, action: int) -> int:
    moves.hand_to_end(s, s.stack[SEAT], action >> 6 & 1)
    return NEXT


def _flip(s: State, action: int) -> int:
    moves.flip(s, picked(s, action))
    return NEXT


APPRENTICE_TANNER = Card(
    "apprentice_tanner",
    id=5,
    number=5,
    deck=COIN,
    ability=DRAWN,
    usable=_in_hand_or_any_card,
    stays=True,
    program=(
        ask(PLACE, own_ends, then=_place),
        ask(TARGET, any_other_card, then=_flip),
    ),
    activated_step=1,
)
