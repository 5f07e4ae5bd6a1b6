"""Standings: what the results of an event say of its entrants, one by one and in pairs. Only whole blocks count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from moonvale_arena import sequential
from moonvale_arena.event import Event
from moonvale_arena.intervals import Estimate, of_points, of_share
from moonvale_arena.ratings import Rating, rate
from moonvale_arena.results import TIME_BUCKETS, GameResult
from moonvale_arena.schedule import pairs

#: How sure words are of a difference where an event doesn't say.
ALPHA: Final = 0.05

Block = Sequence[GameResult]


@dataclass(frozen=True, slots=True)
class Standing:
    """One entrant.

    - beaten: the share of opponents that were placed behind it. wins: the share of games that one of its seats won.
    - places: how many seats came first, second, and so on. round_points, game_points: None if no game had points.
    - lost_by_rule: how many seats, by fault. decisions, and median, longest in seconds; p99: all but 1 % are shorter.
    - rounds: its points in every round that counts.
    """

    entrant: int
    name: str
    games: int
    rating: Rating
    beaten: Estimate
    wins: Estimate
    places: tuple[int, ...]
    round_points: Estimate | None
    game_points: Estimate | None
    lost_by_rule: Mapping[str, int]
    decisions: int
    median: float
    p99: float
    longest: float
    buckets: tuple[int, ...]
    rounds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entrants that met.

    - ahead: the share of their meetings in which the first was placed before the second. Its interval holds whenever
      one looks at it, so also when the event was stopped because of what it showed.
    - fewer: by how many points a round the second has more than the first, in games without loss by rule.
    - p: how surprising this would be if neither were better, at any time, and for all pairs of the event together.
    """

    first: int
    second: int
    blocks: int
    ahead: Estimate
    fewer: Estimate | None
    p: float


@dataclass(frozen=True, slots=True)
class Standings:
    """All entrants, the best first, and all pairs. games: how many are in whole blocks; left_over: how many are not."""

    event: Event
    entrants: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    games: int
    blocks: int
    left_over: int

    def pair(self, a: int, b: int) -> Pair | None:
        """Return how two entrants met, whichever is named first."""
        return next((pair for pair in self.pairs if {pair.first, pair.second} == {a, b}), None)


def whole_blocks(event: Event, games: Iterable[GameResult]) -> list[Block]:
    """Return the blocks of which all games are over, in the order of the schedule."""
    blocks: dict[int, list[GameResult]] = {}
    for game in sorted(games, key=lambda game: game.number):
        blocks.setdefault(game.block, []).append(game)
    return [block for _, block in sorted(blocks.items()) if len(block) == event.seats]


def standings(event: Event, games: Sequence[GameResult]) -> Standings:
    """Return the standings. Raises ArenaError where the library of ratings is missing."""
    blocks = whole_blocks(event, games)
    ratings = rate(len(event.entrants), [_mean_places(block) for block in blocks])
    played = [_standing(event, blocks, entrant, rating) for entrant, rating in enumerate(ratings)]
    met = pairs(event)
    return Standings(
        event,
        tuple(sorted([each for each in played if each], key=lambda each: (-each.beaten.mean, each.entrant))),
        tuple([pair for a, b in met if (pair := _pair(event, blocks, a, b, len(met)))]),
        sum(map(len, blocks)),
        len(blocks),
        len(games) - sum(map(len, blocks)),
    )


def ahead(block: Block, a: int, b: int) -> float:
    """Return the share of meetings of a block in which a was placed before b."""
    return fmean(
        [float(game.place(i) < game.place(j)) for game in block for i in _seats(game, a) for j in _seats(game, b)]
    )


def blocks_of(blocks: Iterable[Block], *entrants: int) -> list[Block]:
    """Return the blocks in which all of these entrants played."""
    return [block for block in blocks if set(entrants) <= set(block[0].lineup)]


def _seats(game: GameResult, entrant: int) -> list[int]:
    return [seat for seat, sitting in enumerate(game.seats) if sitting == entrant]


def _mean_places(block: Block) -> dict[int, float]:
    return {
        entrant: fmean([game.place(seat) for game in block for seat in _seats(game, entrant)])
        for entrant in set(block[0].lineup)
    }


def _standing(event: Event, all_blocks: Sequence[Block], entrant: int, rating: Rating) -> Standing | None:
    blocks = blocks_of(all_blocks, entrant)
    if not blocks:
        return None
    games = [game for block in blocks for game in block]
    seated = [(game, seat) for game in games for seat in _seats(game, entrant)]
    places = Counter([game.place(seat) for game, seat in seated])
    scored = [_round_points(block, entrant) for block in blocks]
    by_block = [fmean(points) for points in scored if points]
    times = [game.times[seat] for game, seat in seated]
    buckets = _added([each.buckets for each in times])
    beaten = [
        fmean(
            [float(game.place(i) < game.place(j)) for game in block for i in _seats(game, entrant)
             for j, other in enumerate(game.seats) if other != entrant]
        )
        for block in blocks
    ]  # fmt: skip
    return Standing(
        entrant=entrant,
        name=event.entrants[entrant].name,
        games=len(games),
        rating=rating,
        beaten=of_share(beaten),
        wins=of_share([fmean([float(game.seats[game.places[0]] == entrant) for game in block]) for block in blocks]),
        places=tuple([places[place] for place in range(event.seats)]),
        round_points=of_points(by_block) if by_block else None,
        game_points=of_points([event.rounds * mean for mean in by_block]) if by_block else None,
        lost_by_rule=Counter([fault.fault for game, seat in seated if (fault := game.faults[seat])]),
        decisions=sum([each.decisions for each in times]),
        median=_at(buckets, 0.5),
        p99=_at(buckets, 0.99),
        longest=max([each.longest for each in times]),
        buckets=buckets,
        rounds=tuple([point for points in scored for point in points]),
    )


def _round_points(block: Block, entrant: int) -> list[int]:
    """Return an entrant's points of every round of games in which nobody has lost by rule."""
    return [
        scores[seat] for game in block if not game.by_rule for seat in _seats(game, entrant) for scores in game.scores
    ]


def _pair(event: Event, all_blocks: Sequence[Block], a: int, b: int, pairs: int) -> Pair | None:
    blocks = blocks_of(all_blocks, a, b)
    if not blocks:
        return None
    values = [ahead(block, a, b) for block in blocks]
    low, high = sequential.interval(values)
    scored = [(_round_points(block, a), _round_points(block, b)) for block in blocks]
    differences = [fmean(theirs) - fmean(ours) for ours, theirs in scored if ours and theirs]
    return Pair(
        a,
        b,
        len(blocks),
        Estimate(fmean(values), min(low, fmean(values)), max(high, fmean(values)), len(blocks)),
        of_points(differences) if differences else None,
        min(1.0, pairs / sequential.evidence(values)),
    )


def _added(counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple([sum([each[i] for each in counts if i < len(each)]) for i in range(TIME_BUCKETS)])


def _at(buckets: Sequence[int], part: float) -> float:
    """Return about the time that this part of the decisions took at most, in seconds."""
    wanted = part * sum(buckets)
    passed = 0.0
    for i, count in enumerate(buckets):
        if count and passed + count >= wanted:
            return float(2 ** (i + (wanted - passed) / count)) / 1e6
        passed += count
    return 0.0
