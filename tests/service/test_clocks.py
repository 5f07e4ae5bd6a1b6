"""Clocks: what the store keeps as it commits and what follows from the log are the same; what a late answer gets."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.clock_pb2 import (
    TIME_OUT_AGENT_DECIDES,
    TIME_OUT_AGENT_TAKES_OVER,
    TIME_OUT_FORFEIT,
    Clock,
    TimeOut,
)
from moonvale.v1.event_pb2 import Cause
from moonvale.v1.options_pb2 import Options
from moonvale_engine.events import NOBODY
from moonvale_engine.log import (
    BY_AGENT,
    BY_BOT,
    BY_CALLER,
    BY_TIME_OUT,
    RESIGNATION,
    RETURN,
    TAKEOVER,
    Entry,
)
from moonvale_engine.options import Options as GameOptions
from moonvale_engine.play import seat_to_act
from moonvale_service.about import About, SeatAbout
from moonvale_service.clocks import PACKED_AFTER_MS
from moonvale_service.clocks import Clock as GameClock
from moonvale_service.clocks import TimeOut as GameTimeOut
from moonvale_service.commits import Outcome, UntimelyError
from moonvale_service.history import Snapshot, fold
from moonvale_service.store import Ticking, When
from moonvale_service.store.redis_store import RedisStore, due_key, shard_of
from tests.service.client import Client, Failure, Game
from tests.service.servers import start_server, start_steward
from tests.support.servers import StoreServer
from tests.support.use_cases import UseCases, use_cases

GAME = "k5w2q7xw3m6d4cah2rbt"
SECRET = bytes(range(32))
TENTH = Duration(nanos=100_000_000)
PER_DECISION = GameClock(per_decision=60_000)
BANK = GameClock(bank=60_000, increment=70)


@pytest.fixture
async def store(valkey: StoreServer) -> AsyncIterator[RedisStore]:
    store = RedisStore(valkey.url, 10.0)
    yield store
    await store.close()


@pytest.fixture
def cases(store: RedisStore) -> UseCases:
    return use_cases(store)


def waited(ticking: Ticking, seat: int, clock: GameClock, action: int, time: int, cause: int = BY_CALLER) -> Ticking:
    """How a clock stands when seat 1 has answered, and a seat is to act next."""
    return clock.after(ticking, Entry(1, action, cause, time), 1, seat, ())


def test_a_limit_for_each_decision_begins_anew_with_each() -> None:
    begun = PER_DECISION.begun(2, 1, (), 1_000)
    assert begun == Ticking(1_000, 61_000)
    assert waited(begun, 0, PER_DECISION, 5, 4_000) == Ticking(4_000, 64_000)
    assert waited(begun, NOBODY, PER_DECISION, 5, 4_000) == Ticking(4_000, 0)


def test_a_bank_pays_for_the_time_that_a_decision_took() -> None:
    begun = BANK.begun(2, 1, (), 1_000)
    assert begun == Ticking(1_000, 61_000, (60_000, 60_000))
    after = waited(begun, 1, BANK, 5, 4_000)
    assert after == Ticking(4_000, 4_000 + 57_070, (60_000, 57_070))
    assert waited(after, 0, BANK, 5, 5_000) == Ticking(5_000, 65_000, (60_000, 56_140))
    assert waited(begun, 0, BANK, 5, 90_000, BY_TIME_OUT).banks == (60_000, 70)  # never less than nothing


@pytest.mark.parametrize("cause", [BY_BOT, BY_AGENT])
def test_bots_and_agents_have_no_clock(cause: int) -> None:
    begun = BANK.begun(2, 1, (1,), 1_000)
    assert begun == Ticking(1_000, 0, (60_000, 60_000))
    assert waited(begun, 0, BANK, 5, 4_000, cause) == Ticking(4_000, 64_000, (60_000, 60_000))


def test_what_another_seat_does_gives_nobody_more_time() -> None:
    begun = BANK.begun(3, 1, (), 1_000)
    for action in (RESIGNATION, RETURN):
        assert BANK.after(begun, Entry(2, action, time=9_000), 1, 1, ()) == begun
    assert BANK.after(begun, Entry(1, RETURN, time=9_000), 1, 1, ()) == Ticking(9_000, 69_000, begun.banks)


@pytest.mark.parametrize("clock", [PER_DECISION, BANK], ids=["per decision", "bank"])
@pytest.mark.parametrize("seed", range(3))
async def test_the_store_and_the_log_say_the_same_of_a_clock(
    store: RedisStore, cases: UseCases, clock: GameClock, seed: int
) -> None:
    """At each step: what the script keeps, what a commit returns, what the log leads to; and when the game is due."""
    rng = random.Random(seed)
    about = About(seats=(SeatAbout(), SeatAbout(bot="greedy"), SeatAbout(), SeatAbout()), clock=clock)
    now = await cases.seats.create(GAME, GameOptions(players=4, rounds=1), SECRET, about, b"")
    while not now.state.is_over():
        known = cases.recent.learn(GAME, await store.read(GAME))
        entries, kept = next_entries(rng, known.now)
        made = await cases.commits.commit(known, entries, about=kept)
        assert isinstance(made, Outcome)
        now = made.snapshot
        record, log, _ = await store.read_log(GAME, 0)
        assert record.ticking == now.ticking
        happened = fold(record, log, -1)
        assert [each.deadline for each in happened[-len(entries) :]] == [each.deadline for each in made.happened]
        assert now.ticking is not None
        assert happened[-1].deadline == now.ticking.deadline
        assert await due(store) == expected_due(now)


def next_entries(rng: random.Random, now: Snapshot) -> tuple[list[Entry], About | None]:
    """Something that may happen next in a game: an answer, a time-out, a resignation, a return."""
    seat, about = seat_to_act(now.state), now.about
    answer = rng.choice(now.state.choices)
    if about.seat(seat).bot:
        return [Entry(seat, answer, BY_BOT)], None
    staying = [each for each in (0, 2, 3) if each not in now.state.resigned]
    chance = rng.random()
    if about.seat(seat).away:
        if chance < 0.8:
            return [Entry(seat, answer, BY_AGENT)], None
        return [Entry(seat, RETURN)], about.with_seat(seat, replace(about.seat(seat), away=False))
    if chance < 0.1:
        away = about.with_seat(seat, replace(about.seat(seat), away=True))
        return [Entry(seat, TAKEOVER, BY_TIME_OUT), Entry(seat, answer, BY_TIME_OUT)], away
    if chance < 0.2:
        return [Entry(seat, answer, BY_TIME_OUT)], None
    if chance < 0.22 and len(staying) > 2:
        return [Entry(rng.choice(staying), RESIGNATION)], None
    return [Entry(seat, answer)], None


async def due(store: RedisStore) -> int | None:
    """When the game is due."""
    key = due_key(shard_of(GAME))
    (score,) = await store._link.run(key, ("ZSCORE", key, GAME))
    return None if score is None else int(score)


def expected_due(now: Snapshot) -> int | None:
    if now.state.is_over():
        return now.updated + PACKED_AFTER_MS
    if seat_to_act(now.state) in now.about.free:
        return now.updated
    assert now.ticking is not None
    return now.ticking.deadline + 250  # the grace


async def test_a_change_counts_before_the_time_is_out_or_after_it(store: RedisStore, cases: UseCases) -> None:
    about = About(clock=replace(PER_DECISION, on_time_out=GameTimeOut.FORFEIT))
    now = await cases.seats.create(GAME, GameOptions(players=2), SECRET, about, b"")
    known = cases.recent.learn(GAME, await store.read(GAME))
    entry = Entry(seat_to_act(now.state), now.state.choices[0])
    with pytest.raises(UntimelyError):
        await cases.commits.commit(known, [entry], when=When.AFTER)
    assert await store.read(GAME) == (await store.read_log(GAME, 0))[0]
    made = await cases.commits.commit(known, [entry], when=When.BEFORE)
    assert isinstance(made, Outcome)


async def out_of_time(client: Client, store: RedisStore, clock: Clock) -> tuple[Game, int]:
    """A game of two whose first decision's time is out, grace included, and the seat that is to act."""
    game = await client.create(pb.CreateGameRequest(options=Options(players=2, rounds=1), clock=clock))
    deadline = game.view.deadline.ToMilliseconds()
    assert game.view.time_left.ToMilliseconds() <= 100
    while (left := deadline - (await store.lease(0, 0, 0)).now) >= 0:  # noqa: ASYNC110  # its clock tells nobody
        await asyncio.sleep((left + 1) / 1000)
    return game, game.view.decision.seat


