"""Versions of the rules in a service: what doesn't know a game's rules leaves it alone, and updates break no table.

The next release here is this software with one more version of the rules, that of ``tests.support.second_rules``.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

import grpc
import pytest
import redis.asyncio as aioredis

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.errors_pb2 import ErrorReason
from moonvale.v1.options_pb2 import Options
from moonvale.v1.view_pb2 import View
from moonvale_engine.errors import RecordError
from moonvale_engine.log import Entry
from moonvale_engine.outcome import result
from moonvale_engine.record import Record, read_record, replay_record
from moonvale_engine.shuffle import commitment
from moonvale_service.convert import actions, options
from moonvale_service.store.redis_store import game_key, log_key
from tests.service.client import Client, Failure, Game
from tests.service.replicas import NEXT_RELEASE, THIS_RELEASE, Replica, replicas
from tests.support.playing import Setup, positions, random_setup
from tests.support.second_rules import SECOND, second_known
from tests.support.servers import StoreServer

SHORT = Options(players=2, rounds=1, turn_limit=10)


@pytest.fixture
async def pair(valkey: StoreServer) -> AsyncIterator[list[Replica]]:
    """Two replicas over one store, not started."""
    async with replicas(valkey.url, ("left", "right")) as pair:
        yield pair


class Play:
    """A game that is played at random, each call at the next of the replicas that serve it."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game = game
        self._rng = random.Random(seed)
        self._calls = 0

    async def go_on(self, servers: Sequence[Replica], moves: int | None = None) -> View:
        """Make so many moves, or all that are left; look before each. Returns the last view."""
        view = await self._next(servers).client.view(self.game.name, self.game.spectator)
        while view.HasField("decision") and moves != 0:
            credential = self.game.seats[view.decision.seat]
            mine = await self._next(servers).client.view(self.game.name, credential)
            assert mine.version == view.version
            action = self._rng.choice(mine.decision.legal_actions)
            request = str(uuid.uuid4())
            client = self._next(servers).client
            answer = await client.submit(self.game.name, credential, [action], mine.version, request)
            view = answer.view
            moves = None if moves is None else moves - 1
        return view

    async def finish(self, servers: Sequence[Replica]) -> int:
        """Play to the end; return the version of the rules that the record names, by which it must replay."""
        view = await self.go_on(servers)
        assert view.HasField("result")
        replay = (await self._next(servers).client.replay(self.game.name, self.game.creator)).replay
        with second_known():
            record = read_record(replay.record)
            replay_record(record)
        return record.options.rules

    def _next(self, servers: Sequence[Replica]) -> Replica:
        self._calls += 1
        return servers[self._calls % len(servers)]


async def begun(at: Replica, servers: Sequence[Replica], seed: int) -> Play:
    """A game that was created at a replica, and is some moves old."""
    play = Play(await at.client.create(pb.CreateGameRequest(options=SHORT)), seed)
    await play.go_on(servers, moves=5)
    return play


async def stored(raw: aioredis.Redis, game: Game) -> list[object]:
    """All that the store holds of a game, byte for byte, and when it expires."""
    keys = (game_key(game.id), log_key(game.id))
    return [found for key in keys for found in (await raw.dump(key), await raw.pexpiretime(key))]


def seat_to_act(game: Game, view: View) -> str:
    """The credential of the seat that is to act."""
    return game.seats[view.decision.seat]


async def submit(client: Client, game: Game, view: View, request_id: str = "") -> None:
    """Make the first move that a seat may make."""
    await client.submit(game.name, seat_to_act(game, view), [view.decision.legal_actions[0]], view.version, request_id)


async def watch(client: Client, game: Game, view: View, after: int | None = None) -> None:
    """Get the first message of a watch."""
    async with aclosing(client.watch(game.name, seat_to_act(game, view), after)) as messages:
        await anext(messages)


#: A call of each method that names a game, good but for the game's rules. The view is that of the seat to act.
CALLS: Mapping[str, Callable[[Client, Game, View], Awaitable[object]]] = {
    "GetView": lambda client, game, view: client.view(game.name, game.spectator),
    "SubmitAction": submit,
    "SubmitAction, repeatable": lambda client, game, view: submit(client, game, view, str(uuid.uuid4())),
    "Resign": lambda client, game, view: client.resign(game.name, seat_to_act(game, view)),
    "ListEvents": lambda client, game, view: client.events(game.name, game.spectator),
    "GetReplay": lambda client, game, view: client.replay(game.name, game.creator),
    "RotateCredential": lambda client, game, view: client.rotate(game.name, game.creator, 0, str(uuid.uuid4())),
    "DeleteGame": lambda client, game, view: client.delete(game.name, game.creator),
    "WatchGame": watch,
    "WatchGame, resumed": lambda client, game, view: watch(client, game, view, view.version - 1),
}


