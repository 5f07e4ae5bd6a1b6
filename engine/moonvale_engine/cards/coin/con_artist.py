"""Con Artist (1): turned facedown, he brings one more turn. Rulings C01-1, C01-2."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.actions import USE_RESIDENT, pack
from moonvale_engine.cards.card import COIN, RESIDENT, Card
from moonvale_engine.events import EVERYBODY, TURN_ADDED
from moonvale_engine.state import SPENT, State


def _unless_spent(s: State, spot: int, h: int) -> list[int]:
    return [] if s.flags[h] & SPENT else [pack(USE_RESIDENT, spot)]


def _add_a_turn(s: State, h: int, action: int) -> None:
    moves.flip(s, h)
    s.flags[h] |= SPENT
    s.extra_turns += 1
    if s.events is not None:
        s.events.append((TURN_ADDED, s.active, 0, 0, EVERYBODY, ()))


CON_ARTIST = Card("con_artist", id=1, number=1, deck=COIN, ability=RESIDENT, free=_unless_spent, use=_add_a_turn)
