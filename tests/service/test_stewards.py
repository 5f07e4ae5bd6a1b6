"""Stewards: what is due in a game is done once, whoever does it and whoever dies."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import grpc.aio
import pytest
import redis.asyncio as aioredis

from moonvale.v1 import bot_service_pb2, bot_service_pb2_grpc, view_pb2
from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.clock_pb2 import TIME_OUT_AGENT_DECIDES, Clock
from moonvale.v1.event_pb2 import CAUSE_BOT, CAUSE_BOT_FAILED
from moonvale.v1.game_service_pb2 import SeatSetup
from moonvale.v1.options_pb2 import Options
from moonvale_engine.log import BY_BOT, BY_TIME_OUT, RESIGNATION
from moonvale_engine.options import Options as GameOptions
from moonvale_engine.position_parse import parse_position
from moonvale_service.about import About, SeatAbout
from moonvale_service.clocks import SHORTEST_MS
from moonvale_service.clocks import Clock as GameClock
from moonvale_service.steward_process import StewardProcess
from moonvale_service.store.redis_store import RedisStore, game_key, log_key
from tests.service.client import Client, Failure, play
from tests.service.servers import RunningServer, running_service, start_server, start_steward
from tests.support.servers import StoreServer
from tests.support.use_cases import use_cases

DEADLINES = 1000
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def game_id(rng: random.Random) -> str:
    return "".join(rng.choices(ALPHABET, k=20))


@pytest.fixture
async def stewards(valkey: StoreServer, tmp_path: Path) -> AsyncIterator[list[StewardProcess]]:
    """Two of them."""
    both = [await start_steward(valkey.url, tmp_path) for _ in range(2)]
    yield both
    for steward in both:
        await steward.stop()


async def test_of_two_stewards_one_enforces_a_deadline(valkey: StoreServer, stewards: list[StewardProcess]) -> None:
    """A thousand deadlines, all about to pass, and each game's log has one entry that says so."""
    rng = random.Random(1)
    store = RedisStore(valkey.url, 60.0)
    cases = use_cases(store)
    about = About(clock=GameClock(per_decision=SHORTEST_MS))
    games = [game_id(rng) for _ in range(DEADLINES)]
    for game in games:
        await cases.seats.create(game, GameOptions(players=2), None, about, b"")
    for game in games:
        while not (await store.read(game)).version:  # noqa: ASYNC110  # nobody tells, without a watch
            await asyncio.sleep(0.02)
        _, log, _ = await store.read_log(game, 0)
        assert [(each.entry.action, each.entry.cause) for each in log] == [(RESIGNATION, BY_TIME_OUT)]
    await store.close()


async def test_two_stewards_that_attend_to_one_game_at_once_have_one_effect(
    valkey: StoreServer, tmp_path: Path
) -> None:
    """Without a lease between them: what they commit is compared, and that alone is enough."""
    rng = random.Random(2)
    pair = [await start_steward(valkey.url, tmp_path, poll="1h") for _ in range(2)]
    store = RedisStore(valkey.url, 60.0)
    cases = use_cases(store, clock_grace="0s")
    for _ in range(100):
        game = game_id(rng)
        about = About(seats=(SeatAbout(bot="greedy"), SeatAbout(bot="random")))
        await cases.seats.create(game, GameOptions(players=2, rounds=1, turn_limit=4), None, about, b"")
        await asyncio.gather(*[steward._steward._do_all(game) for steward in pair])
        record, log, _ = await store.read_log(game, 0)
        now = cases.recent.learn(game, record).now
        assert now.state.is_over()
        assert {each.entry.cause for each in log} == {BY_BOT}
        assert now.version == len(log)
    for steward in pair:
        await steward.stop()
    await store.close()


async def test_a_game_of_bots_plays_itself_to_its_end(
    server: RunningServer, client: Client, stewards: list[StewardProcess]
) -> None:
    bots = [SeatSetup(bot=bot) for bot in ("greedy", "random", "greedy", "random")]
    game = await client.create(pb.CreateGameRequest(options=Options(rounds=1, deck="eye", token="eye"), seats=bots))
    entries = [
        message.entry async for message in client.watch(game.name, game.spectator, 0) if message.HasField("entry")
    ]
    assert {entry.cause for entry in entries} == {CAUSE_BOT}
    view = await client.view(game.name, game.spectator)
    assert view.phase == view_pb2.PHASE_OVER
    assert [(seat.bot, seat.name) for seat in view.seats[:2]] == [("greedy", "greedy"), ("random", "random")]
    assert " [bot]" in (await client.replay(game.name, game.creator)).replay.record


