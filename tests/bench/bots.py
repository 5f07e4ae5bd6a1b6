"""Bots at a table: how long after the turn a bot's move is made, by the store's own clock."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass

from moonvale.v1.event_pb2 import CAUSE_BOT, CAUSE_PLAYER, LogEntry
from moonvale.v1.game_service_pb2 import CreateGameRequest, SeatSetup
from moonvale.v1.options_pb2 import Options
from moonvale_client import play_seat
from tests.bench.environments import Tell
from tests.bench.report import Figure, Part
from tests.bench.rounds import spread
from tests.service.client import Client
from tests.service.servers import running_service


@dataclass(frozen=True)
class Size:
    """How many games, of how many rounds."""

    games: int
    rounds: int


FULL = Size(games=6, rounds=4)
QUICK = Size(games=1, rounds=1)


def run(size: Size, tell: Tell) -> Part:
    """Play a person's seat against three bots, game after game, and read off the log when each move was made."""
    part = Part("Bots at a table")
    with running_service(workers="1") as service:
        waits, moves = asyncio.run(_play(service.address, size, tell))
    part.figures += [
        Figure("a bot's first move after a person's turn, median of each game", spread(waits), "ms", at_most=50),
        Figure("the same between two moves of bots", spread(moves), "ms"),
    ]
    part.notes.append("Milliseconds of the store's clock between two entries of the log, `greedy` on a pure engine.")
    return part


async def _play(address: str, size: Size, tell: Tell) -> tuple[list[float], list[float]]:
    waits, moves = [], []
    async with Client(address) as client:
        for number in range(size.games):
            tell(f"round {number + 1} of {size.games}: bots at a table")
            seats = [SeatSetup(), *[SeatSetup(bot="greedy")] * 3]
            game = await client.create(CreateGameRequest(options=Options(rounds=size.rounds), seats=seats))
            await play_seat(address, game.name, game.seats[0], lambda view: view.decision.legal_actions[-1])
            entries: list[LogEntry] = []
            token = ""
            while not entries or token:
                page = await client.events(game.name, game.spectator, page_token=token)
                entries += page.entries
                token = page.next_page_token
            pairs = list(itertools.pairwise(entries))
            waits.append(_median([_between(a, b) for a, b in pairs if (a.cause, b.cause) == (CAUSE_PLAYER, CAUSE_BOT)]))
            moves.append(_median([_between(a, b) for a, b in pairs if (a.cause, b.cause) == (CAUSE_BOT, CAUSE_BOT)]))
    return waits, moves


def _between(before: LogEntry, after: LogEntry) -> float:
    return float(after.create_time.ToMilliseconds() - before.create_time.ToMilliseconds())


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
