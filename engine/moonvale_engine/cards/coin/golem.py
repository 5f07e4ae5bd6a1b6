"""Golem (11): the topmost other pile card takes the place of a village card, which goes to the bottom. Ruling C11-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.abilities import judged_pile
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import any_card, picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.state import State
from moonvale_engine.steps import NEXT, ask


def _if_there_are_two_cards_to_swap(s: State, h: int) -> bool:
    return any([other != h for other in judged_pile(s)]) and any(s.villages)


def _any_card_while_the_pile_has_another(s: State) -> list[int]:
    return any_card(s) if len(s.pile) > 1 else []


def _swap(s: State, action: int) -> int:
    depth = 1 if s.pile[-1] == s.noted[0] else 0
    moves.swap_with_pile(s, picked(s, action), depth)
    return NEXT


GOLEM = Card(
    "golem",
    id=11,
    number=11,
    deck=COIN,
    ability=DRAWN,
    usable=_if_there_are_two_cards_to_swap,
    program=(ask(TARGET, _any_card_while_the_pile_has_another, then=_swap),),
)