async def test_a_late_answer_is_refused_and_changes_nothing(
    valkey: StoreServer, store: RedisStore, tmp_path: Path
) -> None:
    server = await start_server(valkey.url, tmp_path, clock_grace="0s")
    async with Client(server.address) as client:
        clock = Clock(per_decision=TENTH, on_time_out=TIME_OUT_AGENT_DECIDES)
        game, seat = await out_of_time(client, store, clock)
        view = await client.view(game.name, game.seats[seat])
        assert (view.time_left.seconds, view.time_left.nanos) == (0, 0)
        with pytest.raises(Failure) as raised:
            await client.submit(game.name, game.seats[seat], view.decision.legal_actions[:1], view.version)
        assert raised.value.reason == "TIME_OUT"
        assert (await client.view(game.name, game.seats[seat])).version == 0
        resigned = await client.resign(game.name, game.seats[seat])  # which is good at any time
        assert resigned.version == 1
    await server.stop()


async def test_an_answer_within_the_grace_counts(valkey: StoreServer, store: RedisStore, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, clock_grace="1h")
    async with Client(server.address) as client:
        game, seat = await out_of_time(client, store, Clock(per_decision=TENTH))
        view = await client.view(game.name, game.seats[seat])
        made = await client.submit(game.name, game.seats[seat], view.decision.legal_actions[:1], view.version)
        assert made.version == 1
    await server.stop()


