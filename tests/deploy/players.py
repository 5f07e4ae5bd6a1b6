"""Players of a rolling update: they play games through one name while the servers behind it come and go.

As a command it plays within a cluster, where its name is looked up. It reads the creator key from its standard input,
and writes a line of JSON whenever the counts have grown. When a line comes on its input, it brings all games to an end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final

from moonvale_client.channel import OPTIONS
from tests.chaos.calling import Connections
from tests.chaos.checker import check
from tests.chaos.progress import BEGUN_ANEW, Progress
from tests.chaos.tables import RecordingClient, Table

GAMES_OVER: Final = "games over"

_SHOW_SECONDS: Final = 0.2
_BY_AGENTS: Final = 0.5


@dataclass(slots=True)
class Played:
    """What came of it. ``violations``: moves lost or repeated, and errors that clients have seen beyond retries."""

    violations: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)


async def play(address: str, creator_key: str, at_once: int, progress: Progress, rng: Random) -> Played:
    """Play so many games at once, one after another, until ``progress`` ends. ``address``: a target of gRPC."""
    played = Played()
    connections = Connections([address], Random(rng.getrandbits(64)), OPTIONS)
    async with RecordingClient(address) as agents:

        async def play_on(rng: Random) -> None:
            while not progress.ending.is_set():
                table = Table(connections, agents, creator_key, progress, rng, _BY_AGENTS, shared=0)
                try:
                    await table.play()
                except Exception as error:  # noqa: BLE001  # whatever goes wrong at a table is what is looked for
                    played.violations.append(f"{table.game.name or 'a new game'}: {_in_short(error)}")
                else:
                    played.violations += map(str, check(table.game))
                progress.add(GAMES_OVER)

        await asyncio.gather(*(play_on(Random(rng.getrandbits(64))) for _ in range(at_once)))
    await connections.close()
    played.outcomes = connections.outcomes
    if progress.counts[BEGUN_ANEW]:
        played.violations.append(f"{progress.counts[BEGUN_ANEW]} times a client has given up")
    return played


def _in_short(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def _command(address: str, at_once: int) -> int:
    progress = Progress()
    creator_key = await asyncio.to_thread(sys.stdin.readline)

    async def show() -> None:
        shown: Counter[str] = Counter()
        while True:
            if progress.counts != shown:
                shown = Counter(progress.counts)
                print(json.dumps({"counts": shown}), flush=True)
            await asyncio.sleep(_SHOW_SECONDS)

    async def end() -> None:
        await asyncio.to_thread(sys.stdin.readline)
        progress.end()

    showing, ending = asyncio.create_task(show()), asyncio.create_task(end())
    played = await play(address, creator_key.strip(), at_once, progress, Random(secrets.randbits(64)))
    showing.cancel()
    ending.cancel()
    print(json.dumps({"counts": progress.counts, "violations": played.violations, "outcomes": played.outcomes}))
    return 1 if played.violations else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.deploy.players", description=__doc__)
    parser.add_argument("address", help="a target of gRPC")
    parser.add_argument("--at-once", type=int, default=20, metavar="N", help="games at once (default: %(default)s)")
    arguments = parser.parse_args()
    sys.exit(asyncio.run(_command(arguments.address, arguments.at_once)))
