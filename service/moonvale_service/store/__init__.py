"""The store: what the service keeps of a game, and the one interface through which it is kept.

A game is a record (version, mark, state, meta) and its log. The version is the length of the log; the mark is drawn
anew by each commit, so that two histories of the same length can be told apart. A game that waits for its players has
no state, no log, and the version WAITING.

Games in which something is due at a time (a clock runs out, a bot is to move) stand in the due set of their shard. Only
the store's own clock says when that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, Protocol

from moonvale_service.store.log_codec import MarkedEntry

WAITING: Final = -1
"""The version of a game that waits for its players."""


class StoreUnavailableError(Exception):
    """The store gave no answer in time, or can't serve now. What was asked may or may not have been done: repeat it."""


class GameMissingError(Exception):
    """The store holds no such game: it never was, was deleted, or expired."""


class When(Enum):
    """When a change counts: at any time, or only before, or only after, the open decision's time is out."""

    ANY = "any"
    BEFORE = "before"
    AFTER = "after"


class Ticking(NamedTuple):
    """A clock as stored: when the open decision was put, when its time is out (0: never), what each seat's bank holds.

    All in milliseconds; times are those of the store's clock.
    """

    opened: int
    deadline: int
    banks: tuple[int, ...] = ()


class Timing(NamedTuple):
    """What a change does to the clock of a game, and when the game is due next. Durations are milliseconds.

    - when: the condition; a decision's time is out ``grace`` after its deadline.
    - charged: the seat whose bank pays for the time since the decision was put, before ``added`` is put in; -1: none.
    - kept: the open decision stays the one it was.
    - next: whose time runs then, -1: nobody's; it is ``limit``, or, if that is 0, what the seat's bank holds.
    - lease: if not negative, the game is due so long after the change, whatever the clock says: at 0 a steward is told,
      else the caller takes care of it and others only if it doesn't.
    - banks: what they begin with.
    """

    when: When = When.ANY
    grace: int = 0
    charged: int = -1
    added: int = 0
    kept: bool = False
    next: int = -1
    limit: int = 0
    lease: int = -1
    banks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A game as stored. Times are milliseconds of the store's clock. ``ring`` is that of the slot asked for.

    ``began``: when it was dealt. ``ticking``: its clock, if one runs.
    """

    version: int
    mark: bytes
    state: bytes
    meta: bytes
    first_mark: bytes
    digest: bytes
    created: int
    updated: int
    ring: bytes
    began: int
    ticking: Ticking | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """A change of a game: valid only upon the version, mark and meta that it was computed from.

    ``entries`` are log entries without the time, which the store adds. ``slot``: whose ring is replaced (None: none).
    The game expires ``expiry`` milliseconds (0: never) after its last commit, or after ``keep_from`` if that is later.
    ``new_meta``: the meta from then on (None: the same). ``timing``: None if the game has neither clock nor bots.
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
    new_meta: bytes | None = None
    timing: Timing | None = None


@dataclass(frozen=True, slots=True)
class Amendment:
    """A change of a game's meta: valid only upon the mark and meta that it was computed from.

    A game that waits gets a ``new_mark`` with every change. ``state``: it begins so, at version 0 (None: it doesn't).
    The game expires ``expiry`` milliseconds after the change (0: never; None: when it would have).
    """

    mark: bytes
    meta: bytes
    new_meta: bytes
    new_mark: bytes | None = None
    state: bytes | None = None
    expiry: int | None = None
    timing: Timing | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """What came of a change: when it was made; or ``refused``, the present record if the game has moved on.

    ``untimely``: it was not the time for it, at ``time``.
    """

    time: int
    refused: Record | None = None
    untimely: bool = False


class Due(NamedTuple):
    """What is due in a shard: the games that were leased to the caller, and when the next one is due (None: none is).

    Times are milliseconds of the store's clock; ``now`` is what it says.
    """

    now: int
    games: list[str]
    next: int | None


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

    async def create(
        self,
        game: str,
        *,
        digest: bytes,
        mark: bytes,
        state: bytes | None,
        meta: bytes,
        expiry: int,
        timing: Timing | None = None,
    ) -> Record:
        """Keep a new game, or return the one that is there: compare digests. GameMissingError: it was deleted.

        Without a state it waits for its players.
        """

    async def read(self, game: str, slot: int | None = None) -> Record:
        """Return a game, with the ring of a slot. Raises GameMissingError."""

    async def read_log(self, game: str, start: int) -> tuple[Record, list[MarkedEntry], int]:
        """Return a game, its log from an index (0: all), and the store's time. Raises GameMissingError."""

    async def commit(self, game: str, change: Commit) -> Committed:
        """Make a change unless the game has moved on; making it twice is no harm. Raises GameMissingError."""

    async def list_games(self, after: str, count: int) -> tuple[list[Listed], str]:
        """Return up to so many games after an id (empty: from the first on), and the id to go on after, or nothing."""

    async def amend(self, game: str, change: Amendment) -> Committed:
        """Change the meta of a game unless it has moved on. Raises GameMissingError."""

    async def lease(self, shard: int, count: int, milliseconds: int) -> Due:
        """Return up to so many games of a shard that are due; to others they are not, until that time has passed."""

    async def pack(self, game: str, version: int, mark: bytes, log: Sequence[MarkedEntry]) -> None:
        """Keep the whole log of a game that is over in less room, without its marks, unless the game has changed."""

    async def forget_due(self, game: str) -> None:
        """Have a game that is gone due no more."""

    async def name_code(self, code: str, game: str, milliseconds: int) -> str:
        """Have a join code mean a game for so long, unless it means another; return the game that it means."""

    async def find_code(self, code: str) -> str | None:
        """Return the game that a join code means."""

    async def drop_code(self, code: str) -> None:
        """Have a join code mean nothing."""

    def now(self) -> int:
        """Return about what the store's clock says, in milliseconds: for people to read, never to decide anything."""

    async def settle(self, game: str) -> None:
        """Return when all that was changed of a game is as durable as it has to be, even what nobody was told of."""

    async def delete(self, game: str) -> None:
        """Delete a game; a repeat within a day is fine. Raises GameMissingError."""

    async def ping(self) -> None:
        """Return when the store answers."""

    async def close(self) -> None:
        """Give up the connections."""
