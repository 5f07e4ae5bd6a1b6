"""Watching: first the view, then every entry once and in order, through restarts of the store and of workers."""

from __future__ import annotations

import asyncio
import random
import signal
from contextlib import aclosing
from pathlib import Path

import grpc
import psutil
import pytest
import redis.asyncio as aioredis

from moonvale.v1 import event_pb2
from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action, CloseAction
from moonvale.v1.options_pb2 import Options
from moonvale_engine import decode
from moonvale_service.store.redis_store import game_key, log_key
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import Service, running_service, start_server
from tests.support.codec_1 import encode_1
from tests.support.servers import StoreServer

SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1))
LONG = pb.CreateGameRequest(options=Options(players=2))  # chance decides how long, but it has dozens of entries
CLOSE = Action(close=CloseAction())


async def follow(
    client: Client, game: Game, credential: str, after: int | None = None, mark: str = ""
) -> tuple[pb.WatchGameResponse, list[event_pb2.LogEntry], pb.WatchEndReason.ValueType]:
    """Watch to the end: the first message, the entries, and why it ended."""
    messages = [message async for message in client.watch(game.name, credential, after, mark)]
    assert messages[0].WhichOneof("content") == "view"
    assert messages[-1].WhichOneof("content") == "end"
    entries = [message.entry for message in messages[1:-1] if message.HasField("entry")]
    return messages[0], entries, messages[-1].end.reason


async def listed(client: Client, game: Game, credential: str) -> list[event_pb2.LogEntry]:
    """All entries but the creation, as ListEvents tells them."""
    entries: list[event_pb2.LogEntry] = []
    token = ""
    while True:
        page = await client.events(game.name, credential, page_token=token)
        entries += page.entries
        token = page.next_page_token
        if not token:
            return entries[1:]


async def test_watchers_of_all_kinds_get_what_the_list_says(client: Client) -> None:
    game = await client.create(SHORT)
    watches = [asyncio.create_task(follow(client, game, credential)) for credential in game.all_credentials]
    last = await play(client, game, seed=3)
    for credential, watch in zip(game.all_credentials, watches, strict=True):
        first, entries, reason = await watch
        assert reason == pb.WATCH_END_REASON_GAME_OVER
        expected = await listed(client, game, credential)
        assert entries == expected[first.view.version :]
        assert entries[-1].version == last.version


async def test_a_watch_begins_with_the_view_and_goes_on_from_any_version(client: Client) -> None:
    game = await client.create(LONG)
    await play(client, game, seed=3, moves=20)
    credential = game.seats[0]
    soon = await listed(client, game, credential)
    for after, mark in ((0, game.view.mark), (12, soon[11].mark), (12, ""), (20, soon[19].mark), (None, "")):
        async with aclosing(client.watch(game.name, credential, after, mark)) as told:
            first = await anext(told)
            assert first.view == await client.view(game.name, credential)
            entries = [(await anext(told)).entry for _ in range(0 if after is None else 20 - after)]
            assert entries == soon[20 if after is None else after :]


async def test_a_watch_of_a_finished_game_tells_it_and_ends(client: Client) -> None:
    game = await client.create(SHORT)
    await play(client, game, seed=3)
    first, entries, reason = await follow(client, game, game.spectator, 0)
    assert first.view.HasField("result")
    assert entries == await listed(client, game, game.spectator)
    assert reason == pb.WATCH_END_REASON_GAME_OVER
    assert await follow(client, game, game.spectator) == (first, [], pb.WATCH_END_REASON_GAME_OVER)


async def test_a_slow_watcher_misses_nothing_and_delays_nobody(client: Client) -> None:
    game = await client.create(LONG)
    async with aclosing(client.watch(game.name, game.spectator)) as told:
        await anext(told)
        last = await play(client, game, seed=3)  # far more entries than a feed keeps
        entries = [message.entry async for message in told if message.HasField("entry")]
    assert entries == await listed(client, game, game.spectator)
    assert entries[-1].version == last.version


