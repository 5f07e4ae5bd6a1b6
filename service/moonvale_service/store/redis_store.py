"""The store on Redis 7.0 or newer, or Valkey: scripts that each do one step as a whole, on keys that share a slot.

Every key of a game has one of 1,024 hash tags, read off the first two characters of the game's id, so that a game, its
log and its shard's channel lie together on a Redis Cluster.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import Any, Final

from redis import exceptions as redis_errors

from moonvale_service import metrics, tracing
from moonvale_service.store import (
    WAITING,
    Amendment,
    Commit,
    Committed,
    Due,
    GameMissingError,
    Listed,
    Record,
    StoreUnavailableError,
    Ticking,
    Timing,
)
from moonvale_service.store.connections import Command
from moonvale_service.store.links import link
from moonvale_service.store.log_codec import SLOTS, MarkedEntry, decode_entry, pack_log, unpack_log

SHARDS: Final = 1024
TOMBSTONE_MS: Final = 24 * 3600 * 1000  # longer than anybody repeats a request

_PREFIXES: Final = [f"mv:{{{shard:04}}}:" for shard in range(SHARDS)]  # whose braces say what a cluster hashes
_GAME_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_GAME_ID: Final = re.compile(f"[{_GAME_ALPHABET}]{{20}}")
_NEEDED: Final = ("v", "k", "s", "m", "b", "d", "c", "u")
_FIELDS: Final = (*_NEEDED, "w", "y")
_RINGS: Final = tuple(f"r{slot}" for slot in range(SLOTS))
_SHARDS_AT_ONCE: Final = 16
_WAIT_MS: Final = 400  # of each second of the timeout, so that even a second answer comes before that is over

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
    return f"{_PREFIXES[shard_of(game)]}g:{game}"


def log_key(game: str) -> str:
    """Return the key of a game's log."""
    return f"{_PREFIXES[shard_of(game)]}l:{game}"


def index_key(shard: int) -> str:
    """Return the key of the index of a shard's games."""
    return _PREFIXES[shard] + "i"


def channel(shard: int) -> str:
    """Return the channel on which changes of a shard's games are told."""
    return _PREFIXES[shard] + "c"


def due_key(shard: int) -> str:
    """Return the key of the set of a shard's games in which something is due at a time."""
    return _PREFIXES[shard] + "d"


def wake_channel(shard: int) -> str:
    """Return the channel on which stewards are told when a game of a shard will be due."""
    return _PREFIXES[shard] + "w"


def code_key(code: str) -> str:
    """Return the key of what a join code means."""
    return f"{_PREFIXES[zlib.crc32(code.encode()) % SHARDS]}j:{code}"


