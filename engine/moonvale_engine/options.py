"""Options of a game: what the table agrees on before it starts, validated field by field."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Final

from moonvale_engine.errors import OptionError
from moonvale_engine.rules import FIRST_VERSION, LAST_VERSION, RULES_VERSION

NUMBERS = 14
MIN_PLAYERS, MAX_PLAYERS = 2, 4
MAX_ROUNDS = 20
MIN_TURN_LIMIT, MAX_TURN_LIMIT = 4, 250
DECKS = ("coin", "eye")
TOKENS = ("coin", "eye")
DEMANDS = ("even", "odd", "at most 6", "at least 7")
MEMORIES = ("assisted", "table")
SUCCESSFUL_CALLS = ("zero", "lower")


@dataclass(frozen=True, slots=True)
class Options:
    """What a game is played by. Everything is public.

    - players: 2..4.
    - deck: which deck the card type of each number comes from, 14 entries (SET-1). token: whose token.
    - rounds: 1..20. turn_limit: turns after which a round ends as if the deck were depleted, 4..250 (TURN-6).
    - memory: whether views remember for their player, ``assisted`` or ``table`` (HID-3).
    - successful_call: what a successful caller scores, ``zero`` or ``lower`` (END-4).
    - demands: what each of the four Obsessors wants of the next card's value: ``even``, ``odd``, ``at most N`` or
      ``at least N`` with N of -1..13 (OBS-1).
    - villages: which dealt village each seat gets; empty: 0, 1, ... deal_supplied: the caller chose the deal (SET-6).
    - rules: the version of the rules, 1..255; whether there is such a one shows when a game is made or read.

    Raises OptionError, whose ``field`` names the wrong one.
    """

    players: int = 4
    deck: tuple[str, ...] = field(default=("coin",) * NUMBERS)
    token: str = "coin"
    rounds: int = 4
    turn_limit: int = 200
    memory: str = "assisted"
    successful_call: str = "zero"
    demands: tuple[str, ...] = DEMANDS
    villages: tuple[int, ...] = ()
    deal_supplied: bool = False
    rules: int = RULES_VERSION

    def __post_init__(self) -> None:
        _between("players", self.players, MIN_PLAYERS, MAX_PLAYERS)
        if len(self.deck) != NUMBERS:
            raise OptionError("deck", f"needs a card type for each of the {NUMBERS} numbers, has {len(self.deck)}")
        for number, deck in enumerate(self.deck):
            if deck not in DECKS:
                raise OptionError("deck", f"number {number}: {_one_of(deck, DECKS)}")
        _choice("token", self.token, TOKENS)
        _between("rounds", self.rounds, 1, MAX_ROUNDS)
        _between("turn_limit", self.turn_limit, MIN_TURN_LIMIT, MAX_TURN_LIMIT)
        _choice("memory", self.memory, MEMORIES)
        _choice("successful_call", self.successful_call, SUCCESSFUL_CALLS)
        if len(self.demands) != len(DEMANDS):
            raise OptionError("demands", f"needs one for each of the {len(DEMANDS)} Obsessors, has {len(self.demands)}")
        for demand in self.demands:
            meets(demand, 0)
        if not self.villages:
            object.__setattr__(self, "villages", tuple(range(self.players)))
        if len(self.villages) != self.players:
            raise OptionError("villages", f"needs one dealt village for each of {self.players} seats")
        if len(set(self.villages)) != self.players or not all(0 <= village < 4 for village in self.villages):
            raise OptionError("villages", "needs a different one of the dealt villages 0..3 for each seat")
        _between("rules", self.rules, FIRST_VERSION, LAST_VERSION)

    def __repr__(self) -> str:
        """As a call. As in texts, the rules are named unless they are the first ones."""
        named = [name for name in _FIELDS if name != "rules" or self.rules != FIRST_VERSION]
        return f"Options({', '.join([f'{name}={getattr(self, name)!r}' for name in named])})"

    def __reduce__(self) -> tuple[type[Options], tuple[object, ...]]:
        return Options, tuple([getattr(self, name) for name in _FIELDS])


_FIELDS = tuple([field.name for field in fields(Options)])


def meets(demand: str, value: int) -> bool:
    """Whether a value meets an Obsessor's demand; 0 is even, -1 odd (OBS-1). Raises OptionError for ``demands``."""
    if demand not in _MEETING:
        raise OptionError("demands", f"'{demand}' is not 'even', 'odd', 'at most N' or 'at least N' with N of -1..13")
    return value in _MEETING[demand]


_VALUES: Final = range(-1, NUMBERS)
#: demand -> the values that meet it
_MEETING: Final[dict[str, frozenset[int]]] = {
    "even": frozenset([value for value in _VALUES if value % 2 == 0]),
    "odd": frozenset([value for value in _VALUES if value % 2 == 1]),
    **{f"at most {n}": frozenset([value for value in _VALUES if value <= n]) for n in _VALUES},
    **{f"at least {n}": frozenset([value for value in _VALUES if value >= n]) for n in _VALUES},
}


def parse_deck(text: str) -> tuple[str, ...]:
    """Read a deck as people type it: ``coin``, or ``coin,2=eye,9=eye`` with the numbers that come from elsewhere.

    Raises OptionError for ``deck``.
    """
    first, *changes = [part.strip() for part in text.split(",")]
    if "=" in first:
        raise OptionError(
            "deck", f"'{first}' names no deck for the other numbers; begin with one of: {', '.join(DECKS)}"
        )
    if first not in DECKS:
        raise OptionError("deck", _one_of(first, DECKS))
    deck = [first] * NUMBERS
    for change in changes:
        number, _, name = change.partition("=")
        if not number.isascii() or not number.isdigit() or int(number) >= NUMBERS:
            raise OptionError("deck", f"'{change}' is not NUMBER=DECK with a number of 0..13")
        if name not in DECKS:
            raise OptionError("deck", f"number {number}: {_one_of(name, DECKS)}")
        deck[int(number)] = name
    return tuple(deck)


def deck_text(deck: tuple[str, ...]) -> str:
    """Write a deck as ``parse_deck`` reads it, shortest first."""
    first = max(DECKS, key=deck.count)
    return ",".join([first, *[f"{number}={name}" for number, name in enumerate(deck) if name != first]])


def _between(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise OptionError(name, f"must be {low}..{high}, is {value}")


def _choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise OptionError(name, _one_of(value, allowed))


def _one_of(value: str, allowed: tuple[str, ...]) -> str:
    return f"'{value}' is not known; choose one of: {', '.join(allowed)}"
