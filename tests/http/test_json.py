"""Messages as JSON: the same text as protobuf's own mapper writes, for every message of the contract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.wrappers_pb2 import DoubleValue

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale.v1.view_pb2 import View
from moonvale_service import limits
from moonvale_service.errors import MalformedRequestError
from moonvale_service.http import from_json, to_json
from tests.contract.test_contract import FILES
from tests.service.client import Client, play

MESSAGES = [message for file in FILES for message in file.message_types_by_name.values()]
TEXTS = ["", "a", '"\\\n\u2028', "Çem", "🂡", "\x7f\x00"]
VALUES: dict[int, list[Any]] = {
    FieldDescriptor.TYPE_STRING: TEXTS,
    FieldDescriptor.TYPE_BYTES: [b"", b"\xff\xfe", b"secret"],
    FieldDescriptor.TYPE_BOOL: [False, True],
    FieldDescriptor.TYPE_INT32: [0, -1, 1, (1 << 31) - 1, -(1 << 31)],
    FieldDescriptor.TYPE_UINT64: [0, 1, (1 << 64) - 1],
}
DEEPEST = 5


def filled(descriptor: Descriptor, rng: Random, depth: int = 0) -> Message:
    """A message with random fields, now few, now all; numbers at the bounds of their types, enums that are unknown."""
    message = GetMessageClass(descriptor)()
    if isinstance(message, Timestamp):
        message.FromNanoseconds(rng.choice([0, 1, 1_000_000, 1_770_000_000_123_000_000, 253_402_300_799_999_999_999]))
    elif isinstance(message, Duration):
        message.FromNanoseconds(rng.choice([0, -1, 1_500_000_000, 86_400_000_000_000]))
    share = rng.choice((0.3, 0.7, 1.0))
    for field in [] if depth == DEEPEST or isinstance(message, Timestamp | Duration) else descriptor.fields:
        if rng.random() > share:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            getattr(message, field.name).update({text: rng.choice(TEXTS) for text in rng.sample(TEXTS, 3)})
        elif field.is_repeated:
            getattr(message, field.name).extend([value(field, rng, depth) for _ in range(rng.randrange(4))])
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(value(field, rng, depth))
        else:
            setattr(message, field.name, value(field, rng, depth))
    return message


def value(field: FieldDescriptor, rng: Random, depth: int) -> Any:  # noqa: ANN401  # of whatever type the field is
    """A random value of a field."""
    if field.message_type is not None:
        return filled(field.message_type, rng, depth + 1)
    if field.enum_type is not None:
        return rng.choice([*field.enum_type.values_by_number, 99])
    return rng.choice(VALUES[field.type])


def expected(message: Message) -> bytes:
    """What protobuf's own mapper makes of a message, without white space."""
    made = json_format.MessageToDict(message)
    return json.dumps(made, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize("descriptor", MESSAGES, ids=lambda descriptor: str(descriptor.name))
def test_every_message_is_written_and_read_as_protobuf_does(descriptor: Descriptor) -> None:
    kind = GetMessageClass(descriptor)
    for seed in range(40):
        message = filled(descriptor, Random(seed))
        text = to_json.encode(message)
        assert json.loads(text) == json.loads(expected(message)), seed
        assert sorted(text) == sorted(expected(message)), seed  # the entries of maps have no order
        assert from_json.parse(kind, text) == message, seed
        assert json.loads(to_json.recoder(kind)(message.SerializeToString())) == json.loads(text)


async def real_messages(client: Client) -> list[Message]:
    """What the service tells of a game of every deck: views of all, entries, replays, the catalog."""
    told: list[Message] = [
        pb.GetCatalogResponse.FromString(await client.raw("GetCatalog", b"")),
        pb.GetServerInfoResponse.FromString(await client.raw("GetServerInfo", b"")),
    ]
    for seed, options in enumerate(
        (Options(players=4), Options(players=3, deck="eye", token="eye"), Options(players=2, deck="coin,2=eye,9=eye"))
    ):
        game = await client.create(pb.CreateGameRequest(options=options, labels={"b": "1", "a": "2"}))
        view: View | None = None
        while view is None or view.HasField("decision"):
            view = await play(client, game, seed=seed, moves=7)
            told += [pb.GetViewResponse(view=await client.view(game.name, each)) for each in game.seats]
        told.append(await client.replay(game.name, game.creator))
        token, more = "", True
        while more:
            page = await client.events(game.name, game.seats[0], 50, token)
            told.append(page)
            token, more = page.next_page_token, bool(page.next_page_token)
    return told


def paths(made: object, path: str = "") -> Iterator[str]:
    """The paths of all fields in a JSON object."""
    if isinstance(made, dict):
        for name, inner in made.items():
            yield f"{path}.{name}"
            yield from paths(inner, f"{path}.{name}")
    elif isinstance(made, list):
        for inner in made:
            yield from paths(inner, path)


async def test_real_messages_are_written_letter_for_letter(client: Client) -> None:
    told = await real_messages(client)
    for message in told:
        assert to_json.encode(message) == expected(message)
    views = [json.loads(to_json.encode(message))["view"] for message in told if isinstance(message, pb.GetViewResponse)]
    assert len(views) > 100
    assert len({path for view in views for path in paths(view)}) > 100


async def test_zeros_that_mean_something_are_there_and_large_numbers_are_texts(client: Client) -> None:
    game = await client.create()
    view = json.loads(to_json.encode(await client.view(game.name, game.seats[0])))
    assert view["version"] == "0"
    assert view["viewerSeat"] == 0
    assert [seat["seat"] for seat in view["seats"]] == [0, 1]
    assert [seat["total"] for seat in view["seats"]] == [0, 0]
    assert view["options"]["memory"] == "MEMORY_ASSISTED"
    assert view["createTime"].endswith("Z")


def test_a_type_that_the_contract_does_not_use_is_refused_and_not_guessed() -> None:
    for message in (Struct(fields={"a": Value(number_value=1)}), DoubleValue(value=1)):
        with pytest.raises(TypeError):
            to_json.encode(message)


def test_the_largest_request_that_is_allowed_has_fewer_values_than_are_read() -> None:
    seats = [{"name": "a", "credential": "b"}] * limits.MAX_WATCHED_SEATS
    from_json.parse(pb.WatchTurnsRequest, json.dumps({"seats": seats}).encode())
    with pytest.raises(MalformedRequestError):
        from_json.parse(pb.WatchTurnsRequest, json.dumps({"seats": seats * 3}).encode())
