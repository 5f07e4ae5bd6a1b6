"""The store on more than one server: a promoted replica and a cluster; what WAIT saves, and what is lost without it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
import redis
import redis.asyncio as aioredis
from redis.asyncio.cluster import RedisCluster
from redis.crc import key_slot

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_client import Action, AsyncClient, LogEntry, Result, RetryPolicy, View, play_seats
from moonvale_service import tasks
from moonvale_service.credentials import load_keys
from moonvale_service.store import GameMissingError, StoreUnavailableError
from moonvale_service.store.changes import Changes
from moonvale_service.store.redis_store import RedisStore, game_key, shard_of
from tests.service.client import Client, Failure, play
from tests.service.moments import give_up_at_any_moment
from tests.service.servers import start_server
from tests.service.test_store import (
    ANOTHER,
    GAME,
    MARKS,
    TIMEOUT,
    change,
    create,
    test_a_commit_appends_to_the_log_and_makes_the_version_its_length,
    test_a_commit_that_is_repeated_since_its_answer_was_lost_is_made_once,
    test_a_commit_upon_another_version_mark_or_meta_changes_nothing,
    test_a_deleted_game_stays_deleted,
    test_a_game_is_kept_byte_for_byte,
    test_a_log_that_does_not_fit_its_version_is_not_appended_to,
    test_a_second_create_finds_the_first_and_changes_nothing,
    test_an_unknown_game_is_missing_for_every_step,
    test_expiry_begins_anew_with_each_commit,
    test_games_are_listed_in_one_order_from_any_of_them_on,
    test_of_many_commits_at_once_one_is_made,
    test_times_in_a_log_never_go_back,
    test_what_is_kept_beside_the_play_is_replaced_if_it_is_what_the_caller_knows,
)
from tests.support.servers import (
    CLUSTER_SLOTS,
    StoreServer,
    promote,
    running,
    running_cluster,
    running_pair,
    take_over,
    valkey_program,
)

# The tests of test_store.py that hold wherever the keys lie; the fixtures here give them each topology.
__all__ = [
    "test_a_commit_appends_to_the_log_and_makes_the_version_its_length",
    "test_a_commit_that_is_repeated_since_its_answer_was_lost_is_made_once",
    "test_a_commit_upon_another_version_mark_or_meta_changes_nothing",
    "test_a_deleted_game_stays_deleted",
    "test_a_game_is_kept_byte_for_byte",
    "test_a_log_that_does_not_fit_its_version_is_not_appended_to",
    "test_a_second_create_finds_the_first_and_changes_nothing",
    "test_an_unknown_game_is_missing_for_every_step",
    "test_expiry_begins_anew_with_each_commit",
    "test_games_are_listed_in_one_order_from_any_of_them_on",
    "test_of_many_commits_at_once_one_is_made",
    "test_times_in_a_log_never_go_back",
    "test_what_is_kept_beside_the_play_is_replaced_if_it_is_what_the_caller_knows",
]

SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1))
WAIT_TIMEOUT = 1.0


def cluster_url(servers: list[StoreServer]) -> str:
    return servers[0].url.replace("redis://", "redis+cluster://")


@pytest.fixture(scope="module")
def whole_cluster() -> Iterator[list[StoreServer]]:
    with running_cluster(valkey_program()) as servers:
        yield servers


@pytest.fixture
def cluster(whole_cluster: list[StoreServer]) -> list[StoreServer]:
    """Three masters, empty."""
    for server in whole_cluster:
        with redis.Redis.from_url(server.url) as raw:
            raw.flushall()
    return whole_cluster


@pytest.fixture
def pair() -> Iterator[tuple[StoreServer, StoreServer]]:
    """A server and its replica."""
    with running_pair(valkey_program()) as pair:
        yield pair


@pytest.fixture(params=["single", "promoted", "cluster"])
def store_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each topology's URL: one server, a replica whose master is gone, three masters."""
    if request.param == "single":
        with running(valkey_program()) as server:
            yield server.url
    elif request.param == "promoted":
        master, replica = request.getfixturevalue("pair")
        promote(replica)
        master.kill()
        yield replica.url
    else:
        yield cluster_url(request.getfixturevalue("cluster"))


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[RedisStore]:
    store = RedisStore(store_url, TIMEOUT)
    yield store
    await store.close()


