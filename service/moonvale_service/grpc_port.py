"""GameService over gRPC: raw bytes in and out, so that even malformed ones are answered by the edge."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NoReturn

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from moonvale_service.edge import METHODS, SERVICE, STREAMS, Edge, GoneError, Incoming
from moonvale_service.errors import DETAILS_KEY, CallError, MalformedRequestError, ReaderTooSlowError, status_bytes

_LAST_WORDS: Final = 5.0  # seconds for a slow reader to get the reason why it is cut off

Context = grpc.aio.ServicerContext[bytes, bytes]


def handlers(edge: Edge) -> grpc.GenericRpcHandler:
    """Return the handlers of all methods, for a server."""
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            name: grpc.unary_stream_rpc_method_handler(_stream(edge, name))
            if name in STREAMS
            else grpc.unary_unary_rpc_method_handler(_unary(edge, name))
            for name in METHODS
        },
    )


def _unary(edge: Edge, name: str) -> Callable[[bytes, Context], Awaitable[bytes]]:
    async def handle(raw: bytes, context: Context) -> bytes:
        try:
            return await edge.answer(name, _incoming(raw, context))
        except CallError as error:
            await _abort(context, error)

    return handle


def _stream(edge: Edge, name: str) -> Callable[[bytes, Context], Awaitable[None]]:
    async def handle(raw: bytes, context: Context) -> None:
        async def send(message: bytes) -> None:
            try:
                await context.write(message)
            except grpc.aio.InternalError:
                raise GoneError from None

        try:
            await edge.stream(name, _incoming(raw, context), send)
        except ReaderTooSlowError as error:
            # The status has to wait behind the messages, which the reader may never read.
            try:
                async with asyncio.timeout(_LAST_WORDS):
                    await _abort(context, error)
            except TimeoutError:
                raise asyncio.CancelledError from None
        except CallError as error:
            await _abort(context, error)

    return handle


def _incoming(raw: bytes, context: Context) -> Incoming:
    def read(kind: type[Message]) -> Message:
        try:
            return kind.FromString(raw)
        except DecodeError:
            raise MalformedRequestError(f"not a {kind.DESCRIPTOR.full_name}") from None

    metadata = context.invocation_metadata() or ()

    def header(name: str) -> str:
        return next((str(value) for key, value in metadata if key == name), "")

    return Incoming(len(raw), read, [str(value) for key, value in metadata if key == "authorization"], header)


async def _abort(context: Context, error: CallError) -> NoReturn:
    await context.abort(error.code, error.message, ((DETAILS_KEY, status_bytes(error)),))
    raise AssertionError("abort raises")
