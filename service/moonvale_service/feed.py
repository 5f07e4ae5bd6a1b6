"""A watched game: its state now, decoded once for all who watch it, and the last entries of its log."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from moonvale_engine import codec, play
from moonvale_engine.errors import EngineError
from moonvale_service.about import About
from moonvale_service.errors import HistoryRewoundError
from moonvale_service.history import Following, Happened, Snapshot, fold, mark_text, snapshot
from moonvale_service.store import Record, Store
from moonvale_service.store.log_codec import MarkedEntry

_KEPT: Final = 16  # entries for watchers who are not quite up to date; for others the log is folded anew


class InconsistentGameError(Exception):
    """A stored state is not what its log leads to."""


class Feed:
    """One watched game. It follows the log and refuses one that is not a continuation of what it has seen.

    ``listeners`` are called at each ``wake``.
    """

    def __init__(self, game: str, store: Store) -> None:
        self.game = game
        self.stale = asyncio.Event()
        self.listeners: set[Callable[[], None]] = set()
        self._store = store
        self._lock = asyncio.Lock()
        self._news = asyncio.Event()
        self._now: Snapshot | None = None
        self._mark = b""
        self._meta = b""
        self._last: deque[Happened] = deque(maxlen=_KEPT)

    async def refresh(self) -> None:
        """Read the game, or what is new in its log, and wake those who wait.

        Raises what the store and the codec raise, HistoryRewoundError, and InconsistentGameError.
        """
        async with self._lock:
            if self._now is None:
                self._begin(await self._store.read(self.game))
            else:
                start = max(self._now.version - 1, 0)
                record, entries, _ = await self._store.read_log(self.game, start)
                self._advance(self._now, record, entries)

    @property
    def version(self) -> int:
        """The version that this feed has followed the game to; it must have been refreshed once."""
        return self._known().version

    @property
    def mark(self) -> str:
        """The mark of that version."""
        return self._known().mark

    def has_to_act(self, seat: int) -> bool:
        """Whether the game waits for a seat: to answer the open decision, or to reveal its entropy."""
        now = self._known()
        lobby = now.about.lobby
        if lobby is not None:
            return lobby.is_full and bool(now.about.seat(seat).entropy_commitment) and seat not in lobby.entropy
        return play.seat_to_act(now.state) == seat

    @property
    def about(self) -> About:
        """What is kept of the game beside its play, as of the last ``refresh``."""
        return self._known().about

    def is_over(self) -> bool:
        """Whether the game is over."""
        return self._known().state.is_over()

    def snapshot(self) -> Snapshot:
        """Return the game as it is now. The feed goes on with a state of its own."""
        now = self._known()
        return replace(now, state=now.state.copy())

    def after(self, version: int) -> list[Happened] | None:
        """Return the entries after a version, or None if they aren't kept any more."""
        if version >= self.version:
            return []
        if not self._last or self._last[0].version > version + 1:
            return None
        return [happened for happened in self._last if happened.version > version]

    async def news(self) -> None:
        """Wait for the next ``wake``."""
        await self._news.wait()

    def wake(self) -> None:
        """Have all who wait look again."""
        self._news.set()
        self._news = asyncio.Event()
        for listener in self.listeners:
            listener()

    def _known(self) -> Snapshot:
        assert self._now is not None, "refresh it first"
        return self._now

    def _begin(self, record: Record) -> None:
        self._mark = record.mark
        self._meta = record.meta
        self._now = snapshot(self.game, record)

    def _advance(self, now: Snapshot, record: Record, entries: Sequence[MarkedEntry]) -> None:
        """Follow the log. ``entries`` begin with the one that made the present version, unless that is 0."""
        if now.waits:
            if record.mark != self._mark or record.meta != self._meta:
                self._last.extend(fold(record, entries, -1))
                self._begin(record)
                self.wake()
            return
        seen = record.first_mark if now.version == 0 else entries[0].mark if entries else b""
        if now.version == record.version:
            seen = record.mark
        if record.version < now.version or seen != self._mark:
            raise HistoryRewoundError(record.version)
        before = now.about
        if record.meta != self._meta:
            self._meta = record.meta
            self._now = now = replace(now, about=About.decode(record.meta))
            self.wake()
        new = entries if now.version == 0 else entries[1:]
        if not new:
            return
        following = Following(before, now.state, now.ticking)
        for i, (mark, entry) in enumerate(new):
            try:
                events = following.enter(entry)
            except EngineError as error:
                raise InconsistentGameError from error
            rests = i + 1 == len(new) or new[i + 1].mark != mark
            version = now.version + i + 1
            self._last.append(following.happened(version, mark_text(mark) if rests else "", entry, entry.time, events))
        if now.version + len(new) != record.version or codec.encode(now.state) != codec.as_encoded_now(record.state):
            raise InconsistentGameError
        self._mark = record.mark
        self._now = replace(
            now, version=record.version, mark=mark_text(record.mark), updated=record.updated, ticking=record.ticking
        )
        self.wake()
