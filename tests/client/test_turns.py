"""Many seats on one stream: the agent loop and the watch beneath it, where streams break and answers are lost."""

from __future__ import annotations

import asyncio
import random
import re
import signal
from contextlib import aclosing
from pathlib import Path

import grpc
import psutil
import pytest

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.errors_pb2 import ERROR_REASON_RATE_LIMITED, ERROR_REASON_TOO_MANY_WATCHES
from moonvale_client import (
    Action,
    AsyncClient,
    Client,
    MoonvaleError,
    Options,
    Result,
    RetryPolicy,
    Turn,
    View,
    play_seats,
)
from moonvale_client.turns import WatchedSeats
from tests.client.fake import GAME, SEATS, FakeService
from tests.service.servers import Service, running_service
from tests.test_readme import ADDRESS, ROOT, run

QUICK = RetryPolicy(timeout=20, attempt_timeout=5, first_pause=0.001, longest_pause=0.002)
ALL = [(GAME, seat) for seat in SEATS]
GAMES = 100
PAGE = ROOT / "docs" / "contract.md"
SHORT = Options(players=2, rounds=1, turn_limit=4)


def choose(view: View) -> Action:
    assert view.decision.seat == view.viewer_seat
    return random.choice(view.decision.legal_actions)


async def test_a_bot_plays_all_seats_of_a_game_on_one_stream(fake: FakeService, address: str) -> None:
    results = await play_seats(address, ALL, choose)
    assert fake.state.is_over()
    for result in results:
        assert isinstance(result, Result)
        assert list(result.totals) == list(fake.state.totals)
    assert fake.watched_seats == [[0, 1]]
    assert len(fake.request_ids) == len(fake.log) - 1


async def test_a_bot_plays_on_through_lost_answers_and_broken_streams(fake: FakeService, address: str) -> None:
    fake.stream_lengths = [0, 1, 2, 3] * 5
    async with AsyncClient(address, retry=QUICK) as client:
        await client.get_server_info()
        fake.faults = [grpc.StatusCode.UNAVAILABLE] * 60
        results = await play_seats(client, ALL, choose)
    assert [isinstance(result, Result) for result in results] == [True, True]
    assert not fake.faults
    assert len(fake.watched_seats) > 2
    assert len(fake.carried_out) == len(fake.log) - 1


async def test_a_bot_whose_choice_came_too_late_chooses_anew(fake: FakeService, address: str) -> None:
    chosen: list[int] = []

    def choose_late(view: View) -> Action:
        if not chosen:
            fake.act()
        chosen.append(view.version)
        return choose(view)

    await play_seats(address, ALL, choose_late)
    assert fake.state.is_over()
    assert chosen[:2] == [0, 1]


async def test_what_the_choice_raises_ends_the_bot(fake: FakeService, address: str) -> None:
    def fail(view: View) -> Action:
        raise RuntimeError("no idea")

    with pytest.raises(RuntimeError, match="no idea"):
        await play_seats(address, ALL, fail)
    with pytest.raises(MoonvaleError) as caught:
        await play_seats(address, ALL, lambda view: Action())
    assert caught.value.reason == "INVALID_FIELD"


async def test_a_bot_of_no_seats_has_nothing_to_do(address: str) -> None:
    assert await play_seats(address, [], choose) == []


def test_the_synchronous_watch_tells_turns_again_when_its_stream_broke(fake: FakeService, address: str) -> None:
    fake.stream_lengths = [1, 1]
    to_act = fake.log[0][2]
    told: list[Turn] = []
    with Client(address, retry=QUICK) as client:
        for turn in client.watch_turns(ALL):
            told.append(turn)
            if len(told) >= 3 and not turn.over:
                fake.act()
    assert [(turn.index, turn.stream) for turn in told[:3]] == [(to_act, stream) for stream in range(3)]
    assert [turn.over for turn in told[-3:]] == [False, True, True]
    assert {turn.index for turn in told[-2:]} == {0, 1}
    assert all(turn.credential not in repr(turn) for turn in told)


async def test_a_watch_of_turns_gives_up_when_nothing_comes_for_too_long() -> None:
    policy = RetryPolicy(timeout=0.2, attempt_timeout=0.1, first_pause=0.01, longest_pause=0.02)
    async with AsyncClient("127.0.0.1:1", retry=policy) as client:
        with pytest.raises(MoonvaleError) as caught:
            await anext(client.watch_turns(ALL))
    assert caught.value.is_transient


