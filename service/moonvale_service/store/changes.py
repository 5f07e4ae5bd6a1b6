"""Changes: which games have changed, as the store's sharded channels tell it, on one connection to each server.

A message can be lost, and says nothing but a game's id: whoever listens reads the game anew. After every subscription
all games of the shard count as changed, since anything may have happened before.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

from redis import exceptions as redis_errors
from redis.asyncio.client import PubSub

from moonvale_service import logs, metrics, tasks
from moonvale_service.store.links import connect, link
from moonvale_service.store.redis_store import SHARDS, channel, shard_of

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
_LOST: Final = (redis_errors.RedisError, redis_errors.RedisClusterException, OSError)


class Changes:
    """Listens on a channel of each shard. ``on_change`` gets its messages; ``on_gap`` the number of a shard.

    ``channel_of``: which channel of a shard. Messages of the usual one are the ids of games that have changed.
    """

    def __init__(
        self,
        url: str,
        timeout: float,
        on_change: Callable[[str], None],
        on_gap: Callable[[int], None],
        channel_of: Callable[[int], str] = channel,
    ) -> None:
        self._link = link(url, timeout)
        self._timeout = timeout
        self._on_change = on_change
        self._on_gap = on_gap
        self._channel_of = channel_of
        self._wanted: Counter[int] = Counter()
        self._changed = asyncio.Event()
        self._servers: dict[str, tuple[_Server, asyncio.Task[None]]] = {}

    def listen(self, game: str) -> None:
        """Begin to listen for a game; ``on_gap`` is called for its shard when that is so."""
        self.listen_to(shard_of(game))

    def listen_to(self, shard: int) -> None:
        """Begin to listen for a shard; ``on_gap`` is called for it when that is so."""
        self._wanted[shard] += 1
        if self._wanted[shard] == 1:
            self._changed.set()

    def forget(self, game: str) -> None:
        """End what ``listen`` began."""
        shard = shard_of(game)
        self._wanted[shard] -= 1
        if not self._wanted[shard]:
            del self._wanted[shard]
            self._changed.set()

    async def run(self) -> None:
        """Listen until cancelled; goes on after whatever breaks the connections."""
        try:
            while True:
                self._changed.clear()
                try:
                    async with asyncio.timeout(self._timeout):
                        placed = await self._place()
                except _LOST as error:
                    logs.event("warning", "changes_lost", error=error)
                    await asyncio.sleep(_LONGEST_PAUSE)
                    continue
                for url in self._servers.keys() - placed.keys():
                    await tasks.end(self._servers.pop(url)[1])
                for url, shards in placed.items():
                    if url not in self._servers:
                        server = _Server(
                            url, self._timeout, self._on_change, self._on_gap, self._doubt, self._channel_of
                        )
                        self._servers[url] = server, asyncio.create_task(server.run())
                    self._servers[url][0].want(shards)
                await self._changed.wait()
        finally:
            await tasks.end(*(task for _, task in self._servers.values()))
            await self._link.close()

    async def _place(self) -> dict[str, set[int]]:
        """Return which server has which of the wanted shards."""
        placed = defaultdict(set)
        for shard in list(self._wanted):
            placed[await self._link.url_of(channel(shard))].add(shard)
        return placed

    def _doubt(self) -> None:
        """A server doesn't tell what it should: the shards may have moved to another one."""
        self._link.doubt()
        self._changed.set()


class _Server:
    """The subscriptions to one server's shards. ``on_loss`` is called when the server ends one or can't be reached."""

    def __init__(
        self,
        url: str,
        timeout: float,
        on_change: Callable[[str], None],
        on_gap: Callable[[int], None],
        on_loss: Callable[[], None],
        channel_of: Callable[[int], str],
    ) -> None:
        self._client = connect(url, timeout)
        self._on_change = on_change
        self._on_gap = on_gap
        self._on_loss = on_loss
        self._channels = {channel_of(shard).encode(): shard for shard in range(SHARDS)}
        self._channel_of = channel_of
        self._wanted: set[int] = set()
        self._held: set[int] = set()
        self._changed = asyncio.Event()
        self._pause = _FIRST_PAUSE

    def want(self, shards: set[int]) -> None:
        """Say which shards to listen for from now on."""
        self._wanted = shards
        self._changed.set()

    async def run(self) -> None:
        """Listen until cancelled."""
        try:
            while True:
                while not self._wanted:
                    self._changed.clear()
                    await self._changed.wait()
                pubsub = self._client.pubsub()
                try:
                    await self._follow(pubsub)
                except _LOST as error:
                    logs.event("warning", "changes_lost", error=error)
                    metrics.subscriptions_lost.add()
                    self._on_loss()
                    await asyncio.sleep(self._pause)
                    self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                finally:
                    await pubsub.aclose()  # type: ignore[no-untyped-call]
        finally:
            await self._client.aclose()

    async def _follow(self, pubsub: PubSub) -> None:
        """Hold the wanted subscriptions and pass on what they tell, until none is wanted."""
        self._held = set()
        waits: set[asyncio.Task[Any]] = set()
        reading: asyncio.Task[Any] | None = None
        try:
            while True:
                self._changed.clear()
                wanted = self._wanted
                for shard in wanted - self._held:  # one by one, since shards are different slots of a cluster
                    await pubsub.ssubscribe(self._channel_of(shard))
                for shard in self._held - wanted:
                    await pubsub.sunsubscribe(self._channel_of(shard))
                self._held = set(wanted)
                if not self._held:
                    return
                if reading is None:
                    reading = asyncio.create_task(pubsub.get_message(timeout=None))
                changing = asyncio.create_task(self._changed.wait())
                waits = {reading, changing}
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                changing.cancel()
                if reading.done():
                    self._tell(reading.result())
                    reading = None
        finally:
            await tasks.end(*waits)

    def _tell(self, message: dict[str, Any] | None) -> None:
        self._pause = _FIRST_PAUSE
        if message is None:
            return
        if message["type"] == "smessage":
            self._on_change(message["data"].decode("ascii"))
        elif message["type"] == "ssubscribe":
            self._on_gap(self._channels[message["channel"]])
        elif message["type"] == "sunsubscribe" and (shard := self._channels[message["channel"]]) in self._wanted:
            self._held.discard(shard)  # the server has ended it, as its slot has moved
            self._on_loss()
