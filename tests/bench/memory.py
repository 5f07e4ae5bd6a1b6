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

from moonvale_service.store.redis_store import RedisStore, game_key, log_key
from tests.bench.environments import Tell
from tests.bench.report import Figure, Part, Table, between, number
from tests.bench.rounds import spread
from tests.bench.silver import DECKS, PLAYERS, options
from tests.bench.stored import SECONDS, play_game
from tests.service import watch_scale
from tests.support.servers import running, valkey_program
from tests.support.use_cases import use_cases

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
    """Bytes of a finished game: of its state at each decision, of all that is stored, and of the store's memory.

    ``packed`` and ``packed_memory``: of the last two once its log is packed.
    """

    states: list[int]
    values: int
    memory: int
    packed: int
    packed_memory: int
    moves: int


def run(size: Size, tell: Tell) -> Part:
    """Measure what is stored, then what watches cost."""
    part = Part("Memory")
    tell("playing games into a store")
    kinds = [(deck, players) for deck in DECKS for players in PLAYERS]
    found = uvloop.run(play_into_a_store(size.games, kinds))
    four = [stored for (_, players), games in found.items() if players == 4 for stored in games]
    sizes = [byte for stored in four for byte in stored.states]
    finished = [stored.packed for stored in four]
    part.figures += [
        Figure("state of a game of four", spread(sizes), "bytes", at_most=400),
        Figure("largest state of a game of four", spread([max(sizes)]), "bytes", at_most=400),
        Figure("finished game of four with its history, packed", spread(finished), "bytes", at_most=4096),
        Figure("largest finished game of four, packed", spread([max(finished)]), "bytes", at_most=4096),
        Figure("the same in its first hour", spread([stored.values for stored in four]), "bytes"),
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
        cases = use_cases(store)
        for deck, players in kinds:
            played = await asyncio.gather(*[play_game(cases, options(deck, players), rng) for _ in range(count)])
            found[deck, players] = [await _measure(store, raw, game, states) for game, states in played]
        await store.close()
    return found


async def _measure(store: RedisStore, raw: redis.Redis, game: str, states: list[int]) -> Stored:
    """Look at what is stored of a finished game, and pack its log, as a steward does an hour after the end."""
    values, memory = _sizes(raw, game)
    record, log, _ = await store.read_log(game, 0)
    await store.pack(game, record.version, record.mark, log)
    packed, packed_memory = _sizes(raw, game)
    return Stored(states, values, memory, packed, packed_memory, len(log))


def _sizes(raw: redis.Redis, game: str) -> tuple[int, int]:
    """Return the bytes of all values of a game, and those that the store's memory has for them."""
    values = sum(map(len, raw.hgetall(game_key(game)).values())) + sum(map(len, raw.lrange(log_key(game), 0, -1)))
    memory = sum([int(raw.memory_usage(key, samples=0) or 0) for key in (game_key(game), log_key(game))])
    return values, memory


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
            between(spread([stored.packed for stored in games])),
            between(spread([stored.packed_memory for stored in games])),
        )
        for (deck, players), games in found.items()
    ]
    finished = ("finished, all values", "a move", "store's memory", "packed, all values", "store's memory")
    header = ("games", "state", "largest", "moves", *finished)
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
