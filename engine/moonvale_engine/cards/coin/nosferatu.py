"""Nosferatu (10): takes or activates one of the three pile cards below it. Rulings C10-1, ABL-4."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves, programs
from moonvale_engine.abilities import activate, can_activate
from moonvale_engine.actions import ACTIVATE, TAKE, pack, verb_of, x_of
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.decisions import TARGET
from moonvale_engine.hand import OWED
from moonvale_engine.state import State, push
from moonvale_engine.steps import NEXT, ask

REACH: Final = 3


def _below(s: State, h: int) -> range:
    """Depths of the pile cards directly below it; in the hand it is judged as lying on top (ABL-1)."""
    at = s.pile.find(h)
    first = 0 if at < 0 else len(s.pile) - at
    return range(first, min(first + REACH, len(s.pile)))


def _if_a_card_below_can_be_used(s: State, h: int) -> bool:
    below = _below(s, h)
    if len(below) and s.villages[s.active]:
        return True
    return any([can_activate(s, s.pile[-1 - depth]) for depth in below])


def _cards_below(s: State) -> list[int]:
    below = _below(s, s.noted[0])
    takes = [pack(TAKE, depth) for depth in below] if s.villages[s.active] else []
    return takes + [pack(ACTIVATE, depth) for depth in below if can_activate(s, s.pile[-1 - depth])]


def _take_or_activate(s: State, action: int) -> int:
    if verb_of(action) == TAKE:
        moves.pile_to_hand(s, x_of(action))
        push(s, programs.HAND, s.active, x=OWED)
    else:
        activate(s, action)
    return NEXT


NOSFERATU = Card(
    "nosferatu",
    id=10,
    number=10,
    deck=COIN,
    ability=DRAWN,
    usable=_if_a_card_below_can_be_used,
    program=(ask(TARGET, _cards_below, then=_take_or_activate),),
)
