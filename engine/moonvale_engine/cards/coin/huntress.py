"""Huntress (6): turns a faceup card facedown, then another, facedown one faceup. Rulings C06-1, ABL-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import cards, faceup_card, picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.effects import flip_picked, if_a_card_lies_faceup
from moonvale_engine.state import State, note
from moonvale_engine.steps import NEXT, ask


def _turn_facedown(s: State, action: int) -> int:
    h = picked(s, action)
    note(s, 1, h)
    moves.flip(s, h)
    return NEXT


def _another_facedown_card(s: State) -> list[int]:
    return cards(s, 0, but=s.noted[1])


HUNTRESS = Card(
    "huntress",
    id=6,
    number=6,
    deck=COIN,
    ability=DRAWN,
    usable=if_a_card_lies_faceup,
    program=(
        ask(TARGET, faceup_card, then=_turn_facedown),
        ask(TARGET, _another_facedown_card, then=flip_picked),
    ),
)
