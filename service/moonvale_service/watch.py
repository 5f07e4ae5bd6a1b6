"""Watching: what each watcher of a game is told, and when the watched games of this process are read.

The store's channels say that a game has changed, and a poll is the backstop of a lost message. Either way the new part
of the log is read and folded once, whoever watches. A watcher keeps its own place in the log: a slow one delays nobody.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextvars import Context
from enum import Enum
from typing import Final, NamedTuple

from moonvale_service import logs, metrics, tasks
from moonvale_service.about import About
from moonvale_service.errors import HistoryRewoundError
from moonvale_service.feed import Feed
from moonvale_service.history import Happened, Snapshot, fold, is_lost, mark_at
from moonvale_service.store import WAITING, GameMissingError, Store, StoreUnavailableError
from moonvale_service.store.changes import Changes
from moonvale_service.store.redis_store import shard_of

_LEAST_AGE: Final = 0.8  # of the greatest one, at which watches end by themselves
_PAUSE: Final = 0.2  # seconds until a store that did not answer is asked again


class End(Enum):
    """Why a watch ends well."""

    GAME_OVER = 1
    GAME_DELETED = 2
    DRAINING = 3
    MAX_AGE = 4
    NO_SEAT_LEFT = 5


class Heartbeat(NamedTuple):
    """A sign of life, with the version and the mark that the watcher has."""

    version: int
    mark: str


Told = Snapshot | Happened | Heartbeat | End


class Watched:
    """A feed, how many watch it, and how it ended."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.watchers = 0
        self.end: End | Exception | None = None
        self.task: asyncio.Task[None] | None = None


