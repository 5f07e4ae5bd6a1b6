"""The OpenAPI 3.1 document of REST, derived from the contract's descriptors and comments: nothing is listed twice.

Paths come from the routes, schemas from the messages by protobuf's JSON mapping, texts from comments.json, which
proto/generate.py keeps up to date, and the codes of errors from the classes that are raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from importlib import metadata, resources
from typing import Any, Final

import orjson
from google.api import field_behavior_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from moonvale_service.edge import METHODS, SERVICE
from moonvale_service.errors import CallError
from moonvale_service.http import statuses
from moonvale_service.http.descriptors import is_well_known, map_entry
from moonvale_service.http.rest import EVENTS, LAST_EVENT_ID, LINES
from moonvale_service.http.routes import Route, Routes

Schema = dict[str, Any]

_GAME: Final = {
    "type": "string",
    "pattern": "^[a-z2-7]{20}$",
    "description": "The id of the game: its name without games/.",
}
_STATUS: Final = "google.rpc.Status"
_JSON: Final = "application/json"

_SCALARS: Final[Mapping[int, Schema]] = {
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
    FieldDescriptor.TYPE_INT32: {"type": "integer", "format": "int32"},
    FieldDescriptor.TYPE_UINT64: {"type": "string", "format": "uint64", "pattern": "^[0-9]{1,20}$"},
}
_WELL_KNOWN: Final[Mapping[str, Schema]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
}
_ANY: Final[Schema] = {
    "type": "object",
    "required": ["@type"],
    "properties": {"@type": {"type": "string"}},
    "additionalProperties": True,
}
_STATUS_SCHEMA: Final[Schema] = {
    "type": "object",
    "description": "An error. Its details hold a google.rpc.ErrorInfo, whose reason is a name of ErrorReason.",
    "required": ["code", "message", "details"],
    "properties": {
        "code": {"type": "integer", "format": "int32", "description": "The code of gRPC."},
        "message": {"type": "string", "description": "What went wrong and what to do, for people."},
        "details": {"type": "array", "items": _ANY},
    },
}
_SECURITY: Final = "credential"
_COMMON: Final = (
    "MALFORMED_REQUEST",
    "INVALID_FIELD",
    "MESSAGE_TOO_LARGE",
    "STORE_UNAVAILABLE",
    "DRAINING",
    "INTERNAL",
)
_OF_A_GAME: Final = (
    "CREDENTIAL_MISSING",
    "CREDENTIAL_INVALID",
    "CREDENTIAL_OF_ANOTHER_GAME",
    "CREDENTIAL_REVOKED",
    "ROLE_NOT_ALLOWED",
    "RATE_LIMITED",
    "GAME_NOT_FOUND",
    "RULES_UNKNOWN",
)


def document(routes: Routes) -> bytes:
    """Return the document as JSON."""
    return orjson.dumps(_Document(routes).made)


class _Document:
    """The document in the making: every message that is met adds its schema."""

    def __init__(self, routes: Routes) -> None:
        self._comments: dict[str, str] = json.loads(
            (resources.files(__package__) / "comments.json").read_text(encoding="utf-8")
        )
        self._codes = {kind.reason: statuses.http_code_of(kind) for kind in _all_errors()}
        self._schemas: dict[str, Schema] = {_STATUS: _STATUS_SCHEMA}
        paths: dict[str, dict[str, Any]] = {}
        for route in routes.all:
            paths.setdefault(_path(route), {})[route.verb.lower()] = self._operation(route)
        about = self._comments[SERVICE]
        self.made: dict[str, Any] = {
            "openapi": "3.1.0",
            "info": {
                "title": "Moonvale",
                "version": metadata.version("moonvale"),
                "summary": "Silver Coin and Silver Eye, card games of hidden information, as a service",
                "description": about,
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            "servers": [{"url": "/"}],
            "tags": [{"name": SERVICE.rpartition(".")[2], "description": _summary(about)}],
            "paths": paths,
            "components": {
                "schemas": dict(sorted(self._schemas.items())),
                "securitySchemes": {
                    _SECURITY: {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "A credential that CreateGame has given out, or a key of the server.",
                    }
                },
            },
        }

    def _operation(self, route: Route) -> dict[str, Any]:
        method = route.method
        text = self._comments[method.full_name]
        made: dict[str, Any] = {
            "operationId": method.name,
            "summary": _summary(text),
            "description": text,
            "tags": [SERVICE.rpartition(".")[2]],
            "security": [{_SECURITY: []}]
            if METHODS[method.name].roles is not None and not METHODS[method.name].each
            else [{}, {_SECURITY: []}],
        }
        parameters = [*self._path_parameters(route), *self._query_parameters(route)]
        if method.server_streaming and "after_version" in method.input_type.fields_by_name:
            parameters.append(
                {
                    "name": LAST_EVENT_ID,
                    "in": "header",
                    "schema": {"type": "string", "pattern": "^[0-9]{1,19}[.][0-9a-zA-Z]{0,64}$"},
                    "description": "The id of the last event received: the stream goes on after it.",
                }
            )
        if parameters:
            made["parameters"] = parameters
        if route.body:
            body = _or_null(self._message(method.input_type, without=route.variables))
            made["requestBody"] = {
                "required": bool(body.get("required")),
                "content": {_JSON: {"schema": {**body, "additionalProperties": False}}},
            }
        made["responses"] = self._responses(route, text)
        return made

    def _path_parameters(self, route: Route) -> Iterator[dict[str, Any]]:
        for _ in route.variables:
            yield {"name": "game", "in": "path", "required": True, "schema": _GAME}

    def _query_parameters(self, route: Route) -> Iterator[dict[str, Any]]:
        if route.body:
            return
        for field in route.method.input_type.fields:
            if field.name not in route.variables:
                yield {
                    "name": field.json_name,
                    "in": "query",
                    "schema": self._field(field),
                    "description": self._comments[field.full_name],
                }

    def _responses(self, route: Route, text: str) -> dict[str, Any]:
        answer = {"schema": self._reference(route.method.output_type)}
        kinds = (EVENTS, LINES) if route.method.server_streaming else (_JSON,)
        what = "The messages of the stream, one after the other." if route.method.server_streaming else "The answer."
        made: dict[str, Any] = {"200": {"description": what, "content": dict.fromkeys(kinds, answer)}}
        if route.method.server_streaming and "after_version" in route.method.input_type.fields_by_name:
            made["204"] = {"description": f"{LAST_EVENT_ID} is that of the last event of all: there is nothing more."}
        reasons: dict[int, list[str]] = {}
        for reason in self._reasons(route, text):
            reasons.setdefault(self._codes[reason], []).append(reason)
        for code, names in sorted(reasons.items()):
            made[str(code)] = {
                "description": f"{_phrase(code)}. Reasons: {', '.join(names)}.",
                "content": {_JSON: {"schema": {"$ref": f"#/components/schemas/{_STATUS}"}}},
            }
        return made

    def _reasons(self, route: Route, text: str) -> list[str]:
        """Return why a call may fail: what its comment adds to what the service's own says of all."""
        method = METHODS[route.method.name]
        needs_game = method.roles is not None and bool(method.target or method.each)
        common = (*_COMMON, *(_OF_A_GAME if needs_game else ("CREDENTIAL_INVALID",)))
        own = [name for name in re.findall(r"[A-Z_]+", text.partition("\nErrors: ")[2]) if name in self._codes]
        of_http = ("UNSUPPORTED_MEDIA_TYPE",) if route.body else ()
        return list(dict.fromkeys((*common, *own, *of_http)))

    def _reference(self, descriptor: Descriptor | EnumDescriptor) -> Schema:
        name = descriptor.full_name
        if name not in self._schemas:
            self._schemas[name] = {}  # for messages within themselves
            self._schemas[name] = (
                self._enum(descriptor) if isinstance(descriptor, EnumDescriptor) else self._message(descriptor)
            )
        return {"$ref": f"#/components/schemas/{name}"}

    def _enum(self, descriptor: EnumDescriptor) -> Schema:
        values = [
            f"- {value.name}: {self._comments[_value_name(value.name, descriptor)]}" for value in descriptor.values
        ]
        text = f"{self._comments[descriptor.full_name]}\n\n" + "\n".join(values)
        return {"type": "string", "description": text, "enum": [value.name for value in descriptor.values]}

    def _message(self, descriptor: Descriptor, without: Sequence[str] = ()) -> Schema:
        fields = [field for field in descriptor.fields if field.name not in without]
        text, example = _parted(self._comments.get(descriptor.full_name, ""))
        properties = {
            field.json_name: {**self._field(field), "description": self._comments[field.full_name]} for field in fields
        }
        made: Schema = {"type": "object", "description": text, "properties": properties}
        if example is not None:
            made["examples"] = [{name: value for name, value in example.items() if name in properties}]
        required = [field.json_name for field in fields if _is_required(field)]
        if required:
            made["required"] = required
        oneofs = [oneof.fields for oneof in descriptor.oneofs if len(oneof.fields) > 1]
        if oneofs:
            made["allOf"] = [_one_at_most([field.json_name for field in members]) for members in oneofs]
        return made

    def _field(self, field: FieldDescriptor) -> Schema:
        entry = map_entry(field)
        if entry is not None:
            return {"type": "object", "additionalProperties": self._value(entry.fields_by_name["value"])}
        value = self._value(field)
        return {"type": "array", "items": value} if field.is_repeated else value

    def _value(self, field: FieldDescriptor) -> Schema:
        if field.enum_type is not None:
            return self._reference(field.enum_type)
        kind = field.message_type
        if kind is None:
            return dict(_SCALARS[field.type])
        if is_well_known(kind):
            return dict(_WELL_KNOWN[kind.full_name])
        return {"$ref": f"#/components/schemas/{_STATUS}"} if kind.full_name == _STATUS else self._reference(kind)


