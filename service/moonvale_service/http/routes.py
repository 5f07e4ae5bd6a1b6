"""Routes of REST, read from the ``google.api.http`` annotations of the contract: there is no other list of them.

Paths and query parameters follow google/api/http.proto, "HTTP and gRPC Transcoding".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from google.api import annotations_pb2
from google.api.http_pb2 import HttpRule
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from moonvale_service.errors import FieldError, MalformedRequestError, MethodNotAllowedError, UnknownPathError
from moonvale_service.http import from_json
from moonvale_service.http.descriptors import descriptor_of, is_well_known

_MOST_PARAMETERS: Final = 100

_SEGMENT: Final = r"(?:\*\*|\*|[^*{}=/:]+)"
_TEMPLATE: Final = re.compile(
    rf"(?P<literal>[^{{}}*:]+)|\{{(?P<variable>[a-z0-9_.]+)(?:=(?P<pattern>{_SEGMENT}(?:/{_SEGMENT})*))?\}}"
    r"|(?P<wild>\*\*|\*)|:(?P<verb>[A-Za-z0-9]+)$"
)
_WILD: Final = {"*": "[^/]+", "**": ".+"}
_ESCAPED_SLASH: Final = re.compile(r"(%2[fF])")


@dataclass(frozen=True)
class Route:
    """One HTTP method and path of a method. ``body``: all fields that the path doesn't bind are in the body."""

    method: MethodDescriptor
    verb: str
    template: str
    body: bool

    @property
    def variables(self) -> list[str]:
        """The paths of the fields that the template binds."""
        return [match["variable"] for match in _tokens(self.template) if match["variable"]]


@dataclass(frozen=True)
class _Path:
    """A template, and the route of each HTTP method on it. ``single``: the variables that are one segment each."""

    pattern: re.Pattern[str]
    variables: tuple[tuple[str, bool], ...]
    routes: dict[str, Route] = field(default_factory=dict)


