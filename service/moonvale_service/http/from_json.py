"""Requests from protobuf's JSON mapping; what is wrong in one is said by the path of its field.

``google.protobuf.json_format`` judges what is right, but for empty lists and texts, which it takes for messages. Only
when a request was refused, the field is looked for: by offering ever smaller parts of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, TypeVar

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from moonvale_service.errors import FieldError, MalformedRequestError
from moonvale_service.http.descriptors import descriptor_of, is_well_known, map_entry

_Item = TypeVar("_Item")

#: In a whole request. The largest that makes sense has 1,500, a WatchTurns; converting each costs more than sending it.
MOST_VALUES: Final = 4096

_LONGEST_NAME: Final = 64  # characters of what is repeated of a caller's own names

_WHOLE: Final = {
    FieldDescriptor.CPPTYPE_INT32: "a whole number of 32 bits",
    FieldDescriptor.CPPTYPE_UINT32: "a whole number of 32 bits, 0 or more",
    FieldDescriptor.CPPTYPE_INT64: "a whole number of 64 bits",
    FieldDescriptor.CPPTYPE_UINT64: "a whole number of 64 bits, 0 or more",
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
}


def parse(kind: type[Message], text: bytes) -> Message:
    """Return the message that a JSON text stands for; an empty one stands for the empty message.

    Raises MalformedRequestError if it is no JSON object, FieldError for what is in it.
    """
    if not text:
        return kind()
    try:
        made = json.loads(text.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, json.JSONDecodeError | _RefusedError) else "it can't be read"
        raise MalformedRequestError(f"not JSON: {what}") from None
    if not isinstance(made, dict):
        raise MalformedRequestError(f"needs a JSON object, a {kind.DESCRIPTOR.full_name}")
    if _has_too_many_values(made):
        raise MalformedRequestError(f"has more than {MOST_VALUES} values, which no request needs")
    return from_dict(kind, made)


def from_dict(kind: type[Message], made: dict[str, Any]) -> Message:
    """Return the message that a JSON object stands for. Raises FieldError."""
    message = kind()
    if not _takes(message, made):
        _blame(descriptor_of(kind), made, "")
    return message


def field_named(descriptor: Descriptor, name: str) -> FieldDescriptor | None:
    """Return the field with this name, in the contract's spelling or in JSON's."""
    field = descriptor.fields_by_name.get(name) or descriptor.fields_by_camelcase_name.get(name)
    return field if field is not None and name in (field.name, field.json_name) else None


def printable(name: str) -> str:
    """Return the beginning of a name that a caller has made up, fit to be repeated in an error."""
    return name[:_LONGEST_NAME].encode("ascii", "backslashreplace").decode("ascii")


class _RefusedError(ValueError):
    """What JSON texts may hold by themselves, but messages don't."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    for key in made:
        key.encode()  # half a surrogate pair breaks json_format
    if len(made) != len(pairs):
        raise _RefusedError("an object has a key twice")
    return made


def _has_too_many_values(made: dict[str, Any]) -> bool:
    count = 0
    inner: list[Any] = [made]
    while inner:
        each = inner.pop()
        if isinstance(each, dict | list):
            count += len(each)
            if count > MOST_VALUES:
                return True
            inner.extend(each.values() if isinstance(each, dict) else each)
    return False


def _refuse(constant: str) -> NoReturn:
    raise _RefusedError(f"{constant} is no number of JSON")


def _takes(message: Message, made: dict[str, Any]) -> bool:
    """Say whether an object is one of this message, which is filled with it."""
    try:
        json_format.ParseDict(made, message)
    except json_format.ParseError:
        return False
    return _has_objects(descriptor_of(message), made)


def _has_objects(descriptor: Descriptor, made: dict[str, Any]) -> bool:
    """Say whether all messages in what ParseDict has taken are objects."""
    for key, value in made.items():
        field = field_named(descriptor, key)
        if field is None or value is None:
            continue
        entry = map_entry(field)
        kind = (field if entry is None else entry.fields_by_name["value"]).message_type
        if kind is None or is_well_known(kind):
            continue
        parts = value.values() if entry is not None else value if field.is_repeated else (value,)
        if not all([isinstance(part, dict) and _has_objects(kind, part) for part in parts]):
            return False
    return True


def _blame(descriptor: Descriptor, made: object, path: str) -> NoReturn:
    """Raise the FieldError of what keeps an object from being a message of this type."""
    if not isinstance(made, dict):
        raise FieldError(path, f"needs an object, a {descriptor.full_name}")
    kind = GetMessageClass(descriptor)
    given: dict[FieldDescriptor, str] = {}
    for key, value in made.items():
        field = field_named(descriptor, key)
        if field is None:
            raise FieldError(_join(path, printable(key)), f"is no field of {descriptor.full_name}")
        given[field] = key
        if not _takes(kind(), {key: value}):
            _blame_field(kind, field, value, _join(path, field.name))
    for oneof in descriptor.oneofs:
        several = [field.name for field in oneof.fields if field in given and made[given[field]] is not None]
        if len(several) > 1:
            raise FieldError(_join(path, several[1]), f"can't be given together with {several[0]}")
    raise FieldError(path or descriptor.name, f"is no {descriptor.full_name}")


def _blame_field(kind: type[Message], field: FieldDescriptor, value: object, path: str) -> NoReturn:
    """Raise the FieldError of a value that a field of a message of this type doesn't take."""
    entry = map_entry(field)
    if entry is not None:
        if not isinstance(value, dict):
            raise FieldError(path, "needs an object")
        items = list(value.items())
        key, value = items[_first_bad(items, lambda part: _takes(kind(), {field.name: dict(part)}))]
        _blame_value(entry.fields_by_name["value"], value, f'{path}["{printable(key)}"]')
    if field.is_repeated:
        if not isinstance(value, list):
            raise FieldError(path, "needs a list")
        bad = _first_bad(value, lambda part: _takes(kind(), {field.name: part}))
        _blame_value(field, value[bad], f"{path}[{bad}]")
    _blame_value(field, value, path)


def _blame_value(field: FieldDescriptor, value: object, path: str) -> NoReturn:
    """Raise the FieldError of one value that a field, or an element of it, doesn't take."""
    if field.message_type is not None and not is_well_known(field.message_type):
        _blame(field.message_type, value, path)
    raise FieldError(path, f"needs {_wanted(field)}")


def _first_bad(items: Sequence[_Item], takes: Callable[[Sequence[_Item]], bool]) -> int:
    """Return the place of one that isn't taken, halving, as a hostile list is long."""
    low, high = 0, len(items)
    while high - low > 1:
        middle = (low + high) // 2
        if takes(items[low:middle]):
            low = middle
        else:
            high = middle
    return low


def _wanted(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        example = "2026-03-01T10:00:00Z" if field.message_type.name == "Timestamp" else "1.5s"
        return f'a {field.message_type.full_name}, such as "{example}"'
    if field.enum_type is not None:
        return f"one of: {', '.join([value.name for value in field.enum_type.values])}"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes in base64"
    return _WHOLE.get(field.cpp_type, "a text")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
