"""A steward: does in games what is due and no call does: it moves bots, enforces clocks, deals when reveals are late.

A game stands in its shard's due set from the commit on that makes it so. Any steward may lease it from there, exactly
one does, and what that one does counts only upon the game as it was read, at a time that the store's clock agrees to.
So a steward can die at any moment: its lease ends, and another one finds the game as the last commit has left it.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Final

from moonvale_engine import play
from moonvale_engine.errors import UnknownRulesError
from moonvale_engine.log import BY_AGENT, BY_BOT, BY_TIME_OUT, FOR_FAILED_BOT, RESIGNATION, TAKEOVER, Entry
from moonvale_service import logs, metrics, tasks
from moonvale_service.about import About
from moonvale_service.bots import SUBSTITUTE, BotFailedError, Bots
from moonvale_service.clocks import PACKED_AFTER_MS, TimeOut
from moonvale_service.commits import Commits, Outcome, UntimelyError, milliseconds
from moonvale_service.history import Snapshot
from moonvale_service.recent import Recent
from moonvale_service.seats import Seats
from moonvale_service.settings import Settings
from moonvale_service.store import GameMissingError, Store, StoreUnavailableError, When
from moonvale_service.store.changes import Changes
from moonvale_service.store.redis_store import SHARDS, shard_of, wake_channel

_EFFECTS: Final = {RESIGNATION: "resignation", TAKEOVER: "takeover"}  # what metrics call them

_AT_ONCE: Final = 64  # games that are attended to at a time
_LEAST_LEASE_MS: Final = 10_000
_BEYOND_TIMEOUT_MS: Final = 5_000  # of a lease, for all that a move needs besides the bot's answer
_PAUSE: Final = 0.2  # seconds until a store that did not answer is asked again
_PARTS: Final = 64  # in which all shards are looked at
_POLLS: Final = 12  # in the course of so many ``poll``s: a steward is told of all that is due, leases included


class Steward:
    """One steward. ``run`` it until it is cancelled; ``finish`` what it has begun then."""

    def __init__(
        self, store: Store, recent: Recent, commits: Commits, seats: Seats, bots: Bots, url: str, settings: Settings
    ) -> None:
        self._store = store
        self._recent = recent
        self._commits = commits
        self._seats = seats
        self._bots = bots
        self._poll = settings.poll
        self._lease = max(_LEAST_LEASE_MS, milliseconds(settings.bot_timeout) + _BEYOND_TIMEOUT_MS)
        self._changes = Changes(url, settings.store_timeout, self._told, self._look_at, wake_channel)
        self._due: dict[int, int] = {}  # when something is due in a shard, as far as is known, by the store's clock
        self._woken = asyncio.Event()
        self._attended: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Attend to all games that are due, from now on. Returns only if what it needs for that has ended."""
        for shard in range(SHARDS):
            self._changes.listen_to(shard)
        parts = [asyncio.create_task(part) for part in (self._changes.run(), self._poll_all(), self._attend_all())]
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await tasks.end(*parts)

    async def finish(self, seconds: float) -> None:
        """Return when the games that are attended to just now are; give them up after some time."""
        if self._attended:
            await asyncio.wait(self._attended, timeout=seconds)
        if self._attended:
            logs.event("warning", "steward_cut_short")
            await tasks.end(*self._attended)

    def _told(self, message: str) -> None:
        """A game will be due: the message is its id and when."""
        game, _, due = message.partition(" ")
        self._expect(shard_of(game), int(due))

    def _look_at(self, shard: int) -> None:
        """Anything may be due in a shard."""
        self._expect(shard, 0)

    def _expect(self, shard: int, due: int) -> None:
        self._due[shard] = min(due, self._due.get(shard, due))
        self._woken.set()

    async def _poll_all(self) -> None:
        """Look at every shard once in a while, should a message have been lost."""
        while True:
            for part in range(_PARTS):
                await asyncio.sleep(_POLLS * self._poll / _PARTS)
                for shard in range(part, SHARDS, _PARTS):
                    self._look_at(shard)

    async def _attend_all(self) -> None:
        while True:
            self._woken.clear()
            now = self._store.now()
            shards = [shard for shard, due in self._due.items() if due <= now]
            if shards:
                await asyncio.gather(*[self._take(shard) for shard in shards[:_AT_ONCE]])
                if len(self._attended) >= _AT_ONCE:
                    await asyncio.wait(self._attended, return_when=asyncio.FIRST_COMPLETED)
                continue
            wait = (min(self._due.values()) - now) / 1000 if self._due else None
            try:
                async with asyncio.timeout(wait):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def _take(self, shard: int) -> None:
        """Lease what is due in a shard, and have it attended to."""
        del self._due[shard]  # so that a message that comes meanwhile is not lost
        try:
            due = await self._store.lease(shard, _AT_ONCE, self._lease)
        except StoreUnavailableError as error:
            logs.event("warning", "steward_delayed", error=error)
            await asyncio.sleep(_PAUSE)
            self._look_at(shard)
            return
        if due.next is not None:
            self._expect(shard, due.next)
        for game in due.games:
            task = asyncio.create_task(self._attend(game))
            self._attended.add(task)
            task.add_done_callback(self._attended.discard)

    async def _attend(self, game: str) -> None:
        """Do in a game what is due, until it waits for somebody else."""
        try:
            async with asyncio.timeout(self._lease / 1000):
                await self._do_all(game)
        except UntimelyError:
            pass  # it is due again when the store's clock says so
        except (TimeoutError, StoreUnavailableError) as error:  # what was not done is due again when the lease ends
            logs.event("warning", "steward_delayed", error=error, game=game)
        except UnknownRulesError:
            logs.event("info", "steward_left", game=game)  # which a steward that knows its rules will take up
        except Exception as error:  # noqa: BLE001  # one game that can't be played must not keep the others waiting
            logs.event("error", "steward_failed", error=error, game=game)

    async def _do_all(self, game: str) -> None:
        """Raises StoreUnavailableError, UntimelyError, and the codec's errors."""
        try:
            known = self._recent.learn(game, await self._store.read(game))
            if known.now.waits:
                if await self._seats.begin_without(known) is not None:
                    metrics.deadline_enforced("deal")
                return
            if known.now.state.is_over():
                await self._pack(game)
                return
            while True:
                move = await self._choose(known.now)
                if move is None:
                    return
                entries, about, when = move
                made = await self._commits.commit(known, entries, about=about, when=when, lease=self._lease)
                if isinstance(made, Outcome):
                    if when is When.AFTER:
                        metrics.deadline_enforced(_EFFECTS[entries[0].action] if entries[0].action < 0 else "action")
                    now = made.snapshot
                    if play.seat_to_act(now.state) not in now.about.free:
                        return
                    known = self._recent.get(game, now.version) or known
                else:
                    known = made
        except GameMissingError:
            await self._store.forget_due(game)

    async def _pack(self, game: str) -> None:
        """Keep the log of a game that has been over for a while in less room."""
        record, entries, now = await self._store.read_log(game, 0)
        if now >= record.updated + PACKED_AFTER_MS:
            await self._store.pack(game, record.version, record.mark, entries)

    async def _choose(self, now: Snapshot) -> tuple[list[Entry], About | None, When] | None:
        """Return what is due in a game: entries, what is kept of it from then on (None: the same), when they count."""
        if now.state.is_over():
            return None
        seat = play.seat_to_act(now.state)
        who = now.about.seat(seat)
        if who.bot:
            return [await self._move(who.bot, now, seat)], None, When.ANY
        clock = now.about.clock
        if clock is None or now.ticking is None:
            return None
        if who.away:
            action, _ = await self._decide(clock.agent, now)
            return [Entry(seat, action, BY_AGENT)], None, When.ANY
        if not now.ticking.deadline:
            return None
        if clock.on_time_out is TimeOut.FORFEIT:
            return [Entry(seat, RESIGNATION, BY_TIME_OUT)], None, When.AFTER
        action, _ = await self._decide(clock.agent, now)
        answer = Entry(seat, action, BY_TIME_OUT)
        if clock.on_time_out is TimeOut.AGENT_DECIDES:
            return [answer], None, When.AFTER
        about = now.about.with_seat(seat, replace(who, away=True))
        return [Entry(seat, TAKEOVER, BY_TIME_OUT), answer], about, When.AFTER

    async def _move(self, bot: str, now: Snapshot, seat: int) -> Entry:
        began = time.perf_counter()
        action, failed = await self._decide(bot, now)
        if failed:
            return Entry(seat, action, FOR_FAILED_BOT)
        metrics.bot_moved(bot, time.perf_counter() - began)
        return Entry(seat, action, BY_BOT)

    async def _decide(self, bot: str, now: Snapshot) -> tuple[int, bool]:
        """Return what a bot chooses, or another one in its place if that one fails, and whether it has."""
        try:
            return await self._bots.choose(bot, now, self._store.now()), False
        except BotFailedError as error:
            logs.event("warning", "bot_failed", error=error, game=now.game)
            return await self._bots.choose(SUBSTITUTE, now, self._store.now()), True
