"""A worker: the one place that reads settings and wires the parts of the service together."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final, Protocol

import grpc.aio
import uvloop
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from moonvale_service import embedded, grpc_port, logs, metrics, tasks, tls, tracing
from moonvale_service.calls import Calls
from moonvale_service.commits import Commits
from moonvale_service.credentials import load_keys
from moonvale_service.edge import SERVICE, Edge
from moonvale_service.games import Games
from moonvale_service.http.app import App
from moonvale_service.http.cors import shared
from moonvale_service.http.port import HttpPort
from moonvale_service.quotas import Quotas
from moonvale_service.recent import Recent
from moonvale_service.seats import Seats
from moonvale_service.settings import SettingError, Settings, variable_of
from moonvale_service.store import StoreUnavailableError
from moonvale_service.store.redis_store import SHARDS, RedisStore
from moonvale_service.watch import Watches

EXIT_FAILED: Final = 1
EXIT_SETTING: Final = 2  # a setting is wrong, so that starting again would not help

#: The transport's own limit lies above the service's, whose error has a reason.
_TRANSPORT_LIMIT: Final = 4 * 1024 * 1024
#: Clients may ask whether the connection still lives this often.
_LEAST_PING_INTERVAL_MS: Final = 5_000
#: A connection that has reached its age is cut this many seconds after the greatest age of a watch: by then whatever
#: of ours was open on it has ended as it should, and only what lasts for ever is left, such as a watch of our health.
_BEYOND_WATCHES: Final = 60.0
_CHECK_SECONDS: Final = 1.0  # between two looks at whether the store answers
_COUNT_SECONDS: Final = 60.0  # for counting the games of all shards
_QUIET_SECONDS: Final = 0.05  # without a call, until new connections and calls are refused by the transport
_QUIET_AT_MOST: Final = 1.0  # seconds to wait for that
_LAST_WORDS: Final = 0.5  # seconds for what is on its way when the last call of a game has ended


class Server:
    """A server of GameService, health and reflection over one store. Make and use it within a running loop."""

    kind = "worker"

    def __init__(self, settings: Settings, number: int | None = None) -> None:
        """Raises SettingError. ``number``: of this process among the workers; the first one counts the games kept."""
        self._settings = settings
        self._counts = number == 0 and settings.metrics_listen is not None
        keys = load_keys(settings, make=False)
        self._store = make_store(settings)
        self._watches = Watches(
            self._store,
            store_url(settings),
            settings.store_timeout,
            heartbeat=settings.heartbeat,
            poll=settings.poll,
            age=settings.watch_age,
        )
        recent = Recent()
        games = Games(self._store, recent, Commits(self._store, recent, settings))
        seats = Seats(self._store, recent, keys, settings)
        quotas = Quotas(settings)
        calls = Calls(games, seats, self._watches, keys, quotas, settings)
        self._edge = Edge(calls, keys, quotas, settings.message_limit, reader_timeout=settings.reader_timeout)
        self._health = health.aio.HealthServicer()
        self._background: list[asyncio.Task[None]] = []
        self._server = grpc.aio.server(
            options=(
                ("grpc.so_reuseport", 1),
                ("grpc.max_receive_message_length", _TRANSPORT_LIMIT),
                ("grpc.http2.min_ping_interval_without_data_ms", _LEAST_PING_INTERVAL_MS),
                ("grpc.http2.min_recv_ping_interval_without_data_ms", _LEAST_PING_INTERVAL_MS),
                *_ages(settings),
            )
        )
        self._certificates = tls.certificates(settings)
        self._http: HttpPort | None = None
        self._ready = self._draining = False
        #: The port that HTTP is served on.
        self.http_port: int | None = None
        if settings.http_listen is not None:
            app = App(self._edge, settings.message_limit, lambda: self._ready and not self._draining)
            context = None if self._certificates is None else self._certificates.context
            self._http = HttpPort(shared(app, settings.cors_origins), settings.grace, context)
        self._server.add_generic_rpc_handlers((grpc_port.handlers(self._edge),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)

    async def start(self, *addresses: str) -> list[int]:
        """Serve gRPC on the addresses, and return their ports; and HTTP. Raises SettingError if one can't be had.

        Sockets (``unix:``) are for this machine alone and have no TLS.
        """
        ports = [tls.add_port(self._server, address, self._certificates) for address in addresses]
        self._ready = True
        await self._check_store()
        self._watches.start()
        self._background.append(asyncio.create_task(keep_checking(self._check_store, self._certificates)))
        if self._counts:
            self._background.append(asyncio.create_task(self._count_games()))
        if self._http is not None and self._settings.http_listen is not None:
            try:
                self.http_port = await self._http.start(self._settings.http_listen)
            except OSError:
                address = self._settings.http_listen
                raise SettingError(variable_of("http_listen"), f"{address} can't be listened on") from None
        await self._server.start()
        return ports

    async def idle(self) -> None:
        """Return when no call is open."""
        await self._edge.idle()

    async def drain(self) -> None:
        """Say that this server is about to stop: to who asks for health, to all watchers, and to new calls."""
        self._draining = True
        await self._health.enter_graceful_shutdown()
        self._edge.drain()
        self._watches.drain()

    async def stop(self) -> None:
        """Drain, let open calls end, and stop."""
        await self.drain()
        # The transport cuts short the calls that nobody has taken up when it stops: they are to be refused by then.
        try:
            async with asyncio.timeout(min(_QUIET_AT_MOST, self._settings.grace)):
                await self._edge.quiet(_QUIET_SECONDS)
        except TimeoutError:
            pass
        stopping = asyncio.create_task(self._server.stop(self._settings.grace))
        stopping_http = asyncio.create_task(self._http.stop()) if self._http is not None else None
        idle = asyncio.create_task(self._edge.idle())
        await asyncio.wait({stopping, idle}, return_when=asyncio.FIRST_COMPLETED)
        await tasks.end(idle)
        # Streams of other services, such as a watch of our health, would last for the whole grace.
        await self._server.stop(min(_LAST_WORDS, self._settings.grace))
        await stopping
        if stopping_http is not None:
            await stopping_http
        await tasks.end(*self._background)
        await self._watches.close()
        await self._store.close()

    async def failed(self) -> None:
        """Return when what runs in the background has ended by itself, which it never should."""
        watching = [asyncio.create_task(self._watches.failed())]
        if self._http is not None:
            watching.append(asyncio.create_task(self._http.failed()))
        try:
            await asyncio.wait({*watching, *self._background}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await tasks.end(*watching)

    async def _check_store(self) -> None:
        """Tell who asks whether GameService can serve; without the store it can't, though the process is well."""
        try:
            await self._store.ping()
        except StoreUnavailableError as error:
            if self._ready:
                logs.event("error", "store_unavailable", error=error)
            self._ready = False
            metrics.store_ready.set(0)
            await self._health.set(SERVICE, health_pb2.HealthCheckResponse.NOT_SERVING)
        else:
            self._ready = True
            metrics.store_ready.set(1)
            await self._health.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)

    async def _count_games(self) -> None:
        """Count the games that are kept, shard by shard, again and again."""
        pause = 0.0  # the first time
        while True:
            total = 0
            for shard in range(SHARDS):
                try:
                    total += await self._store.size(shard)
                except StoreUnavailableError:  # which the checks tell
                    await asyncio.sleep(_CHECK_SECONDS)
                    break
                await asyncio.sleep(pause)
            else:
                metrics.games_kept.set(total)
            pause = _COUNT_SECONDS / SHARDS