def test_a_seat_that_ended_is_not_asked_for_again_and_one_that_has_to_wait_is() -> None:
    seats = WatchedSeats([("games/a", "x"), ("games/b", "y"), ("games/c", "z")])
    assert len(seats.request().seats) == 3
    error = pb.SeatError(code=8, reason=ERROR_REASON_TOO_MANY_WATCHES, message="one too many")
    lost = seats.take(pb.WatchTurnsResponse(index=1, error=error))
    assert lost is not None
    assert lost.error is not None
    assert (lost.index, lost.game, lost.view, lost.error.reason) == (1, "games/b", None, "TOO_MANY_WATCHES")
    assert lost.error.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    waits = pb.SeatError(code=8, reason=ERROR_REASON_RATE_LIMITED, message="too fast")
    waits.retry_delay.FromMilliseconds(500)
    with pytest.raises(MoonvaleError) as caught:
        seats.take(pb.WatchTurnsResponse(index=2, error=waits))
    assert (caught.value.is_transient, caught.value.retry_delay) == (True, 0.5)
    assert [seat.name for seat in seats.request().seats] == ["games/a", "games/c"]
    turn = seats.take(pb.WatchTurnsResponse(index=1, turn=View(mark="m")))
    assert turn is not None
    assert (turn.index, turn.game, turn.stream) == (2, "games/c", 1)


def test_a_stream_has_settled_when_it_told_something_new() -> None:
    seats = WatchedSeats([("games/a", "x")])
    told = pb.WatchTurnsResponse(index=0, turn=View(mark="m"))
    for settled in (True, False):
        seats.request()
        assert not seats.settled
        seats.take(told)
        assert seats.settled is settled
    seats.take(pb.WatchTurnsResponse(heartbeat=pb.TurnsHeartbeat()))
    assert seats.settled


def test_one_bot_plays_a_hundred_games_while_workers_are_killed() -> None:
    with running_service(log_level="info", create_rate="0") as service:
        asyncio.run(_play_many(service))
        lines = [line for line in service.log_lines() if line["event"] == "call"]
        assert not [line for line in lines if line["level"] == "error"]


async def _play_many(service: Service) -> None:
    moves = 0
    halfway = asyncio.Event()

    def choose_and_count(view: View) -> Action:
        nonlocal moves
        moves += 1
        if moves == 5 * GAMES:
            halfway.set()
        return choose(view)

    async def kill() -> None:
        await halfway.wait()
        for worker in service.workers():
            worker.send_signal(signal.SIGKILL)
            await asyncio.to_thread(psutil.wait_procs, [worker], 20)

    async with AsyncClient(service.address) as client:
        games = [await client.create_game(SHORT) for _ in range(GAMES)]
        seats = [(game.name, credential) for game in games for credential in game.seat_credentials]
        killing = asyncio.create_task(kill())
        results = await play_seats(client, seats, choose_and_count, at_once=16)
        await killing
        assert len(results) == len(seats)
        for i, game in enumerate(games):
            view = await client.get_view(game.name, game.spectator_credential)
            assert view.result.totals
            assert results[2 * i] == results[2 * i + 1] == view.result


def test_the_example_of_the_contracts_page_plays_its_games(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert ADDRESS in example
    with running_service(log_level="info") as service:
        printed = run(example.replace(ADDRESS, service.address), tmp_path)
    assert re.fullmatch(r"[23]\d seats have won\n", printed)  # one of each two, or both if they tie


async def test_a_seat_that_is_lost_does_not_stop_the_bot() -> None:
    with running_service(log_level="error", workers="1") as service:
        async with AsyncClient(service.address) as client:
            games = [await client.create_game(SHORT) for _ in range(4)]
            new = await client.rotate_credential(games[1].name, games[1].creator_credential, seat=0)
            seats = [(game.name, credential) for game in games for credential in game.seat_credentials]
            moves = 0

            async def choose_or_delete(view: View) -> Action:
                nonlocal moves
                moves += 1
                if moves == 8:
                    await client.delete_game(games[0].name, games[0].creator_credential)
                return choose(view)

            other = asyncio.create_task(play_seats(client, [(games[1].name, new)], choose))
            results = await play_seats(client, seats, choose_or_delete)
            (elsewhere,) = await other
            assert [result.reason for result in results if isinstance(result, MoonvaleError)] == [
                *("GAME_NOT_FOUND", "GAME_NOT_FOUND", "CREDENTIAL_REVOKED")
            ]
            assert results[3] == elsewhere
            async with aclosing(client.watch_turns(seats[4:])) as turns:
                told = [turn async for turn in turns]
            assert {turn.index: turn.view.result for turn in told if turn.view} == dict(enumerate(results[4:]))
