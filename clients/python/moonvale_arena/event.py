"""An event: who plays whom, on what, for how long. Everything in it is kept in the head of the results file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from moonvale_arena.entrants import Entrant, parse_entrants
from moonvale_arena.errors import ArenaError
from moonvale_engine.errors import OptionError
from moonvale_engine.options import MAX_PLAYERS, MAX_ROUNDS, MIN_PLAYERS, TOKENS, Options, parse_deck

ROUND_ROBIN: Final = "round-robin"
GAUNTLET: Final = "gauntlet"
FORMATS: Final = (ROUND_ROBIN, GAUNTLET)
#: A deck whose numbers come from either deck, drawn anew for each block.
MIX: Final = "mix"


@dataclass(frozen=True, slots=True)
class Event:
    """An event. Raises ArenaError for what doesn't fit together.

    - format: ROUND_ROBIN, or GAUNTLET of the first entrant against all others. seats: 2..4.
    - games: the most that are played. alpha: how often equal entrants may be told apart wrongly; None: all games are
      played, whatever they show.
    - deck: ``coin``, ``eye``, such as ``coin,2=eye``, or MIX. token: whose; empty: that of most cards.
    - independent: each game has a deal of its own, in place of one for all seatings of a block.
    - decision_seconds, game_seconds: what a seat may take for a decision, and for all decisions of a game.
    - seed: what schedule, deals and seeds of agents follow from. Whoever knows it knows all cards.
    """

    entrants: tuple[Entrant, ...]
    seed: str
    format: str = ROUND_ROBIN
    seats: int = 2
    games: int = 200
    alpha: float | None = 0.05
    deck: str = "coin"
    token: str = ""
    rounds: int = 4
    independent: bool = False
    decision_seconds: float = 10.0
    game_seconds: float = 120.0
    options: Options = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ArenaError(f"format: '{self.format}' is not known; choose {' or '.join(FORMATS)}")
        if not MIN_PLAYERS <= self.seats <= MAX_PLAYERS:
            raise ArenaError(f"seats: must be {MIN_PLAYERS}..{MAX_PLAYERS}, is {self.seats}")
        if self.games < self.seats:
            raise ArenaError(f"games: a block of all seatings at {self.seats} seats has {self.seats}, so needs as many")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ArenaError(f"alpha: must be between 0 and 1, is {self.alpha}")
        if self.token not in ("", *TOKENS):
            raise ArenaError(f"token: '{self.token}' is not known; choose {' or '.join(TOKENS)}")
        for name in ("decision_seconds", "game_seconds"):
            if not 0 < getattr(self, name) <= 86_400:
                raise ArenaError(f"{name.replace('_', ' ')}: must be more than 0 and at most 86400")
        if not re.fullmatch(r"[\w.-]{1,64}", self.seed):
            raise ArenaError("seed: is 1 to 64 letters, digits, dots and hyphens")
        object.__setattr__(self, "options", self._options())

    def _options(self) -> Options:
        """Return the options of the games, but for a mixed deck."""
        if not 1 <= self.rounds <= MAX_ROUNDS:
            raise ArenaError(f"rounds: must be 1..{MAX_ROUNDS}, is {self.rounds}")
        try:
            deck = parse_deck("coin" if self.deck == MIX else self.deck)
        except OptionError as error:
            raise ArenaError(f"deck: {error}; or choose mix") from error
        token = self.token or max(TOKENS, key=deck.count)
        return Options(players=self.seats, deck=deck, token=token, rounds=self.rounds, deal_supplied=True)

    def to_json(self) -> dict[str, Any]:
        """Return the event as it is kept."""
        return {
            "entrants": [f"{entrant.name}={entrant.text}" for entrant in self.entrants],
            **{name: getattr(self, name) for name in _KEPT},
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Event:
        """Read an event. Raises ArenaError."""
        try:
            return cls(entrants=parse_entrants(kept["entrants"]), **{name: kept[name] for name in _KEPT})
        except (KeyError, TypeError) as error:
            raise ArenaError(f"the head of the results lacks something: {error}") from error


_KEPT: Final = (
    "seed",
    "format",
    "seats",
    "games",
    "alpha",
    "deck",
    "token",
    "rounds",
    "independent",
    "decision_seconds",
    "game_seconds",
)
