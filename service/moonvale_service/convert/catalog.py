"""The catalogue: all card types and tokens, with their texts for people."""

from __future__ import annotations

from typing import Final

from moonvale.v1 import catalog_pb2 as pb
from moonvale_engine import texts
from moonvale_engine.cards.card import DRAWN, PILE_TOP, RESIDENT, SCORING
from moonvale_service.convert import cards

_ABILITY_KINDS: Final = {
    DRAWN: pb.ABILITY_KIND_DRAWN,
    RESIDENT: pb.ABILITY_KIND_RESIDENT,
    SCORING: pb.ABILITY_KIND_SCORING,
    PILE_TOP: pb.ABILITY_KIND_PILE_TOP,
}


def card_types(rules: int) -> list[pb.CardType]:
    """Return all card types of a version of the rules, deck by deck and by number."""
    return [
        pb.CardType(
            key=cards.key(entry.deck, entry.key),
            deck=entry.deck,
            name=entry.name,
            number=entry.number,
            value=entry.value,
            copies=entry.copies,
            ability_kind=_ABILITY_KINDS[entry.kind],
            ability=entry.ability,
        )
        for entry in texts.entries(rules=rules)
    ]


def token_types() -> list[pb.TokenType]:
    """Return all tokens."""
    return [pb.TokenType(key=entry.key, name=entry.name, ability=entry.ability) for entry in texts.token_entries()]