async def test_batches_rest_at_their_last_entry_alone(client: Client) -> None:
    game = await client.create(SHORT)
    rng = random.Random(2)
    async with aclosing(client.watch(game.name, game.spectator)) as told:
        view = (await anext(told)).view
        while True:
            mine = await client.view(game.name, game.seats[view.decision.seat])
            names = [action for action in mine.decision.legal_actions if action.HasField("name")]
            actions = [rng.choice(mine.decision.legal_actions)] if len(names) < 2 else [*names[:2], CLOSE]
            answer = await client.submit(game.name, game.seats[view.decision.seat], actions, view.version)
            entries = [(await anext(told)).entry for _ in actions]
            assert [entry.mark for entry in entries] == [""] * (len(actions) - 1) + [answer.mark]
            assert entries == (await listed(client, game, game.spectator))[view.version :]
            if len(actions) > 1:
                break
            view = answer.view
    # A watch can go on after an entry at which the game never rested.
    async with aclosing(client.watch(game.name, game.spectator, answer.version - 1)) as told:
        await anext(told)
        assert (await anext(told)).entry == entries[-1]


async def test_heartbeats_break_the_silence(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, heartbeat="50ms")
    async with Client(server.address) as client:
        game = await client.create()
        async with aclosing(client.watch(game.name, game.spectator)) as told:
            await anext(told)
            for _ in range(2):
                beat = (await anext(told)).heartbeat
                assert (beat.version, beat.HasField("version"), beat.mark) == (0, True, game.view.mark)
            view = await play(client, game, seed=1, moves=1)
            while not (message := await anext(told)).HasField("entry"):
                assert message.HasField("heartbeat")
            beat = (await anext(told)).heartbeat
            assert (beat.version, beat.mark) == (1, view.mark)
    await server.stop()


async def test_a_deleted_game_ends_its_watches(client: Client) -> None:
    game = await client.create()
    watch = asyncio.create_task(follow(client, game, game.spectator))
    async with aclosing(client.watch(game.name, game.seats[0])) as told:
        await anext(told)
        await client.delete(game.name, game.creator)
        assert (await anext(told)).end.reason == pb.WATCH_END_REASON_GAME_DELETED
    assert (await watch)[2] == pb.WATCH_END_REASON_GAME_DELETED


async def test_draining_ends_watches_in_good_order(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, grace="30s")
    async with Client(server.address) as client:
        game = await client.create()
        async with aclosing(client.watch(game.name, game.seats[0])) as told:
            await anext(told)
            await play(client, game, seed=1, moves=1)
            assert (await anext(told)).entry.version == 1
            stopping = asyncio.create_task(server.stop())
            messages = [message async for message in told]
        assert len(messages) == 1
        assert messages[-1].end.reason == pb.WATCH_END_REASON_DRAINING
        await asyncio.wait_for(stopping, 20)  # long before the grace is over


async def test_a_watch_lasts_through_a_restart_of_the_store(store_server: StoreServer, tmp_path: Path) -> None:
    server = await start_server(store_server.url, tmp_path, poll="1h")
    async with Client(server.address) as client:
        game = await client.create(LONG)
        watch = asyncio.create_task(follow(client, game, game.spectator))
        await play(client, game, seed=3, moves=20)
        store_server.kill()
        store_server.start()
        await play(client, game, seed=4)
        first, entries, reason = await watch
        assert reason == pb.WATCH_END_REASON_GAME_OVER
        assert entries == (await listed(client, game, game.spectator))[first.view.version :]
    await server.stop()


async def put_back(raw: aioredis.Redis, kept: dict[str, bytes | None]) -> None:
    """Put the stored bytes of a game back at once, and tell nobody."""
    async with raw.pipeline(transaction=True) as all_at_once:
        for key, value in kept.items():
            assert value is not None
            all_at_once.restore(key, 0, value, replace=True)
        await all_at_once.execute()


