"""One HTTP request and the response to it, over ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final

from moonvale_service.errors import MethodNotAllowedError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

ABORT: Final = "moonvale.abort"  # the ASGI extension that ends a connection at once, whatever it has still to send

_READING: Final = ("GET", "HEAD")
_BODY_SECONDS: Final = 30.0  # for the whole body of a request to come in

#: Answers hold credentials and what only one player may know; and they are what their content type says.
_ALWAYS: Final = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class ClientGoneError(Exception):
    """The client is gone, or as good as gone, so that nobody waits for a response."""


class Exchange:
    """A request, and its response in the making."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.verb: str = scope["method"]
        self.path: str = scope["raw_path"].decode("latin-1")
        self.query: str = scope["query_string"].decode("latin-1")
        self.started = False
        self._headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        self._extensions = scope.get("extensions") or {}
        self._receive = receive
        self._send = send

    def headers(self, name: bytes) -> list[str]:
        """Return all values of a header; ``name`` is in lower case."""
        return [value.decode("latin-1") for key, value in self._headers if key == name]

    def header(self, name: bytes) -> str:
        """Return the first value of a header, or nothing."""
        for key, value in self._headers:
            if key == name:
                return value.decode("latin-1")
        return ""

    def header_named(self, name: str) -> str:
        """Return the first value of a header by its name in ASCII, or nothing."""
        return self.header(name.encode("ascii"))

    @property
    def media_type(self) -> str:
        """The content type of the body, without its parameters."""
        return self.header(b"content-type").partition(";")[0].strip().lower()

    def must_read(self) -> None:
        """Raises MethodNotAllowedError unless the request does no more than read."""
        if self.verb not in _READING:
            raise MethodNotAllowedError(self.verb, _READING)

    async def body(self, limit: int) -> tuple[bytes, int]:
        """Return the body and its size; of one that is larger than the limit nothing, and how large it is at least.

        Raises ClientGoneError if it doesn't come.
        """
        declared = self.header(b"content-length")
        if declared.isdigit() and int(declared) > limit:
            return b"", int(declared)
        parts: list[bytes] = []
        size = 0
        more = True
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while more:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGoneError
                    part = message.get("body", b"")
                    size += len(part)
                    if size > limit:
                        return b"", size
                    parts.append(part)
                    more = message.get("more_body", False)
        except TimeoutError:
            self.abort()
            raise ClientGoneError from None
        return (parts[0] if len(parts) == 1 else b"".join(parts)), size

    async def respond(self, status: int, media_type: bytes, body: bytes, headers: Headers = ()) -> None:
        """Send a whole response."""
        length = (b"content-length", str(len(body)).encode("ascii"))
        await self._start(status, [(b"content-type", media_type), length, *headers])
        await self._send({"type": "http.response.body", "body": body})

    async def respond_empty(self, status: int, headers: Headers = ()) -> None:
        """Send a response that has no body, not even an empty one."""
        await self._start(status, headers)
        await self._send({"type": "http.response.body", "body": b""})

    async def start(self, media_type: bytes) -> None:
        """Begin a response that is written piece by piece; proxies are asked to pass on each as it comes."""
        await self._start(200, [(b"content-type", media_type), (b"x-accel-buffering", b"no")])

    async def write(self, part: bytes) -> None:
        """Send a piece, as soon as the client has read most of those before."""
        await self._send({"type": "http.response.body", "body": part, "more_body": True})

    async def finish(self, part: bytes) -> None:
        """Send the last piece."""
        await self._send({"type": "http.response.body", "body": part})

    async def gone(self) -> None:
        """Return when the client is gone. What it still sends is thrown away."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def abort(self) -> None:
        """End the connection at once."""
        self._extensions[ABORT]["abort"]()

    async def _start(self, status: int, headers: Headers) -> None:
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": [*headers, *_ALWAYS]})
