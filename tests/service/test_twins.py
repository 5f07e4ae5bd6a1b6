"""Hidden twins over gRPC: what a viewer gets of two games that look the same to it is the same, byte for byte (HID-4).

A game and its twin, in which cards that the viewer has never legally seen are permuted, are put into the store with the
same name, marks and log. Then raw responses and raw trailers of all calls that show anything are compared.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from functools import cache
from random import Random
from unittest import mock

import pytest
import redis.asyncio as aioredis
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from moonvale.v1 import game_service_pb2 as pb
from moonvale_engine import (
    RULES_VERSION,
    SPECTATOR,
    Entry,
    State,
    View,
    apply,
    catalog,
    encode,
    replay,
    seat_to_act,
    views,
)
from moonvale_engine.actions import DRAW, FIELDS, PEEK, pack
from moonvale_engine.events import EVERYBODY
from moonvale_engine.state import FACEUP
from moonvale_service.about import About
from moonvale_service.convert import events as convert_events
from moonvale_service.convert import replays as convert_replays
from moonvale_service.convert import views as convert_views
from moonvale_service.convert.actions import to_proto
from moonvale_service.credentials import Credential, Keys, Role, load_keys
from moonvale_service.store import Commit
from moonvale_service.store.log_codec import MARK_BYTES, encode_entry
from moonvale_service.store.redis_store import RedisStore
from tests.service.client import Client, Failure
from tests.service.servers import RunningServer
from tests.support.playing import Setup, positions, random_setup
from tests.support.servers import StoreServer
from tests.support.twins import dealt, same_to, twin_deal

GAME = "a" * 20
NAME = f"games/{GAME}"
MOST_SEEDS = 400
REFUSED_ACTIONS = 8
SHARDS = 4  # of the kinds of frame, so that the tests' workers share them


@dataclass
class Case:
    """A game that stands at a decision of one kind of frame."""

    setup: Setup
    log: list[Entry]
    state: State


@cache
def cases() -> dict[str, Case]:
    """Return a game for each step that asks, found by playing at random."""
    rules = catalog.rules_of(RULES_VERSION)
    asking = {
        (program, step): f"{rules.program_names[program]}.{step}"
        for program, steps in enumerate(rules.programs)
        for step, one in enumerate(steps)
        if one.kind >= 0
    }
    found: dict[str, Case] = {}
    for seed in range(MOST_SEEDS):
        setup = random_setup(seed, memory="table" if seed % 3 == 0 else "assisted")
        log: list[Entry] = []
        for s in positions(setup, log):
            name = asking.get((s.program, s.step)) if s.stack else None
            if log and name is not None and name not in found:
                found[name] = Case(setup, log[:], s.copy())
        if len(found) == len(asking):
            break
    assert set(found) == set(asking.values())
    return found


class Probe:
    """Everything that a viewer can ask of the game, as raw bytes and raw trailers."""

    def __init__(self, client: Client, keys: Keys, viewer: int) -> None:
        role = Role.SPECTATOR if viewer == SPECTATOR else Role.SEAT
        seat = None if viewer == SPECTATOR else viewer
        self._client = client
        self._credential = keys.token(Credential(GAME, role, seat))

    async def ask(self, version: int, refused: list[int], *, is_told: bool) -> list[object]:
        """Return the answers of all calls that change nothing, those that are refused included."""
        answers = [
            await self._call("GetView", pb.GetViewRequest(name=NAME)),
            await self._call("ListEvents", pb.ListEventsRequest(parent=NAME, page_size=1000)),
            await self._call("GetReplay", pb.GetReplayRequest(name=NAME)),
            await self._call("DeleteGame", pb.DeleteGameRequest(name=NAME)),
            await self.submit(version + 1, [DRAW]),
            await self.submit(max(version - 2, 0), [DRAW]),
            await self.submit(version, [DRAW, DRAW]),
            [message async for message in self._watch(version)],
            await self._turn() if is_told else None,
        ]
        return answers + [await self.submit(version, [action]) for action in refused]

    async def submit(self, version: int, actions: list[int]) -> object:
        """Return what these actions come to."""
        messages = [to_proto(action) for action in actions]
        return await self._call("SubmitAction", pb.SubmitActionRequest(name=NAME, actions=messages, version=version))

    async def _call(self, method: str, request: Message) -> object:
        try:
            return await self._client.raw(method, request.SerializeToString(), self._credential)
        except Failure as failure:
            return (failure.code, failure.message, failure.trailers)

    async def _turn(self) -> object:
        """Return what a watch of turns tells at once, or that who looks on has no turn."""
        request = pb.WatchTurnsRequest(seats=[pb.WatchedSeat(name=NAME, credential=self._credential)])
        async with aclosing(self._client.raw_stream("WatchTurns", request.SerializeToString())) as messages:
            try:
                return await anext(messages)
            except Failure as failure:
                return (failure.code, failure.message, failure.trailers)

    async def _watch(self, version: int) -> AsyncIterator[bytes]:
        """Yield the view and all entries that a watch from the beginning brings."""
        request = pb.WatchGameRequest(name=NAME, after_version=0, after_mark=bytes(MARK_BYTES).hex())
        count = 0
        raw = request.SerializeToString()
        async with aclosing(self._client.raw_stream("WatchGame", raw, self._credential)) as messages:
            async for message in messages:
                yield message
                count += 1
                if count == version + 1:
                    return


async def put(raw: aioredis.Redis, url: str, case: Case) -> State:
    """Make the store hold the game, as it is dealt now, and nothing else; return its state."""
    await raw.flushall()
    setup = case.setup
    start = replay(setup.options, setup.secret, (), ())
    state = replay(setup.options, setup.secret, (), case.log)
    store = RedisStore(url, 10.0)
    first = bytes(MARK_BYTES)
    await store.create(GAME, digest=bytes(8), mark=first, state=encode(start), meta=About().encode(), expiry=0)
    if case.log:
        mark = bytes(range(MARK_BYTES))
        entries = [encode_entry(mark, entry) for entry in case.log]
        change = Commit(0, first, About().encode(), mark, encode(state), entries, None, b"", 0)
        assert (await store.commit(GAME, change)).refused is None
    await store.close()
    return state


class Table:
    """The server, its store, and whoever asks."""

    def __init__(self, server: RunningServer, raw: aioredis.Redis, url: str) -> None:
        self._server = server
        self._raw = raw
        self._url = url

    def client(self, server: RunningServer) -> Client:
        """Return what the viewer asks with."""
        return Client(server.address)

    async def answers(self, case: Case, viewer: int, refused: list[int], action: int | None) -> list[object]:
        """Return all that the viewer gets of the game as it is dealt now; last, what its own action comes to."""
        await put(self._raw, self._url, case)
        async with self.client(self._server) as client:
            probe = Probe(client, load_keys(self._server.settings, make=False), viewer)
            answers = await probe.ask(len(case.log), refused, is_told=viewer in (seat_to_act(case.state), SPECTATOR))
            if action is not None:
                answers.append(await probe.submit(len(case.log), [action]))
        return answers

    async def differences(self, case: Case, viewer: int, rng: Random) -> list[int]:
        """Return which answers differ between the game and a twin of it."""
        deal = twin_deal(case.state, viewer, rng)
        with dealt(deal):
            twin = replay(case.setup.options, case.setup.secret, (), case.log)
        refused = [action for action in some_actions(rng) if action not in case.state.choices]
        action = harmless_action(case.state, twin, viewer, rng)
        told = await self.answers(case, viewer, refused, action)
        with dealt(deal):
            told_of_twin = await self.answers(case, viewer, refused, action)
        return [i for i, (one, other) in enumerate(zip(told, told_of_twin, strict=True)) if one != other]


def some_actions(rng: Random) -> list[int]:
    """Return a few well-formed actions of any kind."""
    verbs = rng.sample(range(len(FIELDS)), REFUSED_ACTIONS)
    return [pack(verb, *[rng.randrange(2) for _ in FIELDS[verb][1]]) for verb in verbs if verb != PEEK]


def harmless_action(s: State, twin: State, viewer: int, rng: Random) -> int | None:
    """Return an action of the viewer's that shows it no card in which the twins differ."""
    if seat_to_act(s) != viewer:
        return None
    actions = s.choices[:]
    rng.shuffle(actions)
    for action in actions:
        one, other = s.copy(), twin.copy()
        apply(one, action)
        apply(other, action)
        if one.round == s.round and not one.is_over() and same_to(one, other, viewer):
            return action
    return None