@pytest.fixture
async def raw(store_url: str) -> AsyncIterator[aioredis.Redis | RedisCluster]:
    if "+cluster" in store_url:
        async with RedisCluster.from_url(store_url.replace("+cluster", "")) as cluster:
            yield cluster
    else:
        async with aioredis.Redis.from_url(store_url) as single:
            yield single


async def test_a_step_that_is_given_up_ends(store: RedisStore) -> None:
    await store.size(7)  # which finds the servers of a cluster, and is redis-py's own affair
    await give_up_at_any_moment(lambda: store.size(7))
    assert await store.size(7) == 0


async def test_a_promoted_replica_has_all_that_was_acknowledged(pair: tuple[StoreServer, StoreServer]) -> None:
    master, replica = pair
    store = RedisStore(master.url, TIMEOUT, replicated=True)
    games = [f"a{letter}{GAME[2:]}" for letter in "abcdefghij"]
    acknowledged = dict.fromkeys(games, -1)
    halfway = asyncio.Event()

    async def play_on(game: str) -> None:
        await create(store, game)
        for version in range(len(MARKS) - 1):
            acknowledged[game] = version
            if sum(acknowledged.values()) > 100:
                halfway.set()
            await store.commit(game, change(version))

    playing = [asyncio.create_task(play_on(game)) for game in games]
    await asyncio.wait_for(halfway.wait(), 60)
    master.kill()
    await tasks.end(*playing)
    await store.close()
    promote(replica)
    survivor = RedisStore(replica.url, TIMEOUT)
    for game in games:
        record, log, _ = await survivor.read_log(game, 0)
        assert record.version >= acknowledged[game]
        assert [mark for mark, _ in log] == MARKS[1 : record.version + 1]
        assert (await survivor.commit(game, replace(change(record.version), new_mark=MARKS[0]))).refused is None
    await survivor.close()


async def test_without_a_replica_nothing_is_acknowledged_and_a_repeat_repairs_it(
    pair: tuple[StoreServer, StoreServer],
) -> None:
    master, replica = pair
    store = RedisStore(master.url, WAIT_TIMEOUT, replicated=True)
    replica.pause()
    with pytest.raises(StoreUnavailableError):
        await create(store)
    with pytest.raises(StoreUnavailableError):
        await create(store)  # it is there, but nobody may rely on it yet
    replica.resume()
    await create(store)
    replica.pause()
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            await store.commit(GAME, change(0))
    with pytest.raises(StoreUnavailableError):
        await store.settle(GAME)
    replica.resume()
    assert (await store.commit(GAME, change(0))).refused is None
    await store.settle(GAME)
    replica.pause()
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            await store.delete(GAME)
    replica.resume()
    await store.delete(GAME)
    promote(replica)
    survivor = RedisStore(replica.url, TIMEOUT)
    with pytest.raises(GameMissingError):
        await survivor.read(GAME)
    await store.close()
    await survivor.close()


async def test_the_same_request_repairs_a_call_that_no_replica_confirmed(
    pair: tuple[StoreServer, StoreServer], tmp_path: Path
) -> None:
    master, replica = pair
    settings = {"durability": "replicated", "store_timeout": "1s"}
    one = await start_server(master.url, tmp_path, **settings)
    other = await start_server(master.url, tmp_path, **settings)
    async with Client(one.address) as client, Client(other.address) as another:
        created = pb.CreateGameRequest(options=SHORT.options, request_id="a secret of some length")
        replica.pause()
        for caller in (client, another):
            with pytest.raises(Failure, match="STORE_UNAVAILABLE"):
                await caller.create(created)
        replica.resume()
        game = await another.create(created)
        seat = game.view.decision.seat
        action = (await client.view(game.name, game.seats[seat])).decision.legal_actions[0]
        replica.pause()
        for caller in (client, another):  # the other one finds the answer in the ring, and may not give it yet
            with pytest.raises(Failure) as raised:
                await caller.submit(game.name, game.seats[seat], [action], 0, "a request")
            assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
            with pytest.raises(Failure, match="STORE_UNAVAILABLE"):
                await caller.resign(game.name, game.seats[1 - seat])
        replica.resume()
        assert (await another.submit(game.name, game.seats[seat], [action], 0, "a request")).version == 1
        assert (await client.resign(game.name, game.seats[1 - seat])).version == 2
        assert (await client.view(game.name, game.spectator)).version == 2
    await one.stop()
    await other.stop()