class Process(Protocol):
    """What a process of the service does, from its start to its stop. ``kind``: what logs call it."""

    kind: str

    async def start(self, public: str, own: str, /) -> object:
        """Begin, at the address that clients know and one for the supervisor alone. Raises SettingError."""

    async def failed(self) -> None:
        """Return when it can't go on."""

    async def stop(self) -> None:
        """Let what was begun end, and stop."""


async def keep_checking(check: Callable[[], Awaitable[None]], certificates: tls.Certificates | None) -> None:
    """Look again and again whether the certificates were renewed, and do a check of the caller's."""
    while True:
        await asyncio.sleep(_CHECK_SECONDS)
        if certificates is not None:
            certificates.refresh()
        await check()


def store_url(settings: Settings) -> str:
    """Return the URL of the store."""
    return embedded.url(settings) if settings.embedded else settings.store


def make_store(settings: Settings) -> RedisStore:
    """Return the store. Raises SettingError."""
    try:
        return RedisStore(store_url(settings), settings.store_timeout, replicated=settings.replicated)
    except ValueError:
        raise SettingError(variable_of("store"), "is not a URL of Redis or Valkey") from None


def _ages(settings: Settings) -> Iterator[tuple[str, int]]:
    """Yield the transport's options for the age of a connection. It scatters the age by a tenth by itself."""
    if settings.connection_age is not None:
        yield "grpc.max_connection_age_ms", round(1000 * settings.connection_age)
        yield "grpc.max_connection_age_grace_ms", round(1000 * (settings.watch_age + _BEYOND_WATCHES))


async def serve(settings: Settings, number: int, own_address: str, make: Callable[[Settings, int], Process]) -> bool:
    """Serve until SIGTERM, or until whoever started this process is gone, which closes its standard input.

    ``number``: of this process among those of its kind. ``own_address``: for the supervisor alone.
    Return False if it ended since something in the background did. Raises SettingError.
    """
    server = make(settings, number)
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ending.set)
    await server.start(settings.listen, own_address)
    loop.add_reader(sys.stdin.fileno(), ending.set)
    logs.event("info", f"{server.kind}_started", address=settings.listen)
    waits = [asyncio.create_task(ending.wait()), asyncio.create_task(server.failed())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    failed = not ending.is_set()
    await tasks.end(*waits)
    loop.remove_reader(sys.stdin.fileno())
    logs.event("info", f"{server.kind}_draining")
    await server.stop()
    await tracing.stop()
    logs.event("info", f"{server.kind}_stopped")
    return not failed


async def _serve_and_report(
    settings: Settings, number: int, own_address: str, make: Callable[[Settings, int], Process]
) -> bool:
    if settings.metrics_listen is None:
        return await serve(settings, number, own_address, make)
    metrics.turn_on()
    async with await metrics.serve_reports(metrics.socket_of(own_address)):
        return await serve(settings, number, own_address, make)


def main(
    environment: Mapping[str, str], number: int, own_address: str, make: Callable[[Settings, int], Process] = Server
) -> int:
    """Run as a process of the supervisor, which asks for health at ``own_address``; return the exit code."""
    try:
        settings = Settings.from_environment(environment)
        logs.configure(settings.log_level)
        tracing.start(environment)
        if settings.pin_workers and sys.platform == "linux":
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, {cores[number % len(cores)]})
        return 0 if uvloop.run(_serve_and_report(settings, number, own_address, make)) else EXIT_FAILED
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_SETTING


if __name__ == "__main__":
    sys.exit(main(os.environ, int(sys.argv[1]), sys.argv[2]))
