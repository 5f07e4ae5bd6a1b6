"""Every protocol of the HTTP port says the same as gRPC: views, streams, errors, whole games."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import grpc
import pytest
import redis.asyncio as aioredis
from google.protobuf.message import Message

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action, DrawAction
from moonvale.v1.options_pb2 import Options
from tests.http.clients import TRANSPORTS, HttpClient
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import RunningServer

SHORT = Options(players=2, rounds=1, turn_limit=6)


@pytest.fixture(params=TRANSPORTS)
async def other(request: pytest.FixtureRequest, server: RunningServer) -> AsyncIterator[HttpClient]:
    """A client of one of the other transports."""
    async with TRANSPORTS[request.param](server.url) as client:
        yield client


async def answers(client: Client, game: Game, operator_key: str) -> list[Message]:
    """The answer of every method that changes nothing."""
    requests: list[tuple[str, Message, str, type[Message]]] = [
        ("GetView", pb.GetViewRequest(name=game.name), game.seats[0], pb.GetViewResponse),
        ("ListEvents", pb.ListEventsRequest(parent=game.name, page_size=3), game.seats[0], pb.ListEventsResponse),
        ("GetServerInfo", pb.GetServerInfoRequest(), game.seats[0], pb.GetServerInfoResponse),
        ("GetCatalog", pb.GetCatalogRequest(), game.seats[0], pb.GetCatalogResponse),
        ("ListGames", pb.ListGamesRequest(page_size=5), operator_key, pb.ListGamesResponse),
    ]
    return [
        kind.FromString(await client.raw(method, request.SerializeToString(), credential))
        for method, request, credential, kind in requests
    ]


async def test_the_view_of_a_position_is_the_same_message(
    client: Client, other: HttpClient, server: RunningServer
) -> None:
    game = await client.create(pb.CreateGameRequest(options=Options(players=3), labels={"é": "\n"}, external_id="x/y"))
    await play(client, game, seed=3, moves=20)
    for credential in game.all_credentials:
        assert await other.view(game.name, credential) == await client.view(game.name, credential)
    assert await answers(other, game, server.operator_key) == await answers(client, game, server.operator_key)


async def test_a_whole_game_is_played(client: Client, other: HttpClient) -> None:
    game = await other.create(pb.CreateGameRequest(options=SHORT))
    view = await play(other, game, seed=5)
    assert view.HasField("result")
    assert view == await client.view(game.name, game.seats[view.viewer_seat])
    assert await other.replay(game.name, game.creator) == await client.replay(game.name, game.creator)
    over = [message async for message in other.watch(game.name, game.spectator, 0)]
    assert over == [message async for message in client.watch(game.name, game.spectator, 0)]
    assert over[-1].end.reason == pb.WATCH_END_REASON_GAME_OVER
    await other.delete(game.name, game.creator)
    with pytest.raises(Failure) as raised:
        await client.view(game.name, game.creator)
    assert raised.value.reason == "GAME_NOT_FOUND"


async def test_a_watch_tells_each_entry_as_it_comes(client: Client, other: HttpClient) -> None:
    game = await client.create(pb.CreateGameRequest(options=SHORT))
    async with (
        aclosing(client.watch(game.name, game.seats[1])) as expected,
        aclosing(other.watch(game.name, game.seats[1])) as messages,
    ):
        assert await anext(messages) == await anext(expected)
        for _ in range(3):
            await play(client, game, seed=1, moves=1)
            assert await anext(messages) == await anext(expected)
        await client.delete(game.name, game.creator)
        assert (await anext(messages)).end.reason == pb.WATCH_END_REASON_GAME_DELETED
        with pytest.raises(StopAsyncIteration):
            await anext(messages)


async def errors(client: Client, game: Game) -> list[tuple[grpc.StatusCode, str, str, dict[str, str], tuple[str, ...]]]:
    """How calls that must fail do."""
    draw = Action(draw=DrawAction())
    view = await client.view(game.name, game.creator)
    seat = view.decision.seat
    told = []
    for call in (
        client.view(game.name, None),
        client.view(game.name, "nonsense"),
        client.view("games/" + "a" * 20, game.creator),
        client.view("games/x", game.creator),
        client.submit(game.name, game.spectator, [draw], 0),
        client.submit(game.name, game.seats[1 - seat], [draw], view.version),
        client.submit(game.name, game.seats[seat], [draw], view.version + 1),
        client.submit(game.name, game.seats[seat], [draw], view.version),
        client.submit(game.name, game.seats[seat], [Action()], view.version),
        client.submit(game.name, game.seats[seat], [draw], None),
        client.replay(game.name, game.creator),
        client.rotate(game.name, game.creator, 0, "ü" * 200),
        anext(client.watch(game.name, game.seats[0], 99)),
        anext(client.watch(game.name, game.seats[0], None, "00")),
        client.events(game.name, game.seats[0], -1),
    ):
        with pytest.raises(Failure) as raised:
            await call
        error = raised.value
        told.append((error.code, error.reason, error.message, error.metadata, error.fields))
    return told


async def test_errors_are_the_same_with_all_their_details(client: Client, other: HttpClient) -> None:
    game = await client.create(pb.CreateGameRequest(options=SHORT))
    told = await errors(other, game)
    assert told == await errors(client, game)
    assert len({reason for _, reason, *_ in told}) > 8


async def test_a_client_that_goes_away_ends_its_stream_at_once(
    other: HttpClient, client: Client, server: RunningServer
) -> None:
    game = await client.create(pb.CreateGameRequest(options=SHORT))
    messages = other.watch(game.name, game.seats[0])
    await anext(messages)
    await messages.aclose()
    await server.server.idle()


async def test_an_action_is_carried_out_once_however_it_is_repeated(
    client: Client, other: HttpClient, raw: aioredis.Redis
) -> None:
    request = pb.CreateGameRequest(options=SHORT, request_id="a request id of mine")
    game = await other.create(request)
    assert (await client.create(request)).name == game.name
    view = await other.view(game.name, game.creator)
    seat = view.decision.seat
    view = await other.view(game.name, game.seats[seat])
    chosen = [view.decision.legal_actions[0]]
    calls = [each.submit(game.name, game.seats[seat], chosen, 0, "once") for each in (client, other, client, other)]
    outcomes = await asyncio.gather(*calls)
    assert {outcome.version for outcome in outcomes} == {1}
    assert (await client.view(game.name, game.creator)).version == 1