async def test_a_failover_that_lost_what_was_not_replicated_is_noticed(
    pair: tuple[StoreServer, StoreServer], tmp_path: Path
) -> None:
    master, replica = pair
    server = await start_server(master.url, tmp_path)
    async with Client(server.address) as client:
        game = await client.create(SHORT)
        kept = await play(client, game, seed=3, moves=3)
        with redis.Redis.from_url(master.url) as raw:
            raw.set("last", "write")
            assert raw.wait(1, 10_000) == 1
        promote(replica)  # while the old one still serves: what it takes from now on is lost
        lost = await play(client, game, seed=3, moves=2)
    master.kill()
    await server.stop()
    server = await start_server(replica.url, tmp_path)
    async with Client(server.address) as client:
        assert (await client.view(game.name, game.spectator)).version == kept.version == 3
        with pytest.raises(Failure, match="HISTORY_REWOUND"):
            await anext(client.watch(game.name, game.spectator, lost.version, lost.mark))
        again = await play(client, game, seed=7, moves=2)
        assert (again.version, again.mark == lost.mark) == (lost.version, False)
        with pytest.raises(Failure, match="HISTORY_REWOUND"):
            await anext(client.watch(game.name, game.spectator, lost.version, lost.mark))
        async with aclosing(client.watch(game.name, game.spectator, kept.version, kept.mark)) as told:
            assert [(await anext(told)).WhichOneof("content") for _ in range(3)] == ["view", "entry", "entry"]
    await server.stop()


async def test_games_are_spread_over_the_servers_of_a_cluster_and_heard_from_all(cluster: list[StoreServer]) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    gaps: asyncio.Queue[int] = asyncio.Queue()
    url = cluster_url(cluster)
    changes = Changes(url, TIMEOUT, on_change=heard.put_nowait, on_gap=gaps.put_nowait)
    # Six games, two for each third of the slots.
    ids = [first + second + GAME[2:] for first in "abc" for second in "abcdefghijklmnopqrstuvwxyz"]
    games = [[game for game in ids if owner(game, 3) == server][i] for server in range(3) for i in range(2)]
    for game in games:
        changes.listen(game)
    listening = asyncio.create_task(changes.run())
    assert {await gaps.get() for _ in games} == {shard_of(game) for game in games}
    store = RedisStore(url, TIMEOUT)
    await store.ping()
    for game in games:
        await create(store, game)
        await store.commit(game, change(0))
        assert await heard.get() == game
    for server in cluster:
        with redis.Redis.from_url(server.url) as raw:
            assert raw.dbsize() > 0
    listening.cancel()
    await asyncio.wait([listening])
    await store.close()


async def test_a_game_is_played_on_and_watched_while_its_slot_moves() -> None:
    with running_cluster(valkey_program()) as servers:
        url = cluster_url(servers)
        heard: asyncio.Queue[str] = asyncio.Queue()
        gaps: asyncio.Queue[int] = asyncio.Queue()
        changes = Changes(url, TIMEOUT, on_change=heard.put_nowait, on_gap=gaps.put_nowait)
        changes.listen(GAME)
        listening = asyncio.create_task(changes.run())
        await gaps.get()
        store = RedisStore(url, TIMEOUT)
        await create(store)
        await create(store, ANOTHER)
        await store.commit(GAME, change(0))
        assert await heard.get() == GAME
        await asyncio.to_thread(move_slot, servers, GAME)
        await asyncio.wait_for(gaps.get(), 30)
        committed = await store.commit(GAME, change(1))
        assert committed.refused is None
        assert await heard.get() == GAME
        assert (await store.read_log(GAME, 0))[0].version == 2
        assert (await store.read(ANOTHER)).version == 0
        listening.cancel()
        await asyncio.wait([listening])
        await store.close()


class Noting(AsyncClient):
    """A client that repeats what fails, and notes which changes of games were acknowledged."""

    def __init__(self, address: str) -> None:
        super().__init__(address, retry=RetryPolicy(timeout=60, longest_pause=0.2))
        self.acknowledged: list[tuple[str, int, str]] = []
        self.halfway = asyncio.Event()

    async def submit_action(
        self, game: str, credential: str, actions: Action | Sequence[Action], version: int, request_id: str = ""
    ) -> pb.SubmitActionResponse:
        answer = await super().submit_action(game, credential, actions, version, request_id)
        self.acknowledged.append((game, answer.version, answer.mark))
        if len(self.acknowledged) == 60:
            self.halfway.set()
        return answer


