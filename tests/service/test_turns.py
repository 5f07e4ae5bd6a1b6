"""One stream over many games: who is to act, whose game is over, and what keeps a seat from being watched."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path

import grpc
import pytest
import redis.asyncio as aioredis

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.errors_pb2 import ErrorReason
from moonvale.v1.options_pb2 import Options
from moonvale_service import limits
from moonvale_service.credentials import Credential, Role
from moonvale_service.feed import Feed
from moonvale_service.quotas import Quotas
from moonvale_service.store import StoreUnavailableError
from moonvale_service.store.redis_store import game_key, log_key
from moonvale_service.turns import Turn, TurnWatch
from moonvale_service.watch import End, Watches
from tests.service.client import SERVICE, Client, Failure, Game, failure, play
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer

SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1, turn_limit=4))
QUIET = "100ms"  # the heartbeat of servers whose silence says something


@asynccontextmanager
async def serving(valkey: StoreServer, folder: Path, **settings: str) -> AsyncIterator[tuple[RunningServer, Client]]:
    """A server with these settings, and a client of it."""
    server = await start_server(valkey.url, folder, **settings)
    async with Client(server.address) as client:
        yield server, client
    await server.stop()


def seats_of(*games: Game) -> list[tuple[str, str]]:
    """All seats of games, in order."""
    return [(game.name, credential) for game in games for credential in game.seats]


async def told(client: Client, seats: Sequence[tuple[str, str]]) -> list[pb.WatchTurnsResponse]:
    """What a stream tells until it ends."""
    return [message async for message in client.turns(seats)]


def reasons(messages: Sequence[pb.WatchTurnsResponse]) -> dict[int, str]:
    """Why seats can't be watched."""
    return {
        message.index: ErrorReason.Name(message.error.reason).removeprefix("ERROR_REASON_")
        for message in messages
        if message.HasField("error")
    }


async def test_a_seat_is_told_of_each_of_its_turns_and_of_the_end(client: Client) -> None:
    game = await client.create(SHORT)
    turns = 0
    async with aclosing(client.turns(seats_of(game))) as messages:
        async for message in messages:
            if message.HasField("turn"):
                turns += 1
                view = message.turn
                assert (view.name, view.viewer_seat, view.decision.seat) == (game.name, message.index, message.index)
                assert view == await client.view(game.name, game.seats[message.index])
                await client.submit(
                    game.name, game.seats[message.index], [view.decision.legal_actions[0]], view.version
                )
            elif message.HasField("over"):
                assert message.over == await client.view(game.name, game.seats[message.index])
                assert message.over.HasField("result")
            else:
                assert not message.HasField("index")
                assert message.end.reason == pb.WATCH_END_REASON_NO_SEAT_LEFT
    assert turns == view.version + 1


async def test_a_turn_is_told_again_by_another_stream_and_the_end_too(client: Client) -> None:
    game = await client.create(SHORT)
    for _ in range(2):
        async with aclosing(client.turns(seats_of(game))) as messages:
            first = await anext(messages)
            assert (first.index, first.turn.version) == (game.view.decision.seat, 0)
    await play(client, game, seed=1)
    for _ in range(2):
        messages_of_all = await told(client, seats_of(game))
        assert [message.WhichOneof("content") for message in messages_of_all] == ["over", "over", "end"]
        assert {message.index for message in messages_of_all[:-1]} == {0, 1}


async def test_two_streams_of_one_seat_are_told_the_same(client: Client) -> None:
    game = await client.create(SHORT)
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(aclosing(client.turns(seats_of(game)))) for _ in range(2)]
        one, other = [await anext(messages) for messages in streams]
        assert one == other
        await play(client, game, seed=1, moves=1)
        one, other = [await anext(messages) for messages in streams]
        assert one == other
        assert one.turn.version == 1


