"""The catalogue: all card types and tokens, with their texts for people."""

from __future__ import annotations

from typing import Final

from moonvale.v1 import catalog_pb2 as pb
from moonvale_engine import catalog
from moonvale_engine.cards.card import DRAWN, RESIDENT, SCORING, Card
from moonvale_engine.deck import copies
from moonvale_engine.texts import card_text, token_text
from moonvale_engine.tokens import TOKENS
from moonvale_service.convert import cards

_ABILITY_KINDS: Final = {
    DRAWN: pb.ABILITY_KIND_DRAWN,
    RESIDENT: pb.ABILITY_KIND_RESIDENT,
    SCORING: pb.ABILITY_KIND_SCORING,
}


def card_types() -> list[pb.CardType]:
    """Return all card types, deck by deck and by number."""
    return [_card_type(card) for card in sorted(catalog.CARDS, key=lambda card: (card.deck, card.number))]


def token_types() -> list[pb.TokenType]:
    """Return all tokens."""
    return [_token_type(key) for key in TOKENS]


def _card_type(card: Card) -> pb.CardType:
    text = card_text(card.deck, card.key)
    return pb.CardType(
        key=cards.key(card.id),
        deck=card.deck,
        name=text.name,
        number=card.number,
        value=card.value,
        copies=copies(card.number),
        ability_kind=_ABILITY_KINDS[card.ability],
        ability=text.ability,
    )


def _token_type(key: str) -> pb.TokenType:
    text = token_text(key)
    return pb.TokenType(key=key, name=text.name, ability=text.ability)
