"""The Connect protocol, as https://connectrpc.com/docs/protocol describes it."""

from __future__ import annotations

import re
from typing import Final

import orjson
from google.protobuf.message import Message

from moonvale_service.errors import CallError, FieldError, UnsupportedMediaTypeError
from moonvale_service.http import statuses
from moonvale_service.http.codecs import Codec
from moonvale_service.http.envelopes import END_OF_STREAM, HEAD_BYTES, envelope, only_message
from moonvale_service.http.exchange import Exchange

_TIMEOUT: Final = "connect-timeout-ms"
_MILLISECONDS: Final = re.compile(r"[0-9]{1,10}")


class ConnectCall:
    """A call with one response: the body of the request is the message, that of the response too."""

    def __init__(self, codec: Codec, kind: type[Message]) -> None:
        self.codec = codec
        self._kind = kind
        self._media_type = f"application/{codec.name}".encode("ascii")

    def body_limit(self, message_limit: int) -> int:
        """Return how large a body is that holds the largest message."""
        return message_limit

    def message_size(self, _body: bytes, size: int) -> int:
        """Return the size of the message in a body."""
        return size

    def unwrap(self, exchange: Exchange, body: bytes) -> bytes:
        """Return the message in a body. Raises CallError."""
        if exchange.header(b"content-encoding").lower() not in ("", "identity"):
            raise UnsupportedMediaTypeError("the body needs to be as it is, without a content-encoding")
        return body

    def seconds(self, exchange: Exchange) -> float | None:
        """Return how long the client wants to wait. Raises FieldError."""
        return _seconds(exchange)

    async def answer(self, exchange: Exchange, response: bytes) -> None:
        """Send a response, which is encoded."""
        await exchange.respond(200, self._media_type, self.codec.recode(self._kind, response))

    async def refuse(self, exchange: Exchange, error: CallError) -> None:
        """Send an error."""
        body = orjson.dumps(statuses.connect_error(error))
        await exchange.respond(statuses.HTTP_CODES[error.code], statuses.JSON, body, statuses.headers(error))


class ConnectStream:
    """A stream: each message in an envelope, the last of which says how the stream ends."""

    answers_early_errors = False

    def __init__(self, codec: Codec, kind: type[Message]) -> None:
        self.codec = codec
        self.media_type = f"application/connect+{codec.name}".encode("ascii")
        self._recode = codec.recoder(kind)

    def body_limit(self, message_limit: int) -> int:
        """Return how large a body is that holds the largest message."""
        return message_limit + HEAD_BYTES

    def message_size(self, _body: bytes, size: int) -> int:
        """Return the size of the message in a body."""
        return size - HEAD_BYTES

    def unwrap(self, _exchange: Exchange, body: bytes) -> bytes:
        """Return the message in a body. Raises CallError."""
        return only_message(body)

    def seconds(self, exchange: Exchange) -> float | None:
        """Return how long the client wants to wait. Raises FieldError."""
        return _seconds(exchange)

    def message(self, encoded: bytes) -> bytes:
        """Write a message."""
        return envelope(self._recode(encoded))

    def end(self) -> bytes:
        """Write the end of a stream that ends well."""
        return envelope(b"{}", END_OF_STREAM)

    def error(self, error: CallError) -> bytes:
        """Write the error that a stream ends with."""
        return envelope(orjson.dumps({"error": statuses.connect_error(error)}), END_OF_STREAM)


def _seconds(exchange: Exchange) -> float | None:
    text = exchange.header(_TIMEOUT.encode("ascii"))
    if not text:
        return None
    if not _MILLISECONDS.fullmatch(text):
        raise FieldError(_TIMEOUT, "needs a whole number of milliseconds, of ten digits at most")
    return int(text) / 1000
