"""The supervisor: owns the embedded store and the worker processes, restarts what ends, and stops the store last."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2
from redis import exceptions as redis_errors

from moonvale_service import logs, metrics, tasks
from moonvale_service.credentials import creator_key_path, load_keys, operator_key_path
from moonvale_service.embedded import EmbeddedStore, EmbeddedStoreError
from moonvale_service.exposition import MetricsApp, WorkerState
from moonvale_service.http.port import HttpPort
from moonvale_service.server import EXIT_FAILED, EXIT_SETTING
from moonvale_service.settings import SettingError, Settings, variable_of
from moonvale_service.store.condition import NO_EVICTION, look

_DEFAULT_ADDRESS: Final = Settings.from_environment({}).listen
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 10.0
_STEADY_SECONDS: Final = 30.0  # a worker that ran that long has not failed at its start
_MOST_STARTS: Final = 5  # of a worker, at first, until it has answered once
_KILL_SECONDS: Final = 5.0  # beyond the grace
_METRICS_GRACE: Final = 1.0  # for a scrape

_CHANNEL_OPTIONS: Final = (("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 250))


class Worker:
    """One worker process, started again whenever it ends by itself."""

    def __init__(self, number: int, environment: Mapping[str, str], folder: Path) -> None:
        self.number = number
        self.ready = asyncio.Event()
        self.restarts = 0
        self._environment = environment
        self._address = f"unix:{folder / f'worker-{number}.sock'}"
        #: Where the process gives its reports.
        self.reports = metrics.socket_of(self._address)
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()

    async def run(self) -> int:
        """Keep the worker running until it is stopped; return 0 then, or the exit code that makes going on useless."""
        pause = _FIRST_PAUSE
        starts = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            starts += 1
            code = await self._run_once()
            if self._stopping.is_set():
                break
            logs.event("error", "worker_ended", worker=self.number, code=code)
            if code == EXIT_SETTING:
                return code
            if starts == _MOST_STARTS and not self.ready.is_set():
                return EXIT_FAILED
            if time.monotonic() - began >= _STEADY_SECONDS:
                pause = _FIRST_PAUSE
            try:
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            except TimeoutError:
                pause = min(2 * pause, _LONGEST_PAUSE)
                self.restarts += 1
        return 0

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Tell the process to end, and start it no more."""
        self._stopping.set()
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)

    async def _run_once(self) -> int:
        self.reports.unlink(missing_ok=True)
        # Its standard input ends when this process does, however that happens: then the worker stops too. It has a
        # session of its own, so that a Ctrl-C reaches this process alone.
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "moonvale_service.server", str(self.number), self._address),
            stdin=asyncio.subprocess.PIPE,
            env={"GRPC_VERBOSITY": "NONE", **self._environment},  # which writes lines that are not JSON
            start_new_session=True,
        )
        if self._stopping.is_set():
            self.stop()
        asking = asyncio.create_task(self._ask_for_health())
        code = await self._process.wait()
        await tasks.end(asking)
        return code

    async def _ask_for_health(self) -> None:
        async with grpc.aio.insecure_channel(self._address, _CHANNEL_OPTIONS) as channel:
            check = channel.unary_unary(
                f"/{health.SERVICE_NAME}/Check",
                request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
                response_deserializer=health_pb2.HealthCheckResponse.FromString,
            )
            while not self.ready.is_set():
                try:
                    answer = await check(health_pb2.HealthCheckRequest(), wait_for_ready=True)
                except grpc.RpcError:
                    await asyncio.sleep(_FIRST_PAUSE)
                else:
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        self.ready.set()


