"""The load of a service: closed loops over several connections, in a process of its own, which obeys the bench.

``python -m tests.bench.load ADDRESS CREATOR_KEY_FILE STORE_URL LOOPS [HTTP_ADDRESS]``. Games are dealt by the load, so
that it knows every choice beforehand: what is sent is encoded before the clock runs, and answers aren't decoded. The
store is used only to have games that are long already.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import grpc.aio
import uvloop
from grpc_health.v1 import health_pb2

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1 import options_pb2
from moonvale_engine import Entry, apply, encode, legal_actions, new_game, seat_to_act
from moonvale_engine.options import MAX_ROUNDS
from moonvale_service.convert.actions import to_proto
from moonvale_service.store.redis_store import RedisStore
from tests.bench.peers.obey import Run, obey
from tests.bench.silver import DECKS, options
from tests.bench.stored import SECONDS, append_moves

SERVICE = "moonvale.v1.GameService"
CHANNELS = 8  # connections, which the system spreads over the workers
WATCHERS = 100  # of one game
PLAYERS = 4
LENGTHS = (0, 500, 1000, 2000, 3000)  # moves that games can have when their play begins
ENOUGH = 250  # moves that a game should have left when a run begins

Metadata = tuple[tuple[str, str], ...]
Call = Callable[..., Awaitable[bytes]]


def bearer(credential: str) -> Metadata:
    """Return the metadata of a credential."""
    return (("authorization", f"Bearer {credential}"),)


class Script:
    """A created game with all its moves to come, encoded. ``seats``: the metadata of each.

    ``made``: those of its moves that are put into the store instead of being sent, and the state after them.
    """

    def __init__(self, created: pb.CreateGameResponse, secret: bytes, length: int) -> None:
        self.name = created.name
        self.seats = [bearer(credential) for credential in created.seat_credentials]
        self.spectator = bearer(created.spectator_credential)
        self.view = pb.GetViewRequest(name=created.name).SerializeToString()
        rng = Random(secret)
        game = new_game(replace(options("mix", PLAYERS), rounds=rounds_for(length), deal_supplied=True), secret)
        self.made: list[Entry] = []
        while len(self.made) < length:
            action = rng.choice(legal_actions(game))
            self.made.append(Entry(seat_to_act(game), action))
            apply(game, action)
        self.state = encode(game)
        moves: list[tuple[bytes, Metadata]] = []
        while legal := legal_actions(game):
            action = rng.choice(legal)
            request = pb.SubmitActionRequest(
                name=created.name,
                actions=[to_proto(action)],
                version=length + len(moves),
                request_id=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            )
            moves.append((request.SerializeToString(), self.seats[seat_to_act(game)]))
            apply(game, action)
        self.moves = moves[::-1]  # the next one last


def rounds_for(length: int) -> int:
    """Return how many rounds a game has that is played on after so many moves: random ones take 150 moves or more."""
    return 4 if length == 0 else MAX_ROUNDS


class Games:
    """Games that loops play: one for each, and spare ones for those that end. All begin at so many moves."""

    def __init__(self, create: Callable[[int], Awaitable[Script]], length: int) -> None:
        self.of: list[Script] = []
        self._create = create
        self._length = length
        self._spare: list[Script] = []

    async def prepare(self, loops: int) -> None:
        """Have a game for each loop, and enough spare ones."""
        while len(self.of) < loops:
            self.of.append(await self._create(self._length))
        while len(self._spare) < sum([len(game.moves) < ENOUGH for game in self.of]):
            self._spare.append(await self._create(self._length))
        gc.freeze()  # or the clients' collector would look through all the moves to come, again and again

    async def next_move(self, loop: int) -> tuple[bytes, Metadata]:
        """Take the next move of a loop's game, or of another one if that is over."""
        if not self.of[loop].moves:
            self.of[loop] = self._spare.pop() if self._spare else await self._create(self._length)
        return self.of[loop].moves.pop()


