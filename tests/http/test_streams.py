"""Watches over HTTP: resumed exactly where they broke off, ended when they should be, cut off when nobody reads."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import grpc
import httpx
import pytest

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_service.errors import ReaderTooSlowError
from moonvale_service.games import Games
from moonvale_service.http import streaming
from moonvale_service.http.exchange import Exchange
from tests.http.clients import ConnectClient, GrpcWebClient, RestClient, bearer, rest_failure
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer

SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1, turn_limit=6))
Event = dict[str, str]


async def events(
    rest: RestClient, game: Game, *, after: int | None = None, last: str | None = None, most: int | None = None
) -> list[Event]:
    """The events of a spectator's stream, to its end or at most so many."""
    request = pb.WatchGameRequest(name=game.name, after_version=after).SerializeToString()
    told: list[Event] = []
    async with aclosing(rest.events_of("WatchGame", request, game.spectator, last)) as stream:
        async for event in stream:
            told.append(event)
            if len(told) == most:
                break
    return told


def versions(told: list[Event]) -> list[int]:
    """The versions of the entries among events."""
    return [int(json.loads(event["data"])["entry"]["version"]) for event in told if event["event"] == "entry"]


async def test_a_stream_goes_on_after_the_last_event_id(client: Client, rest: RestClient) -> None:
    game = await client.create(SHORT)
    end = (await play(client, game, seed=2)).version
    seen: list[int] = []
    last = None
    for most in (1, 2, 1, 4, 3):  # the view alone, the view and one entry, ...
        told = await events(rest, game, after=0, last=last, most=most)
        assert told[0]["event"] == "view"
        assert told[0]["retry"] == "1000"
        assert int(json.loads(told[0]["data"])["view"]["version"]) == end  # newer than what is resumed
        seen += versions(told)
        last = told[-1]["id"]
    assert seen == list(range(1, 7))
    told = await events(rest, game, after=0, last=last)
    assert seen + versions(told) == list(range(1, end + 1))
    assert told[-1]["event"] == "end"
    assert json.loads(told[-1]["data"]) == {"end": {"reason": "WATCH_END_REASON_GAME_OVER"}}


async def test_a_stream_that_begins_now_goes_on_from_its_first_view(client: Client, rest: RestClient) -> None:
    game = await client.create(SHORT)
    await play(client, game, seed=2, moves=3)
    (view,) = await events(rest, game, most=1)
    told = json.loads(view["data"])["view"]
    assert view["id"] == f"3.{told['mark']}"
    await play(client, game, seed=2, moves=2)
    assert versions(await events(rest, game, last=view["id"], most=3)) == [4, 5]


async def test_who_comes_back_after_the_end_is_told_to_ask_no_more(
    client: Client, rest: RestClient, http: httpx.AsyncClient
) -> None:
    game = await client.create(SHORT)
    await play(client, game, seed=2)
    last = (await events(rest, game))[-1]["id"]
    response = await http.get(f"/v1/{game.name}:watch", headers={"last-event-id": last, **bearer(game.spectator)})
    assert (response.status_code, response.content) == (204, b"")
    assert "content-length" not in response.headers


async def test_a_history_that_was_rewound_is_no_stream(client: Client, rest: RestClient) -> None:
    game = await client.create(SHORT)
    await play(client, game, seed=2, moves=3)
    with pytest.raises(Failure) as raised:
        await events(rest, game, last="2.0123456789abcdef")
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.ABORTED, "HISTORY_REWOUND")


async def test_signs_of_life_carry_the_place(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, heartbeat="20ms")
    async with RestClient(server.url) as rest:
        game = await rest.create(SHORT)
        told = await events(rest, game, most=3)
        assert [event["event"] for event in told] == ["view", "heartbeat", "heartbeat"]
        assert json.loads(told[1]["data"])["heartbeat"] == {"version": "0", "mark": told[0]["id"].partition(".")[2]}
        assert told[1]["id"] == told[0]["id"]
    await server.stop()


