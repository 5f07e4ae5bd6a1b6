"""Samples of a message type, made from its descriptor: empty, with zeros, full, extreme, with each verb or kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

#: How deep messages within messages are filled.
DEPTH = 3

_TEXTS = ("games/k5w2q7xw3m6d4c8h2r9t", 'é ∑ \N{PLAYING CARD BLACK JOKER} "\\/\n\t\x00\x7f\u2028', "a" * 200)
_BYTES = (b"\x00", bytes(range(256)), b"\xff\xfe\xfd")
_TIMES = (
    (1769860800, 0),
    (0, 1),
    (-62135596800, 0),
    (253402300799, 999_999_999),
    (1769860800, 120_000_000),
    (-1, 1000),
)
_SPANS = ((1, 500_000_000), (-1, -1), (0, 0), (315_576_000_000, 0), (86400, 0), (0, 25_000))

_INT = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


def message_types(file: FileDescriptor) -> list[type[Message]]:
    """Return every message type of the contract that a file has or imports, by name."""
    found: dict[str, Descriptor] = {}
    files = [file]
    while files:
        file = files.pop()
        if file.package == "moonvale.v1":
            found.update({kind.full_name: kind for kind in file.message_types_by_name.values()})
            files.extend(file.dependencies)
    return [GetMessageClass(found[name]) for name in sorted(found)]


def samples(kind: type[Message]) -> Iterator[tuple[str, Message]]:
    """Yield the name of a sample and the sample."""
    yield "empty", kind()
    if not _fields(kind()):
        return
    if zeros := _zeros(kind()):
        yield "zeros", zeros
    yield "full", _fill(kind(), 0, 0)
    yield "extreme", _fill(kind(), 1, DEPTH - 1)
    for field in _fields(kind()):
        if _is_choice(field):
            message = kind()
            _set(message, field, 0, DEPTH - 1)
            yield field.name, message


def _zeros(message: Message) -> Message | None:
    """Set all fields to nothing that can tell nothing from absence, if there are any."""
    some = False
    for field in _fields(message):
        if field.is_repeated or not field.has_presence or _is_choice(field):
            continue
        some = True
        if field.message_type is not None:
            getattr(message, field.name).SetInParent()
        else:
            setattr(message, field.name, field.default_value)
    return message if some else None


def _fill(message: Message, form: int, depth: int) -> Message:
    """Set all fields; of a choice the last. form: 0 for something ordinary, 1 for something extreme."""
    for field in _fields(message):
        _set(message, field, form, depth)
    return message


def _set(message: Message, field: FieldDescriptor, form: int, depth: int) -> None:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        value.update({"": "", "a": "b", _TEXTS[1]: _TEXTS[1]} if form else {"event": "friendly"})
    elif field.is_repeated and field.message_type is not None:
        if depth < DEPTH:
            _make(value.add(), field, form, depth + 1)
            value.add()
    elif field.is_repeated:
        value.extend(_scalar(field, form, turn) for turn in range(3))
    elif field.message_type is not None:
        value.SetInParent()
        if depth < DEPTH:
            _make(value, field, form, depth + 1)
    else:
        setattr(message, field.name, _scalar(field, form, field.number))


def _make(message: Message, field: FieldDescriptor, form: int, depth: int) -> None:
    kind = message.DESCRIPTOR.full_name
    if kind in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        choices = _TIMES if kind.endswith("Timestamp") else _SPANS
        seconds, nanos = choices[(field.number + 3 * form) % len(choices)]
        message.seconds, message.nanos = seconds, nanos  # type: ignore[attr-defined]  # of both
    else:
        _fill(message, form, depth)


def _scalar(field: FieldDescriptor, form: int, turn: int) -> int | bool | str | bytes:
    if field.cpp_type in _INT:
        lowest, highest = _INT[field.cpp_type]
        ordinary = (0, max(-1, lowest), 13)
        return (lowest, highest)[turn % 2] if form else ordinary[turn % 3]
    if field.enum_type is not None:
        numbers = sorted(value.number for value in field.enum_type.values)
        return numbers[-1] if form else numbers[turn % len(numbers)]
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return True
    choices = _BYTES if field.type == FieldDescriptor.TYPE_BYTES else _TEXTS
    return choices[1] if form else choices[turn % len(choices)]


def _fields(message: Message) -> list[FieldDescriptor]:
    return [cast("FieldDescriptor", field) for field in message.DESCRIPTOR.fields]


def _is_choice(field: FieldDescriptor) -> bool:
    """Whether it is one of several, of which one is set; an optional field is alone in a oneof of its own."""
    oneof = field.containing_oneof
    return oneof is not None and (len(oneof.fields) > 1 or field.message_type is not None)