async def test_what_keeps_one_seat_from_being_watched_does_not_end_the_others(client: Client) -> None:
    games = [await client.create(SHORT) for _ in range(3)]
    on, deleted, another = games
    new = await client.rotate(on.name, on.creator, 0)
    await client.delete(deleted.name, deleted.creator)
    seats = [
        (on.name, on.seats[0]),
        (on.name, new),
        (on.name, on.seats[1]),
        (on.name, ""),
        (on.name, on.spectator),
        (on.name, on.creator),
        (on.name, another.seats[0]),
        (on.name, on.seats[1][:-2] + "zz"),
        (deleted.name, deleted.seats[1]),
    ]
    playing = asyncio.create_task(play(client, Game(on.name, on.creator, [new, on.seats[1]], on.spectator, on.view), 1))
    messages = await told(client, seats)
    await playing
    assert reasons(messages) == {
        0: "CREDENTIAL_REVOKED",
        3: "CREDENTIAL_MISSING",
        4: "ROLE_NOT_ALLOWED",
        5: "ROLE_NOT_ALLOWED",
        6: "CREDENTIAL_OF_ANOTHER_GAME",
        7: "CREDENTIAL_INVALID",
        8: "GAME_NOT_FOUND",
    }
    assert {message.index for message in messages if message.HasField("over")} == {1, 2}
    assert messages[-1].end.reason == pb.WATCH_END_REASON_NO_SEAT_LEFT
    printed = f"{messages}"
    assert not any(credential in printed for _, credential in seats if credential)


async def test_a_seat_whose_credential_is_replaced_or_whose_game_is_deleted_is_lost(client: Client) -> None:
    games = [await client.create(SHORT) for _ in range(3)]
    async with aclosing(client.turns(seats_of(*games))) as messages:
        to_act = {(await anext(messages)).index for _ in games}
        assert to_act == {2 * i + game.view.decision.seat for i, game in enumerate(games)}
        new = await client.rotate(games[0].name, games[0].seats[0], 0)
        lost = [await anext(messages)]
        await client.delete(games[1].name, games[1].creator)
        lost += [await anext(messages), await anext(messages)]
        assert reasons(lost) == {0: "CREDENTIAL_REVOKED", 2: "GAME_NOT_FOUND", 3: "GAME_NOT_FOUND"}
        await play(client, games[2], seed=1, moves=1)  # the others go on
        assert (await anext(messages)).index in (4, 5)
        games[0].seats[0] = new
        await play(client, games[0], seed=1)
        await client.delete(games[2].name, games[2].creator)
        rest = [message async for message in messages]
    assert {message.index for message in rest if message.HasField("over")} == {1}
    assert reasons(rest) == {4: "GAME_NOT_FOUND", 5: "GAME_NOT_FOUND"}


async def test_a_slow_reader_gets_the_newest_turn_alone(server: RunningServer, client: Client) -> None:
    games = [await client.create(SHORT) for _ in range(2)]
    seats = dict(enumerate(Credential(game.id, Role.SEAT, seat) for game in games for seat in (0, 1)))
    watch = TurnWatch(server.server._watches, Quotas(server.settings), seats)
    async with aclosing(watch.told()) as messages:
        first = [await anext(messages) for _ in games]
        assert all(isinstance(message, Turn) and message.snapshot.version == 0 for message in first)
        await play(client, games[0], seed=1)  # dozens of turns, of which the reader takes none
        await play(client, games[1], seed=1, moves=3)
        await followed(server, games[1], 3)
        assert len(watch._news) <= len(seats)
        told = [await anext(messages) for _ in range(3)]
        assert {(turn.place, turn.snapshot.state.is_over()) for turn in told if isinstance(turn, Turn)} == {
            *((0, True), (1, True)),
            (2 + (await client.view(games[1].name, games[1].spectator)).decision.seat, False),
        }


