"""Protobuf's wire format, as far as it takes to put encoded messages into others without decoding them.

An encoded message is its fields one after the other, in any order, and encoded messages one after the other are the
encoded message that they merge into (https://protobuf.dev/programming-guides/encoding/).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from google.protobuf.message import Message

_LENGTH_DELIMITED: Final = 2


def field(kind: type[Message], name: str) -> Callable[[bytes], bytes]:
    """Return what makes of an encoded message an encoded ``kind`` that has nothing but that, in the field ``name``."""
    tag = varint(kind.DESCRIPTOR.fields_by_name[name].number << 3 | _LENGTH_DELIMITED)
    return lambda encoded: tag + varint(len(encoded)) + encoded


def varint(number: int) -> bytes:
    """Return a number of 0 or more, seven bits to a byte, the lowest first."""
    if number < 1 << 7:
        return _ONE_BYTE[number]
    written = bytearray()
    while number >= 1 << 7:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


_ONE_BYTE: Final = [bytes([number]) for number in range(1 << 7)]
