"""Calls of clients that retry: over many connections to all workers, until there is a definite answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from random import Random
from typing import Final, TypeVar

import grpc.aio

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.game_service_pb2_grpc import GameServiceStub
from moonvale_client.errors import MoonvaleError, from_rpc_error

Request = TypeVar("Request")
Response = TypeVar("Response")

_CONNECTIONS: Final = 4  # to each worker, so that a cut one does not hit all calls
_ATTEMPT_SECONDS: Final = (0.5, 4.0)
_STREAM_SECONDS: Final = (2.0, 15.0)
_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 1.0
_PATIENCE: Final = 90.0  # seconds without a definite answer, which no fault and no load accounts for

_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),  # else connections to one address would be shared
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
)


class NoAnswerError(Exception):
    """A call got no definite answer for so long that something must be stuck."""


class Connections:
    """Connections to all workers. ``outcomes``: how often calls ended how, attempts included.

    ``options``: more of those of the channels.
    """

    def __init__(self, addresses: Sequence[str], rng: Random, options: Sequence[tuple[str, str | int]] = ()) -> None:
        self.outcomes: Counter[str] = Counter()
        self._rng = rng
        self._channels = [
            grpc.aio.insecure_channel(address, (*options, *_OPTIONS))
            for address in addresses
            for _ in range(_CONNECTIONS)
        ]
        self._stubs = [GameServiceStub(channel) for channel in self._channels]

    async def close(self) -> None:
        """Close them all."""
        await asyncio.gather(*(channel.close() for channel in self._channels))

    async def call(self, method: str, request: Request, credential: str = "") -> Response:
        """Call until there is a definite answer. Raises MoonvaleError if that is a refusal, and NoAnswerError."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        pause = _FIRST_PAUSE
        while True:
            call: grpc.aio.UnaryUnaryMultiCallable[Request, Response] = getattr(self._rng.choice(self._stubs), method)
            try:
                response = await call(
                    request, timeout=self._rng.uniform(*_ATTEMPT_SECONDS), metadata=bearer(credential)
                )
            except grpc.aio.AioRpcError as failure:
                error = self.failed(failure)
                if not error.is_transient:
                    raise error from None
                if loop.time() > deadline:
                    raise NoAnswerError(f"{method} had no answer in {_PATIENCE:g} s: {error}") from None
                await asyncio.sleep(pause * self._rng.uniform(0.5, 1.0))
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self.outcomes["OK"] += 1
                return response

    async def stream(self, request: pb.WatchGameRequest, credential: str) -> AsyncIterator[pb.WatchGameResponse]:
        """Yield the messages of one stream, until it ends, which it does in some seconds. Raises MoonvaleError."""
        stub = self._rng.choice(self._stubs)
        stream = stub.WatchGame(request, timeout=self._rng.uniform(*_STREAM_SECONDS), metadata=bearer(credential))
        try:
            async for message in stream:
                yield message
        except grpc.aio.AioRpcError as failure:
            raise self.failed(failure) from None
        finally:
            stream.cancel()

    def failed(self, failure: grpc.aio.AioRpcError) -> MoonvaleError:
        """Count a failed attempt, and return its error."""
        error = from_rpc_error(failure)
        self.outcomes[f"{error.code.name} {error.reason or 'of the connection'}"] += 1
        return error


def bearer(credential: str) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a credential."""
    return (("authorization", f"Bearer {credential}"),) if credential else ()