class Supervisor:
    """A whole service on this machine."""

    def __init__(self, settings: Settings, environment: Mapping[str, str], command: str) -> None:
        self._settings = settings
        self._environment = environment
        self._command = command
        self._store = EmbeddedStore(settings.data) if settings.embedded else None

    async def run(self) -> int:
        """Serve until SIGTERM or SIGINT, and return the exit code. Raises SettingError and EmbeddedStoreError."""
        ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ending.set)
        with ExitStack() as stack:
            addresses = {
                setting: stack.enter_context(reserve(setting, address))
                for setting in ("listen", "http_listen", "metrics_listen")
                if (address := getattr(self._settings, setting)) is not None
            }
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="moonvale-"))
            try:
                if self._store is not None:
                    await self._store.start()
                load_keys(self._settings, make=self._settings.embedded)
                return await self._run_workers(addresses, Path(folder), ending)
            finally:
                if self._store is not None:
                    await self._store.stop()

    async def _run_workers(self, addresses: Mapping[str, str], folder: Path, ending: asyncio.Event) -> int:
        environment = {**self._environment, **{variable_of(name): address for name, address in addresses.items()}}
        workers = [Worker(number, environment, folder) for number in range(self._settings.workers)]
        runs = [asyncio.create_task(worker.run()) for worker in workers]
        for run in runs:
            run.add_done_callback(lambda _: ending.set())
        telling = await self._tell_metrics(workers, addresses.get("metrics_listen"))
        judging = None if self._settings.embedded else asyncio.create_task(self._judge_store())
        announcing = asyncio.create_task(self._announce(workers, addresses))
        try:
            await ending.wait()
        finally:
            await tasks.end(announcing, judging)
            await self._stop(workers, runs)
            if telling is not None:
                await telling.stop()
        return max(run.result() for run in runs)

    async def _judge_store(self) -> None:
        """Warn of a store that may lose games by itself; once, as whoever runs it has the last word."""
        try:
            conditions = await look(self._settings.store, self._settings.store_timeout)
        except (redis_errors.RedisError, redis_errors.RedisClusterException, OSError, ValueError):
            return  # which the workers tell
        for condition in conditions:
            if condition.policy != NO_EVICTION:
                logs.event("warning", "store_evicts_games", address=condition.address)
            if condition.persists is None:
                logs.event("info", "store_persistence_unknown", address=condition.address)
            elif not condition.persists:
                logs.event("warning", "store_does_not_persist", address=condition.address)

    async def _tell_metrics(self, workers: list[Worker], address: str | None) -> HttpPort | None:
        """Serve what the workers count, if that is wanted."""
        if address is None:
            return None
        app = MetricsApp(
            {worker.number: worker.reports for worker in workers},
            lambda: [WorkerState(worker.number, worker.restarts) for worker in workers],
        )
        port = HttpPort(app, _METRICS_GRACE)
        await port.start(address)
        return port

    async def _stop(self, workers: list[Worker], runs: list[asyncio.Task[int]]) -> None:
        """Let the workers drain; end them when they take too long, or when another signal comes."""
        hurry = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, hurry.set)
        logs.event("info", "service_draining")
        for worker in workers:
            worker.stop()
        drained = asyncio.gather(*runs)
        hurrying = asyncio.create_task(hurry.wait())
        waits: set[asyncio.Future[Any]] = {drained, hurrying}
        latest = self._settings.grace + _KILL_SECONDS
        await asyncio.wait(waits, timeout=latest, return_when=asyncio.FIRST_COMPLETED)
        await tasks.end(hurrying)
        if not drained.done():
            for worker in workers:
                worker.stop(signal.SIGKILL)
            await drained

    async def _announce(self, workers: list[Worker], addresses: Mapping[str, str]) -> None:
        """Say how to join, once all workers have answered."""
        for worker in workers:
            await worker.ready.wait()
        address, http = addresses["listen"], addresses.get("http_listen")
        logs.event("info", "service_ready", address=address)
        sys.stdout.write(join_text(self._settings, address, http, self._command, addresses.get("metrics_listen")))
        sys.stdout.flush()


def join_text(
    settings: Settings, address: str, http: str | None, command: str = "moonvale", told_on: str | None = None
) -> str:
    """Return what people read when the service is ready.

    ``http``: the address of its HTTP port, if it has one. ``command``: how they call the command that joins.
    ``told_on``: the address of its metrics, if it has one.
    """
    server = "" if address == _DEFAULT_ADDRESS else f" --address {address}"
    scheme, options = "http", ""
    if settings.tls_cert is not None:
        scheme, options = "https", " --cacert FILE"
        server += " --ca FILE"
        if settings.tls_client_ca is not None:
            options += " --cert FILE --key FILE"
            server += " --cert FILE --key FILE"
    kept = f"in {settings.data}" if settings.embedded else "in the store that MOONVALE_STORE names"
    lines = [
        f"Moonvale serves on {address} ({settings.workers} worker processes); games are kept {kept}.",
        "",
        f"  {command} play{server}    sit down at a table with three agents",
        f"  {command} demo{server}    look on while four agents play",
        "",
    ]
    if http is not None:
        lines += [
            f"REST, Connect and gRPC-Web are on {scheme}://{http}, its documentation on {scheme}://{http}/docs:",
            "",
            f"  curl{options} -X POST {scheme}://{http}/v1/games    create a game of four",
            "",
        ]
    if told_on is not None:
        lines.append(f"Metrics are on http://{told_on}/metrics.")
    for what, path in (
        ("creates a game" if settings.create_needs_key else "supplies a deal", creator_key_path(settings)),
        ("lists all games, or deletes any,", operator_key_path(settings)),
    ):
        if path.exists():
            lines.append(f"Who {what} needs the key in {path}.")
    lines.append("Ctrl-C stops the service.")
    return "\n".join(lines) + "\n"


@contextmanager
def reserve(setting: str, address: str) -> Iterator[str]:
    """Hold the port of an address, so that workers can share it and nobody else has it; yield it with its number.

    ``setting``: which setting it is of. Raises SettingError if it can't be had.
    """
    host, _, port = address.rpartition(":")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as alone:  # no other service, not even one that shares its ports
            alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            alone.bind(where)
            where = alone.getsockname()
        held = socket.socket(family, kind, protocol)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(where)
    except OSError as error:
        raise SettingError(variable_of(setting), f"{address} can't be listened on: {error.strerror}") from None
    with held:
        yield f"{host}:{where[1]}"


def main(environment: Mapping[str, str], command: str = "moonvale") -> int:
    """Serve with the settings of an environment until told to stop; return the exit code.

    command: how people who join call the command.
    """
    try:
        settings = Settings.from_environment(environment)
        logs.configure(settings.log_level)
        return asyncio.run(Supervisor(settings, environment, command).run())
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_SETTING
    except EmbeddedStoreError as error:
        sys.stderr.write(f"The embedded store {error}\n")
        return EXIT_FAILED