class RedisStore:
    """Keeps games on a Redis or Valkey server, or on a cluster.

    ``timeout``: seconds until a step is given up, new attempts included. ``replicated``: a change counts as made when a
    replica has it too.
    """

    def __init__(self, url: str, timeout: float, *, replicated: bool = False) -> None:
        """Raises ValueError if the URL isn't one."""
        self._link = link(url, timeout)
        self._timeout = timeout
        self._wait: tuple[Command, ...] = (("WAIT", 1, max(1, round(timeout * _WAIT_MS))),) if replicated else ()
        self._ahead = 0.0  # how many milliseconds the store's clock is ahead of this process's monotonic one
        self._delete, self._settle, self._list, self._pack = (
            _Script(name, _text(name)) for name in ("delete", "settle", "list", "pack")
        )
        self._create, self._commit, self._amend, self._lease, self._read_log = (
            _Script(name, _text("clock") + _text(name)) for name in ("create", "commit", "amend", "lease", "read_log")
        )

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
        shard = shard_of(game)
        keys = (game_key(game), log_key(game), index_key(shard), due_key(shard), wake_channel(shard))
        version = WAITING if state is None else 0
        args = (digest, mark, state or b"", meta, expiry, game, version, _spec(timing))
        return _record(await self._write(self._create, keys, *args))

    async def read(self, game: str, slot: int | None = None) -> Record:
        fields = _FIELDS if slot is None else (*_FIELDS, _RINGS[slot])
        key = game_key(game)
        return _record(await self._ask("read", "HMGET", key, *fields))

    async def read_log(self, game: str, start: int) -> tuple[Record, list[MarkedEntry], int]:
        answer = await self._run(self._read_log, (game_key(game), log_key(game)), start)
        now, found, log, packed = answer
        self._learn(int(now))
        entries = [decode_entry(entry) for entry in log] if packed is None else unpack_log(packed)[start:]
        return _record(found), entries, int(now)

    async def commit(self, game: str, change: Commit) -> Committed:
        shard = shard_of(game)
        keys = (game_key(game), log_key(game), channel(shard), due_key(shard), wake_channel(shard))
        ring = "" if change.slot is None else _RINGS[change.slot]
        args: list[bytes | str | int] = [change.version, change.mark, change.new_mark, change.state, ring, change.ring]
        args += [change.expiry, change.keep_from, game, change.meta, change.new_meta or b"", _spec(change.timing)]
        return self._committed(await self._write(self._commit, keys, *args, *change.entries))

    def _committed(self, outcome: list[Any]) -> Committed:
        """Return what a script says came of a change. Raises GameMissingError."""
        if outcome[0] == 0:
            metrics.conflicts.add()
            return Committed(0, _record(outcome[1]))
        if outcome[0] == 2:
            raise GameMissingError
        self._learn(int(outcome[1]))
        if outcome[0] == 1:
            metrics.commits.add()
        return Committed(int(outcome[1]), untimely=outcome[0] == 3)

    async def list_games(self, after: str, count: int) -> tuple[list[Listed], str]:
        found: list[Listed] = []
        start = shard_of(after) if after else 0
        for first in range(start, SHARDS, _SHARDS_AT_ONCE):
            shards = range(first, min(first + _SHARDS_AT_ONCE, SHARDS))
            sizes = await asyncio.gather(*[self.size(shard) for shard in shards])
            for shard in [shard for shard, size in zip(shards, sizes, strict=True) if size]:
                low = f"({after}" if after and shard == start else "-"
                while low:
                    rows, last = await self._list_shard(shard, low, count - len(found))
                    found += rows
                    if len(found) == count:
                        return found, found[-1].game
                    low = f"({last}" if last else ""
        return found, ""

    async def size(self, shard: int) -> int:
        """Return how many games the index of a shard has."""
        return int(await self._ask("size", "ZCARD", index_key(shard)))

    async def _list_shard(self, shard: int, low: str, count: int) -> tuple[list[Listed], str]:
        key = index_key(shard)
        last, rows = await self._run(self._list, (key,), low, count, key.removesuffix("i") + "g:")
        listed = [
            Listed(game.decode(), int(version), meta, int(created), int(updated))
            for game, version, meta, created, updated in rows
        ]
        return listed, last.decode()

    async def amend(self, game: str, change: Amendment) -> Committed:
        shard = shard_of(game)
        keys = (game_key(game), channel(shard), due_key(shard), wake_channel(shard))
        args: list[bytes | str | int] = [change.mark, change.meta, change.new_mark or b"", change.new_meta]
        args += [change.state or b"", "" if change.expiry is None else change.expiry, game, _spec(change.timing)]
        return self._committed(await self._write(self._amend, keys, *args))

    async def lease(self, shard: int, count: int, milliseconds: int) -> Due:
        keys = (due_key(shard), wake_channel(shard))
        now, games, following = await self._run(self._lease, keys, count, milliseconds)
        self._learn(int(now))
        return Due(int(now), [game.decode() for game in games], int(float(following)) if following else None)

    async def pack(self, game: str, version: int, mark: bytes, log: Sequence[MarkedEntry]) -> None:
        keys = (game_key(game), log_key(game), due_key(shard_of(game)))
        await self._write(self._pack, keys, version, mark, pack_log(log), game)

    async def forget_due(self, game: str) -> None:
        await self._ask("forget_due", "ZREM", due_key(shard_of(game)), game)

    async def name_code(self, code: str, game: str, milliseconds: int) -> str:
        key = code_key(code)
        name: Command = ("SET", key, game, "NX", "PX", milliseconds)
        _, found = await self._step("name_code", key, name, ("GET", key))
        return str(found.decode())

    async def find_code(self, code: str) -> str | None:
        found = await self._ask("find_code", "GET", code_key(code))
        return None if found is None else found.decode()

    async def drop_code(self, code: str) -> None:
        await self._ask("drop_code", "DEL", code_key(code))

    def now(self) -> int:
        return round(time.monotonic() * 1000 + self._ahead)

    def _learn(self, now: int) -> None:
        """Take in what the store's clock has just said."""
        self._ahead = now - time.monotonic() * 1000

    async def settle(self, game: str) -> None:
        if self._wait:
            await self._write(self._settle, (game_key(game),))

    async def delete(self, game: str) -> None:
        shard = shard_of(game)
        keys = (game_key(game), log_key(game), channel(shard), index_key(shard), due_key(shard))
        if not await self._write(self._delete, keys, TOMBSTONE_MS, game):
            raise GameMissingError

    async def ping(self) -> None:
        with _guarded("ping"):
            async with asyncio.timeout(self._timeout):
                self._learn(await self._link.ping())

    async def close(self) -> None:
        await self._link.close()

    async def _ask(self, step: str, command: str, key: str, *args: str | int) -> Any:  # noqa: ANN401
        """Run one command upon a key as a step of its own; return its answer."""
        (answer,) = await self._step(step, key, (command, key, *args))
        return answer

    async def _write(self, script: _Script, keys: Sequence[str], *args: bytes | str | int) -> Any:  # noqa: ANN401
        """Run a script that writes; return its answer when what it wrote is as durable as it has to be."""
        answer, *confirmed = await self._run_and(self._wait, script, keys, *args)
        if confirmed and confirmed[0] < 1:
            metrics.store_failures.add(script.name)
            raise StoreUnavailableError("no replica has confirmed the change in time")
        return answer

    async def _run(self, script: _Script, keys: Sequence[str], *args: bytes | str | int) -> Any:  # noqa: ANN401
        """Run a script; return its answer."""
        (answer,) = await self._run_and((), script, keys, *args)
        return answer

    async def _run_and(
        self, then: Sequence[Command], script: _Script, keys: Sequence[str], *args: bytes | str | int
    ) -> list[Any]:
        """Run a script and what waits for it; return their answers. A server that has lost the script is told it."""
        rest = (len(keys), *keys, *args)
        blocks = bool(then)
        with _guarded(script.name):
            answers = await self._link.run(keys[0], ("EVALSHA", script.digest, *rest), *then, blocks=blocks)
            if isinstance(answers[0], redis_errors.NoScriptError):
                answers = await self._link.run(keys[0], ("EVAL", script.text, *rest), *then, blocks=blocks)
            return _good(answers)

    async def _step(self, name: str, key: str, *commands: Command) -> list[Any]:
        """Run commands in a row; return their answers."""
        with _guarded(name):
            return _good(await self._link.run(key, *commands))


