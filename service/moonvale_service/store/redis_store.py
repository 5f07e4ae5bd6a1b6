"""The store on Redis 7.0 or newer, or Valkey: scripts that each do one step as a whole, on keys that share a slot.

Every key of a game has one of 1,024 hash tags, read off the first two characters of the game's id, so that a game, its
log and its shard's channel lie together on a Redis Cluster.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any, Final

import redis.asyncio as aioredis
from redis import exceptions as redis_errors
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff

from moonvale_service.store import Commit, Committed, GameMissingError, Record, StoreUnavailableError
from moonvale_service.store.log_codec import SLOTS, MarkedEntry, decode_entry

SHARDS: Final = 1024
TOMBSTONE_MS: Final = 24 * 3600 * 1000  # longer than anybody repeats a request

_GAME_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_GAME_ID: Final = re.compile(f"[{_GAME_ALPHABET}]{{20}}")
_FIELDS: Final = ("v", "k", "s", "m", "b", "d", "c", "u")
_RINGS: Final = tuple(f"r{slot}" for slot in range(SLOTS))
_CONNECTIONS: Final = 32

#: How answers begin that say that the server can't serve now; others of their class say that it was asked wrong.
_UNABLE: Final = ("BUSY", "MISCONF", "NOAUTH", "NOREPLICAS", "WRONGPASS")


def is_game_id(text: str) -> bool:
    """Whether a text has the form of a game's id: 20 characters of base32."""
    return _GAME_ID.fullmatch(text) is not None


def shard_of(game: str) -> int:
    """Return the shard of a game: 10 bits of its id."""
    return _GAME_ALPHABET.index(game[0]) << 5 | _GAME_ALPHABET.index(game[1])


def game_key(game: str) -> str:
    """Return the key of a game's record."""
    return f"mv:{{{shard_of(game):04}}}:g:{game}"


def log_key(game: str) -> str:
    """Return the key of a game's log."""
    return f"mv:{{{shard_of(game):04}}}:l:{game}"


def channel(shard: int) -> str:
    """Return the channel on which changes of a shard's games are told."""
    return f"mv:{{{shard:04}}}:c"


def connect(url: str, timeout: float, *, retry: bool = True) -> aioredis.Redis:
    """Return a client with a pool of its own. ``retry``: go on trying to reach a server that is down until time is up.

    Raises ValueError if the URL isn't one.
    """
    pool = aioredis.BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        timeout=timeout,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(ExponentialWithJitterBackoff(base=0.01, cap=0.2), -1) if retry else Retry(NoBackoff(), 0),
        client_name="moonvale",
    )
    return aioredis.Redis.from_pool(pool)


class RedisStore:
    """Keeps games on a Redis or Valkey server. ``timeout``: seconds until a step is given up, new attempts included."""

    def __init__(self, url: str, timeout: float) -> None:
        self._client = connect(url, timeout)
        self._timeout = timeout
        scripts = resources.files(__package__) / "scripts"
        self._create, self._read_log, self._commit, self._delete = (
            self._client.register_script((scripts / f"{name}.lua").read_bytes())
            for name in ("create", "read_log", "commit", "delete")
        )

    async def create(self, game: str, *, digest: bytes, mark: bytes, state: bytes, meta: bytes, expiry: int) -> Record:
        async with self._step():
            found = await self._create(keys=(game_key(game), log_key(game)), args=(digest, mark, state, meta, expiry))
        return _record(found)

    async def read(self, game: str, slot: int | None = None) -> Record:
        fields = _FIELDS if slot is None else (*_FIELDS, _RINGS[slot])
        async with self._step():
            found: Any = await self._client.hmget(game_key(game), fields)
        return _record(found)

    async def read_log(self, game: str, start: int) -> tuple[Record, list[MarkedEntry], int]:
        async with self._step():
            now, found, log = await self._read_log(keys=(game_key(game), log_key(game)), args=(start,))
        return _record(found), [decode_entry(entry) for entry in log], int(now)

    async def commit(self, game: str, change: Commit) -> Committed:
        keys = (game_key(game), log_key(game), channel(shard_of(game)))
        ring = "" if change.slot is None else _RINGS[change.slot]
        args: list[bytes | str | int] = [change.version, change.mark, change.new_mark, change.state, ring, change.ring]
        args += [change.expiry, change.keep_from, game, *change.entries]
        async with self._step():
            outcome = await self._commit(keys=keys, args=args)
        if outcome[0] == 1:
            return Committed(int(outcome[1]), None)
        if outcome[0] == 2:
            raise GameMissingError
        return Committed(0, _record(outcome[1]))

    async def delete(self, game: str) -> None:
        keys = (game_key(game), log_key(game), channel(shard_of(game)))
        async with self._step():
            found = await self._delete(keys=keys, args=(TOMBSTONE_MS, game))
        if not found:
            raise GameMissingError

    async def ping(self) -> None:
        async with self._step():
            await self._client.ping()

    async def close(self) -> None:
        await self._client.aclose()

    @asynccontextmanager
    async def _step(self) -> AsyncIterator[None]:
        """Bound a step in time, and tell a server that can't serve from one that was asked something wrong."""
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except (redis_errors.RedisError, OSError) as error:  # TimeoutError is an OSError
            if type(error) is redis_errors.ResponseError and not str(error).startswith(_UNABLE):
                raise
            raise StoreUnavailableError from error


def _record(found: Sequence[bytes | None]) -> Record:
    fields = [field for field in found[: len(_FIELDS)] if field is not None]
    if len(fields) < len(_FIELDS):
        raise GameMissingError
    version, mark, state, meta, first_mark, digest, created, updated = fields
    ring = found[-1] if len(found) > len(_FIELDS) else None
    return Record(int(version), mark, state, meta, first_mark, digest, int(created), int(updated), ring or b"")