class Load:
    """Connections to one service, and the games that are played over them, one by each loop."""

    def __init__(self, address: str, creator_key: str, store_url: str, loops: int, http_address: str) -> None:
        self._loops = loops
        self._creator = bearer(creator_key)
        self._http_address = http_address
        self._channels = [
            grpc.aio.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),)) for _ in range(CHANNELS)
        ]
        self._store = RedisStore(store_url, SECONDS)
        self._games = {length: Games(self.create, length) for length in LENGTHS}
        self._crowd: list[Table] = []
        self._tables: list[Table] = []
        self._http: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    def _method(self, name: str) -> list[Call]:
        """Return a method as each of the loops calls it."""
        calls: list[Call] = [channel.unary_unary(name) for channel in self._channels]
        return [calls[i % CHANNELS] for i in range(self._loops)]

    async def create(self, length: int = 0) -> Script:
        """Create a game, with so many moves in it already."""
        secret = os.urandom(32)
        chosen = options_pb2.Options(players=PLAYERS, deck=DECKS["mix"], rounds=rounds_for(length))
        request = pb.CreateGameRequest(options=chosen, deal=pb.Deal(secret=secret))
        call: Call = self._channels[0].unary_unary(f"/{SERVICE}/CreateGame")
        answer = await call(request.SerializeToString(), metadata=self._creator, wait_for_ready=True)
        game = Script(pb.CreateGameResponse.FromString(answer), secret, length)
        await append_moves(self._store, game.name.removeprefix("games/"), game.made, game.state)
        return game

    async def health(self, seconds: float) -> Mapping[str, float]:
        """Check of grpc.health: the least that a call of this server can cost."""
        request = health_pb2.HealthCheckRequest(service=SERVICE).SerializeToString()
        calls = self._method("/grpc.health.v1.Health/Check")
        return await closed_loops(lambda i: calls[i](request), self._loops, seconds)

    async def info(self, seconds: float) -> Mapping[str, float]:
        """GetServerInfo: the least that a call of GameService can cost."""
        calls = self._method(f"/{SERVICE}/GetServerInfo")
        return await closed_loops(lambda i: calls[i](b""), self._loops, seconds)

    async def new_game(self, seconds: float) -> Mapping[str, float]:
        """CreateGame, as anybody may call it."""
        calls = self._method(f"/{SERVICE}/CreateGame")
        return await closed_loops(lambda i: calls[i](b""), self._loops, seconds)

    async def view(self, seconds: float, length: int = 0) -> Mapping[str, float]:
        """GetView, each loop as another seat of another game."""
        games = self._games[length]
        await games.prepare(self._loops)
        calls = self._method(f"/{SERVICE}/GetView")
        return await closed_loops(
            lambda i: calls[i](games.of[i].view, metadata=games.of[i].seats[i % PLAYERS]), self._loops, seconds
        )

    async def submit(self, seconds: float, length: int = 0) -> Mapping[str, float]:
        """SubmitAction: each loop plays a game of its own; the answer has the new view."""
        games = self._games[length]
        await games.prepare(self._loops)
        calls = self._method(f"/{SERVICE}/SubmitAction")

        async def move(i: int) -> None:
            request, metadata = await games.next_move(i)
            await calls[i](request, metadata=metadata)

        return await closed_loops(move, self._loops, seconds)

    async def watch(self, seconds: float) -> Mapping[str, float]:
        """One game with many watchers: each move is made when all have got the one before."""
        if not self._crowd:
            self._crowd.append(Table(self._channels, WATCHERS))
        await self._crowd[0].prepare(self.create)
        submit = self._method(f"/{SERVICE}/SubmitAction")[0]
        answer = await closed_loops(lambda _: self._crowd[0].move(submit), 1, seconds)
        return {**answer, "count": answer["count"] * WATCHERS}

    async def table(self, seconds: float) -> Mapping[str, float]:
        """SubmitAction in games whose seats all watch: a move is done when all have been told."""
        while len(self._tables) < self._loops:
            self._tables.append(Table(self._channels, PLAYERS))
        for table in self._tables:
            await table.prepare(self.create)
        calls = self._method(f"/{SERVICE}/SubmitAction")
        return await closed_loops(lambda i: self._tables[i].move(calls[i]), self._loops, seconds)

    async def http_view(self, seconds: float) -> Mapping[str, float]:
        """GetView over HTTP/1.1 as JSON, on connections that are kept."""
        games = self._games[0]
        await games.prepare(self._loops)
        host, _, port = self._http_address.rpartition(":")
        while len(self._http) < self._loops:
            self._http.append(await asyncio.open_connection(host, int(port)))
        requests = [
            f"GET /v1/{game.name} HTTP/1.1\r\nhost: {host}\r\nauthorization: {game.seats[i % PLAYERS][0][1]}\r\n\r\n"
            for i, game in enumerate(games.of)
        ]

        async def get(i: int) -> None:
            reader, writer = self._http[i]
            writer.write(requests[i].encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
            if head[0].split()[1] != "200":
                raise RuntimeError(f"GET was answered with {head[0]}")
            lengths = [int(line.partition(":")[2]) for line in head if line.startswith("content-length:")]
            await reader.readexactly(lengths[0])

        return await closed_loops(get, self._loops, seconds)


class Table:
    """A game, and the streams of so many who watch it: its seats in turn, or, if there are more, spectators."""

    def __init__(self, channels: list[grpc.aio.Channel], watchers: int) -> None:
        self._channels = channels
        self._watchers = watchers
        self._streams: list[Any] = []
        self._game: Script | None = None

    async def prepare(self, create: Callable[[], Awaitable[Script]]) -> None:
        """Have a game with moves enough, and the streams on it open."""
        if self._game is not None and len(self._game.moves) >= ENOUGH:
            return
        for stream in self._streams:
            stream.cancel()
        game = self._game = await create()
        request = pb.WatchGameRequest(name=game.name).SerializeToString()
        self._streams = []
        for i in range(self._watchers):
            method: Any = self._channels[i % CHANNELS].unary_stream(f"/{SERVICE}/WatchGame")
            who = game.seats[i] if self._watchers <= PLAYERS else game.spectator
            self._streams.append(method(request, metadata=who))
        for first in await asyncio.gather(*[stream.read() for stream in self._streams]):
            assert pb.WatchGameResponse.FromString(first).HasField("view")

    async def move(self, submit: Call) -> None:
        """Make a move, and wait until all have been told."""
        assert self._game is not None
        request, metadata = self._game.moves.pop()
        telling = asyncio.gather(*[_entry(stream) for stream in self._streams])
        await submit(request, metadata=metadata)
        await telling


async def _entry(stream: Any) -> None:  # noqa: ANN401  # grpc.aio's calls have no type of their own
    """Get the next entry of a watch; heartbeats are stepped over."""
    while isinstance(message := await stream.read(), bytes):
        if pb.WatchGameResponse.FromString(message).HasField("entry"):
            return
    raise RuntimeError(f"a watch has ended: {await stream.code()} {await stream.details()}")


async def closed_loops(call: Callable[[int], Awaitable[object]], loops: int, seconds: float) -> Mapping[str, float]:
    """Keep so many calls in flight for so many seconds, and make at least one. Each must succeed, the last ones too."""
    waits: list[float] = []
    cpu, began = time.process_time(), time.perf_counter()
    end = began + seconds

    async def loop(i: int) -> None:
        now = began
        while not waits or now < end:
            await call(i)
            then, now = now, time.perf_counter()
            waits.append(now - then)

    await asyncio.gather(*[loop(i) for i in range(loops)])
    waits.sort()
    return {
        "count": len(waits),
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - began,
        "p50": 1000 * waits[len(waits) // 2],
        "p99": 1000 * waits[len(waits) * 99 // 100],
    }


def main(address: str, creator_key_file: str, store_url: str, loops: str, http_address: str = "") -> None:
    """Obey."""
    key = Path(creator_key_file).read_text(encoding="ascii").strip()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:

        async def connect() -> Load:
            return Load(address, key, store_url, int(loops), http_address)

        load = runner.run(connect())

        def case(run: Callable[..., Any], **more: int) -> Callable[[], Run]:
            return lambda: lambda seconds: runner.run(run(seconds, **more))

        methods = ("health", "info", "view", "submit", "table", "watch", "new_game")
        cases = {name: case(getattr(load, name)) for name in methods}
        if http_address:
            cases["http_view"] = case(load.http_view)
        for length in LENGTHS:
            cases[f"view at {length}"] = case(load.view, length=length)
            cases[f"submit at {length}"] = case(load.submit, length=length)
        obey(cases, {"name": "load", "version": ""})


if __name__ == "__main__":
    main(*sys.argv[1:])
