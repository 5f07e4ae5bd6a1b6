"""gRPC-Web, as https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md describes it: binary, and as text."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final
from urllib.parse import quote

from google.protobuf.message import Message

from moonvale_service.errors import DETAILS_KEY, CallError, FieldError, MalformedRequestError, status_bytes
from moonvale_service.http.codecs import Codec
from moonvale_service.http.envelopes import HEAD_BYTES, TRAILERS, envelope, only_message
from moonvale_service.http.exchange import Exchange

_TIMEOUT: Final = "grpc-timeout"
_DURATION: Final = re.compile(r"([0-9]{1,8})([HMSmun])")
_UNITS: Final = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}


class GrpcWeb:
    """A call or a stream: each message in an envelope, and the trailers in the last one. ``text``: all in base64."""

    answers_early_errors = False

    def __init__(self, codec: Codec, kind: type[Message], *, text: bool) -> None:
        self.codec = codec
        self.media_type = f"application/grpc-web{'-text' if text else ''}+{codec.name}".encode("ascii")
        self._kind = kind
        self._recode = codec.recoder(kind)
        self._text = text

    def body_limit(self, message_limit: int) -> int:
        """Return how large a body is that holds the largest message."""
        size = message_limit + HEAD_BYTES
        return (size + 2) // 3 * 4 if self._text else size

    def message_size(self, body: bytes, size: int) -> int:
        """Return the size of the message in a body."""
        if self._text:
            size = size // 4 * 3 - body[-2:].count(b"=")
        return size - HEAD_BYTES

    def unwrap(self, _exchange: Exchange, body: bytes) -> bytes:
        """Return the message in a body. Raises CallError."""
        if self._text:
            try:
                body = base64.b64decode(body, validate=True)
            except binascii.Error:
                raise MalformedRequestError("the body needs to be base64") from None
        return only_message(body)

    def seconds(self, exchange: Exchange) -> float | None:
        """Return how long the client wants to wait. Raises FieldError."""
        text = exchange.header(_TIMEOUT.encode("ascii"))
        if not text:
            return None
        match = _DURATION.fullmatch(text)
        if match is None:
            raise FieldError(_TIMEOUT, "needs digits and a unit, H, M, S, m, u or n, such as 5S")
        return int(match[1]) * _UNITS[match[2]]

    async def answer(self, exchange: Exchange, response: bytes) -> None:
        """Send a response, which is encoded."""
        body = self._out(envelope(self.codec.recode(self._kind, response)) + _trailers(0, ""))
        await exchange.respond(200, self.media_type, body)

    async def refuse(self, exchange: Exchange, error: CallError) -> None:
        """Send an error: of HTTP there is none, the trailers say it."""
        await exchange.respond(200, self.media_type, self.error(error))

    def message(self, encoded: bytes) -> bytes:
        """Write a message."""
        return self._out(envelope(self._recode(encoded)))

    def end(self) -> bytes:
        """Write the trailers of a stream that ends well."""
        return self._out(_trailers(0, ""))

    def error(self, error: CallError) -> bytes:
        """Write the trailers of an error."""
        details = base64.b64encode(status_bytes(error)).decode("ascii").rstrip("=")
        return self._out(_trailers(error.code.value[0], error.message, f"{DETAILS_KEY}: {details}\r\n"))

    def _out(self, data: bytes) -> bytes:
        return base64.b64encode(data) if self._text else data


def _trailers(code: int, message: str, more: str = "") -> bytes:
    text = f"grpc-status: {code}\r\ngrpc-message: {quote(message, safe=' ')}\r\n{more}"
    return envelope(text.encode("ascii"), TRAILERS)
