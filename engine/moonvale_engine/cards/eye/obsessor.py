"""Obsessor (9): faceup on top of the pile, each of the four wants something of the next card. Rulings OBS-1, OBS-2."""

from __future__ import annotations

from moonvale_engine.cards.card import EYE, PILE_TOP, Card
from moonvale_engine.options import meets
from moonvale_engine.state import State


def _meets(s: State, h: int, value: int) -> bool:
    return meets(s.options.demands[s.identity[h] >> 4], value)


OBSESSOR = Card("obsessor", id=23, number=9, deck=EYE, ability=PILE_TOP, variants=4, meets=_meets)