@pytest.mark.parametrize("elected", [False, True], ids=["told to", "elected"])
async def test_when_a_replica_takes_over_in_a_cluster_nothing_is_lost_and_the_service_goes_on(
    tmp_path: Path, elected: bool
) -> None:
    with running_cluster(valkey_program(), replicas=2, node_timeout=1.0 if elected else 60.0) as servers:
        url = cluster_url(servers)
        server = await start_server(url, tmp_path, durability="replicated", store_timeout="2s", poll="1h")
        keys = load_keys(server.settings, make=False)
        requests = (f"a request id, number {number}" for number in range(1000))
        here = [request for request in requests if owner(keys.game_id(request), 3) == 0][:6]
        rng = Random(1)

        def choose(view: View) -> Action:
            return rng.choice(view.decision.legal_actions)

        async with Noting(server.address) as client, asyncio.timeout(100):
            options = Options(players=2, rounds=1, turn_limit=12)
            games = [await client.create_game(options, request_id=request) for request in here]
            watches = [asyncio.create_task(follow(client, game)) for game in games]
            seats = [(game.name, credential) for game in games for credential in game.seat_credentials]
            playing = asyncio.create_task(play_seats(client, seats, choose))
            await client.halfway.wait()
            servers[0].kill()
            if not elected:
                take_over(servers[3])
            assert not playing.done()
            results = await playing
            assert all(isinstance(result, Result) for result in results)
            marks = {}
            for game, watch in zip(games, watches, strict=True):
                entries = [entry async for entry in client.list_events(game.name, game.spectator_credential)][1:]
                assert await watch == entries  # through subscriptions that have followed: nothing is polled
                marks.update({(game.name, entry.version): entry.mark for entry in entries})
            assert {(game, version): mark for game, version, mark in client.acknowledged} == marks
        with redis.Redis.from_url(servers[3].url) as one, redis.Redis.from_url(servers[4].url) as other:
            assert sorted([one.role()[0], other.role()[0]]) == [b"master", b"slave"]
        await server.stop()


async def follow(client: AsyncClient, game: pb.CreateGameResponse) -> list[LogEntry]:
    """All entries of a game but the creation, as a watch tells them."""
    async with aclosing(client.watch(game.name, game.spectator_credential, after_version=0)) as updates:
        return [update async for update in updates if isinstance(update, LogEntry)]


def owner(game: str, servers: int) -> int:
    """Which of the servers of a new cluster has a game."""
    return key_slot(game_key(game).encode()) * servers // CLUSTER_SLOTS


def move_slot(servers: list[StoreServer], game: str) -> None:
    """Move a game's slot, with its keys, from the server that has it to the next one."""
    raws: list[Any] = [redis.Redis.from_url(server.url) for server in servers]
    slot = key_slot(game_key(game).encode())
    ids = [raw.execute_command("CLUSTER MYID").decode() for raw in raws]
    at = owner(game, len(servers))
    to = (at + 1) % len(servers)
    raws[to].execute_command("CLUSTER SETSLOT", slot, "IMPORTING", ids[at])
    raws[at].execute_command("CLUSTER SETSLOT", slot, "MIGRATING", ids[to])
    port = int(servers[to].url.rpartition(":")[2].partition("/")[0])
    for key in raws[at].execute_command("CLUSTER GETKEYSINSLOT", slot, 100):
        raws[at].execute_command("MIGRATE", "127.0.0.1", port, key, 0, 5000)
    for raw in (raws[to], raws[at]):
        raw.execute_command("CLUSTER SETSLOT", slot, "NODE", ids[to])
    for raw in raws:
        raw.close()


async def test_games_of_a_service_are_played_and_watched_on_a_cluster(
    cluster: list[StoreServer], tmp_path: Path
) -> None:
    server = await start_server(cluster_url(cluster), tmp_path, poll="1h")
    async with Client(server.address) as client:
        for seed in range(2):
            game = await client.create(SHORT)
            async with aclosing(client.watch(game.name, game.spectator)) as told:
                await anext(told)
                last = await play(client, game, seed)
                entries = [message.entry async for message in told if message.HasField("entry")]
            assert [entry.version for entry in entries] == list(range(1, last.version + 1))
    await server.stop()
