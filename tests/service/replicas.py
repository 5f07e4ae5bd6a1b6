"""Replicas of a service in processes of their own, over one store: of this release or a next one with more rules."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc.aio
from grpc_health.v1 import health, health_pb2

from moonvale.v1 import game_service_pb2 as pb
from moonvale_service.credentials import load_keys
from moonvale_service.edge import SERVICE
from moonvale_service.settings import Settings
from tests.service.client import Client

#: What is run as a worker: this software, or the next release of it, which knows a second version of the rules.
THIS_RELEASE: Final = "moonvale_service.server"
NEXT_RELEASE: Final = "tests.support.second_rules"

_READY_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 30.0


class Replica:
    """One worker process and a client of it. It has a name, which another process may take over."""

    def __init__(self, name: str, folder: Path, store: str) -> None:
        self.name = name
        self._folder = folder
        self._store = store
        self._starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """A client of the process that runs."""
        assert self._client is not None
        return self._client

    async def start(self, release: str, **settings: str) -> None:
        """Start a process of a release, in place of the one that ran; return when it answers."""
        await self.stop()
        address = self._launch(release, settings)
        async with grpc.aio.insecure_channel(address, (("grpc.max_reconnect_backoff_ms", 100),)) as channel:
            check: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
            check = channel.unary_unary(f"/{health.SERVICE_NAME}/Check")
            request = health_pb2.HealthCheckRequest(service=SERVICE).SerializeToString()
            await check(request, wait_for_ready=True, timeout=_READY_SECONDS)
        self._client = await Client(address).__aenter__()

    def _launch(self, release: str, settings: Mapping[str, str]) -> str:
        """Start a process and return its address."""
        self._starts += 1
        address = f"unix:{self._folder / f'{self.name}-{self._starts}.sock'}"
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")},
            **environment_over(self._store, self._folder, **settings),
        }
        with (self._folder / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", release, "0", address],
                stdin=subprocess.PIPE,  # it ends when this process does
                stdout=log,
                stderr=log,
                env=environment,
            )
        return address

    async def stop(self) -> None:
        """Stop the process in good order, if one runs."""
        if self._client is not None:
            await self._client.__aexit__(None, None, None)
            self._client = None
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        assert process.stdin is not None
        try:
            assert await asyncio.to_thread(process.wait, _STOP_SECONDS) == 0, self.log()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdin.close()

    @property
    def creator_key(self) -> str:
        """The creator key of the data folder."""
        return (self._folder / "creator_key").read_text(encoding="ascii").strip()

    async def info(self) -> pb.GetServerInfoResponse:
        """What the process says of itself."""
        return pb.GetServerInfoResponse.FromString(await self.client.raw("GetServerInfo", b""))

    def log(self) -> list[dict[str, Any]]:
        """What the processes have logged; every line must be JSON."""
        path = self._folder / f"{self.name}.log"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def environment_over(store: str, folder: Path, **settings: str) -> dict[str, str]:
    """The variables of a worker over a store; settings by their field's name."""
    return {
        "MOONVALE_STORE": store,
        "MOONVALE_DATA": str(folder),
        "MOONVALE_LISTEN": "127.0.0.1:0",
        "MOONVALE_HTTP_LISTEN": "off",
        "MOONVALE_GRACE": "2s",
        "MOONVALE_CALL_RATE": "0",
        "MOONVALE_CREATE_RATE": "0",
        **{f"MOONVALE_{name.upper()}": value for name, value in settings.items()},
    }


@asynccontextmanager
async def replicas(store: str, names: Sequence[str]) -> AsyncIterator[list[Replica]]:
    """Replicas with these names that share the store and their keys: not yet started, and stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="moonvale-") as text:  # pytest's own folders are too deep for a socket
        folder = Path(text)
        load_keys(Settings.from_environment(environment_over(store, folder)), make=True)
        made = [Replica(name, folder, store) for name in names]
        try:
            yield made
        finally:
            for replica in made:
                await replica.stop()
