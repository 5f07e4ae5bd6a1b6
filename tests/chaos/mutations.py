"""Mutations of messages: of their bytes, of their fields, and of what surrounds them on the wire."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

_MOST_BYTES: Final = 300
_TOO_LARGE: Final = 70_000  # bytes: more than the service reads of a request
_DEEP: Final = 200  # messages in messages: more than any parser follows

_NUMBERS: Final = (0, 1, 2, 3, 4, 5, 7, 8, 51, 52, 127, 128, 255, 2**31 - 1, -1, -(2**31))
_WIDE_NUMBERS: Final = (*_NUMBERS, 2**32, 2**63 - 1, 2**64 - 1, -(2**63))
_NAMES: Final = ("name", "parent")
_TEXTS: Final = (
    "",
    "\0",
    "x" * 256,
    "x" * 257,
    "é" * 200,
    "\U0001f0a1",
    "games/",
    "games/aaaaaaaaaaaaaaaaaaaa",
    "games/AAAAAAAAAAAAAAAAAAAA",
    "games/../games",
    "{}",
    "-1",
    "1" * 9,
    "9" * 40,
    "coin",
    "coin,3=eye",
    "coin,3=coin",
    "a request id of the caller's",
)


def random_bytes(rng: Random) -> bytes:
    """Return bytes that are no message, most likely."""
    return rng.randbytes(rng.randrange(_MOST_BYTES))


def mutate(kind: type[Message], request: bytes, rng: Random) -> bytes:
    """Return a mutation of a request: of its fields, of its bytes, or of both."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        request = rng.choices(_MUTATIONS, _WEIGHTS)[0](kind, request, rng)
    return request


def _change_field(kind: type[Message], request: bytes, rng: Random) -> bytes:
    """Set, clear or repeat some field of the message or of one within it."""
    try:
        message = kind.FromString(request)
    except DecodeError:
        return request
    _change(message, rng, 0)
    return message.SerializeToString()


def _change(message: Any, rng: Random, depth: int) -> None:  # noqa: ANN401  # any message has its fields as attributes
    fields = message.DESCRIPTOR.fields
    if not fields:
        return
    descriptor = rng.choice(fields)
    if not depth and descriptor.name in _NAMES and rng.random() < 0.9:  # else most requests would name no game
        return
    if rng.random() < 0.15:
        message.ClearField(descriptor.name)
    elif descriptor.message_type is not None and descriptor.message_type.GetOptions().map_entry:
        getattr(message, descriptor.name).update(
            {rng.choice(_TEXTS): rng.choice(_TEXTS) for _ in range(rng.choice((1, 20)))}
        )
    elif descriptor.is_repeated:
        _extend(getattr(message, descriptor.name), descriptor, rng, depth)
    elif descriptor.message_type is None:
        setattr(message, descriptor.name, _value(descriptor, rng))
    else:
        part = getattr(message, descriptor.name)
        part.SetInParent()
        if depth < 6:
            _change(part, rng, depth + 1)


def _extend(values: Any, descriptor: FieldDescriptor, rng: Random, depth: int) -> None:  # noqa: ANN401  # its container
    if values and rng.random() < 0.3:
        del values[rng.randrange(len(values))]
        return
    for _ in range(rng.choice((1, 1, 2, 9, 40))):
        if descriptor.message_type is None:
            values.append(_value(descriptor, rng))
        else:
            part = values.add()
            if values and rng.random() < 0.5:
                part.CopyFrom(rng.choice(values))
            _change(part, rng, depth + 1)


def _value(descriptor: FieldDescriptor, rng: Random) -> object:
    kind = descriptor.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        if descriptor.type == FieldDescriptor.TYPE_BYTES:
            return rng.randbytes(rng.choice((0, 1, 31, 32, 33)))
        return rng.choice(_TEXTS)
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if kind in (FieldDescriptor.CPPTYPE_UINT64, FieldDescriptor.CPPTYPE_UINT32):
        wide = kind == FieldDescriptor.CPPTYPE_UINT64
        return rng.choice([number for number in _WIDE_NUMBERS if 0 <= number < 2 ** (64 if wide else 32)])
    if kind == FieldDescriptor.CPPTYPE_INT64:
        return rng.choice([number for number in _WIDE_NUMBERS if -(2**63) <= number < 2**63])
    return rng.choice(_NUMBERS)  # of 32 bits, or an enum, which keeps numbers that it does not know


def _flip_bits(kind: type[Message], request: bytes, rng: Random) -> bytes:
    changed = bytearray(request)
    for _ in range(min(len(changed), rng.choice((1, 1, 2, 8)))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _splice(kind: type[Message], request: bytes, rng: Random) -> bytes:
    """Put some bytes, its own or others, anywhere."""
    at = rng.randrange(len(request) + 1)
    begin = rng.randrange(len(request) + 1)
    own = request[begin : begin + rng.randrange(40)]
    return request[:at] + rng.choice((own, rng.randbytes(rng.randrange(1, 9)))) + request[at:]


def _cut(kind: type[Message], request: bytes, rng: Random) -> bytes:
    begin, end = sorted((rng.randrange(len(request) + 1), rng.randrange(len(request) + 1)))
    return request[:begin] + request[end:]


def _add_unknown_fields(kind: type[Message], request: bytes, rng: Random) -> bytes:
    """Add what a later version might send: a number, some bytes, a group, or a field of a type that it hasn't."""
    number = rng.choice((1, 2, 3, 15, 99, 2**29 - 1))
    wire_type = rng.choice((0, 1, 2, 3, 5))
    body = (
        _varint(rng.choice(_WIDE_NUMBERS)),
        rng.randbytes(8),
        _varint(5) + rng.randbytes(5),
        _varint(number << 3 | 4),
        b"",
    )
    return (
        request + _varint(number << 3 | wire_type) + (rng.randbytes(4) if wire_type == 5 else body[min(wire_type, 4)])
    )


def _nest(kind: type[Message], request: bytes, rng: Random) -> bytes:
    """Put it into itself, deeper than a parser follows."""
    number = rng.choice((1, 2, 3, 6, 7))
    for _ in range(rng.choice((2, _DEEP))):
        request = _varint(number << 3 | 2) + _varint(len(request)) + request
    return request


def _swell(kind: type[Message], request: bytes, rng: Random) -> bytes:
    return request + _varint(99 << 3 | 2) + _varint(_TOO_LARGE) + bytes(_TOO_LARGE)


def _varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


_MUTATIONS: Final[tuple[Callable[[type[Message], bytes, Random], bytes], ...]] = (
    _change_field,
    _flip_bits,
    _splice,
    _cut,
    _add_unknown_fields,
    _nest,
    _swell,
)
_WEIGHTS: Final = (60, 15, 8, 8, 6, 2, 1)
