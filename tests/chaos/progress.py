"""How far a chaos run has come, for those who wait for it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

ACKNOWLEDGED: Final = "changes acknowledged"
BEGUN_ANEW: Final = "agents begun anew"  # by the shipped client that had given up


class Progress:
    """What has happened so far. ``ending`` is set when all games are to come to an end."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ending = asyncio.Event()
        self._waiting: dict[asyncio.Event, Callable[[], bool]] = {}

    def add(self, name: str) -> None:
        """Count one more of something."""
        self.counts[name] += 1
        for event, reached in self._waiting.items():
            if not event.is_set() and reached():
                event.set()

    async def until(self, reached: Callable[[], bool]) -> None:
        """Return when that is so, or the run ends."""
        event = asyncio.Event()
        if self.ending.is_set() or reached():
            return
        self._waiting[event] = reached
        try:
            await event.wait()
        finally:
            del self._waiting[event]

    async def calm(self, count: int) -> None:
        """Return when so many more changes have been acknowledged, or the run ends."""
        enough = self.counts[ACKNOWLEDGED] + count
        await self.until(lambda: self.counts[ACKNOWLEDGED] >= enough)

    def end(self) -> None:
        """Have all games come to an end."""
        self.ending.set()
        for event in self._waiting:
            event.set()
