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
from moonvale_engine.views import HANDLE_BITS, LAST_HANDLE, CardView
from moonvale_engine.views import card_view as unpacked
from moonvale_service.convert import demands, wire


class Printed(NamedTuple):
    """What is printed on a card: that of its type; where the type's cards differ, which one it is and its demand."""

    type: Card
    variant: int
    demand: str


_ENCODED_CARDS: Final = 4096  # of one game's options in one field, each about 50 bytes

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
    """Encodes the cards of games with the same options, for each field of views that holds some."""

    def __init__(self, options: Options) -> None:
        self._faces = faces(options)
        self._players = options.players
        self.deck_top = Field(self, view_pb2.View, "deck_top")
        self.pile = Field(self, view_pb2.View, "pile")
        self.hand = Field(self, view_pb2.View, "hand")
        self.village = Field(self, view_pb2.SeatView, "village")

    def card(self, packed: int) -> pb.CardView:
        """Return a card, not encoded."""
        return card_view(self._faces, self._players, unpacked(packed))

    def pool_card(self, face: int, faceup: bool) -> view_pb2.PoolCard:
        """Return a card of the pool, where it may lie unsaid, not encoded."""
        return view_pb2.PoolCard(face=_face(self._faces.get(face)), faceup=faceup)


class Field:
    """Encodes cards as a field of a message. All but the handle of a card recurs: that is encoded once."""

    def __init__(self, encoder: Encoder, kind: type[Message], name: str) -> None:
        self._encoder = encoder
        self._nested = wire.field(kind, name)
        self._known: dict[int, bytes] = {}  # up to the handle, which comes last

    def encode(self, packed: Iterable[int]) -> bytes:
        """Return a message that has nothing but these cards, encoded."""
        known = self._known
        parts: list[bytes] = []
        for card in packed:
            parts += (known.get(card >> HANDLE_BITS) or self._begin(card), _HANDLES[card & LAST_HANDLE])
        return b"".join(parts)

    def _begin(self, card: int) -> bytes:
        if len(self._known) >= _ENCODED_CARDS:
            self._known.clear()
        message = self._encoder.card(card)
        message.ClearField("handle")
        whole = self._nested(message.SerializeToString() + _HANDLES[0])
        self._known[card >> HANDLE_BITS] = begun = whole.removesuffix(_HANDLES[0])
        return begun


_HANDLES: Final = [pb.CardView(handle=handle).SerializeToString() for handle in range(LAST_HANDLE + 1)]  # of two bytes


@lru_cache(maxsize=256)
def encoder(game: Options) -> Encoder:
    """Return the encoder of a game's cards."""
    return Encoder(game)


def village_spot(square: int) -> pb.VillageSpot:
    """Return the spot of a square, as the engine packs one."""
    return pb.VillageSpot(seat=square & 3, spot=square >> 2)


@cache
def place(number: int) -> pb.Place:
    """Return a place, as the engine's events number them. It is not to be changed."""
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
