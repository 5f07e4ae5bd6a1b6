"""Processes of entrants: the arena's side of a `starter`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any, Final

from moonvale_arena.entrants import COMMAND, Entrant
from moonvale_arena.errors import ArenaError
from moonvale_arena.starter import MOST_BYTES

#: How long an entrant's code may take to be loaded.
LOAD_SECONDS: Final = 60.0


class Child:
    """A process of one seat. ``ended`` is done when it has ended, with its exit code; a negative one is a signal."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()


class Processes:
    """All processes of one entrant. They end with this one, however that ends."""

    def __init__(self, entrant: Entrant) -> None:
        self._entrant = entrant
        self._orders: socket.socket | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._children: dict[int, Child] = {}
        self._count = 0
        self._told = b""

    async def load(self) -> None:
        """Load the entrant's code. Raises ArenaError if that fails."""
        entrant = self._entrant
        self._orders, theirs = socket.socketpair()
        self._orders.setblocking(False)
        order: dict[str, Any] = {"kind": entrant.kind, "target": entrant.target, "settings": dict(entrant.settings)}
        if entrant.kind == COMMAND:
            order["command"] = entrant.command
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "moonvale_arena.starter",
                str(theirs.fileno()),
                json.dumps(order),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                report = await self._report()
        except TimeoutError:
            raise ArenaError(f"entrant '{entrant.name}': was not loaded within {LOAD_SECONDS:.0f} s") from None
        if "ready" not in report:
            raise ArenaError(
                f"entrant '{entrant.name}': {report.get('failed', 'its process ended while it was loaded')}"
            )
        self._reading = asyncio.create_task(self._read())

    async def close(self) -> None:
        """Kill all of them."""
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading
        if self._orders is not None:
            self._orders.close()
        if self._process is not None:
            if self._reading is None and self._process.returncode is None:
                self._process.kill()  # it is still loading the entrant's code, and has no children yet
            await self._process.wait()
            self._process = None

    async def start(self, talk: int, environment: Mapping[str, str]) -> Child:
        """Start a child that talks on a descriptor, which stays the caller's. Raises ArenaError."""
        assert self._orders is not None
        self._count += 1
        child = self._children[self._count] = Child(self._count)
        order = json.dumps({"start": child.number, "environment": dict(environment)})
        try:
            socket.send_fds(self._orders, [f"{order}\n".encode()], [talk])
        except OSError as error:
            raise ArenaError(f"entrant '{self._entrant.name}': no process can be started: {error.strerror}") from error
        return child

    def end(self, child: Child) -> None:
        """Kill a child, and whatever it has started."""
        if not child.ended.done() and self._orders is not None:
            with contextlib.suppress(OSError):  # then all of them have ended
                self._orders.send(json.dumps({"end": child.number}).encode() + b"\n")

    async def _read(self) -> None:
        while report := await self._report():
            child = self._children.pop(report["ended"])
            if not child.ended.done():
                child.ended.set_result(report["status"])
        for child in self._children.values():
            if not child.ended.done():
                child.ended.set_result(1)

    async def _report(self) -> dict[str, Any]:
        """Return the next report; nothing if there will be none."""
        assert self._orders is not None
        while b"\n" not in self._told:
            try:
                part = await asyncio.get_running_loop().sock_recv(self._orders, MOST_BYTES)
            except ConnectionError:
                part = b""
            if not part:
                return {}
            self._told += part
        line, _, self._told = self._told.partition(b"\n")
        report: dict[str, Any] = json.loads(line)
        return report


def _environment() -> dict[str, str]:
    """Return what entrants may know of this process's environment: nothing that is Moonvale's, such as keys."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")}