@contextmanager
def _guarded(name: str) -> Iterator[None]:
    """Measure a step, and tell a server that can't serve from one that was asked something wrong."""
    began = time.perf_counter()
    try:
        with tracing.step(name):
            yield
    except (redis_errors.RedisError, redis_errors.RedisClusterException, OSError) as error:
        # TimeoutError is an OSError.
        if type(error) is redis_errors.ResponseError and not str(error).startswith(_UNABLE):
            raise
        metrics.store_failures.add(name)
        raise StoreUnavailableError from error
    finally:
        metrics.store_step_seconds.observe(time.perf_counter() - began, name)


class _Script:
    """A script, its name, and the digest by which a server knows it."""

    def __init__(self, name: str, text: bytes) -> None:
        self.name = name
        self.text = text
        self.digest = hashlib.sha1(text, usedforsecurity=False).hexdigest()


def _good(answers: list[Any]) -> list[Any]:
    """Return the answers, or raise the first error among them."""
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


def _text(name: str) -> bytes:
    """Return the text of a script."""
    return (resources.files(__package__) / "scripts" / f"{name}.lua").read_bytes()


def _spec(timing: Timing | None) -> str:
    """Return how clock.lua reads a timing; nothing for none."""
    if timing is None:
        return ""
    when, *numbers, banks = timing
    return " ".join([when.value, *[str(int(number)) for number in (*numbers, *banks)]])


def _record(found: Sequence[bytes | None]) -> Record:
    fields = [field for field in found[: len(_NEEDED)] if field is not None]
    if len(fields) < len(_NEEDED):
        raise GameMissingError
    version, mark, state, meta, first_mark, digest, created, updated = fields
    began, clock = found[len(_NEEDED) : len(_FIELDS)]
    ring = found[-1] if len(found) > len(_FIELDS) else None
    return Record(
        int(version),
        mark,
        state,
        meta,
        first_mark,
        digest,
        int(created),
        int(updated),
        ring or b"",
        int(began or created),
        None if clock is None else _ticking(clock),
    )


def _ticking(field: bytes) -> Ticking:
    opened, deadline, *banks = map(int, field.split())
    return Ticking(opened, deadline, tuple(banks))
