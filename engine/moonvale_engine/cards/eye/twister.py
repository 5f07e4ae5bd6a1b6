"""Twister (6): flips as many cards of any villages as the own one has. Ruling E06-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import DRAWN, EYE, Card
from moonvale_engine.choices import any_card, picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.state import CARDS, FLIPPED, State
from moonvale_engine.steps import AGAIN, NEXT, ask, do


def _if_the_own_village_has_cards(s: State, h: int) -> bool:
    return len(s.villages[s.active]) > 0


def _count(s: State, action: int) -> int:
    s.x = len(s.villages[s.seat])
    return NEXT


def _cards_not_flipped(s: State) -> list[int]:
    return [action for action in any_card(s) if not s.flags[picked(s, action)] & FLIPPED]


def _flip(s: State, action: int) -> int:
    h = picked(s, action)
    moves.flip(s, h)
    s.flags[h] |= FLIPPED
    s.n += 1
    return AGAIN if s.n < s.x else NEXT


def _forget(s: State, action: int) -> int:
    for h in range(CARDS):
        s.flags[h] &= ~FLIPPED
    return NEXT


TWISTER = Card(
    "twister",
    id=20,
    number=6,
    deck=EYE,
    ability=DRAWN,
    usable=_if_the_own_village_has_cards,
    program=(
        do(_count),
        ask(TARGET, _cards_not_flipped, then=_flip),
        do(_forget),
    ),
)
