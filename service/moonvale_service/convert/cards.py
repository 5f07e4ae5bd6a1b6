"""Cards: faces, cards of events, cards on the table, and places.

``faces`` is what is printed on the cards of a game, as the function of that name returns it: a face of the engine says
nothing without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from moonvale.v1 import card_pb2 as pb
from moonvale.v1 import view_pb2
from moonvale_engine import catalog, events
from moonvale_engine.options import Options
from moonvale_engine.views import CardView
from moonvale_service.convert import demands


class Printed(NamedTuple):
    """What is printed on a card: the id of its type; where the type's cards differ, which one it is and its demand."""

    id: int
    variant: int
    demand: str


Faces = Mapping[int, Printed]

_ZONES: Final = {
    events.DECK: pb.ZONE_DECK_TOP,
    events.DECK_BOTTOM: pb.ZONE_DECK_BOTTOM,
    events.PILE_BOTTOM: pb.ZONE_PILE_BOTTOM,
    events.HAND: pb.ZONE_HAND,
    events.ASIDE: pb.ZONE_ASIDE,
}


@lru_cache(maxsize=256)
def faces(game: Options) -> Faces:
    """Return what is printed on the cards of a game, by the engine's face. UNKNOWN is none of them."""
    return {
        number | variant << 4: (
            Printed(card.id, 0, "") if card.variants == 1 else Printed(card.id, variant + 1, game.demands[variant])
        )
        for number, card in enumerate(catalog.cards_in_play(game))
        for variant in range(card.variants)
    }


def key(deck: str, name: str) -> str:
    """Return what the contract calls a card type, whose name (the engine's key) is its own within a deck only."""
    return f"{deck}/{name}"


def key_of(id: int) -> str:
    """Return what the contract calls the card type with an id."""
    return key(catalog.CARDS[id].deck, catalog.CARDS[id].key)


def card(faces: Faces, handle: int, face: int) -> pb.Card:
    """Return a card of an event; without its face where the viewer may not know."""
    return pb.Card(handle=handle, face=_face(faces.get(face)))


def pool_card(faces: Faces, face: int, faceup: bool) -> view_pb2.PoolCard:
    """Return a card of the pool, where it may lie unsaid."""
    return view_pb2.PoolCard(face=_face(faces.get(face)), faceup=faceup)


def card_view(faces: Faces, players: int, card: CardView | None) -> pb.CardView | None:
    """Return a card on the table, if there is one."""
    return None if card is None else _card_view(faces.get(card.face), _under(faces, card), players, card)


def pile(faces: Faces, players: int, cards: tuple[CardView, ...]) -> bytes:
    """Return the ``pile`` of a View, encoded, to be merged into one."""
    return b"".join([_pile_card(faces.get(card.face), players, card) for card in cards])


def village(faces: Faces, players: int, cards: tuple[CardView, ...]) -> bytes:
    """Return the ``village`` of a SeatView, encoded, to be merged into one."""
    return b"".join([_village_card(faces.get(card.face), _under(faces, card), players, card) for card in cards])


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


@cache
def _face(printed: Printed | None) -> pb.Face | None:
    if printed is None:
        return None
    card_type = catalog.CARDS[printed.id]
    return pb.Face(
        key=key_of(printed.id),
        number=card_type.number,
        value=card_type.value,
        variant=printed.variant,
        demand=demands.to_proto(printed.demand) if printed.demand else None,
    )


def _under(faces: Faces, card: CardView) -> Printed | None:
    """Return what is printed on the card that is tucked under a card, which has none under itself."""
    return None if card.tucked is None else faces.get(card.tucked.face)


def _card_view(printed: Printed | None, under: Printed | None, players: int, card: CardView) -> pb.CardView:
    return pb.CardView(
        handle=card.handle,
        face=_face(printed),
        faceup=card.faceup,
        sideways=card.sideways,
        used=card.used,
        spent=card.spent,
        seen_by=[seat for seat in range(players) if card.seen_by >> seat & 1],
        tucked=None if card.tucked is None else _card_view(under, None, players, card.tucked),
    )


# The same cards recur from view to view. Each is encoded once, as a list of one; such lists, one after the other, are a
# list of all, and merging that costs less than copying messages.
@lru_cache(maxsize=16384)
def _pile_card(printed: Printed | None, players: int, card: CardView) -> bytes:
    return view_pb2.View(pile=[_card_view(printed, None, players, card)]).SerializeToString()


@lru_cache(maxsize=16384)
def _village_card(printed: Printed | None, under: Printed | None, players: int, card: CardView) -> bytes:
    return view_pb2.SeatView(village=[_card_view(printed, under, players, card)]).SerializeToString()
