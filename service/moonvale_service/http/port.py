"""The HTTP port of a worker: uvicorn in the loop that gRPC runs in, with bounds on what a connection may take."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from moonvale_service.errors import MalformedRequestError
from moonvale_service.http import statuses
from moonvale_service.http.exchange import ABORT, Application

_MOST_HEAD_BYTES: Final = 32 * 1024  # of a request's line and headers
_HEAD_SECONDS: Final = 30.0  # for them to come in
_MOST_UNSENT_BYTES: Final = 64 * 1024  # that the system keeps for a client, so that a slow one is noticed
_LINGER_SECONDS: Final = 2.0  # for a client to read why it was refused
_KEEP_ALIVE_SECONDS: Final = 75  # a connection may stay open without a request


class _Connection(HttpToolsProtocol):
    """A connection whose requests' heads are bounded in size and time, and which can be ended at once."""

    _head_bytes = 0
    _in_head = True
    _refused = False
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect the first request."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(_HEAD_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect no more."""
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head."""
        if self._refused:
            return
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > _MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("the head of the request is too large")

    def on_message_begin(self) -> None:
        """Expect the rest of a head."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(_HEAD_SECONDS, self.transport.abort)

    def on_headers_complete(self) -> None:
        """Pass the request on."""
        self._in_head = False
        self._end_head()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect the next request."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, and end the connection."""
        error = MalformedRequestError(msg)
        body = statuses.rest_body(error)
        head = (
            f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        # Closed at once, with something left to be read, it would take what was written down with it.
        self._refused = True
        if self.transport.can_write_eof():  # TLS can't end one direction alone
            self.transport.write_eof()
        self.loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def _end_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class _Server(uvicorn.Server):
    """A server that says when it is up, and leaves signals to whoever runs it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class HttpPort:
    """Serves an ASGI application, with TLS if there is a ``context`` for it.

    ``grace``: seconds for requests to end when it stops.
    """

    def __init__(self, app: Application, grace: float, context: ssl.SSLContext | None = None) -> None:
        config = uvicorn.Config(
            app,
            http=_Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # what clients do wrong is no event of ours
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=grace,  # type: ignore[arg-type]  # asyncio.wait_for gets it
        )
        config.load()
        config.ssl = context
        self._server = _Server(config)
        self._serving: asyncio.Task[None] | None = None

    async def start(self, address: str) -> int:
        """Serve on an address, HOST:PORT, which other processes may share; return the port. Raises OSError."""
        listening = _bind(address)
        self._serving = asyncio.create_task(self._server.serve([listening]))
        await self._server.up.wait()
        return int(listening.getsockname()[1])

    async def stop(self) -> None:
        """Accept no more connections, end those without a request, and let the others have their responses."""
        if self._serving is not None:
            self._server.should_exit = True
            await self._serving

    async def failed(self) -> None:
        """Return when it has ended by itself, which it never should."""
        assert self._serving is not None
        await asyncio.wait({self._serving})


def _bind(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, where = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # which the connections inherit
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _MOST_UNSENT_BYTES)
        bound.bind(where)
    except OSError:
        bound.close()
        raise
    return bound
