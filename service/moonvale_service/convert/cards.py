"""Cards: faces, cards of events, cards on the table, and places.

``faces`` is what is printed on the cards of a game, as the function of that name returns it: a face of the engine says
nothing without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from google.protobuf.message import Message

from moonvale.v1 import card_pb2 as pb
from moonvale.v1 import view_pb2
from moonvale_engine import catalog, events
from moonvale_engine.cards.card import Card
from moonvale_engine.options import Options
from moonvale_engine.views import CardView
from moonvale_engine.views import card_view as unpacked
from moonvale_service.convert import demands


class Printed(NamedTuple):
    """What is printed on a card: that of its type; where the type's cards differ, which one it is and its demand."""

    type: Card
    variant: int
    demand: str


_ENCODED_CARDS: Final = 16_384  # of one game's options, each about 100 bytes

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
            Printed(card, 0, "") if card.variants == 1 else Printed(card, variant + 1, game.demands[variant])
        )
        for number, card in enumerate(catalog.cards_in_play(game))
        for variant in range(card.variants)
    }


def key(deck: str, name: str) -> str:
    """Return what the contract calls a card type, whose name (the engine's key) is its own within a deck only."""
    return f"{deck}/{name}"


def key_of(card: Card) -> str:
    """Return what the contract calls a card type."""
    return key(card.deck, card.key)


def card(faces: Faces, handle: int, face: int) -> pb.Card:
    """Return a card of an event; without its face where the viewer may not know."""
    return pb.Card(handle=handle, face=_face(faces.get(face)))


def pool_card(faces: Faces, face: int, faceup: bool) -> view_pb2.PoolCard:
    """Return a card of the pool, where it may lie unsaid."""
    return view_pb2.PoolCard(face=_face(faces.get(face)), faceup=faceup)


def card_view(faces: Faces, players: int, card: CardView) -> pb.CardView:
    """Return a card on the table."""
    return pb.CardView(
        handle=card.handle,
        face=_face(faces.get(card.face)),
        faceup=card.faceup,
        sideways=card.sideways,
        used=card.used,
        spent=card.spent,
        seen_by=[seat for seat in range(players) if card.seen_by >> seat & 1],
        tucked=None if card.tucked is None else card_view(faces, players, card.tucked),
    )


class Encoder:
    """Encodes the cards of games with the same options. Cards recur from view to view: each is encoded once.

    It is encoded as a list of one; such lists, one after the other, are a list of all, to be merged into a message.
    """

    def __init__(self, options: Options) -> None:
        self.faces = faces(options)
        self._players = options.players
        self._pile: dict[int, bytes] = {}
        self._village: dict[int, bytes] = {}

    def pile(self, packed: Iterable[int]) -> bytes:
        """Return the ``pile`` of a View."""
        known = self._pile
        return b"".join([known.get(each) or self._pile_card(each) for each in packed])

    def village(self, packed: Iterable[int]) -> bytes:
        """Return the ``village`` of a SeatView."""
        known = self._village
        return b"".join([known.get(each) or self._village_card(each) for each in packed])

    def _pile_card(self, packed: int) -> bytes:
        return _keep(self._pile, packed, view_pb2.View(pile=[self._card(packed)]))

    def _village_card(self, packed: int) -> bytes:
        return _keep(self._village, packed, view_pb2.SeatView(village=[self._card(packed)]))

    def _card(self, packed: int) -> pb.CardView:
        return card_view(self.faces, self._players, unpacked(packed))


def _keep(encoded: dict[int, bytes], packed: int, message: Message) -> bytes:
    if len(encoded) >= _ENCODED_CARDS:
        encoded.clear()
    encoded[packed] = result = message.SerializeToString()
    return result


@lru_cache(maxsize=256)
def encoder(game: Options) -> Encoder:
    """Return the encoder of a game's cards."""
    return Encoder(game)


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
    return pb.Face(
        key=key_of(printed.type),
        number=printed.type.number,
        value=printed.type.value,
        variant=printed.variant,
        demand=demands.to_proto(printed.demand) if printed.demand else None,
    )
