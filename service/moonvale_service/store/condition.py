"""The condition of the store's servers: what they are, whether they keep what they have, and how fast they answer."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

from redis import exceptions as redis_errors
from redis.asyncio import Redis

from moonvale_service.store.links import connect, link

LEAST_VERSION: Final = (7, 0)  # of Redis, or what a server is compatible with; sharded channels came with it
NO_EVICTION: Final = "noeviction"

_PINGS: Final = 20


@dataclass(frozen=True, slots=True)
class Condition:
    """How a server is. Bytes, seconds; ``limit`` 0: none. None: the server doesn't tell, as CONFIG is forbidden.

    ``address``: without user and password. ``snapshots``: whether it writes them; ``sync``: when its log goes to disk,
    ``always``, ``everysec`` or ``no``. ``skew``: how far its clock is ahead of this machine's.
    """

    address: str
    name: str
    version: tuple[int, int]
    is_replica: bool
    replicas: int
    policy: str
    used: int
    limit: int
    has_log: bool
    snapshots: bool | None
    sync: str | None
    writes_fail: bool
    latency: float
    slowest: float
    skew: float

    @property
    def persists(self) -> bool | None:
        """Whether a restart of the server loses less than everything."""
        return self.has_log or self.snapshots


async def look(url: str, seconds: float) -> list[Condition]:
    """Return the condition of each server that has games.

    ``seconds``: for each answer. Raises RedisError, RedisClusterException or OSError; ValueError if the URL isn't one.
    """
    there = link(url, seconds)
    try:
        urls = await there.urls()
    finally:
        await there.close()
    found = []
    for each in urls:
        async with connect(each, seconds) as server:
            found.append(await _look(each, server))
    return found


async def _look(url: str, server: Redis) -> Condition:
    took = []
    for _ in range(_PINGS):
        began = time.perf_counter()
        await server.ping()
        took.append(time.perf_counter() - began)
    before = time.time()
    whole, microseconds = await server.time()
    skew = whole + microseconds / 1e6 - (before + time.time()) / 2
    facts: dict[str, Any] = await server.info()
    snapshots, sync = await _config(server)
    has_log = bool(facts.get("aof_enabled"))
    version = re.match(r"(\d+)\.(\d+)", str(facts["redis_version"]))
    named = str(facts.get("server_name", "redis"))
    parts = urlsplit(url)
    return Condition(
        address=parts.path if parts.scheme == "unix" else f"{parts.hostname or 'localhost'}:{parts.port or 6379}",
        name=f"{named.capitalize()} {facts.get(f'{named}_version', facts['redis_version'])}",
        version=(0, 0) if version is None else (int(version[1]), int(version[2])),
        is_replica=facts.get("role") == "slave",
        replicas=int(facts.get("connected_slaves", 0)),
        policy=str(facts.get("maxmemory_policy", NO_EVICTION)),
        used=int(facts.get("used_memory", 0)),
        limit=int(facts.get("maxmemory", 0)),
        has_log=has_log,
        snapshots=snapshots,
        sync=sync if has_log else None,
        writes_fail="err" in (facts.get("aof_last_write_status"), facts.get("rdb_last_bgsave_status")),
        latency=median(took),
        slowest=max(took),
        skew=skew,
    )


async def _config(server: Redis) -> tuple[bool | None, str | None]:
    """Return whether a server writes snapshots, and when it syncs its log; None where it doesn't tell."""
    try:
        told = await server.config_get("save", "appendfsync")
    except redis_errors.ResponseError:  # forbidden, as with most that is rented
        return None, None
    return bool(told.get("save")) if "save" in told else None, told.get("appendfsync")
