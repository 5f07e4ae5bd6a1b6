"""Mad Bomber (13): faceup at scoring, it may take itself and another card out of the round. Ruling E13-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.actions import BOMB, pack, square, y_of
from moonvale_engine.cards.card import EYE, SCORING, Card
from moonvale_engine.choices import card_at
from moonvale_engine.state import State, clockwise


def _targets(s: State, seat: int, h: int) -> list[int]:
    spot = s.villages[seat].index(h)
    return [
        pack(BOMB, spot, square(other, i))
        for other in clockwise(s, seat)
        for i, target in enumerate(s.villages[other])
        if target != h
    ]


def _bomb(s: State, h: int, action: int) -> None:
    target = card_at(s, y_of(action))
    moves.village_to_aside(s, h)
    moves.village_to_aside(s, target)


MAD_BOMBER = Card("mad_bomber", id=27, number=13, deck=EYE, ability=SCORING, scoring=_targets, score=_bomb)
