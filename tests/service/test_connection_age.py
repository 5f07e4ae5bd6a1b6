"""Connections get old, so that clients open new ones, which may lead to new servers: no call and no watch notices."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_service import grpc_port, server
from moonvale_service.edge import Incoming
from tests.service.client import Client, play
from tests.service.servers import start_server
from tests.support.servers import StoreServer

SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1, turn_limit=12))
CONNECTIONS = 4
CALLS = 50


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The ends of all connections that have brought a call of GameService."""
    seen: set[str] = set()
    incoming = grpc_port._incoming

    def noted(raw: bytes, context: grpc_port.Context) -> Incoming:
        seen.add(context.peer())
        return incoming(raw, context)

    monkeypatch.setattr(grpc_port, "_incoming", noted)
    return seen


async def test_calls_and_watches_go_on_while_their_connections_get_old(
    valkey: StoreServer, tmp_path: Path, peers: set[str]
) -> None:
    running = await start_server(valkey.url, tmp_path, connection_age="50ms", heartbeat="20ms", call_rate="0")
    async with Client(running.address) as client:  # which repeats nothing by itself
        game = await client.create(SHORT)
        async with aclosing(client.watch(game.name, game.spectator)) as told:
            await anext(told)
            while len(peers) < CONNECTIONS:
                await client.view(game.name, game.seats[0])
            await play(client, game, seed=1)
            versions = [message.entry.version async for message in told if message.HasField("entry")]
        assert versions == list(range(1, versions[-1] + 1))
    await running.stop()


async def test_without_an_age_a_connection_lasts(valkey: StoreServer, tmp_path: Path, peers: set[str]) -> None:
    running = await start_server(valkey.url, tmp_path, connection_age="never", call_rate="0")
    async with Client(running.address) as client:
        game = await client.create(SHORT)
        for _ in range(CALLS):
            await client.view(game.name, game.seats[0])
    assert len(peers) == 1
    await running.stop()


async def test_what_lasts_for_ever_is_cut_once_all_watches_must_have_ended(
    valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_BEYOND_WATCHES", 0.05)
    running = await start_server(valkey.url, tmp_path, connection_age="50ms", watch_age="50ms")
    async with grpc.aio.insecure_channel(running.address) as channel:
        watch: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream("/grpc.health.v1.Health/Watch")
        asked = watch(health_pb2.HealthCheckRequest().SerializeToString())
        await anext(aiter(asked))
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await asyncio.wait_for(anext(aiter(asked)), 60)
        assert raised.value.code() == grpc.StatusCode.UNAVAILABLE
    await running.stop()
