"""Games played by the arena or by bare loops: ``python -m tests.bench.arena_load HOW ADDRESS KEY GAMES LOOPS``.

All ways play the same games with the same agents, so many at a time. Prints as JSON how many games were played between
the moment when all loops were busy and the one when the first of them found no more game, and the seconds between.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from moonvale_agents import Agent
from moonvale_arena import Event, Journal, Services, parse_entrants, play_event
from moonvale_arena.agents import maker
from moonvale_arena.schedule import Game, Schedule
from moonvale_client import Action, AsyncClient, CreateGameResponse, Deal, Options, View, play_seats
from moonvale_engine import deck_text, legal_actions, parse_position

ENTRANTS = ("greedy", "feed=greedy:feed=0")


def event(games: int) -> Event:
    """Return what is played."""
    return Event(entrants=parse_entrants(ENTRANTS), seed="bench", games=games, rounds=2, alpha=None)


async def arena(services: Services, games: int, loops: int) -> list[float]:
    """Have the arena play; return when each game was over."""
    ended: list[float] = []
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder, Journal(Path(folder), event(games)) as journal:
        await play_event(event(games), services, journal, loops, lambda _: ended.append(time.perf_counter()))
    return ended


async def bare(services: Services, games: int, loops: int, *, direct: bool) -> list[float]:
    """Play by loops over the client: its own for bots, or direct ones that look at nothing but whose turn it is."""
    ended: list[float] = []
    chosen = event(games)
    waiting = all_games(chosen)
    makers = [maker(each.kind, each.target, dict(each.settings)) for each in chosen.entrants]

    async def loop(client: AsyncClient) -> None:
        for game in waiting:
            agents = [makers[entrant](seed) for entrant, seed in zip(game.seats, game.seeds, strict=True)]
            created = await create(client, services.creator_key, game)
            choose = chooser(agents)
            if direct:
                await play(client, created, choose)
            else:
                seats = [(created.name, credential) for credential in created.seat_credentials]
                await play_seats(client, seats, choose)
            ended.append(time.perf_counter())

    async with AsyncClient(services.addresses[0]) as client, asyncio.TaskGroup() as group:
        for _ in range(loops):
            group.create_task(loop(client))
    return ended


def all_games(event: Event) -> Iterator[Game]:
    """Yield all games of an event."""
    schedule = Schedule(event)
    while look := schedule.next_look():
        yield from look


async def create(client: AsyncClient, creator_key: str, game: Game) -> CreateGameResponse:
    """Create a game of the event."""
    options = game.options
    return await client.create_game(
        Options(players=options.players, rounds=options.rounds, deck=deck_text(options.deck), token=options.token),
        deal=Deal(secret=game.secret),
        creator_key=creator_key,
    )


def chooser(agents: list[Agent]) -> Callable[[View], Action]:
    """Return what asks the agent of the seat that is to act."""

    def choose(view: View) -> Action:
        position = parse_position(view.position)
        return view.decision.legal_actions[
            legal_actions(position.state).index(agents[view.viewer_seat].choose(position))
        ]

    return choose


async def play(client: AsyncClient, game: CreateGameResponse, choose: Callable[[View], Action]) -> None:
    """Play a game, looking at it as whoever is to act."""
    view = game.view
    while not view.HasField("result"):
        credential = game.seat_credentials[view.decision.seat]
        if view.decision.legal_actions:
            view = (await client.submit_action(game.name, credential, choose(view), view.version)).view
        else:
            view = await client.get_view(game.name, credential)


WAYS = {
    "arena": arena,
    "client loops": lambda *given: bare(*given, direct=False),
    "direct loops": lambda *given: bare(*given, direct=True),
}


def main(how: str, address: str, creator_key_file: str, games: str, loops: str) -> None:
    """Play, and print what was measured."""
    services = Services([address], Path(creator_key_file).read_text(encoding="ascii").strip())
    ended = asyncio.run(WAYS[how](services, int(games), int(loops)))
    first, last = int(loops) - 1, len(ended) - int(loops)
    print(json.dumps({"count": last - first, "wall": ended[last] - ended[first]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
