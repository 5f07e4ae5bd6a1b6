"""Many games of random agents at a time through two worker processes, on Redis and on the embedded store.

`GAMES=200 make test ARGS="tests/service/test_many_games.py -n 0"` plays as many as a release has to stand.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_engine.outcome import result
from moonvale_engine.record import read_record, replay_record
from tests.service.client import Client, play
from tests.service.servers import Service, running_service
from tests.support.servers import StoreServer

GAMES = int(os.environ.get("GAMES", "4"))
CHANNELS = 32  # connections, which the kernel spreads over the workers
TIMEOUT = 120 + 10 * GAMES


@pytest.mark.timeout(TIMEOUT)
def test_many_games_on_redis(redis_server: StoreServer, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("A" * 43)
    with running_service(store=redis_server.url, keys_file=str(keys), log_level="info") as service:
        play_many(service)


@pytest.mark.timeout(TIMEOUT)
def test_many_games_on_the_embedded_store() -> None:
    with running_service(log_level="info") as service:
        play_many(service)


def play_many(service: Service) -> None:
    """Play all games at once, and look at what they came to and at the logs."""
    workers = {worker.pid for worker in service.workers()}
    assert len(workers) == 2
    submitted = asyncio.run(_play_all(service.address))
    assert service.stop() == 0
    lines = service.log_lines()
    assert not [line for line in lines if line["level"] in ("error", "warning")]
    calls = [line for line in lines if line["event"] == "call"]
    assert {call["code"] for call in calls} == {"OK"}
    assert sum(call["method"] == "SubmitAction" for call in calls) == submitted
    assert {call["pid"] for call in calls} == workers


async def _play_all(address: str) -> int:
    clients = [Client(address) for _ in range(CHANNELS)]
    try:
        # Few games use few channels, which might all lead to one worker; together they lead to both.
        await asyncio.gather(*(client.raw("GetServerInfo", b"") for client in clients))
        played = [_play_one(clients[i % CHANNELS], clients[(i + 1) % CHANNELS], i) for i in range(GAMES)]
        return sum(await asyncio.gather(*played))
    finally:
        for client in clients:
            await client.__aexit__(None, None, None)


async def _play_one(client: Client, another: Client, number: int) -> int:
    """Play one game to its end and return how many actions it took."""
    game = await client.create(pb.CreateGameRequest(options=Options(players=2 + number % 3)))
    watching = asyncio.create_task(_count_entries(another, game.name, game.spectator)) if number % 5 == 0 else None
    view = await play(client, game, seed=number)
    replay = (await another.replay(game.name, game.spectator)).replay
    assert replay.result == view.result
    record = read_record(replay.record)
    replayed = result(replay_record(record))
    assert replayed is not None
    assert list(replayed.totals) == list(view.result.totals) == [seat.total for seat in view.seats]
    assert list(replayed.places) == list(view.result.places)
    assert len(record.entries) == view.version
    if watching is not None:
        assert await watching == view.version
    return view.version


async def _count_entries(client: Client, game: str, credential: str) -> int:
    version = 0
    async for message in client.watch(game, credential, 0):
        if message.HasField("entry"):
            assert message.entry.version == version + 1
            version += 1
    return version
