"""Huntress (6): turns a faceup card facedown, then another, facedown one faceup. Rulings C06-1, ABL-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import any_village_has, cards, faceup_card, picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.state import CARD_1, FACEUP, State
from moonvale_engine.steps import NEXT, ask


def _if_a_card_lies_faceup(s: State, h: int) -> bool:
    return any_village_has(s, FACEUP)


def _turn_facedown(s: State, action: int) -> int:
    h = picked(s, action)
    s.stack[CARD_1] = h
    moves.flip(s, h)
    return NEXT


def _another_facedown_card(s: State) -> list[int]:
    return cards(s, 0, but=s.stack[CARD_1])


def _turn_faceup(s: State, action: int) -> int:
    moves.flip(s, picked(s, action))
    return NEXT


HUNTRESS = Card(
    "huntress",
    id=6,
    number=6,
    deck=COIN,
    ability=DRAWN,
    usable=_if_a_card_lies_faceup,
    program=(
        ask(TARGET, faceup_card, then=_turn_facedown),
        ask(TARGET, _another_facedown_card, then=_turn_faceup),
    ),
)
