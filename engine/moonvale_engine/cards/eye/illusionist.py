"""Illusionist (0): faceup at scoring, it counts minus the number of cards left in the deck. Ruling E00-1."""

from __future__ import annotations

from moonvale_engine.cards.card import EYE, SCORING, Card
from moonvale_engine.state import State


def _minus_the_deck(s: State, h: int) -> int:
    return -len(s.deck)


ILLUSIONIST = Card("illusionist", id=14, number=0, deck=EYE, ability=SCORING, counts=_minus_the_deck)
