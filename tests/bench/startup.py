"""Start-up: from the command to the first answered call, and what importing takes."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import grpc

from moonvale.v1 import game_service_pb2 as pb
from tests.bench import environments
from tests.bench.environments import NotInstalledError, Tell
from tests.bench.machine import ROOT
from tests.bench.report import Figure, Part
from tests.bench.rounds import Sample, interleave, spread

ANSWER_SECONDS = 60.0
STOP_SECONDS = 30.0
SERVE = "moonvale serve, to the first answered call"


@dataclass(frozen=True)
class Size:
    """How many rounds."""

    rounds: int


FULL = Size(rounds=10)
QUICK = Size(rounds=2)


def run(size: Size, tell: Tell, *, compiled: bool = True) -> Part:
    """Measure start-up and imports in turn."""
    part = Part("Start-up")
    subjects: dict[str, Callable[[], Sample]] = {
        SERVE: _serve,
        "python by itself": partial(_import, "sys", {}),
        "import moonvale_engine, pure": partial(_import, "moonvale_engine", {"PYTHONPATH": str(environments.PURE)}),
        "import moonvale_client": partial(_import, "moonvale_client", {}),
    }
    if compiled:
        try:
            path = {"PYTHONPATH": str(environments.compiled_engine())}
        except NotInstalledError as error:
            part.notes.append(f"left out: {error}")
        else:
            subjects["import moonvale_engine, compiled"] = partial(_import, "moonvale_engine", path)
    samples = part.samples = interleave(subjects, size.rounds, tell)
    part.figures += [
        Figure(name, spread([1000 * sample.wall for sample in taken]), "ms") for name, taken in samples.items()
    ]
    return part


def _serve() -> Sample:
    """Start the service as people do, with two workers and its own store, and call it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        environment = {
            "MOONVALE_DATA": folder,
            "MOONVALE_LISTEN": address,
            "MOONVALE_HTTP_LISTEN": "127.0.0.1:0",
            "MOONVALE_WORKERS": "2",
            "MOONVALE_LOG_LEVEL": "error",
        }
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "moonvale_cli", "serve"],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        try:
            options = (("grpc.initial_reconnect_backoff_ms", 10), ("grpc.max_reconnect_backoff_ms", 10))
            with grpc.insecure_channel(address, (*options, ("grpc.min_reconnect_backoff_ms", 10))) as channel:
                call: Callable[..., bytes] = channel.unary_unary("/moonvale.v1.GameService/GetServerInfo")
                pb.GetServerInfoResponse.FromString(call(b"", timeout=ANSWER_SECONDS, wait_for_ready=True))
            took = time.perf_counter() - began
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)
    return Sample(1, 0, took)


def _import(module: str, path: Mapping[str, str]) -> Sample:
    """Start an interpreter, import, and end it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    order = [sys.executable, "-c", f"import {module}"]
    subprocess.run(order, cwd=ROOT.anchor, env={**os.environ, **path}, check=True)  # not where the source lies
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Sample(1, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took)
