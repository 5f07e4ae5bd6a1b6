"""Many watches and old ones: the greatest age, slow readers, and that closed watches leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import grpc
import pytest

from moonvale.v1 import event_pb2
from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale.v1.view_pb2 import View
from moonvale_client import AsyncClient
from moonvale_client import Client as SyncClient
from moonvale_service.about import About
from moonvale_service.errors import ReaderTooSlowError
from moonvale_service.feed import Feed
from moonvale_service.history import Snapshot
from moonvale_service.watch import Told, Watches
from tests.service.client import SERVICE, Client, failure, play
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer

SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1))
WATCHES = 300


async def test_a_watch_ends_at_its_greatest_age_and_its_clients_resume_by_themselves(
    valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = 0
    often = asyncio.Event()
    watch = Watches.watch

    def counted(
        self: Watches, game: str, after: int | None, mark: str, admit: Callable[[About], None]
    ) -> AsyncGenerator[Told, None]:
        nonlocal streams
        streams += 1
        if streams == 7:  # both followers have been resumed more than once
            often.set()
        return watch(self, game, after, mark, admit)

    monkeypatch.setattr(Watches, "watch", counted)
    server = await start_server(valkey.url, tmp_path, watch_age="100ms", heartbeat="30ms")
    async with Client(server.address) as client, AsyncClient(server.address) as shipped:
        game = await client.create(SHORT)
        messages = [message async for message in client.watch(game.name, game.spectator)]
        assert messages[-1].end.reason == pb.WATCH_END_REASON_MAX_AGE
        assert {message.WhichOneof("content") for message in messages[1:-1]} == {"heartbeat"}

        async def follow() -> list[int]:
            async with aclosing(shipped.watch(game.name, game.spectator, after_version=0)) as updates:
                return [update.version async for update in updates if not isinstance(update, View)]

        def follow_in_a_thread() -> list[int]:
            with SyncClient(server.address) as sync:
                updates = sync.watch(game.name, game.spectator, after_version=0)
                return [update.version for update in updates if isinstance(update, event_pb2.LogEntry)]

        following = asyncio.create_task(follow())
        in_a_thread = asyncio.create_task(asyncio.to_thread(follow_in_a_thread))
        await asyncio.wait_for(often.wait(), 60)
        last = await play(client, game, seed=1)
        assert await following == list(range(1, last.version + 1))
        assert await in_a_thread == list(range(1, last.version + 1))
    await server.stop()


async def test_a_client_that_does_not_read_is_cut_off_with_the_reason(
    valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = asyncio.Event()
    init = ReaderTooSlowError.__init__

    def noticed(self: ReaderTooSlowError) -> None:
        init(self)
        cut.set()

    monkeypatch.setattr(ReaderTooSlowError, "__init__", noticed)
    server = await start_server(valkey.url, tmp_path, reader_timeout="100ms")
    async with Client(server.address) as client:
        game = await client.create(pb.CreateGameRequest(options=Options(players=4)))
        last = await play(client, game, seed=1)
        small = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.http2.lookahead_bytes", 1024),
            ("grpc.http2.bdp_probe", 0),
        )
        async with grpc.aio.insecure_channel(server.address, small) as channel:
            method: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(f"/{SERVICE}/WatchGame")
            request = pb.WatchGameRequest(name=game.name, after_version=0).SerializeToString()
            call = method(request, metadata=(("authorization", f"Bearer {game.spectator}"),))
            first = await call.read()
            assert isinstance(first, bytes)
            assert pb.WatchGameResponse.FromString(first).HasField("view")
            await asyncio.wait_for(cut.wait(), 60)  # and read nothing meanwhile
            entries = []

            async def read_on() -> None:
                while isinstance(message := await call.read(), bytes):
                    entries.append(pb.WatchGameResponse.FromString(message).entry)

            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await read_on()
            assert (raised.value.code(), failure(raised.value).reason) == (
                grpc.StatusCode.UNAVAILABLE,
                "READER_TOO_SLOW",
            )
            assert 0 < len(entries) < last.version
            assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
    await server.stop()


async def test_closed_watches_leave_nothing_behind(server: RunningServer) -> None:
    async with Client(server.address) as client:
        games = [await client.create(SHORT) for _ in range(3)]
        for _ in range(2):
            watches = [client.watch(games[i % 3].name, games[i % 3].spectator) for i in range(WATCHES)]
            await asyncio.gather(*(anext(watch) for watch in watches))
            assert watches_of(server) == WATCHES
            assert alive(Feed) == len(games)  # one decoded state for each game, however many watch it
            await asyncio.gather(*(watch.aclose() for watch in watches))
            async with asyncio.timeout(60):
                while watches_of(server):  # noqa: ASYNC110  # nothing tells of it
                    await asyncio.sleep(0.02)
            await asyncio.sleep(0)  # for the tasks of the feeds to end
            assert alive(Feed) == 0
            assert alive(Snapshot) == len(games)  # those remembered of the games' creation
        assert (await client.view(games[0].name, games[0].spectator)).version == 0


def alive(kind: type[Feed | Snapshot]) -> int:
    """How many there are in this process."""
    gc.collect()
    return sum(isinstance(each, kind) for each in gc.get_objects())


def watches_of(server: RunningServer) -> int:
    """How many watches the server holds."""
    return sum(watched.watchers for watched in server.server._watches._watched.values())
