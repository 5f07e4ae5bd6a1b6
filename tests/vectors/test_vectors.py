"""Python's protobuf and the HTTP port's own JSON agree with the vectors, as the TypeScript client's tests do."""

import base64
import json
from typing import Any

import pytest
from google.protobuf import json_format, symbol_database
from google.protobuf.message import Message

from moonvale_service.errors import FieldError, MalformedRequestError
from moonvale_service.http import from_json, to_json
from tests.vectors.contract import FILE, text

VECTORS = json.loads(FILE.read_text(encoding="utf-8"))


def named(vector: dict[str, Any]) -> str:
    return f"{vector['type'].removeprefix('moonvale.v1.')}, {vector['name']}"


def message_of(name: str) -> type[Message]:
    kind = symbol_database.Default().GetSymbol(name)
    assert issubclass(kind, Message)
    return kind


def test_the_vectors_are_those_of_the_contract() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run: python -m tests.vectors"


def test_every_message_of_the_contract_has_vectors_and_some_zeros_are_told() -> None:
    types = {vector["type"] for vector in VECTORS["messages"]}
    assert len(types) > 90
    told = json.dumps([vector["json"] for vector in VECTORS["messages"]])
    for zero in ('"seat": 0', '"spot": 0', '"value": 0', '"value": -1', '"version": "0"'):
        assert zero in told


@pytest.mark.parametrize("vector", VECTORS["messages"], ids=named)
def test_json_and_binary_stand_for_the_same_message(vector: dict[str, Any]) -> None:
    kind = message_of(vector["type"])
    message = kind.FromString(base64.b64decode(vector["binary"]))
    assert json_format.MessageToDict(message) == vector["json"]
    assert json_format.ParseDict(vector["json"], kind()) == message
    assert json.loads(to_json.encode(message)) == vector["json"]
    assert from_json.parse(kind, json.dumps(vector["json"]).encode()) == message


@pytest.mark.parametrize("vector", VECTORS["alternatives"], ids=named)
def test_other_texts_of_a_message_are_taken(vector: dict[str, Any]) -> None:
    kind = message_of(vector["type"])
    assert json_format.MessageToDict(json_format.Parse(vector["text"], kind())) == vector["json"]
    assert to_json.to_dict(from_json.parse(kind, vector["text"].encode())) == vector["json"]


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=named)
def test_what_is_no_message_is_refused(vector: dict[str, Any]) -> None:
    # By the service; json_format itself takes empty lists for messages.
    with pytest.raises((FieldError, MalformedRequestError)):
        from_json.parse(message_of(vector["type"]), vector["text"].encode())
