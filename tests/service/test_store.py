"""The store keeps bytes as they are, changes a game whole or not at all, and knows what it has done before."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import redis
import redis.asyncio as aioredis
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ResponseError

from moonvale_engine.log import CAUSES, RESIGNATION, TABLE_ENTRIES, Entry
from moonvale_service.store import Amendment, Commit, GameMissingError, StoreUnavailableError
from moonvale_service.store.changes import Changes
from moonvale_service.store.log_codec import (
    RING_SIZE,
    Answer,
    LogError,
    MarkedEntry,
    add_answer,
    content_digest,
    decode_entry,
    encode_entry,
    find_answer,
    pack_log,
    request_key,
    unpack_log,
)
from moonvale_service.store.redis_store import RedisStore, channel, game_key, is_game_id, log_key, shard_of
from tests.support.servers import StoreServer, running, valkey_program

GAME = "q7xw3m6d4c2h5r2tk5w2"
ANOTHER = "a7xw3m6d4c2h5r2tk5w2"
ALL_BYTES = bytes(range(256))
MARKS = [bytes((0, 13, 10, i, 255, 0, 0, i)) for i in range(50)]
HOUR = 3_600_000
TIMEOUT = 10.0


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[RedisStore]:
    store = RedisStore(store_url, TIMEOUT)
    yield store
    await store.close()


@pytest.fixture
async def raw(store_url: str) -> AsyncIterator[aioredis.Redis]:
    async with aioredis.Redis.from_url(store_url) as client:
        yield client


async def create(store: RedisStore, game: str = GAME, state: bytes = b"state 0", expiry: int = 0) -> None:
    await store.create(game, digest=b"digest", mark=MARKS[0], state=state, meta=b"meta", expiry=expiry)


def change(version: int, *, mark: int | None = None, entries: int = 1, expiry: int = 0, keep_from: int = 0) -> Commit:
    """The change from a version, with the marks of the same numbers."""
    new_mark = MARKS[version + entries if mark is None else mark]
    return Commit(
        version,
        MARKS[version],
        b"meta",
        new_mark,
        b"state %d" % (version + entries),
        [encode_entry(new_mark, Entry(seat=i, action=1000 + i)) for i in range(entries)],
        None,
        b"",
        expiry,
        keep_from,
    )


async def everything(raw: aioredis.Redis) -> dict[bytes, bytes | None]:
    """All that the server holds."""
    return {key: await raw.dump(key) async for key in raw.scan_iter()}


@pytest.mark.parametrize(
    "entry",
    [Entry(0, 0), Entry(3, 127), Entry(1, 128), Entry(2, (1 << 24) - 1), Entry(0, RESIGNATION, cause=7)],
)
def test_a_log_entry_round_trips(entry: Entry) -> None:
    stored = (1_234_567_890_123).to_bytes(8, "big") + encode_entry(MARKS[7], entry)
    assert decode_entry(stored) == (MARKS[7], entry._replace(time=1_234_567_890_123))


@given(
    st.lists(
        st.builds(
            Entry,
            st.integers(0, 3),
            st.integers(min(TABLE_ENTRIES), (1 << 24) - 1),
            st.integers(0, len(CAUSES) - 1),
            st.integers(1_000_000_000_000, 2_000_000_000_000),
        ),
        max_size=30,
    )
)
def test_a_packed_log_has_all_but_the_marks(entries: list[Entry]) -> None:
    log = [MarkedEntry(MARKS[3], entry) for entry in sorted(entries, key=lambda entry: entry.time)]
    assert unpack_log(pack_log(log)) == [MarkedEntry(b"", each.entry) for each in log]


@pytest.mark.parametrize("data", [b"", b"no log", pack_log([MarkedEntry(b"", Entry(0, 5, 0, 9))])[:-1]])
def test_what_is_no_packed_log_is_refused(data: bytes) -> None:
    with pytest.raises(LogError):
        unpack_log(data)


async def test_a_log_is_packed_unless_its_game_has_changed(store: RedisStore) -> None:
    await create(store)
    for version in range(3):
        assert (await store.commit(GAME, change(version))).refused is None
    before, log, _ = await store.read_log(GAME, 0)
    await store.pack(GAME, 2, before.mark, log)
    await store.pack(GAME, 3, MARKS[2], log)
    assert await store._link.run(log_key(GAME), ("EXISTS", log_key(GAME))) == [1]
    await store.pack(GAME, 3, before.mark, log)
    await store.pack(GAME, 3, before.mark, log)  # a repeat is no harm
    assert await store._link.run(log_key(GAME), ("EXISTS", log_key(GAME))) == [0]
    after, packed, _ = await store.read_log(GAME, 0)
    assert after == before
    assert [each.entry for each in packed] == [each.entry for each in log]
    assert [each.entry for each in (await store.read_log(GAME, 2))[1]] == [log[2].entry]


def test_the_ring_forgets_the_oldest_answer_first() -> None:
    ring = b""
    for version in range(RING_SIZE + 1):
        ring = add_answer(ring, request_key(f"request {version}"), Answer(content_digest(b"%d" % version), version))
    assert find_answer(ring, request_key("request 0")) is None
    for version in range(1, RING_SIZE + 1):
        expected = Answer(content_digest(b"%d" % version), version)
        assert find_answer(ring, request_key(f"request {version}")) == expected


def test_keys_of_a_game_share_one_of_1024_hash_tags() -> None:
    assert game_key(GAME) == f"mv:{{0543}}:g:{GAME}"
    assert log_key(GAME) == f"mv:{{0543}}:l:{GAME}"
    assert channel(shard_of(GAME)) == "mv:{0543}:c"
    assert shard_of("aa" + GAME[2:]) == 0
    assert shard_of("77" + GAME[2:]) == 1023
    assert is_game_id(GAME)
    for wrong in (GAME[1:], GAME + "a", GAME.upper(), "1" + GAME[1:], "", GAME + "\n"):
        assert not is_game_id(wrong)


async def test_a_game_is_kept_byte_for_byte(store: RedisStore) -> None:
    made = await store.create(GAME, digest=ALL_BYTES, mark=MARKS[0], state=ALL_BYTES, meta=ALL_BYTES, expiry=0)
    found = await store.read(GAME)
    assert found == made
    assert (found.version, found.mark, found.first_mark) == (0, MARKS[0], MARKS[0])
    assert (found.state, found.meta, found.digest, found.ring) == (ALL_BYTES, ALL_BYTES, ALL_BYTES, b"")
    assert found.created == found.updated > 1_600_000_000_000


async def test_a_second_create_finds_the_first_and_changes_nothing(store: RedisStore, raw: aioredis.Redis) -> None:
    await create(store)
    before = await everything(raw)
    found = await store.create(GAME, digest=b"other", mark=MARKS[9], state=b"other", meta=b"other", expiry=1)
    assert (found.digest, found.state, found.mark) == (b"digest", b"state 0", MARKS[0])
    assert await everything(raw) == before


async def test_a_commit_appends_to_the_log_and_makes_the_version_its_length(store: RedisStore) -> None:
    await create(store)
    first = await store.commit(GAME, replace(change(0), slot=2, ring=ALL_BYTES))
    second = await store.commit(GAME, change(1, entries=2))
    assert first.refused is None
    assert second.refused is None
    record, log, now = await store.read_log(GAME, 0)
    assert (record.version, record.mark, record.state) == (3, MARKS[3], b"state 3")
    assert [(mark, entry.seat, entry.action) for mark, entry in log] == [
        (MARKS[1], 0, 1000),
        (MARKS[3], 0, 1000),
        (MARKS[3], 1, 1001),
    ]
    assert [entry.time for _, entry in log] == [first.time, second.time, second.time]
    assert record.created <= first.time <= second.time == record.updated <= now
    assert (await store.read(GAME, 2)).ring == ALL_BYTES
    assert (await store.read(GAME, 0)).ring == b""
    _, tail, _ = await store.read_log(GAME, 2)
    assert tail == log[2:]


@pytest.mark.parametrize(
    "stale",
    [
        change(0, mark=9),
        replace(change(1), mark=MARKS[8]),
        replace(change(2), mark=MARKS[1]),
        replace(change(1), meta=b"before it was amended"),
    ],
)
async def test_a_commit_upon_another_version_mark_or_meta_changes_nothing(
    store: RedisStore, raw: aioredis.Redis, stale: Commit
) -> None:
    await create(store)
    await store.commit(GAME, replace(change(0), slot=1, ring=b"ring"))
    before = await everything(raw)
    refused = (await store.commit(GAME, replace(stale, slot=1, ring=b"new ring"))).refused
    assert refused is not None
    assert (refused.version, refused.mark, refused.state, refused.ring) == (1, MARKS[1], b"state 1", b"ring")
    assert await everything(raw) == before


async def test_a_commit_that_is_repeated_since_its_answer_was_lost_is_made_once(
    store: RedisStore, raw: aioredis.Redis
) -> None:
    await create(store)
    first = await store.commit(GAME, change(0))
    before = await everything(raw)
    assert await store.commit(GAME, change(0)) == first
    assert await everything(raw) == before
    await store.commit(GAME, change(1))
    assert await store.commit(GAME, change(0)) == first  # even when others came after it


async def test_of_many_commits_at_once_one_is_made(store: RedisStore) -> None:
    await create(store)
    outcomes = await asyncio.gather(*(store.commit(GAME, change(0, mark=i)) for i in range(1, 21)))
    assert sum(outcome.refused is None for outcome in outcomes) == 1
    record, log, _ = await store.read_log(GAME, 0)
    assert (record.version, len(log), record.mark) == (1, 1, log[0].mark)


async def test_times_in_a_log_never_go_back(store: RedisStore, raw: aioredis.Redis) -> None:
    await create(store)
    await raw.hset(game_key(GAME), "u", "9000000000000")
    committed = await store.commit(GAME, change(0))
    assert committed.time == 9_000_000_000_000
    assert (await store.read_log(GAME, 0))[1][0].entry.time == 9_000_000_000_000


async def test_a_log_that_does_not_fit_its_version_is_not_appended_to(store: RedisStore, raw: aioredis.Redis) -> None:
    await create(store)
    await store.commit(GAME, change(0))
    await raw.delete(log_key(GAME))
    with pytest.raises(ResponseError):
        await store.commit(GAME, change(1))
    assert (await store.read(GAME)).version == 1


async def test_expiry_begins_anew_with_each_commit(store: RedisStore, raw: aioredis.Redis) -> None:
    await create(store, expiry=HOUR)
    assert 0 < await raw.pttl(game_key(GAME)) <= HOUR
    committed = await store.commit(GAME, change(0, expiry=2 * HOUR))
    for key in (game_key(GAME), log_key(GAME)):
        assert await raw.pexpiretime(key) == committed.time + 2 * HOUR
    await store.commit(GAME, change(1, expiry=HOUR, keep_from=committed.time + 7 * HOUR))
    for key in (game_key(GAME), log_key(GAME)):
        assert await raw.pexpiretime(key) == committed.time + 8 * HOUR
    await store.commit(GAME, change(2, expiry=0))
    for key in (game_key(GAME), log_key(GAME)):
        assert await raw.pttl(key) == -1


async def test_an_unknown_game_is_missing_for_every_step(store: RedisStore, raw: aioredis.Redis) -> None:
    with pytest.raises(GameMissingError):
        await store.read(GAME)
    with pytest.raises(GameMissingError):
        await store.read_log(GAME, 0)
    with pytest.raises(GameMissingError):
        await store.commit(GAME, change(0))
    with pytest.raises(GameMissingError):
        await store.delete(GAME)
    assert await everything(raw) == {}


async def test_a_deleted_game_stays_deleted(store: RedisStore, raw: aioredis.Redis) -> None:
    await create(store)
    await store.commit(GAME, change(0))
    await store.delete(GAME)
    assert await raw.hgetall(game_key(GAME)) == {b"x": b"1"}
    assert await store._link.run(log_key(GAME), ("EXISTS", log_key(GAME))) == [0]
    assert 0 < await raw.pttl(game_key(GAME)) <= 24 * HOUR
    await store.delete(GAME)
    with pytest.raises(GameMissingError):
        await store.read(GAME)
    with pytest.raises(GameMissingError):
        await create(store)  # a CreateGame that was long on its way


async def test_a_server_that_is_gone_is_unavailable_within_the_timeout(valkey: StoreServer) -> None:
    store = RedisStore(valkey.url, 0.2)
    await create(store)
    valkey.stop()
    with pytest.raises(StoreUnavailableError):
        await store.read(GAME)
    await store.close()


async def test_a_server_that_hangs_is_unavailable_and_then_usable_again(valkey: StoreServer) -> None:
    store = RedisStore(valkey.url, 0.2)
    await create(store)
    valkey.pause()
    with pytest.raises(StoreUnavailableError):
        await store.read(GAME)
    with pytest.raises(StoreUnavailableError):
        await store.commit(GAME, change(0))
    valkey.resume()
    patient = RedisStore(valkey.url, TIMEOUT)
    # The commit was sent and may have been carried out meanwhile; either way it is there once.
    assert (await patient.commit(GAME, change(0))).refused is None
    assert (await patient.read(GAME)).version == 1
    await store.close()
    await patient.close()


async def test_a_restart_of_the_server_is_waited_for(store_server: StoreServer) -> None:
    store = RedisStore(store_server.url, TIMEOUT)
    await create(store)
    await store.commit(GAME, change(0))
    store_server.kill()
    reading = asyncio.create_task(store.read(GAME))
    await asyncio.sleep(0)
    await asyncio.to_thread(store_server.start)
    assert (await reading).version == 1
    assert (await store.commit(GAME, change(1))).refused is None  # the scripts are gone from its memory, and come back
    await store.close()


async def test_a_server_that_cannot_write_is_unavailable(store: RedisStore, raw: aioredis.Redis) -> None:
    await create(store)
    await raw.config_set("maxmemory", "1")
    with pytest.raises(StoreUnavailableError):
        await store.commit(GAME, change(0))
    assert (await store.read(GAME)).version == 0


@pytest.fixture
def cluster() -> Iterator[StoreServer]:
    """A cluster of one server, which is as strict about slots as a large one."""
    with socket.socket() as bus:
        bus.bind(("127.0.0.1", 0))
        options = ("--cluster-enabled", "yes", "--cluster-port", str(bus.getsockname()[1]))
    with running(valkey_program(), tcp=True, options=options) as server:
        with redis.Redis.from_url(server.url) as raw:
            raw.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
            while raw.cluster("INFO")["cluster_state"] != "ok":
                time.sleep(0.01)
        yield server


async def test_every_step_keeps_to_one_slot_of_a_cluster(cluster: StoreServer) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    gaps: asyncio.Queue[int] = asyncio.Queue()
    changes = Changes(cluster.url, TIMEOUT, on_change=heard.put_nowait, on_gap=gaps.put_nowait)
    changes.listen(GAME)
    changes.listen(ANOTHER)
    listening = asyncio.create_task(changes.run())
    assert {await gaps.get(), await gaps.get()} == {shard_of(GAME), shard_of(ANOTHER)}
    store = RedisStore(cluster.url, TIMEOUT)
    await create(store)
    await store.commit(GAME, change(0))
    assert (await store.read_log(GAME, 0))[0].version == 1
    await store.delete(GAME)
    assert [await heard.get(), await heard.get()] == [GAME, GAME]
    listening.cancel()
    await asyncio.wait([listening])
    await store.close()


async def test_changes_are_heard_again_after_a_restart_and_the_gap_is_told(store_server: StoreServer) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    gaps: asyncio.Queue[int] = asyncio.Queue()
    changes = Changes(store_server.url, TIMEOUT, on_change=heard.put_nowait, on_gap=gaps.put_nowait)
    store = RedisStore(store_server.url, TIMEOUT)
    await create(store)
    await create(store, ANOTHER)
    changes.listen(GAME)
    listening = asyncio.create_task(changes.run())
    assert await gaps.get() == shard_of(GAME)
    await store.commit(ANOTHER, change(0))  # nobody listens for this one
    await store.commit(GAME, change(0))
    assert await heard.get() == GAME
    store_server.kill()
    store_server.start()
    assert await gaps.get() == shard_of(GAME)
    await store.commit(GAME, change(1))
    assert await heard.get() == GAME
    changes.forget(GAME)
    changes.listen(ANOTHER)
    assert await gaps.get() == shard_of(ANOTHER)
    await store.commit(GAME, change(2))
    await store.commit(ANOTHER, change(1))
    assert await heard.get() == ANOTHER
    assert heard.empty()
    listening.cancel()
    await asyncio.wait([listening])
    await store.close()


async def test_what_is_kept_beside_the_play_is_replaced_if_it_is_what_the_caller_knows(store: RedisStore) -> None:
    await create(store)
    assert (await store.amend(GAME, Amendment(MARKS[0], b"meta", b"another"))).refused is None
    found = await store.read(GAME)
    assert found.meta == b"another"
    for mark, meta in ((MARKS[0], b"meta"), (MARKS[1], b"another")):
        assert (await store.amend(GAME, Amendment(mark, meta, b"a third"))).refused == found
    assert await store.read(GAME) == found
    with pytest.raises(GameMissingError):
        await store.amend(ANOTHER, Amendment(MARKS[0], b"meta", b"another"))


async def test_games_are_listed_in_one_order_from_any_of_them_on(store: RedisStore) -> None:
    games = [letter + GAME[1:-1] + end for letter in "aq" for end in "abc"]
    for game in games:
        await create(store, game)
    await store.delete(games[4])
    del games[4]
    for count in (1, 2, 10):
        listed: list[str] = []
        after = ""
        while True:
            page, after = await store.list_games(after, count)
            listed += [each.game for each in page]
            if not after:
                break
        assert listed == games
