"""Nelly (-1, number 1): faceup at scoring, she may be tucked under a card, which then counts negative. Ruling E01-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.actions import TUCK, pack, square, y_of
from moonvale_engine.cards.card import EYE, SCORING, Card
from moonvale_engine.choices import card_at
from moonvale_engine.events import NOBODY
from moonvale_engine.state import FACEUP, State, clockwise, type_of, value_of


def _hosts(s: State, seat: int, h: int) -> list[int]:
    """Which of several Nellys is tucked makes no difference, so only the leftmost one is offered."""
    spot = s.villages[seat].index(h)
    if any([s.flags[other] & FACEUP and type_of(s, other) is NELLY for other in s.villages[seat][:spot]]):
        return []
    return [
        pack(TUCK, spot, square(other, i))
        for other in clockwise(s, seat)
        for i, host in enumerate(s.villages[other])
        if value_of(s, host) > 0 and (not s.tucked or moves.tucked_under(s, host) == NOBODY)
    ]


def _tuck(s: State, h: int, action: int) -> None:
    moves.tuck(s, h, card_at(s, y_of(action)))


NELLY = Card("nelly", id=15, number=1, deck=EYE, ability=SCORING, value=-1, scoring=_hosts, score=_tuck)
