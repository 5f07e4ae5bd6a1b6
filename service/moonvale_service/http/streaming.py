"""Streams over HTTP: from the edge to a client that may be slow, or gone. How messages look is the format's part."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from moonvale_service import tasks
from moonvale_service.edge import Edge, Incoming
from moonvale_service.errors import CallError, DeadlineExceededError
from moonvale_service.http.exchange import Exchange

_LAST_WORDS: Final = 5.0  # seconds for a slow reader to get the reason why it is cut off


class Format(Protocol):
    """How the messages of a stream, its end and its error are written."""

    #: Whether an error that comes before any message is answered as that of a call would be.
    answers_early_errors: bool

    @property
    def media_type(self) -> bytes:
        """The content type of the response."""

    def message(self, encoded: bytes) -> bytes:
        """Write a message."""

    def end(self) -> bytes:
        """Write the end of a stream that ends well."""

    def error(self, error: CallError) -> bytes:
        """Write the error that a stream ends with."""


async def stream(
    exchange: Exchange, edge: Edge, name: str, incoming: Incoming, form: Format, seconds: float | None = None
) -> None:
    """Carry out a call and answer it with a stream. ``seconds``: how long the client wants to wait for its end.

    Raises the CallErrors that are to be answered as those of a call.
    """

    async def send(message: bytes) -> None:
        if not exchange.started:
            await exchange.start(form.media_type)
        await exchange.write(form.message(message))

    calling = asyncio.create_task(edge.stream(name, incoming, send))
    leaving = asyncio.create_task(exchange.gone())
    try:
        done, _ = await asyncio.wait({calling, leaving}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await tasks.end(calling, leaving)
    if leaving in done:
        return
    error = calling.exception() if calling in done else DeadlineExceededError()
    if error is None:
        await _finish(exchange, form, form.end())
    elif not isinstance(error, CallError) or (form.answers_early_errors and not exchange.started):
        raise error
    else:
        await _finish(exchange, form, form.error(error))


async def _finish(exchange: Exchange, form: Format, last: bytes) -> None:
    """End the response; the last words have to wait behind the messages, which a slow reader may never read."""
    try:
        async with asyncio.timeout(_LAST_WORDS):
            if not exchange.started:
                await exchange.start(form.media_type)
            await exchange.finish(last)
    except TimeoutError:
        exchange.abort()