def reason(message: pb.WatchTurnsResponse) -> str:
    """Why a seat can't be watched, or nothing."""
    if not message.HasField("error"):
        return ""
    return ErrorReason.Name(message.error.reason).removeprefix("ERROR_REASON_")


async def test_a_replica_refuses_a_game_of_rules_that_it_does_not_know_and_leaves_it_alone(
    pair: list[Replica], raw: aioredis.Redis
) -> None:
    old, new = pair
    await old.start(THIS_RELEASE)
    await new.start(NEXT_RELEASE)
    assert [(await replica.info()).rules_version for replica in pair] == [1, SECOND]
    request = pb.CreateGameRequest(options=SHORT, request_id=str(uuid.uuid4()))
    play = Play(await new.client.create(request), seed=1)
    game = play.game
    view = await play.go_on([new], moves=4)
    view = await new.client.view(game.name, game.seats[view.decision.seat])
    before = await stored(raw, game)
    for name, call in {**CALLS, "CreateGame, repeated": lambda *_: old.client.create(request)}.items():
        with pytest.raises(Failure) as refused:
            await call(old.client, game, view)
        assert (name, refused.value.reason) == (name, "RULES_UNKNOWN")
        assert refused.value.code == grpc.StatusCode.FAILED_PRECONDITION
        assert "version 2 of the rules, this server knows 1:" in refused.value.message
        assert await stored(raw, game) == before, name
    assert [line for line in old.log() if line["level"] == "error"] == []
    assert await play.finish([new]) == SECOND


async def test_what_is_refused_for_its_rules_would_have_been_done_where_they_are_known(pair: list[Replica]) -> None:
    """A test of the test above: its calls are good at the new replica, but for a replay before the game is over."""
    _, new = pair
    await new.start(NEXT_RELEASE)
    for name, call in CALLS.items():
        game = (await begun(new, [new], seed=1)).game
        view = await new.client.view(game.name, game.spectator)
        view = await new.client.view(game.name, seat_to_act(game, view))
        if name == "GetReplay":
            with pytest.raises(Failure, match="GAME_NOT_OVER"):
                await call(new.client, game, view)
        else:
            await call(new.client, game, view)


def game_that_only_new_rules_allow() -> tuple[Setup, list[Entry]]:
    """A whole game of the second version that can't be replayed by the first."""
    for seed in range(100):
        setup = random_setup(seed, players=2, rounds=1, deck=("coin",) * 14)
        setup = replace(setup, options=replace(setup.options, rules=SECOND))
        log: list[Entry] = []
        *_, last = positions(setup, log)
        record = Record(setup.options, commitment(setup.secret), setup.secret, entries=tuple(log), result=result(last))
        if by_first_rules(record):
            return setup, log
    raise AssertionError("none was found")


def by_first_rules(record: Record) -> str:
    """Why a game can't be replayed by the first version, or nothing."""
    try:
        replay_record(replace(record, options=replace(record.options, rules=1)))
    except RecordError as error:
        return str(error)
    return ""


async def test_a_game_is_played_by_its_own_rules(pair: list[Replica]) -> None:
    _, new = pair
    await new.start(NEXT_RELEASE)
    with second_known():
        setup, log = game_that_only_new_rules_allow()
        chosen = options.to_proto(setup.options)
        deal = pb.Deal(secret=setup.secret, villages=setup.options.villages)
        request = pb.CreateGameRequest(options=chosen, deal=deal)
        game = await new.client.create(request, new.creator_key)
        for version, entry in enumerate(log):
            action = actions.to_proto(entry.action)
            await new.client.submit(game.name, game.seats[entry.seat], [action], version)
        record = read_record((await new.client.replay(game.name, game.creator)).replay.record)
        assert [entry[:2] for entry in record.entries] == [entry[:2] for entry in log]
        replay_record(record)
        assert by_first_rules(record)