async def test_the_poll_finds_what_no_notification_told(
    valkey: StoreServer, raw: aioredis.Redis, tmp_path: Path
) -> None:
    server = await start_server(valkey.url, tmp_path, poll="50ms")
    async with Client(server.address) as client:
        game = await client.create(SHORT)
        async with aclosing(client.watch(game.name, game.spectator)) as told:
            await anext(told)
            # A commit of which nobody is told: the bytes of a played game are put in place of this one's.
            await play(client, game, seed=3, moves=1)
            assert (await anext(told)).entry.version == 1
            kept = {key: await raw.dump(key) for key in (game_key(game.id), log_key(game.id))}
            await play(client, game, seed=3, moves=1)
            assert (await anext(told)).entry.version == 2
            newer = {key: await raw.dump(key) for key in kept}
        await put_back(raw, kept)
        async with aclosing(client.watch(game.name, game.spectator)) as told:
            assert (await anext(told)).view.version == 1
            await put_back(raw, newer)
            assert (await anext(told)).entry.version == 2
    await server.stop()


async def test_a_rewound_history_is_told_and_a_new_watch_begins_anew(client: Client, raw: aioredis.Redis) -> None:
    game = await client.create(SHORT)
    await play(client, game, seed=3, moves=3)
    kept = {key: await raw.dump(key) for key in (game_key(game.id), log_key(game.id))}
    told = client.watch(game.name, game.spectator)
    await anext(told)
    await play(client, game, seed=3, moves=2)
    await play(client, game, seed=3, moves=1)
    lost = [(await anext(told)).entry for _ in range(3)]
    tokens = {size: (await client.events(game.name, game.spectator, size)).next_page_token for size in (4, 5, 6)}
    await put_back(raw, kept)  # as when a replica that lags takes over
    await play(client, game, seed=7, moves=2)
    with pytest.raises(Failure, match="HISTORY_REWOUND"):
        await anext(told)
    for after, mark in ((5, lost[1].mark), (4, lost[0].mark)):
        with pytest.raises(Failure, match="HISTORY_REWOUND"):
            await anext(client.watch(game.name, game.spectator, after, mark))
    for size in (5, 6):  # of pages that ended with the version before the last and with the last
        with pytest.raises(Failure, match="HISTORY_REWOUND"):
            await client.events(game.name, game.spectator, page_token=tokens[size])
    assert len((await client.events(game.name, game.spectator, page_token=tokens[4])).entries) == 2
    async with aclosing(client.watch(game.name, game.spectator, 3)) as anew:
        assert (await anext(anew)).view.version == 5
        entries = [(await anext(anew)).entry for _ in range(2)]
    assert entries == (await listed(client, game, game.spectator))[3:]