async def test_a_client_that_does_not_read_is_cut_off_and_told_all_by_its_next_stream(
    valkey: StoreServer, tmp_path: Path
) -> None:
    small = (("grpc.use_local_subchannel_pool", 1), ("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0))
    async with serving(valkey, tmp_path, reader_timeout="100ms") as (server, client):
        games = [await client.create(SHORT) for _ in range(200)]
        seats = [pb.WatchedSeat(name=game.name, credential=game.seats[game.view.decision.seat]) for game in games]
        request = pb.WatchTurnsRequest(seats=seats).SerializeToString()
        async with grpc.aio.insecure_channel(server.address, small) as channel:
            method: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(f"/{SERVICE}/WatchTurns")
            call = method(request)
            assert isinstance(await call.read(), bytes)
            await server.server._edge.idle()  # and read nothing meanwhile

            async def read_on() -> None:
                while isinstance(await call.read(), bytes):
                    pass

            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await read_on()
            assert failure(raised.value).reason == "READER_TOO_SLOW"
    async with serving(valkey, tmp_path) as (_, client):
        messages = await told_until(client, [(seat.name, seat.credential) for seat in seats], len(seats))
        assert {message.turn.name for message in messages} == {game.name for game in games}


async def followed(server: RunningServer, game: Game, version: int) -> None:
    """Return when the server's feed of a game has come to a version."""
    feed = server.server._watches._watched[game.id].feed
    while feed.version < version:
        await feed.news()


async def test_silence_is_broken_once_for_all_seats(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, heartbeat=QUIET) as (_, client):
        games = [await client.create(SHORT) for _ in range(3)]
        async with aclosing(client.turns(seats_of(*games))) as messages:
            for _ in games:
                await turn_of(messages)
            silence = [await anext(messages) for _ in range(2)]
        assert all(message.HasField("heartbeat") and not message.HasField("index") for message in silence)


async def turn_of(messages: AsyncIterator[pb.WatchTurnsResponse]) -> pb.WatchTurnsResponse:
    """The next message but signs of life, which comes with a turn."""
    while (message := await anext(messages)).HasField("heartbeat"):
        pass
    assert message.HasField("turn")
    return message


async def test_a_stream_ends_at_its_greatest_age_and_when_the_server_drains(
    valkey: StoreServer, tmp_path: Path
) -> None:
    async with serving(valkey, tmp_path, watch_age="200ms") as (_, client):
        game = await client.create(SHORT)
        assert (await told(client, seats_of(game)))[-1].end.reason == pb.WATCH_END_REASON_MAX_AGE
    async with serving(valkey, tmp_path) as (server, client):
        async with aclosing(client.turns(seats_of(game))) as messages:
            assert (await anext(messages)).HasField("turn")
            stopping = asyncio.create_task(server.server.drain())
            assert (await anext(messages)).end.reason == pb.WATCH_END_REASON_DRAINING
            await stopping
        with pytest.raises(Failure, match="DRAINING"):
            await told(client, seats_of(game))


@pytest.mark.parametrize(
    ("seats", "fields"),
    [
        ([], ("seats",)),
        ([("games/" + "a" * 20, "x")] * 2, ("seats[1].credential",)),
        ([("games/" + "a" * 20, "x"), ("games/" + "a" * 20, "y"), ("a" * 20, "z")], ("seats[2].name",)),
        ([("games/" + "a" * 20, str(i)) for i in range(limits.MAX_WATCHED_SEATS + 1)], ("seats",)),
    ],
)
async def test_wrong_fields_are_named(client: Client, seats: list[tuple[str, str]], fields: tuple[str, ...]) -> None:
    with pytest.raises(Failure) as raised:
        await told(client, seats)
    assert (raised.value.reason, raised.value.fields) == ("INVALID_FIELD", fields)


async def test_as_many_seats_as_are_allowed_fit_a_request(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, create_rate="0") as (server, client):
        game = await client.create(SHORT)
        keys = [Credential(game.id, Role.SEAT, i % 2, i) for i in range(limits.MAX_WATCHED_SEATS)]
        seats = [(game.name, server.server._edge._keys.token(key)) for key in keys]
        messages = await told_until(client, seats, limits.MAX_WATCHED_SEATS - 1)
    lost = reasons(messages)
    assert len(lost) >= limits.MAX_WATCHED_SEATS - 200 - 2  # of two credentials, each with a hundred streams
    assert set(lost.values()) == {"CREDENTIAL_REVOKED", "TOO_MANY_WATCHES"}


async def told_until(client: Client, seats: Sequence[tuple[str, str]], count: int) -> list[pb.WatchTurnsResponse]:
    """The first messages of a stream."""
    async with aclosing(client.turns(seats)) as messages:
        return [await anext(messages) for _ in range(count)]


async def test_credentials_that_are_none_cost_the_store_nothing(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path) as (_, client):
        game = await client.create(SHORT)
        valkey.kill()
        wrong = [(game.name, f"{game.seats[0][:-4]}{i:04}") for i in range(limits.MAX_WATCHED_SEATS)]
        with pytest.raises(Failure, match="CREDENTIAL_INVALID"):
            await told(client, wrong)
        valkey.start()
        messages = await told_until(client, [*wrong[1:], (game.name, game.seats[game.view.decision.seat])], len(wrong))
        assert reasons(messages) == dict.fromkeys(range(len(wrong) - 1), "CREDENTIAL_INVALID")
        assert messages[-1].HasField("turn")


async def test_if_no_seat_may_be_watched_the_call_fails_as_the_first_would(client: Client) -> None:
    game, another = [await client.create(SHORT) for _ in range(2)]
    for seats, reason in (
        ([(game.name, "")], "CREDENTIAL_MISSING"),
        ([(game.name, game.spectator), (game.name, "x")], "ROLE_NOT_ALLOWED"),
        ([(game.name, another.seats[0]), (game.name, game.creator)], "CREDENTIAL_OF_ANOTHER_GAME"),
    ):
        with pytest.raises(Failure) as raised:
            await told(client, seats)
        assert raised.value.reason == reason


async def test_each_seat_counts_as_a_stream_of_its_credential_until_it_ends(
    valkey: StoreServer, tmp_path: Path
) -> None:
    async with serving(valkey, tmp_path, watches="1") as (_, client):
        games = [await client.create(SHORT) for _ in range(2)]
        async with aclosing(client.turns(seats_of(*games))) as messages:
            for _ in games:
                assert (await anext(messages)).HasField("turn")
            assert reasons(await told(client, seats_of(*games))) == dict.fromkeys(range(4), "TOO_MANY_WATCHES")
            with pytest.raises(Failure, match="TOO_MANY_WATCHES"):
                await anext(client.watch(games[0].name, games[0].seats[0]))
            await play(client, games[0], seed=1)
            over = 0
            while over < 2:
                over += (await anext(messages)).HasField("over")
            # What has ended counts no more, though the stream goes on.
            again = await told(client, seats_of(games[0]))
            assert [message.WhichOneof("content") for message in again] == ["over", "over", "end"]


async def test_each_seat_counts_as_a_call_of_its_credential(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, call_rate="1") as (_, client):
        game = await client.create(SHORT)
        await client.delete(game.name, game.creator)
        for _ in range(10):
            assert set(reasons(await told(client, seats_of(game)[:1])).values()) == {"GAME_NOT_FOUND"}
        messages = await told(client, seats_of(game))
        assert reasons(messages) == {0: "RATE_LIMITED", 1: "GAME_NOT_FOUND"}
        (error,) = [message.error for message in messages if message.index == 0 and message.HasField("error")]
        assert (error.code, dict(error.metadata)) == (grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], {"per_second": "1"})
        assert 0 < error.retry_delay.ToNanoseconds() <= 1e9


async def test_a_stream_lasts_through_a_restart_of_the_store_but_does_not_begin_without_it(
    store_server: StoreServer, tmp_path: Path
) -> None:
    async with serving(store_server, tmp_path, store_timeout="500ms", poll="1h") as (_, client):
        games = [await client.create(SHORT) for _ in range(4)]
        async with aclosing(client.turns(seats_of(*games))) as messages:
            for _ in games:
                assert (await anext(messages)).HasField("turn")
            store_server.kill()
            with pytest.raises(Failure) as raised:
                await told(client, seats_of(*games))
            assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
            store_server.start()
            for game in games:
                await play(client, game, seed=2)
            kinds = [message.WhichOneof("content") async for message in messages]
        assert kinds.count("over") == 2 * len(games)
        assert set(kinds) <= {"turn", "over", "end"}


async def test_a_seat_that_can_not_be_read_at_first_is_tried_again(
    server: RunningServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [await client.create(SHORT) for _ in range(2)]
    failures = 2
    join = Watches.join

    async def fail_at_first(watches: Watches, game: str) -> object:
        nonlocal failures
        if game == games[1].id and failures:
            await reached.wait()
            failures -= 1
            raise StoreUnavailableError
        return await join(watches, game)

    reached = asyncio.Event()
    monkeypatch.setattr(Watches, "join", fail_at_first)
    async with aclosing(client.turns(seats_of(games[0]) + seats_of(games[1])[:2])) as messages:
        assert (await anext(messages)).turn.name == games[0].name
        reached.set()
        assert (await anext(messages)).turn.name == games[1].name
    assert failures == 0


async def put_back(raw: aioredis.Redis, kept: dict[str, bytes | None]) -> None:
    """Put the stored bytes of a game back at once and tell nobody, as when a replica that lags takes over."""
    async with raw.pipeline(transaction=True) as all_at_once:
        for key, value in kept.items():
            if value is None:
                all_at_once.delete(key)
            else:
                all_at_once.restore(key, 0, value, replace=True)
        await all_at_once.execute()


async def test_a_turn_that_was_answered_is_told_again_if_the_answer_is_lost(
    valkey: StoreServer, raw: aioredis.Redis, tmp_path: Path
) -> None:
    async with serving(valkey, tmp_path, poll="50ms") as (server, client):
        game = await client.create(SHORT)
        kept = {key: await raw.dump(key) for key in (game_key(game.id), log_key(game.id))}
        to_act = game.view.decision.seat
        async with aclosing(client.turns([(game.name, game.seats[to_act])])) as messages:
            first = await anext(messages)
            await play(client, game, seed=3, moves=1)
            await followed(server, game, 1)
            await put_back(raw, kept)
            while (again := await anext(messages)).turn.version > 0:
                pass
        assert again == first


async def test_a_turn_is_told_once_whatever_else_changes_with_the_game(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, heartbeat=QUIET) as (_, client):
        game = await client.create(SHORT)
        async with aclosing(client.turns(seats_of(game))) as messages:
            await turn_of(messages)
            await client.rotate(game.name, game.creator)
            assert [(await anext(messages)).WhichOneof("content") for _ in range(2)] == ["heartbeat"] * 2


async def test_a_rewound_game_is_told_anew(client: Client, raw: aioredis.Redis) -> None:
    game = await client.create(SHORT)
    kept = {key: await raw.dump(key) for key in (game_key(game.id), log_key(game.id))}
    async with aclosing(client.turns(seats_of(game))) as messages:
        assert (await anext(messages)).turn.version == 0
        await play(client, game, seed=3, moves=2)
        while (message := await anext(messages)).turn.version < 2:
            pass
        lost = message.turn.mark
        await put_back(raw, kept)
        await play(client, game, seed=7, moves=2)
        while (message := await anext(messages)).turn.version < 2:
            pass
        assert message.turn.mark != lost
        assert message.turn == await client.view(game.name, game.seats[message.index])


async def test_closed_streams_leave_nothing_behind(server: RunningServer, client: Client) -> None:
    games = [await client.create(SHORT) for _ in range(20)]
    edge = server.server._edge
    for wait_for_turns in (True, False):
        async with AsyncExitStack() as stack:
            for _ in range(10):
                messages = await stack.enter_async_context(aclosing(client.turns(seats_of(*games))))
                for _ in range(len(games) if wait_for_turns else 1):  # or give up while games are still opened
                    assert (await anext(messages)).HasField("turn")
        await edge.idle()
        assert not edge._quotas._open
        async with asyncio.timeout(20):
            while server.server._watches._watched:  # noqa: ASYNC110  # games that were being opened are left soon
                await asyncio.sleep(0.01)
        await asyncio.sleep(0)  # for the tasks of the feeds to end
        assert not server.server._watches.when_draining
        gc.collect()
        assert not [each for each in gc.get_objects() if isinstance(each, Feed | TurnWatch)]


def test_every_end_is_told() -> None:
    told = {value for _, value in pb.WatchEndReason.items() if value != pb.WATCH_END_REASON_UNSPECIFIED}
    assert {each.value for each in End} == told
