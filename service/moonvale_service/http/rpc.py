"""Calls under ``/moonvale.v1.GameService/``, of clients that are generated for browsers: Connect and gRPC-Web."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol, TypeVar

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from moonvale_service.edge import Edge, Incoming
from moonvale_service.errors import CallError, DeadlineExceededError, MethodNotAllowedError, UnsupportedMediaTypeError
from moonvale_service.http import codecs
from moonvale_service.http.codecs import Codec
from moonvale_service.http.connect import ConnectCall, ConnectStream
from moonvale_service.http.exchange import Exchange
from moonvale_service.http.grpc_web import GrpcWeb
from moonvale_service.http.streaming import Format, stream

_CODECS: Final = (codecs.PROTO, codecs.JSON)
_Wire = TypeVar("_Wire")


class Wire(Protocol):
    """How the request of a call is written in one of the protocols."""

    codec: Codec

    def body_limit(self, message_limit: int) -> int:
        """Return how large a body is that holds the largest message."""

    def message_size(self, body: bytes, size: int) -> int:
        """Return the size of the message in a body; the body is empty if it is too large."""

    def unwrap(self, exchange: Exchange, body: bytes) -> bytes:
        """Return the message in a body. Raises CallError."""

    def seconds(self, exchange: Exchange) -> float | None:
        """Return how long the client wants to wait. Raises FieldError."""


class CallWire(Wire, Protocol):
    """The same of a method with one response, and how that is written."""

    async def answer(self, exchange: Exchange, response: bytes) -> None:
        """Send a response, which is encoded."""

    async def refuse(self, exchange: Exchange, error: CallError) -> None:
        """Send an error."""


class StreamWire(Wire, Format, Protocol):
    """The same of a method with a stream of responses."""


class Rpc:
    """All methods of a service over one edge. ``limit``: the largest request, in bytes."""

    def __init__(self, edge: Edge, service: ServiceDescriptor, limit: int) -> None:
        self._edge = edge
        self._limit = limit
        #: For each path: what serves it.
        self.paths: Mapping[str, Callable[[Exchange], Awaitable[None]]] = {
            f"/{service.full_name}/{method.name}": self._serve(method) for method in service.methods
        }

    def _serve(self, method: MethodDescriptor) -> Callable[[Exchange], Awaitable[None]]:
        kind = GetMessageClass(method.output_type)
        calls, streams = _call_wires(kind), _stream_wires(kind)
        name = method.name

        async def serve_call(exchange: Exchange) -> None:
            await self._call(exchange, name, _wire(exchange, calls))

        async def serve_stream(exchange: Exchange) -> None:
            await self._stream(exchange, name, _wire(exchange, streams))

        return serve_stream if method.server_streaming else serve_call

    async def _call(self, exchange: Exchange, name: str, wire: CallWire) -> None:
        try:
            incoming, seconds = await self._incoming(exchange, wire)
            try:
                async with asyncio.timeout(seconds):
                    response = await self._edge.answer(name, incoming)
            except TimeoutError:
                raise DeadlineExceededError from None
        except CallError as error:
            await wire.refuse(exchange, error)
        else:
            await wire.answer(exchange, response)

    async def _stream(self, exchange: Exchange, name: str, wire: StreamWire) -> None:
        try:
            incoming, seconds = await self._incoming(exchange, wire)
        except CallError as error:
            await exchange.start(wire.media_type)
            await exchange.finish(wire.error(error))
        else:
            await stream(exchange, self._edge, name, incoming, wire, seconds)

    async def _incoming(self, exchange: Exchange, wire: Wire) -> tuple[Incoming, float | None]:
        body, size = await exchange.body(wire.body_limit(self._limit))

        def read(kind: type[Message]) -> Message:
            return wire.codec.parse(kind, wire.unwrap(exchange, body))

        size = wire.message_size(body, size)
        incoming = Incoming(size, read, exchange.headers(b"authorization"), exchange.header_named)
        return incoming, wire.seconds(exchange)


def _wire(exchange: Exchange, wires: Mapping[str, _Wire]) -> _Wire:
    if exchange.verb != "POST":
        raise MethodNotAllowedError(exchange.verb, ["POST"])
    wire = wires.get(exchange.media_type)
    if wire is None:
        raise UnsupportedMediaTypeError(f"the content type needs to be one of: {', '.join(wires)}")
    return wire


def _call_wires(kind: type[Message]) -> dict[str, CallWire]:
    """Return for each content type how a method with one response is spoken in it."""
    return {**{f"application/{codec.name}": ConnectCall(codec, kind) for codec in _CODECS}, **_grpc_web(kind)}


def _stream_wires(kind: type[Message]) -> dict[str, StreamWire]:
    """Return for each content type how a method with a stream of responses is spoken in it."""
    connect = {f"application/connect+{codec.name}": ConnectStream(codec, kind) for codec in _CODECS}
    return {**connect, **_grpc_web(kind)}


def _grpc_web(kind: type[Message]) -> dict[str, GrpcWeb]:
    named = {
        f"application/grpc-web{text}+{codec.name}": GrpcWeb(codec, kind, text=bool(text))
        for text in ("", "-text")
        for codec in _CODECS
    }
    return named | {f"application/grpc-web{text}": named[f"application/grpc-web{text}+proto"] for text in ("", "-text")}
