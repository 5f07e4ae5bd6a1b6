"""Links to the store's servers: one server, or a cluster of them, asked in the same way.

A step is a row of commands about one key, sent on one connection, so that a WAIT among them waits for those before it.
The connections are redis-py's; its pools and pipelines, which cost more than all the rest of a step, are not used here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import hiredis
import redis.asyncio as aioredis
from redis import exceptions as redis_errors
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from moonvale_service import metrics

CLUSTER: Final = "+cluster"  # the end of a URL's scheme
CONNECTIONS: Final = 32
_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.2

Command = tuple[bytes | str | int, ...]

_pack: Callable[[Any], bytes] = hiredis.pack_command  # whose stub knows commands of one word alone

_ASKING: Final[Command] = ("ASKING",)

#: What ends when a server is back, another one has taken its place, or a slot has moved.
_PASSING: Final = (
    redis_errors.ConnectionError,
    redis_errors.TimeoutError,
    redis_errors.RedisClusterException,
    redis_errors.ClusterDownError,
    redis_errors.ReadOnlyError,
    redis_errors.AskError,  # MovedError too
    redis_errors.TryAgainError,
    OSError,
)


class Link(Protocol):
    """A way to the servers. Methods raise what redis-py raises."""

    async def run(self, key: str, *commands: Command) -> list[Any]:
        """Send commands in a row to the server that has the key; return the answers, errors included."""

    async def ping(self) -> int:
        """Return what a server's clock says, in milliseconds, when one serves."""

    async def url_of(self, key: str) -> str:
        """Return the URL of the server that has the key."""

    async def urls(self) -> list[str]:
        """Return the URLs of all servers that have keys."""

    def doubt(self) -> None:
        """What ``url_of`` says may have changed: ask the servers anew next time."""

    async def close(self) -> None:
        """Give up the connections."""


def link(url: str, timeout: float) -> Link:
    """Return a link to a server, or to a cluster: redis+cluster:// or rediss+cluster:// and the address of one of it.

    ``timeout``: seconds for what a server does. Raises ValueError if the URL isn't one.
    """
    parts = urlsplit(url)
    if not parts.scheme.endswith(CLUSTER):
        return _Single(url, timeout)
    return _Cluster(parts._replace(scheme=parts.scheme.removesuffix(CLUSTER)).geturl(), timeout)


def connect(url: str, timeout: float) -> aioredis.Redis:
    """Return redis-py's client of one server, for what is not a step. Raises ValueError if the URL isn't one."""
    return aioredis.Redis.from_pool(_connections(url, timeout, answers_within=timeout))


def _connections(url: str, timeout: float, answers_within: float | None = None) -> aioredis.ConnectionPool:
    """Return what makes connections as the URL says. Raises ValueError if it isn't one.

    Those of steps are opened without a timeout of their own for what is sent and read: callers bound their steps, and
    redis-py's would cost a task each time and, on Python 3.11, swallow the cancellation of a step that is given up.
    """
    pool = aioredis.ConnectionPool.from_url(
        url,
        socket_connect_timeout=timeout,
        socket_timeout=answers_within,
        retry=Retry(NoBackoff(), 0),
        client_name="moonvale",
    )
    pool.connection_class = _connection_class(pool.connection_class)
    return pool


class _Ending:
    """Mixed into connections: where the transport has gone, uvloop raises an error of its own, which nobody expects."""

    async def send_packed_command(self, command: bytes | str | Iterable[bytes], check_health: bool = True) -> None:
        try:
            await super().send_packed_command(command, check_health)  # type: ignore[misc]
        except RuntimeError as error:
            raise redis_errors.ConnectionError("the connection has ended") from error


def _connection_class(kind: type[AbstractConnection]) -> type[AbstractConnection]:
    """Return a class of connections that say it when they have ended."""
    return type(kind.__name__, (_Ending, kind), {})


class Pool:
    """Connections to one server. Each serves one step at a time, and is given up with a step that does not end well:

    an answer that comes after all must never be taken for that of the next step. ``make``: a new one, not yet open.
    """

    def __init__(self, make: Callable[[], AbstractConnection]) -> None:
        self._make = make
        self._idle: list[AbstractConnection] = []
        self._free = asyncio.Semaphore(CONNECTIONS)

    async def run(self, *commands: Command) -> list[Any]:
        """Send commands in a row; return the answers, errors included. Raises what redis-py raises of a connection."""
        async with self._free:
            connection = self._idle.pop() if self._idle else self._make()
            try:
                await connection.connect()  # type: ignore[no-untyped-call]
                began = time.perf_counter()
                await connection.send_packed_command(
                    b"".join([_pack(command) for command in commands]), check_health=False
                )
                answers = [await _answer(connection) for _ in commands]
            except BaseException:
                await connection.disconnect(nowait=True)
                raise
            metrics.store_round_trip_seconds.observe(time.perf_counter() - began)
            self._idle.append(connection)
            return answers

    async def close(self) -> None:
        """Close the connections that no step uses; those in use stay for later steps."""
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.disconnect()


