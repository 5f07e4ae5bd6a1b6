"""A client that others wrote, connect-go within `buf curl`, speaks Connect and gRPC-Web with the HTTP port."""

from __future__ import annotations

import asyncio
import base64
import json
import sysconfig
from pathlib import Path

import pytest
from google.protobuf import json_format
from google.rpc import error_details_pb2

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from tests.http.clients import bearer
from tests.service.client import SERVICE, Client, play
from tests.service.servers import RunningServer

BUF = Path(sysconfig.get_path("scripts")) / "buf"
SCHEMA = Path(__file__).parents[2] / "deploy" / "envoy" / "moonvale.binpb"
SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1, turn_limit=6))


async def curl(
    server: RunningServer, protocol: str, method: str, data: object, credential: str
) -> tuple[int, str, str]:
    """Call a method; return the exit code and what was printed."""
    process = await asyncio.create_subprocess_exec(
        str(BUF),
        *("curl", "--schema", str(SCHEMA), "--protocol", protocol, "-d", json.dumps(data)),
        *("-H", f"authorization: {bearer(credential)['authorization']}"),
        f"{server.url}/{SERVICE}/{method}",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, printed.decode(), said.decode()


@pytest.mark.parametrize("protocol", ["connect", "grpcweb"])
async def test_calls_streams_and_errors_arrive(server: RunningServer, client: Client, protocol: str) -> None:
    game = await client.create(SHORT)
    await play(client, game, seed=1)
    code, printed, said = await curl(server, protocol, "GetView", {"name": game.name}, game.seats[0])
    assert code == 0, said
    assert json_format.Parse(printed, pb.GetViewResponse()).view == await client.view(game.name, game.seats[0])

    request = {"name": game.name, "afterVersion": "0"}
    code, printed, said = await curl(server, protocol, "WatchGame", request, game.spectator)
    assert code == 0, said
    decoder, told = json.JSONDecoder(), []
    while printed := printed.strip():
        message, end = decoder.raw_decode(printed)
        told.append(json_format.ParseDict(message, pb.WatchGameResponse()))
        printed = printed[end:]
    assert told == [message async for message in client.watch(game.name, game.spectator, 0)]

    code, printed, said = await curl(server, protocol, "Resign", {"name": game.name}, game.seats[0])
    assert code != 0
    error = json.loads(said)
    assert error["code"] == "failed_precondition"
    info = error_details_pb2.ErrorInfo.FromString(base64.b64decode(error["details"][0]["value"] + "=="))
    assert (info.reason, info.domain) == ("GAME_OVER", "moonvale.v1")