async def test_a_credential_that_is_replaced_ends_the_stream_with_a_status(client: Client, rest: RestClient) -> None:
    game = await client.create(SHORT)
    async with aclosing(rest.watch(game.name, game.seats[0])) as messages:
        await anext(messages)
        await client.rotate(game.name, game.creator, 0)
        with pytest.raises(Failure) as raised:
            await anext(messages)
        assert raised.value.reason == "CREDENTIAL_REVOKED"


async def test_turns_of_many_seats_are_events_too(client: Client, rest: RestClient) -> None:
    game = await client.create(SHORT)
    seat = game.view.decision.seat
    async with aclosing(rest.turns([(game.name, game.seats[seat])])) as messages:
        told = await anext(messages)
        assert told.HasField("index")
        assert told.turn == await client.view(game.name, game.seats[seat])


async def test_streams_count_until_their_client_goes_away(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, watches="2")
    async with RestClient(server.url) as rest:
        game = await rest.create(SHORT)
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(aclosing(rest.watch(game.name, game.seats[0]))) for _ in range(2)]
            for messages in opened:
                await anext(messages)
            response = await rest.http.get(f"/v1/{game.name}:watch", headers=bearer(game.seats[0]))
            error = rest_failure(response)
            assert (response.status_code, error.reason) == (429, "TOO_MANY_WATCHES")
        await server.server.idle()
        async with aclosing(rest.watch(game.name, game.seats[0])) as messages:
            await anext(messages)
    await server.stop()


async def test_who_asks_too_often_is_told_when_to_ask_again(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, call_rate="1")
    async with RestClient(server.url) as rest:
        game = await rest.create(SHORT)
        responses = [await rest.http.get(f"/v1/{game.name}", headers=bearer(game.seats[0])) for _ in range(30)]
        refused = [response for response in responses if response.status_code == 429]
        assert refused
        for response in refused:
            assert rest_failure(response).reason == "RATE_LIMITED"
            assert response.headers["retry-after"] == "1"
    await server.stop()


class SlowReader:
    """A connection that asks for a stream and reads only when told; the system keeps little for it."""

    def __init__(self, port: int, path: str, credential: str) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", port))
        head = f"GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {credential}\r\nconnection: close\r\n\r\n"
        self.socket.sendall(head.encode())

    def read(self) -> bytes:
        """Read to the end, or until the connection is gone."""
        parts = []
        try:
            while part := self.socket.recv(65536):
                parts.append(part)
        except ConnectionResetError:
            parts.append(b"RESET")
        self.socket.close()
        return b"".join(parts)


def noticing(monkeypatch: pytest.MonkeyPatch, kind: type, method: str) -> asyncio.Event:
    """An event that is set when a method of a class is called."""
    called = asyncio.Event()
    original = getattr(kind, method)

    def noticed(self: object, *arguments: object) -> object:
        called.set()
        return original(self, *arguments)

    monkeypatch.setattr(kind, method, noticed)
    return called


@pytest.mark.parametrize("patient", [True, False])
async def test_a_client_that_does_not_read_is_cut_off(
    valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, patient: bool
) -> None:
    cut = noticing(monkeypatch, ReaderTooSlowError, "__init__")
    ended = noticing(monkeypatch, Exchange, "abort")
    monkeypatch.setattr(streaming, "_LAST_WORDS", 60.0 if patient else 0.05)
    server = await start_server(valkey.url, tmp_path, reader_timeout="100ms")
    async with Client(server.address) as client:
        game = await client.create(pb.CreateGameRequest(options=Options(players=4)))
        last = await play(client, game, seed=1)
        port = server.server.http_port
        assert port is not None
        reader = SlowReader(port, f"/v1/{game.name}:watch?afterVersion=0", game.spectator)
        await asyncio.wait_for(cut.wait(), 60)
        if not patient:
            await asyncio.wait_for(ended.wait(), 60)
        told = (await asyncio.to_thread(reader.read)).decode()
        entries = told.count("event: entry\n")
        assert 0 < entries < last.version
        if patient:
            assert told.count("event: status\n") == 1
            assert '"reason":"READER_TOO_SLOW"' in told.rpartition("event: status\n")[2]
        else:
            assert "event: status" not in told
            assert not told.endswith("\r\n0\r\n\r\n")
    await server.stop()


