"""Routes: each method has those of its annotations, and paths are matched as google/api/http.proto says."""

from __future__ import annotations

from typing import Any

import pytest
from google.api import annotations_pb2, http_pb2
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from moonvale_service.edge import DESCRIPTOR
from moonvale_service.errors import FieldError, MalformedRequestError, MethodNotAllowedError, UnknownPathError
from moonvale_service.http import from_json
from moonvale_service.http.routes import Routes, bind, from_query
from tests.contract.test_contract import ROUTES
from tests.http.clients import REST

RULES: dict[str, dict[str, Any]] = {
    "Plain": {"get": "/v1/things"},
    "One": {"get": "/v1/things/{name}"},
    "Deep": {"get": "/v1/{name=things/*/parts/*}:look"},
    "Any": {"get": "/v1/files/{name=**}"},
    "Inner": {"post": "/v1/{thing.name=shelves/*/things/*}", "body": "*"},
    "Wild": {"get": "/v1/*/wild"},
    "Many": {
        "get": "/v1/many/{name}",
        "additional_bindings": [
            {"put": "/v1/plenty/{name}", "body": "*"},
            {"custom": {"kind": "LOOK", "path": "/v1/look"}},
        ],
    },
}  # fmt: skip


def service(rules: dict[str, dict[str, Any]]) -> ServiceDescriptor:
    """A service with these methods, all of the same request."""
    file = FileDescriptorProto(name="test.proto", package="test", syntax="proto3")
    thing = file.message_type.add(name="Thing")
    thing.field.add(name="name", number=1, type=FieldDescriptorProto.TYPE_STRING)
    thing.field.add(name="size", number=2, type=FieldDescriptorProto.TYPE_INT32)
    request = file.message_type.add(name="Request")
    request.field.add(name="name", number=1, type=FieldDescriptorProto.TYPE_STRING)
    label = FieldDescriptorProto.LABEL_REPEATED
    one = FieldDescriptorProto.TYPE_MESSAGE
    request.field.add(name="thing", number=2, type=one, type_name=".test.Thing")
    request.field.add(name="page_sizes", number=3, type=FieldDescriptorProto.TYPE_INT32, label=label)
    request.field.add(name="is_new", number=4, type=FieldDescriptorProto.TYPE_BOOL)
    request.field.add(name="things", number=5, type=one, type_name=".test.Thing", label=label)
    made = file.service.add(name="Service")
    extension: Any = annotations_pb2.http
    for name, rule in rules.items():
        method = made.method.add(name=name, input_type=".test.Request", output_type=".test.Request")
        method.options.Extensions[extension].CopyFrom(http_pb2.HttpRule(**rule))
    pool = DescriptorPool()
    pool.Add(file)
    return pool.FindServiceByName("test.Service")


@pytest.mark.parametrize(
    ("verb", "path", "method", "values"),
    [
        ("GET", "/v1/things", "Plain", {}),
        ("GET", "/v1/things/a", "One", {"name": "a"}),
        ("GET", "/v1/things/a%2Fb%20c%C3%A9", "One", {"name": "a/b cé"}),
        ("GET", "/v1/things/a:b", "One", {"name": "a:b"}),
        ("GET", "/v1/things/a/parts/b:look", "Deep", {"name": "things/a/parts/b"}),
        ("GET", "/v1/things/a%2fb/parts/%41:look", "Deep", {"name": "things/a%2fb/parts/A"}),
        ("GET", "/v1/files/a/b/c%2Fd", "Any", {"name": "a/b/c%2Fd"}),
        ("POST", "/v1/shelves/1/things/2", "Inner", {"thing.name": "shelves/1/things/2"}),
        ("GET", "/v1/x/wild", "Wild", {}),
        ("GET", "/v1/many/a", "Many", {"name": "a"}),
        ("PUT", "/v1/plenty/a", "Many", {"name": "a"}),
        ("LOOK", "/v1/look", "Many", {}),
    ],
)
def test_a_path_leads_to_its_method(verb: str, path: str, method: str, values: dict[str, str]) -> None:
    route, bound = Routes(service(RULES)).find(verb, path)
    assert (route.method.name, bound) == (method, values)


@pytest.mark.parametrize(
    "path", ["/", "/v1/things/", "/v1/things/a/b", "/v1/files/", "/v1/shelves/1/things/2:x/y", "v1/things"]
)
def test_other_paths_lead_nowhere(path: str) -> None:
    with pytest.raises(UnknownPathError):
        Routes(service(RULES)).find("GET", path)


def test_a_path_with_another_verb_says_which_it_takes() -> None:
    routes = Routes(service(RULES))
    for path, allowed in (("/v1/things", ["GET"]), ("/v1/shelves/1/things/2", ["POST"]), ("/v1/plenty/a", ["PUT"])):
        with pytest.raises(MethodNotAllowedError) as raised:
            routes.find("DELETE", path)
        assert raised.value.allowed == allowed
    with pytest.raises(MalformedRequestError):
        routes.find("GET", "/v1/things/%ff")


def test_what_can_not_be_carried_out_is_refused_as_the_routes_are_made() -> None:
    for rules in (
        {"A": {"get": "/v1/{name=a/*"}},
        {"A": {"get": "v1/a"}},
        {"A": {"post": "/v1/a", "body": "thing"}},
        {"A": {"get": "/v1/a", "response_body": "thing"}},
        {"A": {"get": "/v1/{thing}"}},
        {"A": {"get": "/v1/{thing.size}"}},
        {"A": {"get": "/v1/{page_sizes}"}},
        {"A": {"get": "/v1/{name=a/*}"}, "B": {"get": "/v1/{thing.name=a/*}"}},
    ):
        with pytest.raises(ValueError):  # noqa: PT011  # whichever it is, it names the method or the template
            Routes(service(rules))


def test_query_parameters_are_fields_by_their_paths() -> None:
    kind = GetMessageClass(service(RULES).methods_by_name["Plain"].input_type)
    query = "thing.name=a%20b+c&thing.size=3&page_sizes=1&pageSizes=2&isNew=true"
    message: Any = from_json.from_dict(kind, from_query(kind, query))
    assert (message.thing.name, message.thing.size) == ("a b c", 3)
    assert (list(message.page_sizes), message.is_new) == ([1, 2], True)
    bind(message, {"name": "n", "thing.name": "a b c"})
    assert message.name == "n"
    with pytest.raises(FieldError) as raised:
        bind(message, {"thing.name": "x"})
    assert raised.value.field == "thing.name"
    for wrong, field in (
        ("thing=x", "thing"),
        ("things.name=x", "things.name"),
        ("name.x=1", "name.x"),
        ("thing.size=1&thing.size=2", "thing.size"),
        ("nonsense=1", "nonsense"),
        ("thing.nonsense=1", "thing.nonsense"),
        ("isNew=yes", "is_new"),
        ("pageSizes=1&pageSizes=x", "page_sizes[1]"),
    ):
        with pytest.raises(FieldError) as raised:
            from_json.from_dict(kind, from_query(kind, wrong))
        assert raised.value.field == field


def test_the_routes_are_those_of_the_contract() -> None:
    routes = Routes(DESCRIPTOR)
    made = {route.method.name: (route.verb.lower(), route.template) for route in routes.all}
    assert made == ROUTES
    for method, (verb, path, _, _) in REST.items():
        found, _ = routes.find(verb, path.format("games/" + "a" * 20))
        assert found.method.name == method
