"""Village Idiot (12): one card of every village moves on to the next one. Ruling C12-1."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves
from moonvale_engine.actions import CLOCKWISE, COUNTERCLOCKWISE, PICK, TURN_DIRECTION, pack, seat_of, square, x_of
from moonvale_engine.cards.card import COIN, DRAWN, Card
from moonvale_engine.choices import picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.events import NOBODY
from moonvale_engine.state import State, clockwise, note
from moonvale_engine.steps import AGAIN, NEXT, ask, do

_DIRECTIONS: Final = [pack(TURN_DIRECTION, CLOCKWISE), pack(TURN_DIRECTION, COUNTERCLOCKWISE)]


def _villages(s: State) -> list[int]:
    """Seats with a card, clockwise from the own one; none if fewer than two have one."""
    seats = [seat for seat in clockwise(s, s.active) if s.villages[seat]]
    return seats if len(seats) > 1 else []


def _if_two_villages_have_cards(s: State, h: int) -> bool:
    return len(_villages(s)) > 0


def _directions(s: State) -> list[int]:
    return _DIRECTIONS if _villages(s) else []


def _direction(s: State, action: int) -> int:
    s.x = x_of(action)
    note(s, 0, NOBODY)  # from now on the four noted cards are those chosen, seat by seat
    return NEXT


def _next_choice(s: State) -> list[int]:
    for seat in _villages(s):
        if s.noted[seat] not in s.villages[seat]:
            return [pack(PICK, square(seat, spot)) for spot in range(len(s.villages[seat]))]
    return []


def _choose(s: State, action: int) -> int:
    note(s, seat_of(x_of(action)), picked(s, action))
    return AGAIN


def _move(s: State, action: int) -> int:
    seats = _villages(s)
    ring = [s.noted[seat] for seat in seats]
    if s.x == COUNTERCLOCKWISE:
        ring.reverse()
    if ring:
        moves.rotate(s, ring)
    return NEXT


VILLAGE_IDIOT = Card(
    "village_idiot",
    id=12,
    number=12,
    deck=COIN,
    ability=DRAWN,
    usable=_if_two_villages_have_cards,
    program=(
        ask(TARGET, _directions, then=_direction),
        ask(TARGET, _next_choice, then=_choose),
        do(_move),
    ),
)
