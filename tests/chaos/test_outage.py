"""A store that is down makes calls fail, soon and alike, until it is back; a server that stops breaks no call off."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from random import Random

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from tests.chaos.calling import Connections
from tests.chaos.checker import check
from tests.chaos.progress import ACKNOWLEDGED, Progress
from tests.chaos.tables import RecordingClient, Table
from tests.service.client import SERVICE, Client, Failure, play
from tests.service.servers import Service, running_service, start_server
from tests.support.servers import StoreServer

SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1, turn_limit=12))
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def health(channel: grpc.aio.Channel, name: str) -> AsyncIterator[health_pb2.HealthCheckResponse]:
    """Watch what a server says of a service's health."""
    watch: grpc.aio.UnaryStreamMultiCallable[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]
    watch = channel.unary_stream(
        "/grpc.health.v1.Health/Watch",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    return aiter(watch(health_pb2.HealthCheckRequest(service=name)))


@pytest.mark.parametrize(("break_", "mend"), [("kill", "start"), ("pause", "resume")])
async def test_without_the_store_calls_fail_soon_and_readiness_is_off(
    valkey: StoreServer, tmp_path: Path, break_: str, mend: str
) -> None:
    server = await start_server(valkey.url, tmp_path, store_timeout="300ms")
    async with Client(server.address) as client, grpc.aio.insecure_channel(server.address) as channel:
        game = await client.create(SHORT)
        seat = (await play(client, game, seed=1, moves=3)).decision.seat
        view = await client.view(game.name, game.seats[seat])
        ready = health(channel, SERVICE)
        assert (await anext(ready)).status == SERVING
        await asyncio.to_thread(getattr(valkey, break_))
        calls: list[Callable[[], object]] = [
            lambda: client.create(SHORT),
            lambda: client.view(game.name, game.spectator),
            lambda: client.submit(game.name, game.seats[seat], [view.decision.legal_actions[0]], 3),
            lambda: client.events(game.name, game.spectator),
            lambda: client.replay(game.name, game.spectator),
            lambda: client.resign(game.name, game.seats[0]),
            lambda: client.delete(game.name, game.creator),
            lambda: anext(client.watch(game.name, game.spectator)),
        ]
        for call in calls:
            with pytest.raises(Failure) as raised:
                await call()  # type: ignore[misc]
            assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
        assert (await anext(ready)).status == NOT_SERVING
        assert (await anext(health(channel, ""))).status == SERVING  # there is no use in killing the process
        await asyncio.to_thread(getattr(valkey, mend))
        assert (await anext(ready)).status == SERVING
    async with Client(server.address) as client:
        again = await client.create(SHORT)
        assert (await play(client, again, seed=1)).HasField("result")
    await server.stop()


async def test_a_watch_waits_for_the_store(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, store_timeout="100ms", heartbeat="50ms", poll="50ms")
    async with Client(server.address) as client:
        game = await client.create(SHORT)
        async with aclosing(client.watch(game.name, game.spectator)) as told:
            await anext(told)
            await asyncio.to_thread(valkey.kill)
            with pytest.raises(Failure, match="STORE_UNAVAILABLE"):
                await client.view(game.name, game.spectator)
            assert (await anext(told)).HasField("heartbeat")
            await asyncio.to_thread(valkey.start)
            await play(client, game, seed=1)
            versions = [message.entry.version async for message in told if message.HasField("entry")]
            assert versions == list(range(1, versions[-1] + 1))
    await server.stop()


async def test_a_server_that_stops_answers_all_calls_that_have_reached_it(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, grace="30s")
    async with Client(server.address) as client:
        games = [await client.create(SHORT) for _ in range(40)]
        calls = [asyncio.create_task(client.view(game.name, game.spectator)) for game in games]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        await server.stop()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, Failure)
            assert (outcome.code, outcome.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")


def test_a_service_that_is_stopped_under_load_loses_nothing() -> None:
    with running_service(workers="1") as service:
        counts = asyncio.run(_stop_and_start(service))
        assert service.stop() == 0
        levels = {line["level"] for line in service.log_lines() if line["event"] == "call"}
    assert counts["games over"] == 8
    assert "error" not in levels


async def _stop_and_start(service: Service) -> Counter[str]:
    """Play some games while the whole service stops and starts again."""
    progress = Progress()
    connections = Connections([service.address], Random(1))
    key = (service.folder / "data/creator_key").read_text(encoding="ascii").strip()
    async with RecordingClient(service.address) as agents:
        tables = [Table(connections, agents, key, progress, Random(seed)) for seed in range(8)]
        games = asyncio.gather(*(table.play() for table in tables))
        await progress.calm(50)
        assert await asyncio.to_thread(service.stop) == 0
        await asyncio.to_thread(service.start)
        await progress.calm(50)
        progress.end()
        await games
    await connections.close()
    for table in tables:
        assert check(table.game) == []
        progress.add("games over")
    assert progress.counts[ACKNOWLEDGED] > 100
    return progress.counts
