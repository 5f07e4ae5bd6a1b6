"""Who sits at the table, and the names of cards and places."""

from __future__ import annotations

from collections.abc import Iterable

from moonvale.v1.card_pb2 import PARITY_EVEN, Card, CardView, Demand, Face
from moonvale.v1.view_pb2 import View
from moonvale_engine import texts
from moonvale_engine.options import parse_deck


class Table:
    """Who sits where, and which seat the reader's is, if any."""

    def __init__(self, view: View) -> None:
        self.you = view.viewer_seat if view.HasField("viewer_seat") else None
        names = [printable(seat.name) or f"Seat {seat.seat + 1}" for seat in view.seats]
        self._names = [name if names.count(name) == 1 else f"{name} {i}" for i, name in enumerate(names, 1)]
        self.token = token_name(view.options.token)

    @property
    def seats(self) -> range:
        """All seats."""
        return range(len(self._names))

    def name(self, seat: int) -> str:
        """Return a seat's name, whoever reads."""
        return self._names[seat]

    def subject(self, seat: int) -> str:
        """Return who did something, at the start of a sentence."""
        return "You" if seat == self.you else self._names[seat]

    def object(self, seat: int) -> str:
        """Return to whom something is done."""
        return "you" if seat == self.you else self._names[seat]

    def whose(self, seat: int, actor: int | None = None) -> str:
        """Return whose something is, in a sentence about what the actor did."""
        if seat == self.you:
            return "your"
        return "their" if seat == actor else f"{self._names[seat]}'s"


def printable(text: str) -> str:
    """Return a text from somebody else without what could steer a terminal."""
    return "".join([letter if letter.isprintable() else "?" for letter in text]).strip()


def card_name(key: str) -> str:
    """Return the name of a card type, such as Con Artist; of one that is not known here, its key."""
    deck, _, name = key.partition("/")
    try:
        return texts.card_text(deck, name).name
    except KeyError:
        return printable(key)


def card_ability(key: str) -> str:
    """Return what a card type does, in a sentence; empty if it is not known here."""
    deck, _, name = key.partition("/")
    try:
        return texts.card_text(deck, name).ability
    except KeyError:
        return ""


def changed_cards(deck: str) -> list[str]:
    """Return the cards of a mixed deck that come from elsewhere than those of most numbers, such as ``9 Obsessor``."""
    most, _, _ = deck.partition(",")
    decks = parse_deck(deck)
    return [
        f"{card.number} {card.name}"
        for card in texts.entries()
        if card.deck == decks[card.number] and card.deck != most
    ]


def token_name(key: str) -> str:
    """Return the name of a token, such as Coin; of one that is not known here, its key."""
    try:
        return texts.token_text(key).name
    except KeyError:
        return printable(key)


def face_words(face: Face) -> str:
    """Return a face as people say it: ``7 Nostro``, ``9 Obsessor for 6 or lower``."""
    demand = f" for {demand_words(face.demand)}" if face.HasField("demand") else ""
    return f"{face.value} {card_name(face.key)}{demand}"


def demand_words(demand: Demand) -> str:
    """Return which values an Obsessor lets through."""
    if demand.HasField("at_most"):
        return f"{demand.at_most} or lower"
    if demand.HasField("at_least"):
        return f"{demand.at_least} or higher"
    return "even numbers" if demand.parity == PARITY_EVEN else "odd numbers"


def a_card(card: Card) -> str:
    """Return a card with its article: ``a 7 Nostro``, ``an 8 Assassin``, ``a card``."""
    return a_face(card.face) if card.HasField("face") else "a card"


def a_face(face: Face) -> str:
    """Return a face with its article."""
    words = face_words(face)
    return f"an {words}" if words.startswith(("8", "11", "18")) else f"a {words}"


def the_card(card: Card | CardView) -> str:
    """Return a card that was spoken of: ``the 7 Nostro``, ``the card``."""
    return f"the {face_words(card.face)}" if card.HasField("face") else "the card"


def in_brackets(card: Card | CardView) -> str:
    """Return what a card is, to stand behind its place: `` (7 Nostro)``, or nothing."""
    return f" ({face_words(card.face)})" if card.HasField("face") else ""


def ordinal(spot: int) -> str:
    """Return a spot or a depth, counted from 0, as people count: ``1st``."""
    number = spot + 1
    suffix = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def listed(words: Iterable[str]) -> str:
    """Join words: ``a``, ``a and b``, ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def points(number: int) -> str:
    """Return a number of points."""
    return "1 point" if number == 1 else f"{number} points"


def spots_words(spots: Iterable[int]) -> str:
    ordinals = [ordinal(spot) for spot in spots]
    return f"{listed(ordinals)} {'cards' if len(ordinals) > 1 else 'card'}"
