"""Memory: what a game takes in the store, and what games and watches take in the service's processes."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import redis
import uvloop

from moonvale_engine import RULES_VERSION
from moonvale_service.games import Games
from moonvale_service.store.redis_store import RedisStore, game_key, log_key
from tests.bench.environments import Tell
from tests.bench.report import Figure, Part, Table, between, number
from tests.bench.rounds import spread
from tests.bench.silver import DECKS, PLAYERS, options
from tests.bench.stored import SECONDS, play_game
from tests.service import watch_scale
from tests.support.servers import running, valkey_program

#: Only sizes are asked for, so no write has to wait for the disk.
NOT_SYNCED = ("--appendfsync", "no")


@dataclass(frozen=True)
class Size:
    """How much is measured: games of each kind, and watches."""

    games: int
    watches: int


FULL = Size(games=12, watches=10_000)
QUICK = Size(games=2, watches=200)


@dataclass(frozen=True)
class Stored:
    """Bytes of a finished game: of its state at each decision, of all that is stored, and of the store's memory."""

    states: list[int]
    values: int
    memory: int
    moves: int


def run(size: Size, tell: Tell) -> Part:
    """Measure what is stored, then what watches cost."""
    part = Part("Memory")
    tell("playing games into a store")
    kinds = [(deck, players) for deck in DECKS for players in PLAYERS]
    found = uvloop.run(play_into_a_store(size.games, kinds))
    four = [stored for (_, players), games in found.items() if players == 4 for stored in games]
    sizes = [byte for stored in four for byte in stored.states]
    finished = [stored.values for stored in four]
    part.figures += [
        Figure("state of a game of four", spread(sizes), "bytes", at_most=400),
        Figure("largest state of a game of four", spread([max(sizes)]), "bytes", at_most=400),
        Figure("finished game of four with its history", spread(finished), "bytes", at_most=4096),
        Figure("largest finished game of four", spread([max(finished)]), "bytes", at_most=4096),
    ]
    part.tables.append(_table(found))
    tell(f"opening {size.watches} watches")
    with contextlib.redirect_stdout(sys.stderr):
        part.figures += watches(size.watches)
    return part


async def play_into_a_store(count: int, kinds: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[Stored]]:
    """Play so many games of each kind (deck and players) to their end, and look at what the store has of them."""
    found: dict[tuple[str, int], list[Stored]] = {}
    rng = Random(1)
    with running(valkey_program(), options=NOT_SYNCED) as server, redis.Redis.from_url(server.url) as raw:
        store = RedisStore(server.url, SECONDS)
        games = Games(store, rules=RULES_VERSION, finished_expiry=None, idle_expiry=None)
        for deck, players in kinds:
            played = await asyncio.gather(*[play_game(games, options(deck, players), rng) for _ in range(count)])
            found[deck, players] = [_measure(raw, game, states) for game, states in played]
        await store.close()
    return found


def _measure(raw: redis.Redis, game: str, states: list[int]) -> Stored:
    record = raw.hgetall(game_key(game))
    log = raw.lrange(log_key(game), 0, -1)
    values = sum(map(len, record.values())) + sum(map(len, log))
    memory = sum([int(raw.memory_usage(key, samples=0) or 0) for key in (game_key(game), log_key(game))])
    return Stored(states, values, memory, len(log))


def _table(found: dict[tuple[str, int], list[Stored]]) -> Table:
    rows = [
        (
            f"{deck}, {players} players",
            between(spread([byte for stored in games for byte in stored.states])),
            number(max([byte for stored in games for byte in stored.states])),
            between(spread([stored.moves for stored in games])),
            between(spread([stored.values for stored in games])),
            between(spread([stored.values / stored.moves for stored in games])),
            between(spread([stored.memory for stored in games])),
        )
        for (deck, players), games in found.items()
    ]
    header = ("games", "state", "largest", "moves", "finished, all values", "a move", "finished, store's memory")
    return Table("Bytes of random games in the store", header, rows)


def watches(count: int) -> list[Figure]:
    """Open so many watches, and say what they take beside as many empty streams."""
    watch_scale.raise_file_limit()
    with running(valkey_program()) as store, tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        with watch_scale.server_process(store.url, folder) as (process, _, empty):
            bare = uvloop.run(watch_scale.measure_empty(count, process, empty))
        with watch_scale.server_process(store.url, folder) as (process, address, _):
            each = uvloop.run(watch_scale.measure(count, process, address, bare))
    return [
        Figure(f"{count} idle watches, memory", spread([each / bare]), "times empty streams", at_most=1.5),
        Figure("a watch", spread([each]), "KiB"),
        Figure("an empty stream of grpc.aio", spread([bare]), "KiB"),
    ]
