"""The contract as a whole: each method is on HTTP too and has messages of its own, zeros that mean something print."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.api import annotations_pb2
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor

from moonvale.v1 import (
    action_pb2,
    bot_service_pb2,
    card_pb2,
    catalog_pb2,
    clock_pb2,
    errors_pb2,
    event_pb2,
    game_service_pb2,
    options_pb2,
    replay_pb2,
    result_pb2,
    view_pb2,
)

ROOT = Path(__file__).parent.parent.parent
FILES = [
    file.DESCRIPTOR
    for file in (
        action_pb2, bot_service_pb2, card_pb2, catalog_pb2, clock_pb2, errors_pb2, event_pb2, game_service_pb2,
        options_pb2, replay_pb2, result_pb2, view_pb2,
    )
]  # fmt: skip
METHODS: list[MethodDescriptor] = list(game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods)

# What an HTTP rule says: the verb and path of each method.
ROUTES = {
    "CreateGame": ("post", "/v1/games"),
    "ClaimSeat": ("post", "/v1/{name=games/*}:claimSeat"),
    "LeaveSeat": ("post", "/v1/{name=games/*}:leaveSeat"),
    "RevealEntropy": ("post", "/v1/{name=games/*}:revealEntropy"),
    "ReclaimSeat": ("post", "/v1/{name=games/*}:reclaimSeat"),
    "Rematch": ("post", "/v1/{name=games/*}:rematch"),
    "GetView": ("get", "/v1/{name=games/*}"),
    "SubmitAction": ("post", "/v1/{name=games/*}:submitAction"),
    "WatchGame": ("get", "/v1/{name=games/*}:watch"),
    "WatchTurns": ("post", "/v1/games:watchTurns"),
    "ListEvents": ("get", "/v1/{parent=games/*}/events"),
    "GetReplay": ("get", "/v1/{name=games/*}/replay"),
    "Resign": ("post", "/v1/{name=games/*}:resign"),
    "DeleteGame": ("delete", "/v1/{name=games/*}"),
    "RotateCredential": ("post", "/v1/{name=games/*}:rotateCredential"),
    "ListGames": ("get", "/v1/games"),
    "GetCatalog": ("get", "/v1/catalog"),
    "GetServerInfo": ("get", "/v1/serverInfo"),
}

# Numbers that are at least 1 whenever they are given, so that a JSON mapper may leave out a 0.
NEVER_ZERO = {
    "CardType.copies",
    "ChooseAction.variant",
    "Decision.declared_spotters",
    "DiscardResidentAction.spotters",
    "Face.variant",
    "GetServerInfoResponse.rules_version",
    "Limits.max_actions",
    "Limits.max_labels",
    "Limits.max_page_size",
    "Limits.max_request_bytes",
    "Limits.max_text_bytes",
    "Limits.max_watched_seats",
    "ListEventsRequest.page_size",
    "ListGamesRequest.page_size",
    "PickAction.spotters",
    "ReclaimSeatResponse.version",
    "ReplayEntry.version",
    "ResignResponse.version",
    "RoundBeganEvent.round",
    "SeatError.code",
    "SubmitActionResponse.version",
    "TurnBeganEvent.turn",
    "View.round",
    "View.rules_version",
}


def numbers() -> Iterator[FieldDescriptor]:
    """Every field that holds one whole number."""
    for file in FILES:
        for message in file.message_types_by_name.values():
            for field in message.fields:
                if field.cpp_type in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT64):
                    yield field


def test_every_file_of_the_contract_is_looked_at() -> None:
    names = {Path(file.name).name for file in FILES}
    assert names == {path.name for path in (ROOT / "proto" / "moonvale" / "v1").glob("*.proto")}


def test_the_methods_are_those_of_the_routes() -> None:
    assert [method.name for method in METHODS] == list(ROUTES)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: str(method.name))
def test_a_method_has_an_http_route(method: MethodDescriptor) -> None:
    verb, path = ROUTES[method.name]
    extension: Any = annotations_pb2.http
    rule = method.GetOptions().Extensions[extension]
    assert rule.WhichOneof("pattern") == verb
    assert getattr(rule, verb) == path
    assert rule.body == ("*" if verb == "post" else "")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: str(method.name))
def test_a_method_has_a_request_and_a_response_of_its_own(method: MethodDescriptor) -> None:
    assert method.input_type.name == f"{method.name}Request"
    assert method.output_type.name == f"{method.name}Response"
    assert method.input_type.file is method.output_type.file is method.containing_service.file


def test_a_number_is_optional_where_zero_says_something() -> None:
    plain = {
        field.full_name.removeprefix("moonvale.v1.")
        for field in numbers()
        if not field.has_presence and not field.is_repeated
    }
    assert plain == NEVER_ZERO


def test_every_enum_begins_with_unspecified() -> None:
    enums = [enum for file in FILES for enum in file.enum_types_by_name.values()]
    assert len(enums) > 10
    assert [enum.name for enum in enums if not enum.values_by_number[0].name.endswith("_UNSPECIFIED")] == []