async def test_what_a_steward_had_leased_when_it_died_is_done_by_another(valkey: StoreServer, tmp_path: Path) -> None:
    store = RedisStore(valkey.url, 10.0)
    cases = use_cases(store)
    game = game_id(random.Random(3))
    about = About(seats=(SeatAbout(bot="greedy"), SeatAbout(bot="greedy")))
    await cases.seats.create(game, GameOptions(players=2, rounds=1, turn_limit=4), None, about, b"")
    shard = ALPHABET.index(game[0]) << 5 | ALPHABET.index(game[1])
    leased = await store.lease(shard, 10, 300)  # by one that dies now
    assert leased.games == [game]
    steward = await start_steward(valkey.url, tmp_path)
    while not cases.recent.learn(game, await store.read(game)).now.state.is_over():  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    await steward.stop()
    await store.close()


def test_stewards_that_are_killed_again_and_again_lose_no_move() -> None:
    async def play(address: str) -> pb.GetReplayResponse:
        async with Client(address) as client:
            seats = [SeatSetup(bot=bot) for bot in ("greedy", "random")]
            game = await client.create(pb.CreateGameRequest(options=Options(players=2, rounds=4), seats=seats))
            async for message in client.watch(game.name, game.spectator, 0):
                if message.HasField("entry") and message.entry.version in (20, 40, 60):  # a lease lasts 10 s each time
                    for process in service.stewards():
                        process.kill()
            return await client.replay(game.name, game.creator)

    with running_service(workers="1", poll="200ms") as service:
        replay = asyncio.run(play(service.address)).replay
        times = [entry.create_time.ToMilliseconds() for entry in replay.entries]
        assert times == sorted(times)
        assert [entry.version for entry in replay.entries] == list(range(1, len(replay.entries) + 1))
        assert len([line for line in service.log_lines() if line["event"] == "steward_ended"]) > 0


async def test_a_game_that_is_over_is_packed_and_tells_what_it_told(
    server: RunningServer, client: Client, raw: aioredis.Redis, valkey: StoreServer, tmp_path: Path
) -> None:
    game = await client.create(pb.CreateGameRequest(options=Options(players=2, rounds=4)))
    with mock.patch("moonvale_service.clocks.PACKED_AFTER_MS", 1):
        await play(client, game, seed=5)
    view = await client.view(game.name, game.seats[0])
    replay = await client.replay(game.name, game.creator)
    messages = [message async for message in client.watch(game.name, game.spectator, 0, game.view.mark)]
    entries = [message.entry for message in messages if message.HasField("entry")]
    page = await client.events(game.name, game.spectator, page_size=7)
    keys = (game_key(game.id), log_key(game.id))
    size = sum([await raw.memory_usage(key) or 0 for key in keys])
    with mock.patch("moonvale_service.steward.PACKED_AFTER_MS", 1):
        steward = await start_steward(valkey.url, tmp_path)
        while await raw.exists(log_key(game.id)):  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0.02)
        await steward.stop()
    assert (await raw.memory_usage(game_key(game.id)) or 0) < size / 2
    assert await client.replay(game.name, game.creator) == replay
    assert (await client.view(game.name, game.seats[0])).position == view.position
    for after, mark in ((0, game.view.mark), (5, entries[4].mark), (5, ""), (view.version, view.mark)):
        told = [m.entry async for m in client.watch(game.name, game.spectator, after, mark) if m.HasField("entry")]
        for entry, before in zip(told, entries[after:], strict=True):
            assert entry.mark in (before.mark, "")
            entry.mark = before.mark
            assert entry == before
    for after, mark in ((0, "0" * 16), (view.version, "0" * 16), (view.version + 1, "")):
        with pytest.raises(Failure) as raised:
            await anext(client.watch(game.name, game.spectator, after, mark))
        assert raised.value.reason == "HISTORY_REWOUND"
    following = await client.events(game.name, game.spectator, page_size=7, page_token=page.next_page_token)
    assert [entry.version for entry in following.entries] == list(range(7, 14))
    assert len((await client.events(game.name, game.spectator, 7, following.next_page_token)).entries) == 7
    with pytest.raises(Failure) as raised:
        await client.resign(game.name, game.seats[0])
    assert raised.value.reason == "GAME_OVER"
    await client.delete(game.name, game.creator)


