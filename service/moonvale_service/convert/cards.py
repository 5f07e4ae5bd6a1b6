"""Cards: faces, cards of events, cards on the table, and places.

``types`` are the card types in play by number, as ``catalog.cards_in_play`` returns them: a face of the engine says
nothing without them.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from moonvale.v1 import card_pb2 as pb
from moonvale.v1 import view_pb2
from moonvale_engine import catalog, events
from moonvale_engine.cards.card import Card
from moonvale_engine.views import CardView

Types = tuple[Card, ...]

_NO_TYPE: Final = -1
_ZONES: Final = {
    events.DECK: pb.ZONE_DECK_TOP,
    events.DECK_BOTTOM: pb.ZONE_DECK_BOTTOM,
    events.PILE_BOTTOM: pb.ZONE_PILE_BOTTOM,
    events.HAND: pb.ZONE_HAND,
}


def key(deck: str, name: str) -> str:
    """Return what the contract calls a card type, whose name (the engine's key) is its own within a deck only."""
    return f"{deck}/{name}"


def key_of(id: int) -> str:
    """Return what the contract calls the card type with an id."""
    return key(catalog.CARDS[id].deck, catalog.CARDS[id].key)


def card(types: Types, handle: int, face: int) -> pb.Card:
    """Return a card of an event; without its face where the viewer may not know."""
    return pb.Card(handle=handle, face=_face(_type_id(types, face)))


def card_view(types: Types, players: int, card: CardView | None) -> pb.CardView | None:
    """Return a card on the table, if there is one."""
    return None if card is None else _card_view(_type_id(types, card.face), players, card)


def pile(types: Types, players: int, cards: tuple[CardView, ...]) -> bytes:
    """Return the ``pile`` of a View, encoded, to be merged into one."""
    return b"".join([_pile_card(_type_id(types, card.face), players, card) for card in cards])


def village(types: Types, players: int, cards: tuple[CardView, ...]) -> bytes:
    """Return the ``village`` of a SeatView, encoded, to be merged into one."""
    return b"".join([_village_card(_type_id(types, card.face), players, card) for card in cards])


def village_spot(square: int) -> pb.VillageSpot:
    """Return the spot of a square, as the engine packs one."""
    return pb.VillageSpot(seat=square & 3, spot=square >> 2)


def place(number: int) -> pb.Place:
    """Return a place, as the engine's events number them."""
    if number >= events.PILE:
        return pb.Place(zone=pb.ZONE_PILE, depth=number - events.PILE)
    if number in _ZONES:
        return pb.Place(zone=_ZONES[number])
    return pb.Place(zone=pb.ZONE_VILLAGE, village_spot=village_spot(number))


def _type_id(types: Types, face: int) -> int:
    return _NO_TYPE if face == events.UNKNOWN else types[face & 15].id


@cache
def _face(id: int) -> pb.Face | None:
    if id == _NO_TYPE:
        return None
    return pb.Face(key=key_of(id), number=catalog.CARDS[id].number, value=catalog.CARDS[id].value)


def _card_view(id: int, players: int, card: CardView) -> pb.CardView:
    return pb.CardView(
        handle=card.handle,
        face=_face(id),
        faceup=card.faceup,
        sideways=card.sideways,
        used=card.used,
        spent=card.spent,
        seen_by=[seat for seat in range(players) if card.seen_by >> seat & 1],
    )


# The same cards recur from view to view. Each is encoded once, as a list of one; such lists, one after the other, are a
# list of all, and merging that costs less than copying messages.
@lru_cache(maxsize=16384)
def _pile_card(id: int, players: int, card: CardView) -> bytes:
    return view_pb2.View(pile=[_card_view(id, players, card)]).SerializeToString()


@lru_cache(maxsize=16384)
def _village_card(id: int, players: int, card: CardView) -> bytes:
    return view_pb2.SeatView(village=[_card_view(id, players, card)]).SerializeToString()
