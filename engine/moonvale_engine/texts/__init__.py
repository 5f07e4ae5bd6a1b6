"""The catalogue for people: every card type and token with its name and its ability in a sentence.

A language is a module beside this one with the tables CARDS and TOKENS; to add one, translate ``en`` and list it here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from moonvale_engine import catalog
from moonvale_engine.deck import copies
from moonvale_engine.rules import RULES_VERSION
from moonvale_engine.texts import en
from moonvale_engine.tokens import TOKENS

DEFAULT_LANGUAGE: Final = "en"
_LANGUAGES: Final = {"en": en}
LANGUAGES: Final = tuple(_LANGUAGES)


class Text(NamedTuple):
    """The name of a card type or token, and its ability in a sentence."""

    name: str
    ability: str


class CardEntry(NamedTuple):
    """A card type. ``kind``: when its ability is used, DRAWN, RESIDENT or SCORING of ``cards.card``."""

    key: str
    deck: str
    number: int
    value: int
    copies: int
    kind: str
    name: str
    ability: str


class TokenEntry(NamedTuple):
    """A token."""

    key: str
    name: str
    ability: str


def card_text(deck: str, key: str, language: str = DEFAULT_LANGUAGE) -> Text:
    """Return the text of a card type. Raises KeyError if there is no such type or language."""
    return Text(*_LANGUAGES[language].CARDS[deck, key])


def token_text(key: str, language: str = DEFAULT_LANGUAGE) -> Text:
    """Return the text of a token. Raises KeyError if there is no such token or language."""
    return Text(*_LANGUAGES[language].TOKENS[key])


def entries(language: str = DEFAULT_LANGUAGE, rules: int = RULES_VERSION) -> tuple[CardEntry, ...]:
    """Return all card types of a version of the rules, deck by deck and by number.

    Raises KeyError if there is no such language, UnknownRulesError if there is no such version.
    """
    return tuple(
        [
            CardEntry(
                card.key,
                card.deck,
                card.number,
                card.value,
                copies(card.number),
                card.ability,
                *card_text(card.deck, card.key, language),
            )
            for card in sorted(catalog.rules_of(rules).cards, key=lambda card: (card.deck, card.number))
        ]
    )


def token_entries(language: str = DEFAULT_LANGUAGE) -> tuple[TokenEntry, ...]:
    """Return all tokens. Raises KeyError if there is no such language."""
    return tuple([TokenEntry(key, *token_text(key, language)) for key in TOKENS])
