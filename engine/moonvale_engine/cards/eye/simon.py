"""Simon (2): discards an own faceup card that equals the top of the pile, on anyone's turn. Rulings E02-1 to E02-3."""

from __future__ import annotations

from moonvale_engine.cards.card import EYE, RESIDENT, Card
from moonvale_engine.reactions import answer, answers
from moonvale_engine.state import State


def _answers(s: State, spot: int, h: int) -> list[int]:
    return answers(s, s.active, spot)


def _answer(s: State, h: int, action: int) -> None:
    answer(s, s.active, action)


SIMON = Card("simon", id=16, number=2, deck=EYE, ability=RESIDENT, free=_answers, use=_answer, reacts=True)