async def _answer(connection: AbstractConnection) -> Any:  # noqa: ANN401
    """Return the next answer, be it an error. Raises ConnectionError and what else ends a connection."""
    try:
        return await connection.read_response()
    except redis_errors.ResponseError as error:
        return error


def _milliseconds(seconds: bytes | int, microseconds: bytes | int) -> int:
    return int(seconds) * 1000 + int(microseconds) // 1000


class _Single:
    """A link to one server. A step that breaks is tried again until its caller gives up."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = url
        self._pool = Pool(_connections(url, timeout).make_connection)

    async def run(self, key: str, *commands: Command) -> list[Any]:
        pause = _FIRST_PAUSE
        while True:
            try:
                answers = await self._pool.run(*commands)
            except (redis_errors.ConnectionError, redis_errors.TimeoutError, OSError):
                metrics.store_retries.add()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            if any([isinstance(answer, redis_errors.ReadOnlyError) for answer in answers]):
                # It was made a replica: the address may lead to another server by now, for new connections.
                await self._pool.close()
            return answers

    async def ping(self) -> int:
        pong, time = await self.run("", ("PING",), ("TIME",))  # which is answered even by one that can't serve yet
        for answer in (pong, time):
            if isinstance(answer, Exception):
                raise answer
        return _milliseconds(*time)

    async def url_of(self, key: str) -> str:
        return self._url

    async def urls(self) -> list[str]:
        return [self._url]

    def doubt(self) -> None:
        pass

    async def close(self) -> None:
        await self._pool.close()


class _Cluster:
    """A link to a cluster. A step that meets a failover or a move of slots is tried again until its caller gives up."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = urlsplit(url)
        self._cluster: RedisCluster = RedisCluster.from_url(
            url,
            max_connections=CONNECTIONS,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            require_full_coverage=False,  # what is covered can be served
            retry=Retry(NoBackoff(), 0),
            client_name="moonvale",
        )
        kind = _connection_class(self._cluster.connection_kwargs["connection_class"])
        self._cluster.connection_kwargs["connection_class"] = kind  # of servers that are found later
        for node in self._cluster.startup_nodes:
            node.connection_class = kind  # type: ignore[assignment]
        self._pools: dict[str, Pool] = {}  # by the name of the server
        self._doubted = False

    async def run(self, key: str, *commands: Command) -> list[Any]:
        pause = _FIRST_PAUSE
        asking: ClusterNode | None = None
        while True:
            try:
                await self._cluster.initialize()
                node = asking or self._cluster.get_node_from_key(key)
                assert node is not None, "only replicas can be missing"
                answers = await self._pool(node).run(*((_ASKING,) if asking else ()), *commands)
                failed = next((answer for answer in answers if isinstance(answer, _PASSING)), None)
            except _PASSING as error:
                failed = error
            if failed is None:
                return answers[1:] if asking else answers
            if type(failed) is redis_errors.AskError:  # amid its move, this key is on the other server already
                asking = self._cluster.get_node(failed.host, failed.port)
                if asking is not None:
                    continue
            asking = None
            metrics.store_retries.add()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            await self._ask()

    async def ping(self) -> int:
        """As soon as any server with slots answers: it can serve its share of the games."""
        await self._cluster.initialize()
        for node in self._cluster.get_primaries():
            try:
                await self._cluster.ping(target_nodes=node)
                return _milliseconds(*await self._cluster.time(target_nodes=node))
            except _PASSING:
                continue
        await self._cluster.nodes_manager.initialize()
        raise redis_errors.ConnectionError("no server of the cluster answers")

    async def url_of(self, key: str) -> str:
        await self._cluster.initialize()
        if self._doubted:
            self._doubted = False
            await self._ask()
        node = self._cluster.get_node_from_key(key)
        assert node is not None, "only replicas can be missing"
        return self._url_of(node)

    async def urls(self) -> list[str]:
        await self._cluster.initialize()
        return [self._url_of(node) for node in self._cluster.get_primaries()]

    def _url_of(self, node: ClusterNode) -> str:
        user = self._url.netloc.rpartition("@")
        host = f"[{node.host}]" if ":" in node.host else node.host
        return self._url._replace(netloc=f"{user[0]}{user[1]}{host}:{node.port}").geturl()

    def doubt(self) -> None:
        self._doubted = True

    async def close(self) -> None:
        for pool in self._pools.values():
            await pool.close()
        await self._cluster.aclose()

    async def _ask(self) -> None:
        """Ask the servers who has which slots, and keep the old answer if none tells."""
        try:
            await self._cluster.nodes_manager.initialize()
        except _PASSING:
            return

    def _pool(self, node: ClusterNode) -> Pool:
        pool = self._pools.get(node.name)
        if pool is None:
            options = {**node.connection_kwargs, "socket_timeout": None}  # see _connections
            pool = self._pools[node.name] = Pool(partial(node.connection_class, **options))
        return pool
