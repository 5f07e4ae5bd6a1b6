"""Ghost (7): discards one card of any village to the top of the pile. Rulings E07-1, OBS-5."""

from __future__ import annotations

from moonvale_engine.actions import PICK, pack, square, y_of
from moonvale_engine.cards.card import DRAWN, EYE, Card
from moonvale_engine.choices import picked
from moonvale_engine.decisions import TARGET
from moonvale_engine.discards import discard, offered, spotters
from moonvale_engine.events import NOBODY
from moonvale_engine.state import State, clockwise
from moonvale_engine.steps import NEXT, ask


def _if_a_card_can_be_discarded(s: State, h: int) -> bool:
    """In hand, or activated by a card in hand, it is judged with that card on top, which demands nothing (ABL-1)."""
    return any([s.hand != NOBODY or offered(s, other) for village in s.villages for other in village])


def _cards(s: State) -> list[int]:
    own = s.seat
    return [
        pack(PICK, square(seat, spot), declared)
        for seat in clockwise(s, own)
        for spot, h in enumerate(s.villages[seat])
        if offered(s, h)
        for declared in range((spotters(s, own) if seat == own else 0) + 1)
    ]


def _discard(s: State, action: int) -> int:
    discard(s, s.seat, picked(s, action), y_of(action))
    return NEXT


GHOST = Card(
    "ghost",
    id=21,
    number=7,
    deck=EYE,
    ability=DRAWN,
    usable=_if_a_card_can_be_discarded,
    program=(ask(TARGET, _cards, then=_discard),),
)
