"""Envelopes: the five bytes, of flags and a length, in front of each message of Connect's streams and of gRPC-Web."""

from __future__ import annotations

import struct
from typing import Final

from moonvale_service.errors import MalformedRequestError, UnsupportedMediaTypeError

HEAD_BYTES: Final = 5
COMPRESSED: Final = 0x01
END_OF_STREAM: Final = 0x02  # of Connect: its message is the stream's end or its error, in JSON
TRAILERS: Final = 0x80  # of gRPC-Web: its message is the trailers

_HEAD: Final = struct.Struct(">BI")


def envelope(message: bytes, flags: int = 0) -> bytes:
    """Return a message in its envelope."""
    return _HEAD.pack(flags, len(message)) + message


def only_message(body: bytes) -> bytes:
    """Return the message of a body that is one envelope. Raises MalformedRequestError, UnsupportedMediaTypeError."""
    if len(body) < HEAD_BYTES:
        raise MalformedRequestError("the body needs to be one message in an envelope")
    flags, size = _HEAD.unpack_from(body)
    if flags & COMPRESSED:
        raise UnsupportedMediaTypeError("the message needs to be as it is, not compressed")
    if flags or size != len(body) - HEAD_BYTES:
        raise MalformedRequestError("the body needs to be one message in an envelope, and nothing after it")
    return body[HEAD_BYTES:]
