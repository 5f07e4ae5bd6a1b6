"""A table that has everything: it ends, by rule, and its log says why each thing happened."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from collections import defaultdict
from pathlib import Path

from google.protobuf.duration_pb2 import Duration

from moonvale.v1 import view_pb2
from moonvale.v1.action_pb2 import Action
from moonvale.v1.clock_pb2 import TIME_OUT_AGENT_TAKES_OVER, Clock
from moonvale.v1.event_pb2 import Cause, LogEntry
from moonvale.v1.game_service_pb2 import CreateGameRequest, SeatSetup
from moonvale.v1.options_pb2 import Options
from moonvale_client import play_seat
from moonvale_engine import read_record, replay_record
from tests.service.client import Client
from tests.service.servers import running_service
from tests.support.servers import StoreServer

ANN, BEN, CLEO, BOT = range(4)
PLAYER = """
import asyncio, sys
from moonvale_client import play_seat
address, game, credential = sys.stdin.read().split()
asyncio.run(play_seat(address, game, credential, lambda view: view.decision.legal_actions[-1]))
"""


def test_a_table_with_somebody_silent_somebody_late_somebody_killed_and_a_bot(
    valkey: StoreServer, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text("A" * 43)
    shared = {"store": valkey.url, "keys_file": str(keys), "workers": "1"}
    with running_service(**shared) as one, running_service(**shared) as other:
        asyncio.run(play(one.address, other.address))


async def play(one: str, other: str) -> None:
    async with Client(one) as client, Client(other) as elsewhere:
        seats = [SeatSetup(name="Ann"), SeatSetup(open=True), SeatSetup(name="Cleo"), SeatSetup(bot="greedy")]
        clock = Clock(per_decision=Duration(seconds=1), on_time_out=TIME_OUT_AGENT_TAKES_OVER)
        request = CreateGameRequest(options=Options(rounds=6), seats=seats, clock=clock, with_join_code=True)
        game = await client.create(request)
        assert game.view.phase == view_pb2.PHASE_WAITING
        cleo = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PLAYER, stdin=subprocess.PIPE, start_new_session=True
        )
        assert cleo.stdin is not None
        cleo.stdin.write(f"{one} {game.name} {game.seats[CLEO]}".encode())
        cleo.stdin.close()
        told: list[LogEntry] = []
        killed = 0
        playing: list[asyncio.Task[object]] = []
        async for message in elsewhere.watch(game.name, game.spectator):
            if message.HasField("view") and not playing:  # Ben comes late, with nothing but the code
                ben = await elsewhere.claim("games/-", code=game.join_code, request_id=str(uuid.uuid4()))
                assert ben.seat == BEN
                playing.append(asyncio.create_task(play_seat(other, game.name, ben.credential, first)))
            elif message.HasField("entry"):
                told.append(message.entry)
                mine = [entry for entry in told if entry.seat == CLEO]
                if cleo.returncode is None and len([entry for entry in mine if is_by(entry, "PLAYER")]) == 5:
                    cleo.kill()
                    await cleo.wait()
                    killed = len(told)
                elif (
                    cleo.returncode is not None
                    and message.entry.seat == CLEO
                    and message.entry.events[0].HasField("away")
                    and len(playing) == 1
                ):
                    playing.append(asyncio.create_task(play_seat(other, game.name, game.seats[CLEO], first)))
        results = await asyncio.gather(*playing)
        assert results[0] == results[1]
        view = await client.view(game.name, game.spectator)
        assert view.phase == view_pb2.PHASE_OVER
        replay = (await client.replay(game.name, game.creator)).replay
    assert replay_record(read_record(replay.record)).is_over()
    causes = defaultdict(list)
    for entry in told[1:]:
        causes[entry.seat].append(Cause.Name(entry.cause).removeprefix("CAUSE_"))
    assert set(causes[ANN]) == {"TIME_OUT", "AGENT"}  # she never answers: once out of time, an agent plays
    assert set(causes[BOT]) == {"BOT"}
    assert "PLAYER" in causes[BEN]
    after = [entry for entry in told[killed:] if entry.seat == CLEO]
    away = next(i for i, entry in enumerate(after) if entry.events[0].HasField("away"))
    assert is_by(after[away], "TIME_OUT")
    returned = next(i for i, entry in enumerate(after) if entry.events[0].HasField("returned"))
    assert any(is_by(entry, "PLAYER") for entry in after[returned + 1 :])  # she is back, at another replica
    for reason in ("away [timeout]", "[agent]", "[bot]", " c back"):
        assert reason in replay.record


def first(view: view_pb2.View) -> Action:
    return view.decision.legal_actions[-1]


def is_by(entry: LogEntry, cause: str) -> bool:
    return Cause.Name(entry.cause) == f"CAUSE_{cause}"