async def test_the_other_games_of_a_stream_of_turns_go_on(pair: list[Replica], raw: aioredis.Redis) -> None:
    old, new = pair
    await old.start(THIS_RELEASE)
    await new.start(NEXT_RELEASE)
    known, unknown = await begun(old, pair, seed=1), await begun(new, [new], seed=2)
    before = await stored(raw, unknown.game)
    seats = [(play.game.name, credential) for play in (unknown, known) for credential in play.game.seats]
    refused: dict[int, str] = {}
    turns = 0
    async with aclosing(old.client.turns(seats)) as messages:
        async for message in messages:
            if reason(message):
                refused[message.index] = reason(message)
                assert message.error.code == grpc.StatusCode.FAILED_PRECONDITION.value[0]
                assert "version 2 of the rules" in message.error.message
            elif message.HasField("turn"):
                turns += 1
                view = message.turn
                action = view.decision.legal_actions[0]
                await old.client.submit(view.name, seats[message.index][1], [action], view.version)
            elif message.HasField("end"):
                assert message.end.reason == pb.WATCH_END_REASON_NO_SEAT_LEFT
    assert refused == {0: "RULES_UNKNOWN", 1: "RULES_UNKNOWN"}
    assert turns > 5
    assert await stored(raw, unknown.game) == before
    assert await known.finish(pair) == 1
    assert await unknown.finish([new]) == SECOND


async def test_an_update_to_new_rules_breaks_no_table(pair: list[Replica]) -> None:
    """The new software first, everywhere, with the old rules; then the setting. Players are at either replica."""
    left, right = pair
    await left.start(THIS_RELEASE)
    await right.start(THIS_RELEASE)
    tables = [await begun(left, pair, seed=1)]
    await right.start(NEXT_RELEASE, rules="1")
    tables += [await begun(right, pair, seed=2), await begun(left, pair, seed=3)]
    await left.start(NEXT_RELEASE, rules="1")
    tables.append(await begun(left, pair, seed=4))
    await right.start(NEXT_RELEASE, rules=str(SECOND))
    tables += [await begun(left, pair, seed=5), await begun(right, pair, seed=6)]
    for play in tables:
        await play.go_on(pair, moves=4)
    await left.start(NEXT_RELEASE)
    tables.append(await begun(left, pair, seed=7))
    assert [await play.finish(pair) for play in tables] == [1, 1, 1, 1, 1, SECOND, SECOND]
    assert [line for replica in pair for line in replica.log() if line["level"] == "error"] == []


async def test_an_update_back_to_old_rules_breaks_no_table(pair: list[Replica], raw: aioredis.Redis) -> None:
    """The setting first, everywhere; then the old software, where games of the new rules are left to the other one."""
    left, right = pair
    await left.start(NEXT_RELEASE)
    await right.start(NEXT_RELEASE)
    new = [await begun(left, pair, seed=1), await begun(right, pair, seed=2)]
    await left.start(NEXT_RELEASE, rules="1")
    old = [await begun(left, pair, seed=3)]
    new.append(await begun(right, pair, seed=4))
    await right.start(NEXT_RELEASE, rules="1")
    old.append(await begun(right, pair, seed=5))
    *ended, late = new
    assert [await play.finish(pair) for play in ended] == [SECOND, SECOND]
    await right.start(THIS_RELEASE)
    before = await stored(raw, late.game)
    with pytest.raises(Failure, match="RULES_UNKNOWN"):
        await late.go_on([right])
    assert await stored(raw, late.game) == before
    old.append(await begun(right, pair, seed=6))
    for play in old:
        await play.go_on(pair, moves=4)
    assert await late.finish([left]) == SECOND
    await left.start(THIS_RELEASE)
    assert [await play.finish(pair) for play in old] == [1, 1, 1]
    assert [line for replica in pair for line in replica.log() if line["level"] == "error"] == []


async def test_a_creation_that_is_repeated_at_a_replica_with_another_setting_is_the_same_game(
    pair: list[Replica],
) -> None:
    left, right = pair
    await left.start(NEXT_RELEASE, rules="1")
    await right.start(NEXT_RELEASE)
    for first, other, rules in ((left, right, 1), (right, left, SECOND)):
        request = pb.CreateGameRequest(options=SHORT, request_id=str(uuid.uuid4()))
        game = await first.client.create(request)
        assert await other.client.create(request) == game
        assert await Play(game, seed=1).finish(pair) == rules
