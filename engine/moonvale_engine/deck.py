"""The 52 cards of a deck, in the order that every shuffle begins with (SET-1)."""

from __future__ import annotations

from moonvale_engine.cards.card import Card

ENDS = (0, 13)  # numbers with two copies; all others have four


def copies(number: int) -> int:
    """Return how many cards of a number a deck has."""
    return 2 if number in ENDS else 4


def faces_in_play(cards: tuple[Card, ...]) -> bytes:
    """Return the faces (number | variant << 4) of the 52 cards, ascending by number, then by variant."""
    return bytes([card.number | i % card.variants << 4 for card in cards for i in range(copies(card.number))])
