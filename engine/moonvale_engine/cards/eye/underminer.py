"""Underminer (11): exchanges two cards of one village with two pile cards. Ruling E11-1."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.abilities import judged_pile
from moonvale_engine.actions import PICK, UNDERMINE, pack, square, x_of
from moonvale_engine.cards.card import DRAWN, EYE, Card
from moonvale_engine.choices import picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.events import NOBODY
from moonvale_engine.state import State, clockwise, find_seat, note
from moonvale_engine.steps import NEXT, ask


def _if_there_are_two_and_two(s: State, h: int) -> bool:
    return len(judged_pile(s)) > 2 and any([len(village) > 1 for village in s.villages])


def _first_cards(s: State) -> list[int]:
    if len(s.pile) < 3:
        return []
    return [
        pack(PICK, square(seat, spot))
        for seat in clockwise(s, s.seat)
        if len(s.villages[seat]) > 1
        for spot in range(len(s.villages[seat]))
    ]


def _first_card(s: State, action: int) -> int:
    """From here on the four cards of the frame are those to exchange, and the Underminer's depth is in X."""
    s.x = len(s.pile) - 1 - s.pile.index(s.noted[0])
    note(s, 0, picked(s, action))
    return NEXT


def _begun(s: State) -> bool:
    """Whether a first village card was chosen; a Curator may have left none to choose."""
    return find_seat(s, s.noted[0]) != NOBODY


def _pile_cards(s: State) -> list[int]:
    if not _begun(s):
        return []
    return [pack(UNDERMINE, depth) for depth in range(len(s.pile)) if depth != s.x and s.pile[-1 - depth] != s.noted[1]]


def _first_pile_card(s: State, action: int) -> int:
    note(s, 1, s.pile[-1 - x_of(action)])
    return NEXT


def _second_cards(s: State) -> list[int]:
    if not _begun(s):
        return []
    first = s.noted[0]
    seat = find_seat(s, first)
    return [pack(PICK, square(seat, spot)) for spot, h in enumerate(s.villages[seat]) if h != first]


def _second_card(s: State, action: int) -> int:
    note(s, 2, picked(s, action))
    return NEXT


def _exchange(s: State, action: int) -> int:
    note(s, 3, s.pile[-1 - x_of(action)])
    first, first_new, second, second_new = s.noted
    moves.exchange_with_pile(s, [first, second], [first_new, second_new])
    return NEXT


UNDERMINER = Card(
    "underminer",
    id=25,
    number=11,
    deck=EYE,
    ability=DRAWN,
    usable=_if_there_are_two_and_two,
    program=(
        ask(TARGET, _first_cards, then=_first_card),
        ask(TARGET, _pile_cards, then=_first_pile_card, interruptible=False),
        ask(TARGET, _second_cards, then=_second_card, interruptible=False),
        ask(TARGET, _pile_cards, then=_exchange, interruptible=False),
    ),
)
