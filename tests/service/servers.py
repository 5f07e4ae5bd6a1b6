"""Servers for tests: one in the test's own process, or a whole service with its supervisor and workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from moonvale_service.credentials import load_keys
from moonvale_service.server import Server
from moonvale_service.settings import Settings
from moonvale_service.steward_process import StewardProcess

READY_SECONDS = 60.0
STOP_SECONDS = 40.0


@dataclass
class RunningServer:
    """A server in this process."""

    server: Server
    settings: Settings
    address: str

    @property
    def url(self) -> str:
        """Where its HTTP port is."""
        return f"http://127.0.0.1:{self.server.http_port}"

    async def stop(self) -> None:
        """Drain it."""
        await self.server.stop()

    @property
    def creator_key(self) -> str:
        """The creator key of its data folder."""
        return (self.settings.data / "creator_key").read_text().strip()

    @property
    def operator_key(self) -> str:
        """The operator key of its data folder."""
        return (self.settings.data / "operator_key").read_text().strip()


async def start_server(url: str, data: Path, **settings: str) -> RunningServer:
    """Start a server in this process on a free port; settings by their field's name."""
    environment = {
        "MOONVALE_STORE": url,
        "MOONVALE_DATA": str(data),
        "MOONVALE_LISTEN": "127.0.0.1:0",
        "MOONVALE_HTTP_LISTEN": "127.0.0.1:0",
        "MOONVALE_GRACE": "2s",
        **{f"MOONVALE_{name.upper()}": value for name, value in settings.items()},
    }
    chosen = Settings.from_environment(environment)
    load_keys(chosen, make=True)
    server = Server(chosen)
    ports = await server.start(chosen.listen)
    return RunningServer(server, chosen, f"127.0.0.1:{ports[0]}")


async def start_steward(url: str, data: Path, **settings: str) -> StewardProcess:
    """Start a steward in this process, upon the keys of a server's data folder; settings by their field's name."""
    environment = {
        "MOONVALE_STORE": url,
        "MOONVALE_DATA": str(data),
        "MOONVALE_GRACE": "2s",
        **{f"MOONVALE_{name.upper()}": value for name, value in settings.items()},
    }
    chosen = Settings.from_environment(environment)
    load_keys(chosen, make=True)
    steward = StewardProcess(chosen, 0)
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        await steward.start(chosen.listen, f"unix:{folder}/steward.sock")
    return steward


class Service:
    """A service of several processes, started as people start it, and what it has logged."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.address = ""
        self.url = ""
        self.metrics_url = ""
        self.printed = ""
        self._settings = settings
        self._log = folder / "service.log"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it and wait until it has said how to join."""
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")},
            "MOONVALE_DATA": str(self.folder / "data"),
            "MOONVALE_LISTEN": self.address or "127.0.0.1:0",
            "MOONVALE_HTTP_LISTEN": "127.0.0.1:0",
            "MOONVALE_WORKERS": "2",
            "MOONVALE_LOG_LEVEL": "debug",
            **{f"MOONVALE_{name.upper()}": value for name, value in self._settings.items()},
        }
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "moonvale_service"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
            )
        stuck = threading.Timer(READY_SECONDS, self._process.kill)
        stuck.start()
        assert self._process.stdout is not None
        printed: list[str] = []
        for line in self._process.stdout:
            printed.append(line)
            if line.startswith("Ctrl-C"):
                break
        stuck.cancel()
        self.printed = "".join(printed)
        assert self.printed.startswith("Moonvale serves on "), self.log_text()
        self.address = printed[0].split()[3]
        self.url = self.printed.partition("gRPC-Web are on ")[2].partition(",")[0]
        self.metrics_url = self.printed.partition("Metrics are on ")[2].partition("/metrics")[0]

    @property
    def process(self) -> psutil.Process:
        """The supervisor."""
        assert self._process is not None
        return psutil.Process(self._process.pid)

    def workers(self) -> list[psutil.Process]:
        """The worker processes."""
        return [child for child in self.process.children() if "moonvale_service.server" in child.cmdline()]

    def stewards(self) -> list[psutil.Process]:
        """The processes of stewards."""
        return [child for child in self.process.children() if "moonvale_service.steward_process" in child.cmdline()]

    def store(self) -> psutil.Process:
        """The process of the embedded store."""
        return next(child for child in self.process.children() if "valkey-server" in child.name())

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it in good order, and return its exit code."""
        assert self._process is not None
        process, self._process = self._process, None
        process.send_signal(number)
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert process.stdout is not None
        with process.stdout:
            self.printed += process.stdout.read()
        return code

    def kill(self) -> None:
        """End the supervisor as a power cut would, and nothing else."""
        assert self._process is not None
        process, self._process = self._process, None
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def close(self) -> None:
        """Stop it if it runs."""
        if self._process is not None and self._process.poll() is None:
            self.stop()

    def log_text(self) -> str:
        """All that the service's processes have logged."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def log_lines(self) -> list[dict[str, Any]]:
        """The same, line by line; every line must be JSON."""
        return [json.loads(line) for line in self.log_text().splitlines()]


@contextmanager
def running_service(**settings: str) -> Iterator[Service]:
    """A started service in a new folder; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:  # pytest's own folders are too deep for a socket
        service = Service(Path(folder), **settings)
        try:
            service.start()
            yield service
        finally:
            service.close()
