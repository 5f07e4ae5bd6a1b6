"""A service on this machine that can be broken piece by piece: workers and a store, a proxy before each of them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

import grpc.aio
from grpc_health.v1 import health, health_pb2

from moonvale_service.credentials import load_keys
from moonvale_service.edge import SERVICE
from moonvale_service.settings import Settings
from tests.chaos.proxy import Link
from tests.support.servers import Program, StoreServer

_STOP_SECONDS: Final = 30.0
_READY_SECONDS: Final = 60.0

_SETTINGS: Final = {
    "MOONVALE_LISTEN": "127.0.0.1:0",
    "MOONVALE_HTTP_LISTEN": "off",
    "MOONVALE_LOG_LEVEL": "warning",
    "MOONVALE_STORE_TIMEOUT": "2s",
    "MOONVALE_HEARTBEAT": "1s",
    "MOONVALE_GRACE": "2s",
    "MOONVALE_POLL": "1s",
}
STEWARD: Final = "moonvale_service.steward_process"


class Worker:
    """One process, a worker or a steward, behind a link to it, with a link of its own to the store."""

    def __init__(self, number: int, module: str, folder: Path, store: Path, rng: Random) -> None:
        self.number = number
        self.name = f"steward-{number}" if module == STEWARD else f"worker-{number}"
        self.link = Link(self.name, folder / f"{self.name}.sock", rng)
        self.store_link = Link(f"{self.name} to the store", store, rng)
        self.lock = asyncio.Lock()
        self._module = module
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """Its process; it must be running."""
        assert self._process is not None
        return self._process

    async def start(self) -> None:
        """Start the process; return when it answers."""
        self._launch()
        async with grpc.aio.insecure_channel(self._address, (("grpc.max_reconnect_backoff_ms", 100),)) as channel:
            check: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
            check = channel.unary_unary(f"/{health.SERVICE_NAME}/Check")
            request = health_pb2.HealthCheckRequest(service=SERVICE).SerializeToString()
            await check(request, wait_for_ready=True, timeout=_READY_SECONDS)

    def _launch(self) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")},
            **_SETTINGS,
            "MOONVALE_DATA": str(self._folder),
            "MOONVALE_STORE": f"redis://{self.store_link.address}/0",
        }
        with (self._folder / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, str(self.number), self._address],
                stdin=subprocess.PIPE,  # it ends when this process does
                stdout=log,
                stderr=log,
                env=environment,
            )

    async def stop(self, number: int = signal.SIGTERM) -> int:
        """End the process, in good order or not, and return its exit code."""
        process, self._process = self.process, None
        process.send_signal(number)
        assert process.stdin is not None
        try:
            return await asyncio.to_thread(process.wait, _STOP_SECONDS)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdin.close()

    async def close(self) -> None:
        """End whatever is left."""
        if self._process is not None:
            await self.stop(signal.SIGKILL)
        await self.link.close()
        await self.store_link.close()

    @property
    def _address(self) -> str:
        return f"unix:{self._folder / f'{self.name}.sock'}"


class Cluster:
    """All of it. ``module``: the one that is run as a worker."""

    def __init__(
        self, folder: Path, program: Program, workers: int, module: str, rng: Random, stewards: int = 2
    ) -> None:
        self.folder = folder
        (folder / "store").mkdir()
        self.store = StoreServer(program, folder / "store")
        self.store_lock = asyncio.Lock()
        socket = Path(self.store.url.removeprefix("unix://"))
        self.workers = [Worker(number, module, folder, socket, rng) for number in range(workers)]
        self.stewards = [Worker(number, STEWARD, folder, socket, rng) for number in range(stewards)]
        settings = Settings.from_environment({**_SETTINGS, "MOONVALE_DATA": str(folder)})
        load_keys(settings, make=True)
        self.creator_key = (folder / "creator_key").read_text(encoding="ascii").strip()

    async def start(self) -> None:
        """Start everything; return when all workers answer."""
        await asyncio.to_thread(self.store.start)
        for link in self.links:
            await link.open()
        await asyncio.gather(*(process.start() for process in (*self.workers, *self.stewards)))

    async def close(self) -> None:
        """End everything at once."""
        for process in (*self.workers, *self.stewards):
            await process.close()
        await asyncio.to_thread(self.store.close)

    @property
    def addresses(self) -> list[str]:
        """Where clients reach the workers."""
        return [worker.link.address for worker in self.workers]

    @property
    def links(self) -> list[Link]:
        """All links."""
        return [link for process in (*self.workers, *self.stewards) for link in (process.link, process.store_link)]

    def struck(self) -> Counter[str]:
        """Return how often which fault of the network has struck."""
        return sum((link.counts for link in self.links), Counter())

    def errors(self) -> list[str]:
        """Return the lines of all logs that tell of an error, other than that the store did not answer."""
        return [
            f"{path.name}: {line}"
            for path in sorted(self.folder.glob("*-*.log"))
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
            if ('"level":"error"' in line or not line.startswith("{")) and '"event":"store_unavailable"' not in line
        ]
