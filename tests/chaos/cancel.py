"""Calls and watches that their clients give up at any moment, by the thousand: `make cancel N=10000`.

They leave nothing behind: afterwards all calls still share the one connection to the store that was there before, and
every answer, then and meanwhile, must be that of its own game.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import uvloop

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale.v1.view_pb2 import View
from moonvale_service import logs
from tests.chaos.proxy import Link
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import start_server
from tests.support.servers import StoreServer, running, valkey_program

_GAMES: Final = 24
_AT_ONCE: Final = 60
_WITNESSES: Final = 4
_TURNS: Final = 8  # games that are watched at once for their turns
_SHOW_SECONDS: Final = 2.0

#: How a change is refused when another one was faster.
_OUTRUN: Final = frozenset({"STALE_VERSION", "GAME_OVER", "REQUEST_ID_REUSED"})


class MixedUpError(Exception):
    """An answer was that of another game, or calls have lost their connection."""


class Storm:
    """Cancels calls to a server, whose store is behind a ``link``. ``counts``: how they ended."""

    def __init__(self, address: str, link: Link, rng: Random) -> None:
        self.counts: Counter[str] = Counter()
        self.link = link
        self._rng = rng
        self._client = Client(address)
        self._games: list[Game] = []
        self._usual = 0.01  # seconds that a call takes, at present

    async def run(self, count: int) -> None:
        """Begin so many calls and give them up after a moment. Raises MixedUpError."""
        for number in range(_GAMES):
            await self._begin_game(number)
        bystander = await self._client.create(pb.CreateGameRequest(options=Options(players=2)))
        async with aclosing(self._client.watch(bystander.name, bystander.spectator)) as told:
            await anext(told)  # from now on the store tells what changes, on a connection of its own
            connections = self.link.accepted
            left = iter(range(count))
            over = asyncio.Event()
            witnesses = [asyncio.create_task(self._witness(over)) for _ in range(_WITNESSES)]
            await asyncio.gather(*(self._call_and_cancel(left) for _ in range(_AT_ONCE)))
            over.set()
            await asyncio.gather(*witnesses)
            self.check_connections(connections)
        for number, game in enumerate(self._games):
            check(game, await play(self._client, game, seed=number, moves=5))
            check(game, await self._client.view(game.name, game.creator))

    async def close(self) -> None:
        """Close the client."""
        await self._client.__aexit__(None, None, None)

    async def _begin_game(self, number: int) -> None:
        """Create a game, in place of the one that was over if there was one."""
        players = self._rng.randint(2, 4)
        request = pb.CreateGameRequest(options=Options(players=players, rounds=1), external_id=str(self._rng.random()))
        self._games[number : number + 1] = [await self._client.create(request)]

    async def _call_and_cancel(self, left: Iterator[int]) -> None:
        for _ in left:
            number = self._rng.randrange(_GAMES)
            game = self._games[number]
            dice = self._rng.random()
            if dice < 0.4:
                if dice < 0.1:
                    await self._give_up("watches of turns", self._watch_turns(self._rng.sample(self._games, _TURNS)))
                else:
                    await self._give_up("watches", self._watch(game))
                continue
            view = await self._look(game, None)
            if not view.HasField("decision"):
                if self._games[number] is game:
                    await self._begin_game(number)
                continue
            mine = await self._look(game, view.decision.seat)
            if mine.decision.legal_actions:
                await self._give_up("SubmitActions", self._submit(game, mine))

    async def _give_up(self, what: str, call: Coroutine[Any, Any, None]) -> None:
        """Begin a call, and cancel it at a moment before its end, or soon after."""
        task = asyncio.create_task(call)
        await asyncio.wait([task], timeout=self._rng.uniform(0, 1.5 * self._usual))
        if task.cancel():
            self.counts[f"{what} cancelled"] += 1
        else:
            self.counts[f"{what} answered before"] += 1
        with suppress(asyncio.CancelledError):
            await task

    async def _submit(self, game: Game, view: View) -> None:
        action = self._rng.choice(view.decision.legal_actions)
        seat = view.decision.seat
        try:
            answer = await self._client.submit(
                game.name, game.seats[seat], [action], view.version, f"{seat} {view.version}"
            )
        except Failure as failure:
            if failure.reason not in _OUTRUN:
                raise
        else:
            check(game, answer.view)

    async def _watch(self, game: Game) -> None:
        async with aclosing(self._client.watch(game.name, game.spectator, 0)) as told:
            async for message in told:
                if message.HasField("view"):
                    check(game, message.view)

    async def _watch_turns(self, games: Sequence[Game]) -> None:
        seats = [(game, credential) for game in games for credential in game.seats]
        async with aclosing(self._client.turns([(game.name, credential) for game, credential in seats])) as told:
            async for message in told:
                if message.HasField("turn") or message.HasField("over"):
                    check(seats[message.index][0], message.turn if message.HasField("turn") else message.over)

    async def _look(self, game: Game, seat: int | None) -> View:
        began = time.monotonic()
        view = await self._client.view(game.name, game.creator if seat is None else game.seats[seat])
        self._usual += (time.monotonic() - began - self._usual) / 10
        check(game, view)
        return view

    async def _witness(self, over: asyncio.Event) -> None:
        """Look at one game after the other, and give nothing up."""
        while not over.is_set():
            await self._look(self._rng.choice(self._games), None)
            self.counts["views of witnesses"] += 1

    def check_connections(self, number: int) -> None:
        """Compare how many connections to the store were ever opened. Raises MixedUpError."""
        if self.link.accepted != number:
            raise MixedUpError(f"{self.link.accepted - number} more connections to the store were opened")


def check(game: Game, view: View) -> None:
    """Compare a view with what is known of its game: its name comes from the request, the rest from the store."""
    for what in ("name", "commitment", "external_id"):
        if getattr(view, what) != getattr(game.view, what):
            raise MixedUpError(f"the {what} in a view of {game.name} is that of another game")


@asynccontextmanager
async def prepared(store: StoreServer, folder: Path, rng: Random) -> AsyncIterator[Storm]:
    """A storm that is about to break, with a server in this process."""
    link = Link("the store", Path(store.url.removeprefix("unix://")), rng)
    await link.open()
    server = await start_server(f"redis://{link.address}/0", folder, store_timeout="30s")
    storm = Storm(server.address, link, rng)
    yield storm
    await storm.close()
    await server.stop()
    await link.close()


async def _run(count: int, seed: int, show: Callable[[str], None]) -> Counter[str]:
    logs.configure("error")
    with running(valkey_program()) as store, tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        async with prepared(store, Path(folder), Random(seed)) as storm:
            breaking = asyncio.create_task(storm.run(count))
            while not (await asyncio.wait([breaking], timeout=_SHOW_SECONDS))[0]:
                show(_listed(storm.counts))
            await breaking
    return storm.counts


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.cancel", description=__doc__)
    parser.add_argument("calls", type=int, nargs="?", default=10_000, help="how many (default: %(default)s)")
    parser.add_argument(
        "--seed", type=int, help="the seed of games and moments (default: a random one, which is printed)"
    )
    arguments = parser.parse_args()
    seed = secrets.randbelow(1 << 32) if arguments.seed is None else arguments.seed
    print(f"Seed {seed}", flush=True)
    try:
        counts = uvloop.run(_run(arguments.calls, seed, lambda line: print(line, flush=True)))
    except MixedUpError as error:
        print(f"FAILED: {error}")
        return 1
    print(_listed(counts))
    print("Every answer was that of its own game, on the connection to the store that was there before.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
