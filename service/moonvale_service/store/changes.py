"""Changes: which games have changed, as the store's sharded channels tell it, on one connection for the process.

A message can be lost, and says nothing but a game's id: whoever listens reads the game anew. After every subscription
all games of the shard count as changed, since anything may have happened before.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from redis import exceptions as redis_errors
from redis.asyncio.client import PubSub

from moonvale_service import logs
from moonvale_service.store.redis_store import SHARDS, channel, connect, shard_of

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0


class Changes:
    """Listens for changes of games. ``on_change`` gets the id of a game; ``on_gap`` the number of a shard."""

    def __init__(
        self, url: str, timeout: float, on_change: Callable[[str], None], on_gap: Callable[[int], None]
    ) -> None:
        self._client = connect(url, timeout, retry=False)
        self._on_change = on_change
        self._on_gap = on_gap
        self._wanted: Counter[int] = Counter()
        self._changed = asyncio.Event()
        self._shards = {channel(shard).encode(): shard for shard in range(SHARDS)}
        self._pause = _FIRST_PAUSE

    def listen(self, game: str) -> None:
        """Begin to listen for a game; ``on_gap`` is called for its shard when that is so."""
        shard = shard_of(game)
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
        """Listen until cancelled; goes on after whatever breaks the connection."""
        try:
            while True:
                while not self._wanted:
                    self._changed.clear()
                    await self._changed.wait()
                pubsub = self._client.pubsub()
                try:
                    await self._follow(pubsub)
                except (redis_errors.RedisError, OSError) as error:
                    logs.event("warning", "changes_lost", error=error)
                    await asyncio.sleep(self._pause)
                    self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                finally:
                    await pubsub.aclose()  # type: ignore[no-untyped-call]
        finally:
            await self._client.aclose()

    async def _follow(self, pubsub: PubSub) -> None:
        """Hold the wanted subscriptions and pass on what they tell, until none is wanted."""
        held: set[int] = set()
        tasks: set[asyncio.Task[Any]] = set()
        reading: asyncio.Task[Any] | None = None
        try:
            while True:
                self._changed.clear()
                wanted = set(self._wanted)
                for shard in wanted - held:  # one by one, since shards lie on different servers of a cluster
                    await pubsub.ssubscribe(channel(shard))
                for shard in held - wanted:
                    await pubsub.sunsubscribe(channel(shard))
                held = wanted
                if not held:
                    return
                if reading is None:
                    reading = asyncio.create_task(pubsub.get_message(timeout=None))
                changing = asyncio.create_task(self._changed.wait())
                tasks = {reading, changing}
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                changing.cancel()
                if reading.done():
                    self._tell(reading.result())
                    reading = None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _tell(self, message: dict[str, Any] | None) -> None:
        self._pause = _FIRST_PAUSE
        if message is None:
            return
        if message["type"] == "smessage":
            self._on_change(message["data"].decode("ascii"))
        elif message["type"] == "ssubscribe":
            self._on_gap(self._shards[message["channel"]])
