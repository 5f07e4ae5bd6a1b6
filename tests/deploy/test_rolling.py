"""Processes in place of pods are rolled, scaled, ended and killed while games are played through one name.

The same happens to the pods of a real cluster by `make cluster-test`.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from moonvale_client import AsyncClient, Options
from moonvale_client.retry import RetryPolicy
from tests.chaos.progress import ACKNOWLEDGED, Progress
from tests.deploy.names import Names
from tests.deploy.players import GAMES_OVER, Played, play
from tests.deploy.rolling import LEAST, Processes, happen
from tests.support.servers import StoreServer

AT_ONCE = 6
CALM = 20
TRIED = 20.0  # seconds; gRPC by itself looks a name up again after thirty

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all addresses of the loopback up")


@pytest.mark.timeout(300)
async def test_games_go_on_while_servers_are_rolled_scaled_ended_and_killed(
    valkey: StoreServer, tmp_path: Path
) -> None:
    progress = Progress()
    async with Names() as names:
        async with Processes(tmp_path, valkey.url, names, Random(1), grace="5s", connection_age="2s") as processes:
            await processes.scale(LEAST)
            target = names.target(processes.port)
            playing = asyncio.create_task(play(target, processes.creator_key, AT_ONCE, progress, Random(2)))
            await happen(processes, progress, CALM)
            progress.end()
            played: Played = await playing
            assert len(processes.pods) == LEAST
        print(f"{dict(progress.counts)}; {dict(played.outcomes)}; the name was asked for {names.asked} times")
        assert played.violations == []
        assert processes.errors() == []
        assert Counter(processes.stops) == {0: 3 * LEAST + 1}
        assert (processes.least, processes.most) == (LEAST - 1, LEAST + 2)  # one was killed while there were two
        assert progress.counts[GAMES_OVER] >= AT_ONCE
        assert progress.counts[ACKNOWLEDGED] > 8 * CALM
        assert names.asked > 4


async def test_a_client_whose_servers_were_all_replaced_at_once_finds_the_new_ones(
    valkey: StoreServer, tmp_path: Path
) -> None:
    async with (
        Names() as names,
        Processes(tmp_path, valkey.url, names, Random(1)) as processes,
        AsyncClient(names.target(processes.port), retry=RetryPolicy(timeout=TRIED)) as client,
    ):
        await processes.scale(1)
        game = await client.create_game(Options(players=2))
        (old,) = processes.pods
        await processes.delete()
        assert processes.pods != [old]
        assert (await client.get_view(game.name, game.seat_credentials[0])).version == 0
        assert names.asked > 1
