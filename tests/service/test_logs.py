"""Logs: a line of JSON for each call, and nothing hidden in any, even at the level debug and where calls fail."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import uuid

import pytest

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action, CloseAction
from moonvale.v1.options_pb2 import Options
from moonvale_engine.position import whole
from moonvale_engine.position_text import position_text
from moonvale_engine.record import read_record, replay_record
from tests.service.client import Client, Failure, play
from tests.service.servers import Service, running_service

KNOWN = {
    *("timestamp", "level", "pid", "event", "method", "code", "reason", "ms", "game", "role", "seat", "request"),
    *("seats", "address", "worker", "process", "seconds", "logger", "at", "error", "trace", "version"),
}


def test_no_secret_is_in_the_logs_of_a_whole_game() -> None:
    secrets: list[str] = []
    with running_service() as service:
        asyncio.run(_play_and_fail(service, secrets))
        creator_key = (service.folder / "data" / "creator_key").read_text().strip()
        operator_key = (service.folder / "data" / "operator_key").read_text().strip()
        keys = (service.folder / "data" / "keys").read_text().strip()
        assert service.stop() == 0
        printed = service.log_text()
        lines = service.log_lines()
    assert not [line for line in lines if line["level"] == "error"]
    for secret in (*secrets, keys, *(key[5:] for key in (creator_key, operator_key))):
        assert len(secret) >= 8
        assert secret not in printed
    assert {key for line in lines for key in line} <= KNOWN
    calls = [line for line in lines if line["event"] == "call"]
    assert {call["method"] for call in calls} >= {"CreateGame", "GetView", "SubmitAction", "WatchGame", "GetReplay"}
    assert sorted(call["seats"] for call in calls if call["method"] == "WatchTurns") == [2, 4]
    submissions = [call for call in calls if call["method"] == "SubmitAction" and call["code"] == "OK"]
    assert all(call["role"] == "seat" and call["seat"] in (0, 1) and call["ms"] > 0 for call in submissions)
    assert len({call["request"] for call in submissions}) == len(submissions)
    assert {call["reason"] for call in calls if call["code"] != "OK" and "reason" in call} == {
        *("ILLEGAL_ACTION", "STALE_VERSION", "CREDENTIAL_INVALID", "CREDENTIAL_OF_ANOTHER_GAME", "MALFORMED_REQUEST"),
        *("INVALID_FIELD", "CREATOR_KEY_REQUIRED", "REQUEST_ID_REUSED"),
    }


async def _play_and_fail(service: Service, secrets: list[str]) -> None:
    async with Client(service.address) as client:
        create = pb.CreateGameRequest(
            options=Options(players=2, rounds=1),
            seats=[pb.SeatSetup(name="Annabella"), pb.SeatSetup(name="Benedict")],
            labels={"label-key": "label-value"},
            external_id="external-id",
            request_id=str(uuid.uuid4()),
        )
        game = await client.create(create)
        secrets += [*game.all_credentials, create.request_id, "Annabella", "label-key", "label-value", "external-id"]
        watch = asyncio.create_task(_last(client, game.name, game.spectator))
        await play(client, game, seed=1, moves=4)
        request_id = str(uuid.uuid4())
        secrets.append(request_id)
        seat = (await client.view(game.name, game.spectator)).decision.seat
        deal = pb.Deal(secret=b"a secret of thirty-two bytes ok!")
        secrets += ["a secret of thirty-two bytes ok!", deal.secret.hex()]
        used = (await client.view(game.name, game.seats[seat])).decision.legal_actions[0]
        await client.submit(game.name, game.seats[seat], [used], 4, request_id)
        seat = (await client.view(game.name, game.spectator)).decision.seat
        another = await client.create()
        failing = [
            client.submit(game.name, game.seats[seat], [Action(close=CloseAction())], 5, str(uuid.uuid4())),
            client.submit(game.name, game.seats[seat], [used], 99, str(uuid.uuid4())),
            client.view(game.name, game.spectator[:-2] + "zz"),
            client.view(game.name, another.seats[0]),
            client.raw("CreateGame", b"\x0a\xffgarbage-in-a-message"),
            client.create(pb.CreateGameRequest(options=Options(deck="unlikely-deck-name"))),
            client.create(pb.CreateGameRequest(deal=deal)),
            client.create(pb.CreateGameRequest(request_id=create.request_id)),
        ]
        secrets += ["garbage-in-a-message", "unlikely-deck-name", game.spectator[:-2] + "zz"]
        watched = [*game.seats, game.spectator, "no-credential-at-all"]
        async for message in client.turns([(game.name, each) for each in watched]):
            if message.HasField("turn"):
                break
        secrets.append("no-credential-at-all")
        with pytest.raises(Failure):
            await anext(client.turns([(game.name, game.seats[0])] * 2))
        for call in failing:
            with pytest.raises(Failure):
                await call
        await play(client, game, seed=random.randrange(1000))
        await watch
        replay = (await client.replay(game.name, game.creator)).replay
    state = replay_record(read_record(replay.record))
    secrets += [replay.secret.hex(), bytes(state.identity).hex(), position_text(whole(state))]
    secrets += [field for field in position_text(whole(state)).split("; ") if len(field) > 40]


async def _last(client: Client, game: str, credential: str) -> None:
    async for _ in client.watch(game, credential):
        pass


def test_of_exceptions_and_library_logs_only_the_places_are_written() -> None:
    program = (
        "import logging\n"
        "from moonvale_service import logs\n"
        "logs.configure('debug')\n"
        "def fail(): raise ValueError('the-secret in a message')\n"
        "try:\n"
        "    try: fail()\n"
        "    except ValueError as error: raise KeyError('the-secret again') from error\n"
        "except KeyError as error:\n"
        "    logs.event('error', 'something', error=error, trace='abc')\n"
        "    logging.getLogger('library').exception('it is the-secret %s', 'the-secret')\n"
        "logging.getLogger('library').warning('the-secret')\n"
        "logs.call('info', 'GetView', code='OK', milliseconds=1.234, request_id='the-secret')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "the-secret" not in done.stderr + done.stdout
    first, second, third, fourth = (json.loads(line) for line in done.stderr.splitlines())
    assert first["event"] == "something"
    assert first["trace"] == "abc"
    assert first["error"] == ["builtins.KeyError", "  __main__:7 <module>", "builtins.ValueError", *first["error"][3:]]
    assert first["error"][-1] == "  __main__:4 fail"
    assert (second["event"], second["logger"], second["level"]) == ("library", "library", "error")
    assert second["error"] == first["error"]
    assert (third["logger"], third["level"]) == ("library", "warning")
    assert (fourth["method"], fourth["code"], fourth["ms"]) == ("GetView", "OK", 1.23)
    assert len(fourth["request"]) == 12


def test_a_client_that_was_gone_before_its_answer_is_no_error() -> None:
    program = (
        "import logging, grpc.aio\n"
        "from moonvale_service import logs\n"
        "logs.configure('info')\n"
        "try: raise grpc.aio.InternalError('failed to send')\n"
        "except grpc.aio.InternalError: logging.getLogger('grpc').exception('unexpected')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (line,) = map(json.loads, done.stderr.splitlines())
    assert (line["event"], line["logger"], line["level"]) == ("library", "grpc", "info")


def test_levels_below_the_setting_are_not_written() -> None:
    program = (
        "import logging\n"
        "from moonvale_service import logs\n"
        "logs.configure('warning')\n"
        "logs.event('info', 'quiet')\n"
        "logging.getLogger('library').info('quiet')\n"
        "logs.event('warning', 'loud', process=3)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert (json.loads(line)["event"], json.loads(line)["process"]) == ("loud", 3)
