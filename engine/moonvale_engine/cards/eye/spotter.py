"""Spotter (3): declared with a discard, looks in one village for a card of the discarded value. Ruling E03-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.actions import PICK, VILLAGE, pack, square
from moonvale_engine.actions import STOP as STOP_LOOKING
from moonvale_engine.cards.card import EYE, RESIDENT, Card
from moonvale_engine.choices import picked
from moonvale_engine.decisions import LOOK, TARGET
from moonvale_engine.discards import discard
from moonvale_engine.inference import exclude_value
from moonvale_engine.state import CARDS, FACEUP, SPOTTED, State, clockwise, value_of
from moonvale_engine.steps import AGAIN, NEXT, ask, do


def _hidden_spots(s: State, seat: int) -> list[int]:
    """Spots of the facedown cards of a village, but for the card placed just now and those that were looked at."""
    placed = s.noted[0]
    return [spot for spot, h in enumerate(s.villages[seat]) if not s.flags[h] & (FACEUP | SPOTTED) and h != placed]


def _villages(s: State) -> list[int]:
    return [pack(VILLAGE, seat) for seat in clockwise(s, s.seat) if _hidden_spots(s, seat)]


def _choose_village(s: State, action: int) -> int:
    s.n = action >> 6 & 3
    return NEXT


def _stop_or_next_card(s: State) -> list[int]:
    seat = s.n
    return [STOP_LOOKING, *[pack(PICK, square(seat, spot)) for spot in _hidden_spots(s, seat)]]


def _look(s: State, action: int) -> int:
    if action == STOP_LOOKING:
        return NEXT
    h = picked(s, action)
    value = s.x - 1
    moves.look(s, s.seat, [h])
    if value_of(s, h) == value:
        discard(s, s.seat, h, silent=s.y != 0)
        return NEXT
    s.flags[h] |= SPOTTED
    exclude_value(s, h, value)
    return AGAIN


def _forget(s: State, action: int) -> int:
    """No card was looked at yet, or any more. A Curator's discard in between may have let another Spotter look."""
    for h in range(CARDS):
        s.flags[h] &= ~SPOTTED
    return NEXT


SPOTTER = Card(
    "spotter",
    id=17,
    number=3,
    deck=EYE,
    ability=RESIDENT,
    spots=True,
    program=(
        do(_forget),
        ask(TARGET, _villages, then=_choose_village),
        ask(LOOK, _stop_or_next_card, then=_look),
        do(_forget),
    ),
)