def _all_errors(kind: type[CallError] = CallError) -> Iterator[type[CallError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _all_errors(each)


def _or_null(body: Schema) -> Schema:
    """Return the schema of a body whose fields may be null where they may be absent, as protobuf's JSON has it."""
    needed = body.get("required", ())
    properties = {
        name: {**schema, "type": [schema["type"], "null"]} if "type" in schema and name not in needed else schema
        for name, schema in body["properties"].items()
    }
    return {**body, "properties": properties}


def _is_required(field: FieldDescriptor) -> bool:
    extension: Any = field_behavior_pb2.field_behavior
    return field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[extension]


def _parted(text: str) -> tuple[str, dict[str, Any] | None]:
    """Return a comment, and the example that it ends with if that is whole."""
    flat, _, rest = text.replace("\n", " ").partition(" Example: ")
    try:
        example, end = json.JSONDecoder().raw_decode(rest)
    except ValueError:
        return text, None
    return (flat, example) if isinstance(example, dict) and rest[end:] in ("", ".") else (text, None)


def _one_at_most(names: list[str]) -> Schema:
    """Say that of these properties one may be given, or none."""
    given = [{"required": [name]} for name in names]
    return {"oneOf": [*given, {"not": {"anyOf": given}}]}


def _path(route: Route) -> str:
    """Return the template of a path, in which a game's name is /v1/games/{game}."""
    return re.sub(r"\{[a-z_.]+=games/\*\}", "games/{game}", route.template)


def _value_name(value: str, descriptor: EnumDescriptor) -> str:
    return f"{descriptor.full_name}.{value}"


def _phrase(code: int) -> str:
    return HTTPStatus(code).phrase if code in HTTPStatus._value2member_map_ else "Client Closed Request"


def _summary(text: str) -> str:
    """Return the first sentence."""
    return text.replace("\n", " ").partition(". ")[0].rstrip(".") + "."
