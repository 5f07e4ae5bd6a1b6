"""Running an event: games are played concurrently, results are looked at, and an event that was cut short goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import grpc

from moonvale_arena.errors import ArenaError
from moonvale_arena.event import Event
from moonvale_arena.journal import RECORDS, Journal
from moonvale_arena.players import Source, source_of
from moonvale_arena.results import GameResult
from moonvale_arena.schedule import Game, Lineup, Schedule, lineups, pairs, pairs_at
from moonvale_arena.sequential import evidence
from moonvale_arena.standings import ahead, blocks_of, whole_blocks
from moonvale_arena.table import Table
from moonvale_client import AsyncClient, MoonvaleError, RetryPolicy

#: How often a game is begun before the event is given up, where the service fails.
ATTEMPTS: Final = 3
_REACHED: Final = RetryPolicy(timeout=5.0, attempt_timeout=5.0)


@dataclass(frozen=True, slots=True)
class Services:
    """Where games are played: addresses that take turns, and the creator key, which all of them know."""

    addresses: Sequence[str]
    creator_key: str = field(repr=False)
    tls: grpc.ChannelCredentials | None = None


#: Is told of each game that ends.
Tell = Callable[[GameResult], None]


@asynccontextmanager
async def loaded(event: Event) -> AsyncIterator[tuple[Source, ...]]:
    """Yield the sources of all entrants, each found to be able to play. Raises ArenaError."""
    async with AsyncExitStack() as stack:
        sources = tuple([source_of(entrant) for entrant in event.entrants])
        for source in sources:
            stack.push_async_callback(source.close)
            await source.load()
        yield sources


async def check_services(services: Services) -> None:
    """See whether games can be created at every address. Raises ArenaError."""
    for address in services.addresses:
        async with AsyncClient(address, tls=services.tls, retry=_REACHED) as client:
            try:
                await client.get_server_info()
            except MoonvaleError as error:
                raise ArenaError(f"no service answers at {address}") from error


async def play_event(
    event: Event,
    services: Services,
    journal: Journal,
    at_once: int,
    tell: Tell,
    done: Mapping[int, GameResult] = MappingProxyType({}),
) -> None:
    """Play the event to its end. Raises ArenaError if it can't begin or go on; what is in the journal then stays so.

    at_once: how many games are played at a time. done: games that have been played before, by number.
    """
    await check_services(services)
    async with loaded(event) as sources, AsyncExitStack() as stack:
        journal.open()
        clients = [
            await stack.enter_async_context(AsyncClient(address, tls=services.tls)) for address in services.addresses
        ]
        await _Run(event, clients, services.creator_key, sources, journal, tell, done).play(at_once)


class _Run:
    """An event that is being played."""

    def __init__(
        self,
        event: Event,
        clients: Sequence[AsyncClient],
        creator_key: str,
        sources: Sequence[Source],
        journal: Journal,
        tell: Tell,
        done: Mapping[int, GameResult],
    ) -> None:
        self._event = event
        self._clients = clients
        self._creator_key = creator_key
        self._sources = sources
        self._journal = journal
        self._tell = tell
        self._progress = Progress(event, done)

    async def play(self, at_once: int) -> None:
        """Play until there is no game left."""
        playing: set[asyncio.Task[None]] = set()
        try:
            while True:
                while len(playing) < at_once and (game := self._progress.next_game()) is not None:
                    playing.add(asyncio.create_task(self._play(game)))
                if not playing:
                    return
                ended, playing = await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()
        finally:
            for task in playing:
                task.cancel()
            for task in playing:
                with contextlib.suppress(asyncio.CancelledError, MoonvaleError, ArenaError):
                    await task

    async def _play(self, game: Game) -> None:
        for attempt in range(ATTEMPTS):
            client = self._clients[(game.number + attempt) % len(self._clients)]
            try:
                result, record = await Table(client, self._creator_key, self._event, game, self._sources).play()
                break
            except MoonvaleError as error:
                if attempt + 1 == ATTEMPTS or not (error.is_transient or error.reason == "GAME_NOT_FOUND"):
                    raise ArenaError(f"the service does not play game {game.number}: {error}") from error
        result = replace(result, record=f"{RECORDS}/{game.number:06}.moonvale")
        self._journal.add(result, record)
        self._progress.add(result)
        self._tell(result)


class Progress:
    """Which games are left, after those that have been played.

    Which lineups a look leaves out is decided by the results of all looks but the one before it, so that nobody waits
    for the last games of a look; and by nothing else, so that the same results always lead to the same games.
    """

    def __init__(self, event: Event, done: Mapping[int, GameResult]) -> None:
        self._event = event
        self._done = dict(done)
        self._schedule = Schedule(event)
        self._lineups = lineups(event)
        self._pairs = pairs(event)
        self._looks: list[list[Game]] = []
        self._waiting: deque[Game] = deque()
        self._ended = False

    def add(self, game: GameResult) -> None:
        """Note a game that is over."""
        self._done[game.number] = game

    def next_game(self) -> Game | None:
        """Return the next game to be played; None if there is none, perhaps until others are over."""
        while not self._waiting:
            if self._ended or (len(self._looks) > 1 and not self._over(self._looks[-2])):
                return None
            look = self._schedule.next_look(self._settled())
            self._looks.append(look)
            self._ended = not look
            self._waiting.extend([game for game in look if game.number not in self._done])
        return self._waiting.popleft()

    def _over(self, look: Sequence[Game]) -> bool:
        return all([game.number in self._done for game in look])

    def _settled(self) -> set[Lineup]:
        """Return the lineups in which every pair has been told apart by the looks before the last one."""
        alpha = self._event.alpha
        if alpha is None:
            return set()
        games = [self._done[game.number] for look in self._looks[:-1] for game in look]
        blocks = whole_blocks(self._event, games)
        told = set()
        for a, b in self._pairs:
            met = blocks_of(blocks, a, b)
            if met and evidence([ahead(block, a, b) for block in met]) >= len(self._pairs) / alpha:
                told.add((a, b))
        return {lineup for lineup in self._lineups if pairs_at(lineup) <= told}