async def test_draining_ends_streams_in_good_order_and_closes_connections(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, grace="30s")
    async with RestClient(server.url) as rest, RestClient(server.url) as idle:
        game = await rest.create(SHORT)
        assert (await idle.http.get("/readyz")).json() == {"ready": True}
        request = pb.WatchGameRequest(name=game.name).SerializeToString()
        async with aclosing(rest.events_of("WatchGame", request, game.seats[0])) as stream:
            place = (await anext(stream))["id"]
            stopping = asyncio.create_task(server.stop())
            told = [event async for event in stream]
        assert [event["event"] for event in told] == ["end"]
        assert json.loads(told[0]["data"]) == {"end": {"reason": "WATCH_END_REASON_DRAINING"}}
        assert told[0]["id"] == place  # after which another server goes on
        await asyncio.wait_for(stopping, 20)  # long before the grace is over
        with pytest.raises(httpx.ConnectError):
            await idle.http.get("/livez")


async def test_a_call_that_is_being_made_is_answered_while_the_server_stops(
    valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = noticing(monkeypatch, Games, "look")
    server = await start_server(valkey.url, tmp_path, grace="30s", store_timeout="30s")
    async with RestClient(server.url) as rest:
        game = await rest.create(SHORT)
        valkey.pause()
        call = asyncio.create_task(rest.http.get(f"/v1/{game.name}", headers=bearer(game.seats[0])))
        await asyncio.wait_for(looked.wait(), 20)
        stopping = asyncio.create_task(server.stop())
        await asyncio.sleep(0.3)
        assert not stopping.done()
        valkey.resume()
        response = await call
        assert response.status_code == 200
        assert response.json()["view"]["name"] == game.name
        await stopping


async def test_a_draining_server_refuses_new_calls_and_is_not_ready(server: RunningServer, rest: RestClient) -> None:
    game = await rest.create(SHORT)
    await server.server.drain()
    response = await rest.http.get(f"/v1/{game.name}", headers=bearer(game.seats[0]))
    assert (response.status_code, rest_failure(response).reason) == (503, "DRAINING")
    assert response.headers["retry-after"] == "1"
    assert (await rest.http.get("/readyz")).status_code == 503
    assert (await rest.http.get("/livez")).status_code == 200


async def test_readiness_follows_the_store(server: RunningServer, http: httpx.AsyncClient, valkey: StoreServer) -> None:
    async def until(code: int) -> object:
        async with asyncio.timeout(30):
            while (response := await http.get("/readyz")).status_code != code:  # noqa: ASYNC110  # nothing tells of it
                await asyncio.sleep(0.05)
        return response.json()

    assert await until(200) == {"ready": True}
    valkey.stop()
    assert await until(503) == {"ready": False}
    assert (await http.get("/livez")).status_code == 200
    valkey.start()
    await until(200)
    assert (await http.head("/readyz")).content == b""


@pytest.mark.parametrize("kind", [ConnectClient, GrpcWebClient])
async def test_a_call_ends_when_its_client_does_not_want_to_wait_any_more(
    valkey: StoreServer, tmp_path: Path, kind: type[ConnectClient | GrpcWebClient]
) -> None:
    server = await start_server(valkey.url, tmp_path, store_timeout="30s")
    async with kind(server.url) as client:
        game = await client.create(SHORT)
        client.http.headers.update({"connect-timeout-ms": "100", "grpc-timeout": "100m"})
        valkey.pause()
        with pytest.raises(Failure) as raised:
            await client.view(game.name, game.seats[0])
        assert (raised.value.code, raised.value.reason) == (
            grpc.StatusCode.DEADLINE_EXCEEDED,
            "DEADLINE_EXCEEDED",
        )
        valkey.resume()
        with pytest.raises(Failure) as raised:
            async for _ in client.watch(game.name, game.seats[0]):
                pass
        assert raised.value.reason == "DEADLINE_EXCEEDED"
        client.http.headers.update({"connect-timeout-ms": "soon", "grpc-timeout": "soon"})
        with pytest.raises(Failure) as raised:
            await client.view(game.name, game.seats[0])
        assert raised.value.fields in (("connect-timeout-ms",), ("grpc-timeout",))
    await server.stop()