async def test_a_watch_fails_when_the_state_is_not_what_the_log_leads_to(
    client: Client, raw: aioredis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    game = await client.create(SHORT)
    told = client.watch(game.name, game.spectator)
    await anext(told)
    other = await client.create(SHORT)
    state = await raw.hget(game_key(other.id), "s")
    assert isinstance(state, bytes)
    await play(client, game, seed=3, moves=1)
    await anext(told)
    await raw.hset(game_key(game.id), "s", state)
    seat = (await client.view(game.name, game.spectator)).decision.seat
    action = (await client.view(game.name, game.seats[seat])).decision.legal_actions[0]
    await client.submit(game.name, game.seats[seat], [action], 1)
    with pytest.raises(Failure) as raised:
        await anext(told)
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "InconsistentGameError" in capsys.readouterr().out


async def test_a_game_that_an_older_server_has_stored_goes_on(
    valkey: StoreServer, raw: aioredis.Redis, tmp_path: Path
) -> None:
    server = await start_server(valkey.url, tmp_path, poll="50ms")
    async with Client(server.address) as client:
        game = await client.create(SHORT)
        keys = (game_key(game.id), log_key(game.id))
        await play(client, game, seed=3, moves=1)
        kept = {key: await raw.dump(key) for key in keys}
        await play(client, game, seed=3, moves=1)
        views = [await client.view(game.name, credential) for credential in game.all_credentials]
        stored = await raw.hget(game_key(game.id), "s")
        assert isinstance(stored, bytes)
        await raw.hset(game_key(game.id), "s", encode_1(decode(stored)))
        assert [await client.view(game.name, credential) for credential in game.all_credentials] == views
        newer = {key: await raw.dump(key) for key in keys}
        await put_back(raw, kept)
        async with aclosing(client.watch(game.name, game.spectator)) as told:
            assert (await anext(told)).view.version == 1
            await put_back(raw, newer)
            assert (await anext(told)).entry.version == 2
            last = await play(client, game, seed=3)
            entries = [message.entry async for message in told if message.HasField("entry")]
        assert entries == (await listed(client, game, game.spectator))[2:]
        assert entries[-1].version == last.version
    await server.stop()


class Follower:
    """What a client does: it watches, and calls again with the last version and mark whenever a stream breaks."""

    def __init__(self, game: Game, credential: str) -> None:
        self.seen: list[event_pb2.LogEntry] = []
        self.streams = 0
        self._game = game
        self._credential = credential
        self._progress = asyncio.Condition()

    async def run(self, service: Service) -> None:
        """Watch to the end of the game."""
        version, mark = 0, self._game.view.mark
        while True:
            async with Client(service.address) as client:
                try:
                    async for message in client.watch(self._game.name, self._credential, version, mark):
                        if message.HasField("view"):
                            self.streams += 1
                        elif message.HasField("entry"):
                            self.seen.append(message.entry)
                            version, mark = message.entry.version, message.entry.mark
                        elif message.end.reason == pb.WATCH_END_REASON_GAME_OVER:
                            return
                        async with self._progress:
                            self._progress.notify_all()
                except Failure as failure:
                    if not failure.is_transient:
                        raise

    async def sees(self, version: int, streams: int) -> None:
        """Wait until a version has been seen, and so many streams have begun."""
        async with self._progress:
            await self._progress.wait_for(lambda: len(self.seen) >= version and self.streams >= streams)


async def play_on(service: Service, game: Game, seed: int, version: int | None) -> None:
    """Play to a version (None: the end) as a client does whose server may be gone: try again."""
    while True:
        try:
            async with Client(service.address) as client:
                view = await client.view(game.name, game.spectator)
                await play(client, game, seed, None if version is None else max(version - view.version, 0))
                return
        except Failure as failure:
            if not failure.is_transient:
                raise


def test_a_watch_goes_on_after_workers_and_the_embedded_store_were_killed() -> None:
    with running_service() as service:
        asyncio.run(_kill_and_go_on(service))
        assert service.stop() == 0
        levels = {line["level"] for line in service.log_lines() if line["event"] == "call"}
        assert "error" not in levels


async def _kill_and_go_on(service: Service) -> None:
    async with Client(service.address) as client:
        game = await client.create(LONG)
    follower = Follower(game, game.seats[0])
    async with asyncio.TaskGroup() as watching:  # which ends with this test's error, too
        watching.create_task(follower.run(service))
        await play_on(service, game, 3, 10)
        await follower.sees(10, 1)
        for round, number in enumerate((signal.SIGKILL, signal.SIGTERM), 1):
            workers = service.workers()
            assert len(workers) == 2
            for worker in workers:
                worker.send_signal(number)
            await asyncio.to_thread(psutil.wait_procs, workers, 20)
            await play_on(service, game, 4, 10 + 10 * round)
            await follower.sees(10 + 10 * round, 1 + round)
        service.store().kill()
        await play_on(service, game, 5, None)
    async with Client(service.address) as client:
        assert follower.seen == await listed(client, game, game.seats[0])