@pytest.mark.parametrize(
    ("on_time_out", "first", "away"),
    [
        (TIME_OUT_FORFEIT, [(0, "resigned")], False),
        (TIME_OUT_AGENT_DECIDES, [(0, "acted")], False),
        (TIME_OUT_AGENT_TAKES_OVER, [(0, "away"), (0, "acted")], True),
    ],
)
async def test_what_happens_when_the_time_is_out(
    valkey: StoreServer, tmp_path: Path, on_time_out: TimeOut.ValueType, first: list[tuple[int, str]], away: bool
) -> None:
    server = await start_server(valkey.url, tmp_path)
    steward = await start_steward(valkey.url, tmp_path)
    async with Client(server.address) as client:
        # Seat 1 is a bot, so that only the time of seat 0 can be out.
        request = pb.CreateGameRequest(
            options=Options(players=2, rounds=1, turn_limit=4),
            seats=[pb.SeatSetup(name="Ann"), pb.SeatSetup(bot="random")],
            clock=Clock(per_decision=TENTH, on_time_out=on_time_out, agent="greedy"),
        )
        game = await client.create(request)
        messages = [message async for message in client.watch(game.name, game.spectator, 0)]
        told = [message.entry for message in messages if message.HasField("entry") and message.entry.seat == 0]
        causes = {Cause.Name(entry.cause).removeprefix("CAUSE_") for entry in told}
        assert [(entry.seat, entry.events[0].WhichOneof("kind")) for entry in told[: len(first)]] == first
        assert causes == ({"TIME_OUT", "AGENT"} if away else {"TIME_OUT"})
        view = await client.view(game.name, game.seats[0])
        assert view.HasField("result")
        assert view.seats[0].away == away
        assert view.seats[0].resigned == (on_time_out == TIME_OUT_FORFEIT)
        record = (await client.replay(game.name, game.creator)).replay.record
        assert "[timeout]" in record
        assert (" a away [timeout]" in record) == away
    await steward.stop()
    await server.stop()


async def test_a_player_who_was_away_takes_the_seat_back(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path)
    steward = await start_steward(valkey.url, tmp_path)
    async with Client(server.address) as client:
        clock = Clock(per_decision=TENTH, on_time_out=TIME_OUT_AGENT_TAKES_OVER)
        other = Clock(per_decision=Duration(seconds=3600), on_time_out=TIME_OUT_AGENT_TAKES_OVER)
        patient = await client.create(pb.CreateGameRequest(options=Options(players=2), clock=other))
        nothing = await client.reclaim(patient.name, patient.seats[0])
        assert (nothing.version, list(nothing.entries)) == (0, [])
        game = await client.create(pb.CreateGameRequest(options=Options(players=2, rounds=20), clock=clock))
        returned = None
        async for message in client.watch(game.name, game.spectator, 0):
            if message.HasField("entry") and message.entry.events[0].HasField("away") and returned is None:
                seat = message.entry.seat
                returned = await client.reclaim(game.name, game.seats[seat])
                (entry,) = returned.entries
                assert entry.seat == seat
                assert entry.events[0].HasField("returned")
                assert not returned.view.seats[seat].away
                break
        assert returned is not None
    await steward.stop()
    await server.stop()