@contextmanager
def times_and_marks_equal() -> Iterator[None]:
    """Within, times and marks, which differ between any two games, are equal."""
    with ExitStack() as stack:
        for module in (convert_events, convert_replays, convert_views):
            stack.enter_context(mock.patch.object(module, "timestamp", return_value=Timestamp()))
        stack.enter_context(mock.patch("moonvale_service.commits.os.urandom", bytes))
        yield


@pytest.fixture
def table(server: RunningServer, raw: aioredis.Redis, valkey: StoreServer) -> Iterator[Table]:
    with times_and_marks_equal():
        yield Table(server, raw, valkey.url)


@pytest.mark.parametrize("shard", range(SHARDS))
async def test_a_viewer_gets_the_same_bytes_of_twins(table: Table, shard: int) -> None:
    for name in sorted(cases())[shard::SHARDS]:
        case = cases()[name]
        rng = Random(name)
        to_act = seat_to_act(case.state)
        other = (to_act + 1) % case.setup.options.players
        for viewer in (to_act, other, SPECTATOR):
            assert await table.differences(case, viewer, rng) == [], f"{name}, viewer {viewer}"


async def test_a_planted_leak_is_found(table: Table) -> None:
    """A test of the test: one facedown card of another village that a view shows is found in the bytes."""
    honest = views.view

    def leaky(s: State, viewer: int) -> View:
        seen = s.copy()
        hidden = s.villages[0][0]
        seen.flags[hidden] |= FACEUP
        seen.known[hidden] = EVERYBODY
        return honest(seen, viewer)

    case = cases()["round.1"]
    rng = Random(1)
    with mock.patch.object(views, "view", leaky):
        found = [await table.differences(case, SPECTATOR, rng) for _ in range(6)]
    assert any(found)
