"""Rolling updates and all else that happens to pods: a schedule for what runs them, and processes in their place."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Final, Protocol, Self

from moonvale_service.credentials import load_keys
from moonvale_service.settings import Settings
from tests.chaos.progress import Progress
from tests.deploy.names import Names

LEAST: Final = 2  # pods that there are at any time, but for the one that was killed

_READY_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 40.0


class Deployment(Protocol):
    """What runs pods. Each method returns when all pods that there should be are ready."""

    async def roll(self) -> None:
        """Replace all pods, one after the other, each new one ready before an old one ends."""

    async def scale(self, count: int) -> None:
        """Have so many pods."""

    async def delete(self) -> None:
        """End some pod in good order; another takes its place."""

    async def kill(self) -> None:
        """End some pod at once, as when its node is lost; another takes its place."""


async def happen(to: Deployment, progress: Progress, calm: int) -> None:
    """Let everything happen once, and the roll-out twice, with so many changes acknowledged between two of them."""
    grow, shrink = partial(to.scale, LEAST + 2), partial(to.scale, LEAST)
    for change in (to.roll, grow, to.delete, to.kill, shrink, to.kill, to.roll):
        await progress.calm(calm)
        await change()
    await progress.calm(calm)


class Pod:
    """A service of its own, with supervisor and worker, at an address of its own."""

    def __init__(self, address: str, folder: Path, environment: dict[str, str]) -> None:
        self.address = address
        self._log = folder / f"{address}.log"
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, port: int) -> None:
        """Start it; return when it is ready."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "moonvale_service"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**self._environment, "MOONVALE_LISTEN": f"{self.address}:{port}"},
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(_READY_SECONDS):
            printed = await self._process.stdout.readline()
        assert printed.startswith(b"Moonvale serves on "), self.printed()

    async def stop(self, number: int) -> int:
        """End it by a signal, and return its exit code."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(number)
        async with asyncio.timeout(_STOP_SECONDS):
            return await self._process.wait()

    def printed(self) -> str:
        """Return what it has logged."""
        return self._log.read_text(encoding="utf-8")


class Processes:
    """A Deployment of processes behind the name of a headless Service, on addresses of the loopback.

    ``stops``: the exit codes of those that were to end in good order. ``most``, ``least``: how many were ready at once.
    """

    def __init__(self, folder: Path, store: str, names: Names, rng: Random, **settings: str) -> None:
        self.stops: list[int] = []
        self.pods: list[Pod] = []
        self.least, self.most = sys.maxsize, 0
        self._folder = folder
        self._names = names
        self._rng = rng
        self._count = 0
        self._network = f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}"  # others run beside this
        with socket.socket() as free:
            free.bind((f"{self._network}.1", 0))
            self.port: int = free.getsockname()[1]
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")},
            "MOONVALE_STORE": store,
            "MOONVALE_DATA": str(folder),
            "MOONVALE_HTTP_LISTEN": "off",
            "MOONVALE_WORKERS": "1",
            "MOONVALE_STEWARDS": "0",
            **{f"MOONVALE_{name.upper()}": value for name, value in settings.items()},
        }
        load_keys(Settings.from_environment({"MOONVALE_DATA": str(folder)}), make=True)
        self.creator_key = (folder / "creator_key").read_text(encoding="ascii").strip()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._names.addresses.clear()
        await asyncio.gather(*(pod.stop(signal.SIGKILL if error else signal.SIGTERM) for pod in self.pods))

    async def roll(self) -> None:
        """Replace all, one after the other."""
        for pod in list(self.pods):
            await self._add()
            await self._end(pod)

    async def scale(self, count: int) -> None:
        """Have so many."""
        await asyncio.gather(*(self._add() for _ in range(count - len(self.pods))))
        while len(self.pods) > count:
            await self._end(self._rng.choice(self.pods))

    async def delete(self) -> None:
        """End one in good order, while another is started in its place."""
        await asyncio.gather(self._end(self._rng.choice(self.pods)), self._add())

    async def kill(self) -> None:
        """End one at once, supervisor first; nobody is told before it has happened. Another takes its place."""
        pod = self._rng.choice(self.pods)
        self.pods.remove(pod)
        await pod.stop(signal.SIGKILL)
        self._tell()
        await self._add()

    def errors(self) -> list[str]:
        """Return the lines of all logs that tell of an error."""
        logs = sorted(self._folder.glob("*.log"))
        return [
            f"{path.name}: {line}"
            for path in logs
            for line in path.read_text(encoding="utf-8").splitlines()
            if '"level":"error"' in line or not line.startswith("{")
        ]

    async def _add(self) -> None:
        self._count += 1
        pod = Pod(f"{self._network}.{self._count}", self._folder, self._environment)
        self.pods.append(pod)
        await pod.start(self.port)
        self._ready(pod)

    async def _end(self, pod: Pod) -> None:
        self.pods.remove(pod)
        self._tell()
        self.stops.append(await pod.stop(signal.SIGTERM))

    def _ready(self, pod: Pod) -> None:
        self._names.addresses.append(pod.address)
        self.most = max(self.most, len(self._names.addresses))

    def _tell(self) -> None:
        """Have the name resolve to what is there, and no more to what isn't."""
        there = {pod.address for pod in self.pods}
        self._names.addresses = [address for address in self._names.addresses if address in there]
        self.least = min(self.least, len(self._names.addresses))