class Chooser(bot_service_pb2_grpc.BotServiceServicer):
    """A bot that is a server. ``fault``: what is wrong with it, if anything. ``timeout``: ms that it should get."""

    def __init__(self, fault: str, timeout: int) -> None:
        self.fault = fault
        self.timeout = timeout
        self.asked = 0

    async def ChooseAction(  # noqa: N802
        self,
        request: bot_service_pb2.ChooseActionRequest,
        context: grpc.aio.ServicerContext[object, object],
    ) -> bot_service_pb2.ChooseActionResponse:
        self.asked += 1
        view = request.view
        assert view.viewer_seat == view.decision.seat
        assert request.time_left.ToMilliseconds() == self.timeout
        assert len(parse_position(view.position).state.choices) == len(view.decision.legal_actions)
        response = bot_service_pb2.ChooseActionResponse()
        match self.fault:
            case "raises":
                raise ValueError
            case "is silent":
                await asyncio.sleep(60)
            case "is illegal":
                response.action.give.SetInParent()
            case "":
                response.action.CopyFrom(view.decision.legal_actions[0])
        return response


@pytest.mark.parametrize("fault", ["", "raises", "is silent", "is illegal", "answers nothing", "is not there"])
async def test_a_registered_bot_plays_and_one_that_fails_is_stood_in_for(
    valkey: StoreServer, tmp_path: Path, fault: str
) -> None:
    timeout = 300 if fault in ("is silent", "is not there") else 30_000  # the others may take their time
    bot = Chooser(fault, timeout)
    serving = grpc.aio.server()
    bot_service_pb2_grpc.add_BotServiceServicer_to_server(bot, serving)
    port = serving.add_insecure_port("127.0.0.1:0")
    if fault != "is not there":
        await serving.start()
    registered = f"friend=127.0.0.1:{port}"
    server = await start_server(valkey.url, tmp_path, bots=registered)
    steward = await start_steward(valkey.url, tmp_path, bots=registered, bot_timeout=f"{timeout}ms")
    async with Client(server.address) as client:
        info = pb.GetServerInfoResponse.FromString(await client.raw("GetServerInfo", b""))
        assert list(info.bots) == ["greedy", "random", "friend"]
        options = Options(players=2, rounds=1, turn_limit=4)
        seats = [SeatSetup(bot="friend", name="Fay"), SeatSetup(bot="greedy")]
        game = await client.create(pb.CreateGameRequest(options=options, seats=seats))
        messages = [message async for message in client.watch(game.name, game.spectator, 0)]
        causes = [entry.entry.cause for entry in messages if entry.HasField("entry") and entry.entry.seat == 0]
        assert set(causes) == {CAUSE_BOT_FAILED if fault else CAUSE_BOT}
        assert bot.asked == (0 if fault == "is not there" else len(causes))
        record = (await client.replay(game.name, game.creator)).replay.record
        assert (" [failed]" in record) == bool(fault)
    await steward.stop()
    await server.stop()
    await serving.stop(None)


async def test_a_bot_that_no_steward_knows_does_not_keep_the_table_waiting(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, bots="friend=127.0.0.1:9")
    steward = await start_steward(valkey.url, tmp_path)
    async with Client(server.address) as client:
        seats = [SeatSetup(bot="friend"), SeatSetup(bot="greedy")]
        request = pb.CreateGameRequest(options=Options(players=2, rounds=1, turn_limit=4), seats=seats)
        request.clock.CopyFrom(Clock(on_time_out=TIME_OUT_AGENT_DECIDES, agent="friend"))
        request.clock.per_decision.FromSeconds(60)
        game = await client.create(request)
        entries = [m.entry async for m in client.watch(game.name, game.spectator, 0) if m.HasField("entry")]
        assert {entry.cause for entry in entries} == {CAUSE_BOT, CAUSE_BOT_FAILED}
    await steward.stop()
    await server.stop()
