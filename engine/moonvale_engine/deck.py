"""The card types of a deck in play, and its 52 cards in the order that every shuffle begins with (SET-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moonvale_engine.cards.card import Card

if TYPE_CHECKING:
    from moonvale_engine.options import Options

ENDS: Final = (0, 13)  # numbers with two copies; all others have four


def copies(number: int) -> int:
    """Return how many cards of a number a deck has."""
    return 2 if number in ENDS else 4


def faces_in_play(cards: tuple[Card, ...]) -> bytes:
    """Return the faces (number | variant << 4) of the 52 cards, ascending by number, then by variant."""
    return bytes([card.number | i % card.variants << 4 for card in cards for i in range(copies(card.number))])


def face_text(cards: tuple[Card, ...], face: int) -> str:
    """Return how texts write a face: its printed value, and which of several different cards it is (``9.2``)."""
    card = cards[face & 15]
    return str(card.value) if card.variants == 1 else f"{card.value}.{(face >> 4) + 1}"


class Types:
    """The 14 card types of the deck in play, by number, and which of them have what the rules ask for at every turn.

    ``options``: of the games that are played with them; with these go the bytes and the text that they are written as,
    which are made when they are needed first.
    """

    def __init__(self, cards: tuple[Card, ...], options: Options | None = None) -> None:
        self.cards = cards
        self.options = options
        self.options_bytes = b""
        self.options_text = ""
        #: face -> printed value
        self.values = tuple([cards[face & 15].value if face & 15 < len(cards) else 0 for face in range(FACES)])
        #: face -> how texts write it
        self.face_texts = tuple([face_text(cards, face) if face & 15 < len(cards) else "" for face in range(FACES)])
        self.main = tuple([card for card in cards if card.main is not None])
        self.spots = tuple([card for card in cards if card.spots])
        self.reacts = any([card.reacts for card in cards])
        self.demands = any([card.meets is not None for card in cards])
        #: face -> 1 if such a card has a free ability, and one for any time; empty if none has
        self.free = _marked([card.number for card in cards if card.free is not None])
        self.anytime = _marked([card.number for card in cards if card.free is not None and card.anytime])

    def __reduce__(self) -> tuple[type[Types], tuple[tuple[Card, ...], Options | None]]:
        return Types, (self.cards, self.options)


FACES: Final = 64  # number | variant << 4


def _marked(numbers: list[int]) -> bytes:
    return bytes([1 if face < FACES and face & 15 in numbers else 0 for face in range(256)]) if numbers else b""
