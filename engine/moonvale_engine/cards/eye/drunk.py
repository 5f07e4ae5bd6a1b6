"""Drunk (12): the top card of the deck joins any village. Ruling E12-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.cards.card import DRAWN, EYE, Card
from moonvale_engine.choices import ends
from moonvale_engine.decisions import PLACE
from moonvale_engine.state import State, clockwise
from moonvale_engine.steps import NEXT, ask


def _if_the_deck_has_a_card(s: State, h: int) -> bool:
    return len(s.deck) > 0


def _ends_of_any_village(s: State) -> list[int]:
    return [end for seat in clockwise(s, s.seat) for end in ends(s, seat)] if s.deck else []


def _give(s: State, action: int) -> int:
    moves.deck_to_end(s, action >> 7 & 3, action >> 6 & 1)
    return NEXT


DRUNK = Card(
    "drunk",
    id=26,
    number=12,
    deck=EYE,
    ability=DRAWN,
    usable=_if_the_deck_has_a_card,
    program=(ask(PLACE, _ends_of_any_village, then=_give),),
)
