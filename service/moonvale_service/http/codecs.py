"""The two ways in which Connect and gRPC-Web carry messages: JSON and protobuf's own bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from google.protobuf.message import DecodeError, Message

from moonvale_service.errors import MalformedRequestError
from moonvale_service.http import from_json, to_json


class Codec(NamedTuple):
    """How a message is read, and how one that is encoded already is written. ``parse`` raises CallError.

    ``recoder`` returns for a type of message what writes those, and keeps the last ones.
    """

    name: str
    parse: Callable[[type[Message], bytes], Message]
    recode: Callable[[type[Message], bytes], bytes]
    recoder: Callable[[type[Message]], Callable[[bytes], bytes]]


def _parse(kind: type[Message], data: bytes) -> Message:
    try:
        return kind.FromString(data)
    except DecodeError:
        raise MalformedRequestError(f"not a {kind.DESCRIPTOR.full_name}") from None


def _as_it_is(encoded: bytes) -> bytes:
    return encoded


JSON: Final = Codec("json", from_json.parse, to_json.recode, to_json.recoder)
PROTO: Final = Codec("proto", _parse, lambda _, encoded: encoded, lambda _: _as_it_is)
