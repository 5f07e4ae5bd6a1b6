"""The rules of one version: its card types, tokens and programs, and the numbers that its rulings fix.

A game names the version that it is played by, and whatever the rules look up, they look up in that version's object: so
games of several versions go on side by side. ``catalog.VERSIONS`` lists those that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from moonvale_engine import programs
from moonvale_engine.cards.card import Card
from moonvale_engine.deck import Types
from moonvale_engine.steps import Step

if TYPE_CHECKING:
    from moonvale_engine.options import Options
    from moonvale_engine.tokens import Token

FIRST_VERSION: Final = 1  # what texts mean that name none
LAST_VERSION: Final = 255  # a stored game names its version in one byte
#: The newest version that games are played by unless they say otherwise.
RULES_VERSION: Final = 1

_MOST_TYPES: Final = 256  # kept, of as many different options

#: A program with its name, which texts of positions write; both stay what they are within a version.
Program = tuple[str, tuple[Step, ...]]


class Rules:
    """What a version of the rules decides. It is never changed once games are played by it.

    core: the programs that are not an ability's, by their number; the place of a card type in ``cards`` is its id.
    """

    def __init__(
        self,
        version: int,
        core: Mapping[int, Program],
        tokens: Mapping[str, Token],
        cards: tuple[Card, ...],
        *,
        failed_call: int,
        penalty_from: int,
        call_limit: int,
    ) -> None:
        self.version = version
        self.tokens = tokens  # by their keys
        self.cards = cards  # all card types; the place of each is its id
        self.failed_call = failed_call  # points added to an unsuccessful caller's sum (END-4)
        self.penalty_from = penalty_from  # cards of a failed set that cost one from the deck (EXC-5)
        self.call_limit = call_limit  # cards that a caller may have (TURN-3)
        by_number: dict[int, Program] = {
            **core,
            **{programs.TOKENS + token.id: (f"{token.key}_token", token.program) for token in tokens.values()},
            **{programs.CARDS + id: (card.key, card.program) for id, card in enumerate(cards)},
        }
        #: All programs; the place of each is its number. One without steps is not in use.
        self.programs = tuple([by_number[i][1] if i in by_number else () for i in range(max(by_number) + 1)])
        #: The name of each program; empty where there is none.
        self.program_names = tuple([by_number[i][0] if i in by_number else "" for i in range(max(by_number) + 1)])
        self._by_deck_and_number = {(card.deck, card.number): card for card in cards}
        self._types: dict[Options, Types] = {}

    def types_in_play(self, options: Options) -> Types:
        """Return the card types of a game, whose deck says where the type of each number 0..13 comes from (SET-1)."""
        types = self._types.get(options)
        if types is None:
            if len(self._types) >= _MOST_TYPES:
                self._types.clear()
            cards = [self._by_deck_and_number[name, number] for number, name in enumerate(options.deck)]
            types = self._types[options] = Types(tuple(cards), options)
        return types

    def __reduce__(self) -> tuple[Callable[[int], Rules], tuple[int]]:
        """Copies and pickles are the entry of the table itself; a process that has no such entry can't read them."""
        from moonvale_engine.catalog import rules_of  # noqa: PLC0415  # the catalogue is made of rules

        return rules_of, (self.version,)
