"""The store: what the service keeps of a game, and the one interface through which it is kept.

A game is a record (version, mark, state, meta) and its log. The version is the length of the log; the mark is drawn
anew by each commit, so that two histories of the same length can be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from moonvale_service.store.log_codec import MarkedEntry


class StoreUnavailableError(Exception):
    """The store gave no answer in time, or can't serve now. What was asked may or may not have been done: repeat it."""


class GameMissingError(Exception):
    """The store holds no such game: it never was, was deleted, or expired."""


@dataclass(frozen=True, slots=True)
class Record:
    """A game as stored. Times are milliseconds of the store's clock. ``ring`` is that of the slot asked for."""

    version: int
    mark: bytes
    state: bytes
    meta: bytes
    first_mark: bytes
    digest: bytes
    created: int
    updated: int
    ring: bytes


@dataclass(frozen=True, slots=True)
class Commit:
    """A change of a game: valid only upon the version, mark and meta that it was computed from.

    ``entries`` are log entries without the time, which the store adds. ``slot``: whose ring is replaced (None: none).
    The game expires ``expiry`` milliseconds (0: never) after its last commit, or after ``keep_from`` if that is later.
    """

    version: int
    mark: bytes
    meta: bytes
    new_mark: bytes
    state: bytes
    entries: Sequence[bytes]
    slot: int | None
    ring: bytes
    expiry: int
    keep_from: int = 0


@dataclass(frozen=True, slots=True)
class Committed:
    """What came of a commit: when, or, if it was refused because the game has moved on, the present record."""

    time: int
    refused: Record | None


@dataclass(frozen=True, slots=True)
class Listed:
    """A game in a list. Times are milliseconds of the store's clock."""

    game: str
    version: int
    meta: bytes
    created: int
    updated: int


class Store(Protocol):
    """Keeps games. Every method but ``list_games`` is one atomic step; all raise StoreUnavailableError."""

    async def create(self, game: str, *, digest: bytes, mark: bytes, state: bytes, meta: bytes, expiry: int) -> Record:
        """Keep a new game, or return the one that is there: compare digests. GameMissingError: it was deleted."""

    async def read(self, game: str, slot: int | None = None) -> Record:
        """Return a game, with the ring of a slot. Raises GameMissingError."""

    async def read_log(self, game: str, start: int) -> tuple[Record, list[MarkedEntry], int]:
        """Return a game, its log from an index (0: all), and the store's time. Raises GameMissingError."""

    async def commit(self, game: str, change: Commit) -> Committed:
        """Make a change unless the game has moved on; making it twice is no harm. Raises GameMissingError."""

    async def list_games(self, after: str, count: int) -> tuple[list[Listed], str]:
        """Return up to so many games after an id (empty: from the first on), and the id to go on after, or nothing."""

    async def amend(self, game: str, before: bytes, after: bytes) -> bool:
        """Replace the meta of a game, and return True; or False if it is not ``before``. Raises GameMissingError."""

    async def settle(self, game: str) -> None:
        """Return when all that was changed of a game is as durable as it has to be, even what nobody was told of."""

    async def delete(self, game: str) -> None:
        """Delete a game; a repeat within a day is fine. Raises GameMissingError."""

    async def ping(self) -> None:
        """Return when the store answers."""

    async def close(self) -> None:
        """Give up the connections."""
