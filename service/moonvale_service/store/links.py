"""Links to the store's servers: one server, or a cluster of them, asked in the same way.

A step is a row of commands about one key, sent on one connection, so that a WAIT among them waits for those before it.
A step that breaks is tried again until its time is over: what it does, it does once, however often it is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import redis.asyncio as aioredis
from redis import exceptions as redis_errors
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from moonvale_service import metrics
from moonvale_service.store.connections import FIRST_PAUSE, LENT, LONGEST_PAUSE, Command, Connections

CLUSTER: Final = "+cluster"  # the end of a URL's scheme
_ASKING: Final[Command] = ("ASKING",)

#: What ends when a server is back, or another one has taken its place.
_BROKEN: Final = (redis_errors.ConnectionError, redis_errors.TimeoutError, OSError)

#: The same of a cluster, where slots move too.
_PASSING: Final = (
    *_BROKEN,
    redis_errors.RedisClusterException,
    redis_errors.ClusterDownError,
    redis_errors.ReadOnlyError,
    redis_errors.AskError,  # MovedError too
    redis_errors.TryAgainError,
)


class Link(Protocol):
    """A way to the servers. Methods raise what redis-py raises, and TimeoutError."""

    async def run(self, key: str, *commands: Command, blocks: bool = False) -> list[Any]:
        """Send commands in a row to the server that has the key; return the answers, errors included.

        ``blocks``: the server takes its time for some of them, which would keep other steps waiting.
        """

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

    ``timeout``: seconds until a step is given up, new attempts included. Raises ValueError if the URL isn't one.
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

    Those of steps are opened without a timeout of their own for what is sent and read: redis-py's would cost a task
    each time and, on Python 3.11, swallow the cancellation of a step that is given up.
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


def _milliseconds(seconds: bytes | int, microseconds: bytes | int) -> int:
    return int(seconds) * 1000 + int(microseconds) // 1000


class _Single:
    """A link to one server."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = url
        self._timeout = timeout
        self._connections = Connections(_connections(url, timeout).make_connection, timeout)

    async def run(self, key: str, *commands: Command, blocks: bool = False) -> list[Any]:
        left = self._timeout
        sent = None if blocks else self._connections.send(commands)
        if sent is not None:  # as nearly always; then its connection knows when it has taken too long
            began = time.perf_counter()
            try:
                return self._seen(await sent)
            except _BROKEN:
                metrics.store_retries.add()
                left -= time.perf_counter() - began
                if left <= 0:
                    raise
        async with asyncio.timeout(left):
            return await self._persist(commands, blocks=blocks)

    async def _persist(self, commands: Sequence[Command], *, blocks: bool) -> list[Any]:
        pause = FIRST_PAUSE
        while True:
            try:
                return self._seen(await self._connections.run(commands, blocks=blocks))
            except _BROKEN:
                metrics.store_retries.add()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _seen(self, answers: list[Any]) -> list[Any]:
        """Return the answers. Raises the ConnectionError among them: that of a server which can't serve yet."""
        for answer in answers:
            if isinstance(answer, redis_errors.ReadOnlyError | redis_errors.ConnectionError):
                # It was made a replica, say: the address may lead to another server by now, for new connections.
                self._connections.retire()
            if isinstance(answer, redis_errors.ConnectionError):
                raise answer
        return answers

    async def ping(self) -> int:
        pong, now = await self.run("", ("PING",), ("TIME",))  # which is answered even by one that can't serve yet
        for answer in (pong, now):
            if isinstance(answer, Exception):
                raise answer
        return _milliseconds(*now)

    async def url_of(self, key: str) -> str:
        return self._url

    async def urls(self) -> list[str]:
        return [self._url]

    def doubt(self) -> None:
        pass

    async def close(self) -> None:
        await self._connections.close()


class _Cluster:
    """A link to a cluster. A step that meets a failover or a move of slots breaks too."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = urlsplit(url)
        self._timeout = timeout
        self._cluster: RedisCluster = RedisCluster.from_url(
            url,
            max_connections=LENT,
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
        self._connections: dict[str, Connections] = {}  # by the name of the server
        self._doubted = False

    async def run(self, key: str, *commands: Command, blocks: bool = False) -> list[Any]:
        async with asyncio.timeout(self._timeout):
            return await self._persist(key, commands, blocks=blocks)

    async def _persist(self, key: str, commands: Sequence[Command], *, blocks: bool) -> list[Any]:
        pause = FIRST_PAUSE
        asking: ClusterNode | None = None
        while True:
            try:
                await self._cluster.initialize()
                node = asking or self._cluster.get_node_from_key(key)
                assert node is not None, "only replicas can be missing"
                row = (_ASKING, *commands) if asking else commands
                answers = await self._connections_of(node).run(row, blocks=blocks)
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
            pause = min(2 * pause, LONGEST_PAUSE)
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
        for connections in self._connections.values():
            await connections.close()
        await self._cluster.aclose()

    async def _ask(self) -> None:
        """Ask the servers who has which slots, and keep the old answer if none tells."""
        try:
            await self._cluster.nodes_manager.initialize()
        except _PASSING:
            return

    def _connections_of(self, node: ClusterNode) -> Connections:
        connections = self._connections.get(node.name)
        if connections is None:
            options = {**node.connection_kwargs, "socket_timeout": None}  # see _connections
            connections = Connections(partial(node.connection_class, **options), self._timeout)
            self._connections[node.name] = connections
        return connections