class Watches:
    """All watches of this process. ``heartbeat``, ``poll`` and ``age``, the greatest one of a watch, are seconds.

    ``when_draining`` holds what is to be called when they all have to end.
    """

    def __init__(self, store: Store, url: str, timeout: float, *, heartbeat: float, poll: float, age: float) -> None:
        self.heartbeat = heartbeat
        self.draining = False
        self.when_draining: set[Callable[[], None]] = set()
        self._store = store
        self._poll = poll
        self._age = age
        self._changes = Changes(url, timeout, on_change=self._changed, on_gap=self._gap)
        self._watched: dict[str, Watched] = {}
        self._shards: defaultdict[int, set[Feed]] = defaultdict(set)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to keep watched games up to date."""
        self._tasks = [asyncio.create_task(self._changes.run()), asyncio.create_task(self._poll_all())]

    async def failed(self) -> None:
        """Return when what ``start`` began has ended by itself, which it never should."""
        await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """End what ``start`` began."""
        await tasks.end(*self._tasks)

    def drain(self) -> None:
        """End all watches, and those that begin hereafter."""
        self.draining = True
        for watched in self._watched.values():
            watched.feed.wake()
        for notice in self.when_draining:
            notice()

    def lifetime(self) -> float:
        """Return the seconds after which a watch that begins now has to end."""
        return self._age * random.uniform(_LEAST_AGE, 1)  # noqa: S311  # so that not all resume at once

    async def watch(
        self, game: str, after: int | None, mark: str, admit: Callable[[About], None]
    ) -> AsyncGenerator[Told, None]:
        """Yield the game as it is now, then every entry after a version (None: the present one), once and in order.

        A game that waits for players is yielded anew whenever it changes, until it begins with the entry of version 0.
        Between them comes a heartbeat whenever nothing else did for a while; last comes an End. ``mark``: that of the
        version ``after``, or empty. Raises HistoryRewoundError, what the store and the codec raise, and what ``admit``
        does, which is asked first and again before anything is told.
        """
        now = asyncio.get_running_loop().time
        oldest = now() + self.lifetime()
        watched = await self.join(game)
        try:
            feed = watched.feed
            first = feed.snapshot()
            admit(first.about)
            version = first.version if after is None else after
            if after is None or (after == first.version and mark in ("", first.mark)):
                mark, pending = first.mark, []
            else:
                pending = await self._fold(game, after, mark)
            yield first
            while True:
                admit(feed.about)
                for happened in pending:
                    yield happened
                    version, mark = happened.version, happened.mark
                if isinstance(watched.end, Exception):
                    raise watched.end
                kept = feed.after(version)
                pending = kept if kept is not None else await self._fold(game, version, mark)
                if pending:
                    continue
                if version == WAITING and feed.mark != mark:
                    waiting = feed.snapshot()
                    mark = waiting.mark
                    yield waiting
                    continue
                end = self._end(watched, version) or (End.MAX_AGE if now() >= oldest else None)
                if end is not None:
                    yield end
                    return
                beat = now() + self.heartbeat
                try:
                    async with asyncio.timeout_at(min(beat, oldest)):
                        await feed.news()
                except TimeoutError:
                    if beat <= oldest:
                        yield Heartbeat(version, mark)
        finally:
            self.leave(watched)

    def _end(self, watched: Watched, version: int) -> End | None:
        """Say whether and why a watcher who is up to date has come to the end."""
        if isinstance(watched.end, End):
            return watched.end
        if watched.feed.is_over() and version >= watched.feed.version:
            return End.GAME_OVER
        return End.DRAINING if self.draining else None

    async def _fold(self, game: str, version: int, mark: str) -> list[Happened]:
        """Return all entries after a version whose mark must be this one, unless it is empty."""
        record, entries, _ = await self._store.read_log(game, 0)
        told = mark and version >= 0
        if version > record.version or (
            told and mark != mark_at(record, entries, version) and not is_lost(record, entries, version)
        ):
            raise HistoryRewoundError(record.version)
        return fold(record, entries, version)

    async def join(self, game: str) -> Watched:
        """Return a watched game that is up to date; ``leave`` it in the end."""
        while True:
            watched = self._watched.get(game)
            if watched is None:
                watched = self._watched[game] = Watched(Feed(game, self._store))
                watched.task = asyncio.create_task(self._follow(watched), context=Context())  # no part of this call
                metrics.watched_games.add()
                self._shards[shard_of(game)].add(watched.feed)
                self._changes.listen(game)
            watched.watchers += 1
            try:
                await self._refresh(watched)
            except HistoryRewoundError:
                self.leave(watched)  # that is for those who have seen the lost part; this one begins anew
            except BaseException:
                self.leave(watched)
                raise
            else:
                return watched

    def leave(self, watched: Watched) -> None:
        watched.watchers -= 1
        if not watched.watchers:
            self._drop(watched)
            if watched.task is not None:
                watched.task.cancel()

    def _drop(self, watched: Watched) -> None:
        """Follow the game no more; who comes to watch it later begins anew."""
        game = watched.feed.game
        if self._watched.get(game) is not watched:
            return
        del self._watched[game]
        metrics.watched_games.add(by=-1)
        shard = self._shards[shard_of(game)]
        shard.discard(watched.feed)
        if not shard:
            del self._shards[shard_of(game)]
        self._changes.forget(game)

    async def _follow(self, watched: Watched) -> None:
        """Read the game whenever it may have changed, until its watches have to end."""
        feed = watched.feed
        while watched.watchers and watched.end is None:
            await feed.stale.wait()
            feed.stale.clear()
            try:
                await self._refresh(watched)
            except StoreUnavailableError as error:
                logs.event("warning", "watch_delayed", error=error, game=feed.game)
                await asyncio.sleep(_PAUSE)
                feed.stale.set()
            except Exception:  # noqa: BLE001  # the calls of all watchers end with it, and log it
                return

    async def _refresh(self, watched: Watched) -> None:
        """Read the game; what can't be mended by reading it again ends its watches."""
        try:
            await watched.feed.refresh()
        except StoreUnavailableError:
            raise
        except Exception as error:
            watched.end = End.GAME_DELETED if isinstance(error, GameMissingError) else error
            self._drop(watched)
            watched.feed.wake()
            raise

    async def _poll_all(self) -> None:
        while True:
            games = list(self._watched)  # and not the feeds, which would live on in here
            for game in games:
                await asyncio.sleep(self._poll / len(games))
                self._changed(game)
            if not games:
                await asyncio.sleep(self._poll)

    def _changed(self, game: str) -> None:
        watched = self._watched.get(game)
        if watched is not None:
            watched.feed.stale.set()

    def _gap(self, shard: int) -> None:
        for feed in self._shards.get(shard, ()):
            feed.stale.set()