class Routes:
    """All routes of a service. Raises ValueError, as it is made, for an annotation that can't be carried out."""

    def __init__(self, service: ServiceDescriptor) -> None:
        self.all = [route for method in service.methods for route in _routes(method)]
        paths: dict[str, _Path] = {}
        for route in self.all:
            path = paths.setdefault(_shape(route.template), _compile(route.template))
            if path.routes.setdefault(route.verb, route) is not route:
                raise ValueError(f"{route.method.full_name}: {route.verb} {route.template} is another method's route")
        # Of several that match, the one with the longest fixed part and a verb of its own is meant.
        self._paths = [paths[shape] for shape in sorted(paths, key=_precedence)]

    def find(self, verb: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return the route of a request, and the values that its path binds; ``path`` is as sent.

        Raises UnknownPathError, MethodNotAllowedError.
        """
        for each in self._paths:
            match = each.pattern.fullmatch(path)
            if match is not None:
                route = each.routes.get(verb)
                if route is None:
                    raise MethodNotAllowedError(verb, sorted(each.routes))
                values = zip(each.variables, match.groups(), strict=True)
                return route, {name: _decode(value, single=single) for (name, single), value in values}
        raise UnknownPathError


def bind(message: Message, values: Mapping[str, str]) -> None:
    """Set the fields that a path binds. Raises FieldError if the request says otherwise."""
    for path, value in values.items():
        target: Any = message
        *outer, last = path.split(".")
        for name in outer:
            target = getattr(target, name)
        if getattr(target, last) not in ("", value):
            raise FieldError(path, "differs from that of the URL: leave it out")
        setattr(target, last, value)


def from_query(kind: type[Message], query: str) -> dict[str, Any]:
    """Return the JSON object that query parameters stand for. Raises MalformedRequestError, FieldError."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise MalformedRequestError("the query is not of the form name=value&name=value, in UTF-8") from None
    made: dict[str, Any] = {}
    for name, value in pairs:
        _add(kind, made, name, value)
    return made


def _add(kind: type[Message], made: dict[str, Any], path: str, value: str) -> None:
    *outer, last = path.split(".")
    descriptor = descriptor_of(kind)
    for name in outer:
        found = _field(descriptor, name, path)
        if found.message_type is None or found.is_repeated:
            raise FieldError(from_json.printable(path), f"{found.name} has no fields that could be query parameters")
        descriptor = found.message_type
        made = made.setdefault(found.name, {})
    found = _field(descriptor, last, path)
    if found.message_type is not None and not is_well_known(found.message_type):
        raise FieldError(path, "can't be a query parameter as a whole: name its fields")
    given: object = value
    if found.type == FieldDescriptor.TYPE_BOOL:
        given = {"true": True, "false": False}.get(value, value)
    if found.is_repeated:
        made.setdefault(found.name, []).append(given)
    elif found.name in made:
        raise FieldError(path, "is given twice")
    else:
        made[found.name] = given


def _field(descriptor: Descriptor, name: str, path: str) -> FieldDescriptor:
    found = from_json.field_named(descriptor, name)
    if found is None:
        raise FieldError(from_json.printable(path), f"is no field of {descriptor.full_name}")
    return found


def _routes(method: MethodDescriptor) -> list[Route]:
    extension: Any = annotations_pb2.http
    rule = method.GetOptions().Extensions[extension]
    return [_route(method, each) for each in (rule, *rule.additional_bindings) if each.WhichOneof("pattern")]


def _route(method: MethodDescriptor, rule: HttpRule) -> Route:
    pattern = rule.WhichOneof("pattern")
    if pattern == "custom":
        verb, template = rule.custom.kind, rule.custom.path
    else:
        verb, template = str(pattern).upper(), getattr(rule, str(pattern))
    if rule.body not in ("", "*") or rule.response_body:
        raise ValueError(f"{method.full_name}: a body that is one field was never needed so far")
    route = Route(method, verb, template, rule.body == "*")
    for variable in route.variables:
        _check_variable(method, variable)
    return route


def _check_variable(method: MethodDescriptor, path: str) -> None:
    *outer, last = path.split(".")
    descriptor: Descriptor | None = method.input_type
    for name in outer:
        descriptor = None if descriptor is None else descriptor.fields_by_name[name].message_type
    if descriptor is None:
        raise ValueError(f"{method.full_name}: {path} in a path has no fields")
    found = descriptor.fields_by_name[last]
    if found.type != FieldDescriptor.TYPE_STRING or found.is_repeated:
        raise ValueError(f"{method.full_name}: {path} in a path needs to be a text")


def _tokens(template: str) -> Sequence[re.Match[str]]:
    matches = list(_TEMPLATE.finditer(template))
    if "".join([match[0] for match in matches]) != template or not template.startswith("/"):
        raise ValueError(f"{template} is no template of a path")
    return matches


def _compile(template: str) -> _Path:
    pattern, variables = "", []
    for token in _tokens(template):
        if token["literal"] is not None:
            pattern += re.escape(token["literal"])
        elif token["verb"] is not None:
            pattern += f":{token['verb']}"
        elif token["wild"] is not None:
            pattern += _WILD[token["wild"]]
        else:
            inner = token["pattern"] or "*"
            variables.append((token["variable"], inner == "*"))
            pattern += f"({'/'.join([_WILD.get(part, re.escape(part)) for part in inner.split('/')])})"
    return _Path(re.compile(pattern), tuple(variables))


def _shape(template: str) -> str:
    """Return a template without the names of its variables."""
    return "".join(
        [(token["pattern"] or "*") if token["variable"] is not None else token[0] for token in _tokens(template)]
    )


def _precedence(shape: str) -> tuple[bool, bool, int]:
    return "*" in shape, ":" not in shape, -len(shape)


def _decode(value: str, *, single: bool) -> str:
    """Undo percent-encoding; in what may have several segments, an encoded slash stays as it is."""
    try:
        if single:
            return unquote(value, errors="strict")
        return "".join(
            [part if i % 2 else unquote(part, errors="strict") for i, part in enumerate(_ESCAPED_SLASH.split(value))]
        )
    except UnicodeDecodeError:
        raise MalformedRequestError("the path is not UTF-8") from None
