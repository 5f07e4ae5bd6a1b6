"""Each error has its own status and reason over real gRPC, and leaves the stored bytes as they were."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import grpc
import grpc.aio
import pytest
import redis.asyncio as aioredis
from google.protobuf.timestamp_pb2 import Timestamp

from moonvale.v1 import errors_pb2
from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action, CallAction, CloseAction, DrawAction, NameAction
from moonvale.v1.card_pb2 import Demand
from moonvale.v1.options_pb2 import Options
from moonvale_service import errors
from moonvale_service.credentials import Credential, Keys, Role, load_keys
from moonvale_service.store.redis_store import game_key
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer

DRAW = Action(draw=DrawAction())


class Table(NamedTuple):
    """A game of two in its first turn: seat ``to_act`` may draw, seat ``other`` may not."""

    game: Game
    version: int
    to_act: int
    other: int
    to_act_credential: str
    other_credential: str


@pytest.fixture
async def table(client: Client) -> Table:
    game = await client.create()
    view = await play(client, game, seed=1, moves=2)  # both have peeked
    view = await client.view(game.name, game.spectator)
    to_act = view.decision.seat
    return Table(game, view.version, to_act, 1 - to_act, game.seats[to_act], game.seats[1 - to_act])


async def stored(raw: aioredis.Redis) -> dict[bytes, object]:
    """All that the store holds, byte for byte."""
    return {key: await raw.dump(key) async for key in raw.scan_iter()}


async def fails(raw: aioredis.Redis, call: object) -> Failure:
    """Await a call that must fail, and check that it has changed nothing."""
    before = await stored(raw)
    with pytest.raises(Failure) as raised:
        await call  # type: ignore[misc]
    assert await stored(raw) == before
    return raised.value


def error_classes() -> Iterator[type[errors.CallError]]:
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.CallError) and value is not errors.CallError:
            yield value


def test_the_contract_lists_exactly_the_reasons_that_there_are() -> None:
    reasons = {name.removeprefix("ERROR_REASON_") for name, _ in errors_pb2.ErrorReason.items()} - {"UNSPECIFIED"}
    assert sorted(each.reason for each in error_classes()) == sorted(reasons)


def test_each_reason_has_the_status_code_that_the_contract_says() -> None:
    text = (Path(__file__).parents[2] / "proto/moonvale/v1/errors.proto").read_text()
    for each in error_classes():
        comment = text.split(f"ERROR_REASON_{each.reason} =")[0].rsplit("// Example: ", 1)[1]
        assert comment.startswith(f"{each.code.name}, "), each.reason


async def test_malformed_bytes(client: Client, raw: aioredis.Redis, table: Table) -> None:
    for method in ("CreateGame", "GetView", "SubmitAction", "ListEvents", "Resign", "GetReplay", "DeleteGame"):
        error = await fails(raw, client.raw(method, b"\x0a\xff", table.game.creator))
        assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_REQUEST")
        assert error.message == f"not a moonvale.v1.{method}Request"


async def test_an_oversized_message(client: Client, raw: aioredis.Redis, server: RunningServer) -> None:
    limit = server.settings.message_limit
    request = pb.CreateGameRequest(external_id="x" * limit).SerializeToString()
    error = await fails(raw, client.raw("CreateGame", request))
    assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
    assert error.metadata == {"limit_bytes": str(limit)}
    largest = pb.CreateGameRequest(external_id="x" * (limit - 5)).SerializeToString()
    assert limit - 5 < len(largest) <= limit
    assert (await fails(raw, client.raw("CreateGame", largest))).reason == "INVALID_FIELD"


@pytest.mark.parametrize(
    "name", ["", "games/", "games/UPPERCASEUPPERCASEUP", "games/q7xw3m6d4c2h5r2tk5w21", "tables/x"]
)
async def test_a_name_that_is_none(client: Client, raw: aioredis.Redis, table: Table, name: str) -> None:
    error = await fails(raw, client.view(name, table.game.creator))
    assert (error.code, error.reason, error.fields) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_FIELD",
        ("name",),
    )
    assert (await fails(raw, client.events(name, table.game.creator))).fields == ("parent",)


async def test_missing_and_invalid_credentials(client: Client, raw: aioredis.Redis, table: Table) -> None:
    name, credential = table.game.name, table.to_act_credential
    calls: list[Callable[[str | None], object]] = [
        lambda token: client.view(name, token),
        lambda token: client.submit(name, token, [DRAW], table.version),
        lambda token: client.events(name, token),
        lambda token: client.replay(name, token),
        lambda token: client.resign(name, token),
        lambda token: client.delete(name, token),
        lambda token: anext(client.watch(name, token)),
    ]
    changed = credential[:10] + ("A" if credential[10] != "A" else "B") + credential[11:]
    for call in calls:
        missing = await fails(raw, call(None))
        assert (missing.code, missing.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_MISSING")
        for wrong in (changed, credential[:-1], credential + "A", "mv1..", "nonsense", "mv1.AAAA.AAAA"):
            invalid = await fails(raw, call(wrong))
            assert (invalid.code, invalid.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_INVALID")
            assert wrong not in invalid.message


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "Bearer "])
async def test_a_credential_of_another_kind(server: RunningServer, table: Table, header: str) -> None:
    request = pb.GetViewRequest(name=table.game.name).SerializeToString()
    async with grpc.aio.insecure_channel(server.address) as channel:
        call: Callable[..., Awaitable[bytes]] = channel.unary_unary("/moonvale.v1.GameService/GetView")
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(request, metadata=(("authorization", header),))
    assert raised.value.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_a_credential_of_another_game(client: Client, raw: aioredis.Redis, table: Table) -> None:
    another = await client.create()
    for credential in another.all_credentials:
        error = await fails(raw, client.view(table.game.name, credential))
        assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "CREDENTIAL_OF_ANOTHER_GAME")


async def test_roles_that_are_not_allowed(client: Client, raw: aioredis.Redis, table: Table) -> None:
    game = table.game
    refused = [
        ("creator", client.submit(game.name, game.creator, [DRAW], table.version)),
        ("spectator", client.submit(game.name, game.spectator, [DRAW], table.version)),
        ("creator", client.resign(game.name, game.creator)),
        ("spectator", client.resign(game.name, game.spectator)),
        ("seat", client.delete(game.name, game.seats[0])),
        ("spectator", client.delete(game.name, game.spectator)),
    ]
    for role, call in refused:
        error = await fails(raw, call)
        assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")
        assert error.metadata == {"role": role}


async def test_an_unknown_game(client: Client, raw: aioredis.Redis, server: RunningServer) -> None:
    keys = load_keys(server.settings, make=False)
    nowhere = "q7xw3m6d4c2h5r2tk5w2"
    credential = keys.token(Credential(nowhere, Role.SEAT, 0))
    for call in (
        client.view(f"games/{nowhere}", credential),
        client.submit(f"games/{nowhere}", credential, [DRAW], 0),
        client.resign(f"games/{nowhere}", credential),
        client.events(f"games/{nowhere}", credential),
        client.replay(f"games/{nowhere}", credential),
        anext(client.watch(f"games/{nowhere}", credential)),
    ):
        error = await fails(raw, call)
        assert (error.code, error.reason) == (grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND")
    creator = keys.token(Credential(nowhere, Role.CREATOR))
    assert (await fails(raw, client.delete(f"games/{nowhere}", creator))).reason == "GAME_NOT_FOUND"


async def test_a_deleted_game_is_not_found(client: Client, raw: aioredis.Redis, table: Table) -> None:
    await client.delete(table.game.name, table.game.creator)
    await client.delete(table.game.name, table.game.creator)  # a repeat whose first answer was lost
    for credential in table.game.all_credentials:
        assert (await fails(raw, client.view(table.game.name, credential))).reason == "GAME_NOT_FOUND"


@pytest.mark.parametrize("offset", [-1, 1])
async def test_a_stale_version(client: Client, raw: aioredis.Redis, table: Table, offset: int) -> None:
    call = client.submit(table.game.name, table.to_act_credential, [DRAW], table.version + offset, str(uuid.uuid4()))
    error = await fails(raw, call)
    assert (error.code, error.reason) == (grpc.StatusCode.ABORTED, "STALE_VERSION")
    assert error.metadata == {"version": str(table.version)}


async def test_an_illegal_action(client: Client, raw: aioredis.Redis, table: Table) -> None:
    for action in (Action(close=CloseAction()), Action(name=NameAction(spot=1)), Action(call=CallAction())):
        call = client.submit(table.game.name, table.to_act_credential, [action], table.version, str(uuid.uuid4()))
        error = await fails(raw, call)
        assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_ACTION")
        assert error.metadata == {}


async def test_another_seats_turn(client: Client, raw: aioredis.Redis, table: Table) -> None:
    error = await fails(raw, client.submit(table.game.name, table.other_credential, [DRAW], table.version))
    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_YOUR_TURN")
    assert error.metadata == {"seat": str(table.to_act)}


async def test_a_batch_beyond_a_reveal(client: Client, raw: aioredis.Redis, table: Table) -> None:
    actions = [DRAW, Action(name=NameAction(spot=0))]
    error = await fails(raw, client.submit(table.game.name, table.to_act_credential, actions, table.version))
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "BATCH_REVEALS")
    assert "actions[0]" in error.message


async def test_a_batch_is_carried_out_whole_or_not_at_all(client: Client, raw: aioredis.Redis, table: Table) -> None:
    drawn = await client.submit(table.game.name, table.to_act_credential, [DRAW], table.version)
    close = Action(close=CloseAction())
    names = [Action(name=NameAction(spot=spot)) for spot in (0, 1, 0)]
    error = await fails(raw, client.submit(table.game.name, table.to_act_credential, [*names, close], drawn.version))
    assert (error.reason, error.message[:10]) == ("ILLEGAL_ACTION", "actions[2]")
    done = await client.submit(table.game.name, table.to_act_credential, [*names[:2], close], drawn.version)
    assert done.version == drawn.version + 3
    assert [entry.version for entry in done.entries] == [drawn.version + i for i in (1, 2, 3)]
    assert [entry.mark for entry in done.entries] == ["", "", done.mark]


async def test_fields_of_submit_action(client: Client, raw: aioredis.Redis, table: Table) -> None:
    game, credential, version = table.game.name, table.to_act_credential, table.version
    for field, call in (
        ("actions", client.submit(game, credential, [], version)),
        ("actions", client.submit(game, credential, [DRAW] * 9, version)),
        ("version", client.submit(game, credential, [DRAW], None)),
        ("request_id", client.submit(game, credential, [DRAW], version, "x" * 257)),
        ("actions[0]", client.submit(game, credential, [Action()], version)),
        ("actions[0].name.spot", client.submit(game, credential, [Action(name=NameAction())], version)),
    ):
        error = await fails(raw, call)
        assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
        assert error.fields == (field,)
        assert error.message.startswith(field)


async def test_fields_of_the_other_methods(client: Client, raw: aioredis.Redis, table: Table) -> None:
    game, credential = table.game.name, table.game.spectator
    for field, call in (
        ("page_size", client.events(game, credential, page_size=-1)),
        ("page_token", client.events(game, credential, page_token="x")),
        ("page_token", client.events(game, credential, page_token="12345678901")),
        ("page_token", client.events(game, credential, page_token="A" * 20)),
        ("page_token", client.events(game, credential, page_token="\u00e9" * 16)),
        ("after_mark", anext(client.watch(game, credential, mark="00"))),
        ("after_mark", anext(client.watch(game, credential, 0, "x" * 300))),
    ):
        error = await fails(raw, call)
        assert (error.reason, error.fields) == ("INVALID_FIELD", (field,))


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        ("options.players", pb.CreateGameRequest(options=Options(players=5))),
        ("options.rounds", pb.CreateGameRequest(options=Options(rounds=-1))),
        ("options.deck", pb.CreateGameRequest(options=Options(deck="gold"))),
        ("options.deck", pb.CreateGameRequest(options=Options(deck="2=eye,9=eye"))),
        ("options.token", pb.CreateGameRequest(options=Options(token="gold"))),
        ("options.demands", pb.CreateGameRequest(options=Options(demands=[Demand(at_most=6)]))),
        (
            "options.demands[3].at_least",
            pb.CreateGameRequest(options=Options(demands=[*[Demand(at_most=6)] * 3, Demand(at_least=14)])),
        ),
        ("seats", pb.CreateGameRequest(options=Options(players=2), seats=[pb.SeatSetup(name="Ann")])),
        (
            "seats[1].name",
            pb.CreateGameRequest(options=Options(players=2), seats=[pb.SeatSetup(), pb.SeatSetup(name="b" * 257)]),
        ),
        ("external_id", pb.CreateGameRequest(external_id="é" * 129)),
        ("labels", pb.CreateGameRequest(labels={str(i): "" for i in range(17)})),
        ("request_id", pb.CreateGameRequest(request_id="x" * 257)),
        ("request_id", pb.CreateGameRequest(request_id="short")),
        ("seal_replay_until", pb.CreateGameRequest(seal_replay_until=Timestamp(seconds=-1))),
        ("seal_replay_until", pb.CreateGameRequest(seal_replay_until=Timestamp(seconds=1 << 40))),
    ],
)
async def test_fields_of_create_game(
    client: Client, raw: aioredis.Redis, field: str, request_: pb.CreateGameRequest
) -> None:
    error = await fails(raw, client.create(request_))
    assert (error.code, error.reason, error.fields) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", (field,))


async def test_a_deal_needs_the_creator_key(client: Client, raw: aioredis.Redis, table: Table) -> None:
    request = pb.CreateGameRequest(deal=pb.Deal(secret=bytes(32)))
    for credential in (None, table.game.creator, "mvk1.AAAAAAAAAAAAAAAAAAAAAA"):
        error = await fails(raw, client.create(request, credential))
        assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "CREATOR_KEY_REQUIRED")


async def test_a_server_can_demand_the_creator_key_of_all_who_create(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, create_needs_key="true")
    async with Client(server.address) as client:
        with pytest.raises(Failure) as raised:
            await client.create()
        assert raised.value.reason == "CREATOR_KEY_REQUIRED"
        assert (await client.create(credential=server.creator_key)).view.version == 0
    await server.stop()


async def test_a_finished_game(client: Client, raw: aioredis.Redis) -> None:
    game = await client.create(pb.CreateGameRequest(options=Options(players=2, rounds=1, turn_limit=4)))
    view = await play(client, game, seed=3)
    assert view.HasField("result")
    for seat in range(2):
        for version in (view.version, 0):
            error = await fails(raw, client.submit(game.name, game.seats[seat], [DRAW], version))
            assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "GAME_OVER")
        error = await fails(raw, client.resign(game.name, game.seats[seat]))
        assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "GAME_OVER")


async def test_a_replay_before_its_time(client: Client, raw: aioredis.Redis, table: Table) -> None:
    error = await fails(raw, client.replay(table.game.name, table.game.creator))
    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "GAME_NOT_OVER")
    until = Timestamp(seconds=4_102_444_800, nanos=5_000_000)
    sealed = await client.create(pb.CreateGameRequest(options=Options(players=2), seal_replay_until=until))
    await client.resign(sealed.name, sealed.seats[0])
    error = await fails(raw, client.replay(sealed.name, sealed.creator))
    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "REPLAY_SEALED")
    assert error.metadata == {"until": "2100-01-01T00:00:00.005Z"}


async def test_a_request_id_for_something_else(client: Client, raw: aioredis.Redis, table: Table) -> None:
    used = str(uuid.uuid4())
    await client.submit(table.game.name, table.to_act_credential, [DRAW], table.version, used)
    for actions, version in (([Action(call=CallAction())], table.version), ([DRAW], table.version + 1)):
        error = await fails(raw, client.submit(table.game.name, table.to_act_credential, actions, version, used))
        assert (error.code, error.reason) == (grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
        assert used not in error.message
    await client.create(pb.CreateGameRequest(request_id=used))
    error = await fails(raw, client.create(pb.CreateGameRequest(request_id=used, options=Options(players=3))))
    assert (error.code, error.reason) == (grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")


async def test_a_watch_of_a_lost_history(client: Client, raw: aioredis.Redis, table: Table) -> None:
    for after, mark in ((table.version + 1, ""), (table.version, "0123456789abcdef"), (0, "0123456789abcdef")):
        error = await fails(raw, anext(client.watch(table.game.name, table.game.spectator, after, mark)))
        assert (error.code, error.reason) == (grpc.StatusCode.ABORTED, "HISTORY_REWOUND")
        assert error.metadata == {"version": str(table.version)}


async def test_a_game_of_rules_that_are_not_known(client: Client, raw: aioredis.Redis, table: Table) -> None:
    state = await raw.hget(game_key(table.game.id), "s")
    assert isinstance(state, bytes)
    await raw.hset(game_key(table.game.id), "s", state[:3] + b"\xfe" + state[4:])
    await raw.hset(game_key(table.game.id), "k", b"its mark")
    for call in (
        client.view(table.game.name, table.game.spectator),
        client.submit(table.game.name, table.to_act_credential, [DRAW], table.version),
        anext(client.watch(table.game.name, table.game.spectator)),
    ):
        error = await fails(raw, call)
        assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "RULES_UNKNOWN")


async def test_damaged_bytes_are_an_internal_error_that_says_nothing(
    client: Client, raw: aioredis.Redis, table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    state = await raw.hget(game_key(table.game.id), "s")
    assert isinstance(state, bytes)
    await raw.hset(game_key(table.game.id), "s", state[:60])
    error = await fails(raw, client.view(table.game.name, table.game.spectator))
    assert (error.code, error.reason, error.message) == (grpc.StatusCode.INTERNAL, "INTERNAL", "internal error")
    assert list(error.metadata) == ["trace_id"]
    assert error.metadata["trace_id"] in capsys.readouterr().out


async def test_a_store_that_does_not_answer(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, store_timeout="300ms")
    async with Client(server.address) as client:
        game = await client.create()
        valkey.pause()
        watching = anext(client.watch(game.name, game.creator))
        for call in (client.view(game.name, game.spectator), client.create(), watching):
            with pytest.raises(Failure) as raised:
                await call
            assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
        valkey.resume()
        assert (await client.view(game.name, game.spectator)).version == 0
    await server.stop()


async def test_a_deadline_ends_the_call_in_the_service_too(
    client: Client, server: RunningServer, table: Table, valkey: StoreServer, capsys: pytest.CaptureFixture[str]
) -> None:
    valkey.pause()
    request = pb.GetViewRequest(name=table.game.name).SerializeToString()
    async with grpc.aio.insecure_channel(server.address) as channel:
        call: Callable[..., Awaitable[bytes]] = channel.unary_unary("/moonvale.v1.GameService/GetView")
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(request, metadata=(("authorization", f"Bearer {table.game.creator}"),), timeout=0.1)
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    printed = ""
    while "CANCELLED" not in printed:  # long before the store's own timeout, for which this test would fail
        await asyncio.sleep(0.01)
        printed += capsys.readouterr().out
    assert "STORE_UNAVAILABLE" not in printed
    valkey.resume()
    assert (await client.view(table.game.name, table.game.creator)).version == table.version


async def test_open_calls_are_answered_before_a_server_stops(
    client: Client, server: RunningServer, table: Table, valkey: StoreServer
) -> None:
    valkey.pause()
    call = asyncio.create_task(client.view(table.game.name, table.game.spectator))
    await asyncio.sleep(0.1)  # the call has to arrive before the server stops
    stopping = asyncio.create_task(server.stop())
    await asyncio.sleep(0.1)
    assert not stopping.done()
    valkey.resume()
    assert (await call).version == table.version
    await stopping


async def test_a_draining_server_refuses_new_calls(server: RunningServer, client: Client, table: Table) -> None:
    await server.server.drain()
    with pytest.raises(Failure) as raised:
        await client.view(table.game.name, table.game.spectator)
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")


def test_keys_say_nothing_of_themselves() -> None:
    assert "secret" not in repr(Keys((b"secret",), "mvk1.secret"))
