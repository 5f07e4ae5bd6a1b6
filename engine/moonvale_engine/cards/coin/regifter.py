"""Regifter (0): faceup at scoring, it gives another card of its village away. Rulings C00-1, C00-2."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.actions import GIVE, pack, y_of, z_of
from moonvale_engine.cards.card import COIN, SCORING, Card
from moonvale_engine.state import State, clockwise, find_seat


def _gifts(s: State, seat: int, h: int) -> list[int]:
    village = s.villages[seat]
    spot = village.index(h)
    return [
        pack(GIVE, spot, gift, other)
        for other in clockwise(s, seat)[1:]
        for gift in range(len(village))
        if gift != spot
    ]


def _give(s: State, h: int, action: int) -> None:
    seat = find_seat(s, h)
    moves.village_to_village(s, s.villages[seat][y_of(action)], z_of(action))


REGIFTER = Card("regifter", id=0, number=0, deck=COIN, ability=SCORING, scoring=_gifts, score=_give)
