"""The schedule: which entrants meet on which deals, in which order. It follows from the event's seed alone.

A *block* is one lineup of entrants, played once in each rotation around the table, on one deal. A *look* is a number of
blocks, about as many of each lineup, whose games are played in any order; after it the results are looked at.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Final

from moonvale_arena.event import GAUNTLET, MIX, Event
from moonvale_engine.options import DECKS, NUMBERS, TOKENS, Options

#: A look has at least so many games, so that those of one deal lie far apart, and nobody waits for the last of them.
LOOK_GAMES: Final = 48

Lineup = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Game:
    """A game to be played. seats: the entrant of each seat, by its place in the event. secret: the deal, 32 bytes.

    seeds: of the agents of the seats, which those who want can follow.
    """

    number: int
    block: int
    lineup: Lineup
    seats: tuple[int, ...]
    secret: bytes
    options: Options
    seeds: tuple[int, ...]


def lineups(event: Event) -> list[Lineup]:
    """Return who sits at a table together. Where there are fewer entrants than seats, they sit there more than once."""
    entrants = range(len(event.entrants))
    if event.format == GAUNTLET:
        return [(0, *others) for others in _tables(entrants[1:], event.seats - 1)]
    return _tables(entrants, event.seats)


def pairs(event: Event) -> list[tuple[int, int]]:
    """Return the pairs that meet, the earlier entrant first."""
    return sorted(set[tuple[int, int]]().union(*map(pairs_at, lineups(event))))


def pairs_at(lineup: Lineup) -> set[tuple[int, int]]:
    """Return the pairs that meet at a table."""
    return {(min(a, b), max(a, b)) for a, b in combinations(lineup, 2) if a != b}


def _tables(entrants: Sequence[int], seats: int) -> list[Lineup]:
    if len(entrants) >= seats:
        return list(combinations(entrants, seats))
    whole, rest = divmod(seats, len(entrants))
    return [tuple(sorted([*entrants] * whole + list(more))) for more in combinations(entrants, rest)]


class Schedule:
    """The looks of an event, one after the other. Each depends on which lineups are still to be played, and no more."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._lineups = lineups(event)
        self._looks = 0
        self._blocks = 0

    def next_look(self, left_out: Collection[Lineup] = ()) -> list[Game]:
        """Return the games of the next look, in the order of play; none once all are played."""
        event = self._event
        playing = [lineup for lineup in self._lineups if lineup not in left_out]
        most = event.games // event.seats
        rng = Random(f"{event.seed} look {self._looks}")  # noqa: S311  # repeatable is what it has to be
        turns = -(-LOOK_GAMES // (event.seats * len(playing))) if playing else 0
        games: list[Game] = []
        for _ in range(turns):
            rng.shuffle(playing)
            for lineup in playing:
                if self._blocks < most:
                    games += self._block(self._blocks, lineup)
                    self._blocks += 1
        self._looks += 1
        rng.shuffle(games)
        return games

    def _block(self, block: int, lineup: Lineup) -> list[Game]:
        event = self._event
        rng = Random(f"{event.seed} block {block}")  # noqa: S311
        around = list(lineup)
        rng.shuffle(around)
        options = _mixed(event, rng) if event.deck == MIX else event.options
        games = []
        for rotation in range(event.seats):
            deal = f"{block} {rotation}" if event.independent else f"{block}"
            games.append(
                Game(
                    number=block * event.seats + rotation,
                    block=block,
                    lineup=lineup,
                    seats=tuple([around[(seat + rotation) % event.seats] for seat in range(event.seats)]),
                    secret=derive(event.seed, f"deal {deal}"),
                    options=options,
                    seeds=tuple(
                        [
                            int.from_bytes(derive(event.seed, f"agent {block} {rotation} {seat}")[:6], "big")
                            for seat in range(event.seats)
                        ]
                    ),
                )
            )
        return games


def _mixed(event: Event, rng: Random) -> Options:
    deck = tuple([rng.choice(DECKS) for _ in range(NUMBERS)])
    return replace(event.options, deck=deck, token=event.token or rng.choice(TOKENS))


def derive(seed: str, purpose: str) -> bytes:
    """Return 32 bytes that follow from the seed, and tell nothing of it."""
    return hmac.new(seed.encode(), f"moonvale/arena/1 {purpose}".encode(), hashlib.sha256).digest()
