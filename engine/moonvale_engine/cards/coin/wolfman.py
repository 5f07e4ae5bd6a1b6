"""Wolfman (13): faceup at scoring, he makes a small village count nothing. Ruling C13-1."""

from __future__ import annotations

from typing import Final

from moonvale_engine.cards.card import COIN, SCORING, Card
from moonvale_engine.scoring import counted
from moonvale_engine.state import State

OTHERS_BELOW: Final = 13


def _nothing_if_the_others_are_few(s: State, h: int, total: int) -> int:
    return min(0, total) if total - counted(s, h) < OTHERS_BELOW else total


WOLFMAN = Card("wolfman", id=13, number=13, deck=COIN, ability=SCORING, village_sum=_nothing_if_the_others_are_few)
