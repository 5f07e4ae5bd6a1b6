"""A TCP proxy on the loopback that does to connections what bad networks do: delays them, cuts them, loses replies.

A `Link` forwards connections to one server. Its faults are switched on from outside and counted as they strike.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final, cast

_HANDSHAKE: Final = 4  # chunks that come back while both sides get to know each other: no reply is among them
_HOST: Final = "127.0.0.1"


class Link:
    """Forwards connections from a port of its own to a server's socket, and harms them as told.

    ``counts``: how often which fault has struck. ``delay``: every chunk waits for up to so many seconds. ``refusing``:
    new connections are cut at once. ``stalled``: nothing passes, either way. ``lock``: for whoever harms it alone.
    ``sent``: is set by every request. ``accepted``: how many connections there have been.
    """

    def __init__(self, name: str, server: Path, rng: Random) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.delay = 0.0
        self.refusing = False
        self.stalled = False
        self.lock = asyncio.Lock()
        self.sent = asyncio.Event()
        self.accepted = 0
        self._server = server
        self._rng = rng
        self._connections: set[_Connection] = set()
        self._losses: deque[tuple[bytes, bool]] = deque()
        self._listener: asyncio.Server | None = None
        self._socket: socket.socket | None = None

    async def open(self) -> None:
        """Begin to listen."""
        self._socket = socket.create_server((_HOST, 0))
        self._listener = await asyncio.get_running_loop().create_server(self._accept, sock=self._socket)

    async def close(self) -> None:
        """Cut all connections and listen no more."""
        if self._listener is None:
            return
        self._listener.close()
        connections = list(self._connections)
        for connection in connections:
            connection.abort()
        await asyncio.gather(*(connection.ended() for connection in connections))
        await self._listener.wait_closed()

    @property
    def address(self) -> str:
        """Where it listens; it must be open."""
        assert self._socket is not None
        return f"{_HOST}:{self._socket.getsockname()[1]}"

    def cut(self) -> None:
        """Cut all connections, whatever is on its way."""
        for connection in list(self._connections):
            self.counts["connections cut"] += 1
            connection.abort()

    def lose_replies(self, count: int, *, to: bytes = b"", torn: bool = False) -> None:
        """Lose the next replies to requests that hold some bytes: the server has done it, and the connection is cut.

        ``torn``: the first half of the reply still arrives.
        """
        self._losses.extend([(to, torn)] * count)

    def heal(self) -> None:
        """End all faults that last."""
        self.delay = 0.0
        self.refusing = self.stalled = False
        self._losses.clear()
        for connection in list(self._connections):
            connection.flush()

    def held(self) -> int:
        """Return on how many connections a request is held back."""
        return sum(connection.server.is_held() for connection in self._connections)

    async def hold(self, number: int) -> None:
        """Return when so many connections hold a request back; it must be stalled."""
        while self.held() < number:
            self.sent.clear()
            await self.sent.wait()

    def pause(self) -> float:
        """Return how long the next chunk is to wait."""
        if not self.delay:
            return 0.0
        self.counts["chunks delayed"] += 1
        return self._rng.uniform(0, self.delay)

    def loss_of(self, connection: _Connection) -> bool | None:
        """Whether the reply that has come is lost: None, or if it is, whether it is torn."""
        if not self._losses or connection.replies < _HANDSHAKE:
            return None
        marker, torn = self._losses[0]
        if marker not in connection.last_request:
            return None
        self._losses.popleft()
        self.counts["replies torn" if torn else "replies lost"] += 1
        return torn

    def _accept(self) -> asyncio.Protocol:
        self.accepted += 1
        connection = _Connection(self, self._connections, self._server)
        return connection.client


class _Connection:
    """One forwarded connection: the client's side and the server's."""

    def __init__(self, link: Link, connections: set[_Connection], server: Path) -> None:
        self.link = link
        self.last_request = b""
        self.replies = 0
        self.client = _Side(self._requested, self)
        self.server = _Side(self._replied, self)
        self._connections = connections
        self._server_path = server
        self._connecting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """A client has connected: connect to the server, or refuse."""
        self._connections.add(self)
        if self.link.refusing:
            self.link.counts["connections refused"] += 1
            self.abort()
        else:
            self._connecting = asyncio.create_task(self._connect())

    def abort(self) -> None:
        """Cut both sides."""
        self._connections.discard(self)
        if self._connecting is not None:
            self._connecting.cancel()
        self.client.abort()
        self.server.abort()

    def lost(self, side: _Side, *, abruptly: bool) -> None:
        """One side is gone, and the other one goes with it."""
        if abruptly:
            self.abort()
        else:
            self.other(side).close()
            if self.client.gone and self.server.gone:
                self._connections.discard(self)

    async def ended(self) -> None:
        """Return when both sides are gone; they must have been cut."""
        if self._connecting is not None:
            await asyncio.wait([self._connecting])
        await self.client.ended()
        await self.server.ended()

    def flush(self) -> None:
        """Let what was held back pass."""
        self.client.flush()
        self.server.flush()

    def other(self, side: _Side) -> _Side:
        """Return the side that what one side receives is sent to."""
        return self.server if side is self.client else self.client

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_unix_connection(lambda: self.server, str(self._server_path))
        except OSError:  # the server is down, and its client gets to know it
            self.abort()

    def _requested(self, chunk: bytes) -> None:
        self.last_request = chunk
        self.server.send(chunk)
        self.link.sent.set()

    def _replied(self, chunk: bytes) -> None:
        self.replies += 1
        torn = self.link.loss_of(self)
        if torn is None:
            self.client.send(chunk)
            return
        if torn:
            self.client.send(chunk[: len(chunk) // 2])
            self.client.close()
            self.server.abort()
        else:
            self.abort()


class _Side(asyncio.Protocol):
    """One side of a connection. What is sent before it is connected, or while it is held back, waits."""

    def __init__(self, received: Callable[[bytes], None], connection: _Connection) -> None:
        self._received = received
        self._connection = connection
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.gone = False
        self._closing = False
        self._ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclass
        if self.gone:
            self._transport.abort()
        elif self is self._connection.client:
            self._connection.begin()
        else:
            self.flush()

    def data_received(self, data: bytes) -> None:
        self._received(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.gone = True
        self._ended.set()
        self._connection.lost(self, abruptly=error is not None)

    def pause_writing(self) -> None:
        self._connection.other(self).read(False)

    def resume_writing(self) -> None:
        self._connection.other(self).read(True)

    def read(self, on: bool) -> None:
        """Go on, or stop, to receive."""
        if self._transport is not None and not self._transport.is_closing():
            (self._transport.resume_reading if on else self._transport.pause_reading)()

    def send(self, chunk: bytes) -> None:
        """Send a chunk after those before it, as soon as the link lets it pass."""
        self._waiting.append((asyncio.get_running_loop().time() + self._connection.link.pause(), chunk))
        if len(self._waiting) == 1:
            self.flush()

    async def ended(self) -> None:
        """Return when its transport, if it ever had one, is gone."""
        if self._transport is not None:
            await self._ended.wait()

    def is_held(self) -> bool:
        """Whether something is still to be sent."""
        return bool(self._waiting)

    def close(self) -> None:
        """Close when all has been sent."""
        self._closing = True
        self.flush()

    def abort(self) -> None:
        """Close at once."""
        self.gone = True
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()

    def flush(self) -> None:
        """Send what is due, and come back for the rest."""
        if self._transport is None or self.gone or self._connection.link.stalled:
            return
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting:
            due, chunk = self._waiting[0]
            if due > loop.time() and self._connection.link.delay:
                self._timer = loop.call_at(due, self.flush)
                return
            self._waiting.popleft()
            self._transport.write(chunk)
        if self._closing and not self._transport.is_closing():
            self._transport.close()
