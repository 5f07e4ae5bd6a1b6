"""Psychic (9): looks at up to three facedown cards anywhere, one after the other. Rulings C09-1, DEC-4."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves
from moonvale_engine.actions import STOP as STOP_LOOKING
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import cards, picked
from moonvale_engine.decisions import LOOK
from moonvale_engine.effects import if_a_card_lies_facedown
from moonvale_engine.state import CARD_1, SEAT, N, State
from moonvale_engine.steps import AGAIN, NEXT, ask

LOOKS: Final = 3


def _stop_or_another_facedown_card(s: State) -> list[int]:
    seen = [s.stack[CARD_1 + i] for i in range(s.stack[N])]
    return [STOP_LOOKING, *[action for action in cards(s, 0) if picked(s, action) not in seen]]


def _look(s: State, action: int) -> int:
    if action == STOP_LOOKING:
        return NEXT
    h = picked(s, action)
    moves.look(s, s.stack[SEAT], [h])
    s.stack[CARD_1 + s.stack[N]] = h
    s.stack[N] += 1
    return AGAIN if s.stack[N] < LOOKS else NEXT


PSYCHIC = Card(
    "psychic",
    id=9,
    number=9,
    deck=COIN,
    ability=DRAWN,
    usable=if_a_card_lies_facedown,
    program=(ask(LOOK, _stop_or_another_facedown_card, then=_look),),
)
