"""Every method against every kind of credential, as the tables of docs/security.md say, over gRPC."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
import pytest
import redis.asyncio as aioredis

from moonvale.v1 import errors_pb2
from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action, PeekAction
from moonvale.v1.options_pb2 import Options
from moonvale_service.credentials import Credential, Keys, Role, load_keys
from moonvale_service.seats import entropy_commitment
from moonvale_service.store.redis_store import RedisStore, game_key, index_key, log_key, shard_of
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer

PAGE: Final = Path(__file__).parents[2] / "docs/security.md"
SHORT: Final = Options(players=2, rounds=1, turn_limit=4)
ENTROPY: Final = bytes(range(32))
COMMITTED: Final = pb.SeatSetup(entropy_commitment=entropy_commitment(ENTROPY))
PEEK: Final = Action(peek=PeekAction(spots=[0, 1]))  # what every game begins with


def table(header: str) -> list[list[str]]:
    """The rows of the page's table whose first line begins so, that line first."""
    lines = iter(PAGE.read_text(encoding="utf-8").splitlines())
    rows = [line := next(line for line in lines if line.startswith(header))]
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append(line)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if not row.startswith("|---")]


OUTCOMES: Final = {cell: outcome for cell, outcome in table("| cell |")[1:]}  # noqa: C416  # rows are lists
HEADER, *ROWS = table("| method |")
COLUMNS: Final = HEADER[2:]


@dataclass(frozen=True)
class Place:
    """Where calls are made: a server, another one that demands the creator key, and what is stored."""

    server: RunningServer
    client: Client
    demanding: Client
    raw: aioredis.Redis


@pytest.fixture
async def place(
    server: RunningServer, client: Client, raw: aioredis.Redis, valkey: StoreServer, tmp_path: Path
) -> AsyncIterator[Place]:
    demanding = await start_server(valkey.url, tmp_path, create_needs_key="true")
    async with Client(demanding.address) as another:
        yield Place(server, client, another, raw)
    await demanding.stop()


@dataclass(frozen=True)
class Scene:
    """A game at some moment, and another game that is on."""

    game: Game
    another: Game
    to_act: int
    version: int
    old_spectator: str
    old_seat: str
    moment: str

    def credentials(self, column: str, place: Place) -> list[str | None]:
        """The credentials that a column stands for."""
        game = self.game
        columns: dict[str, list[str | None]] = {
            "none": [None],
            "invalid": [
                game.seats[0][:-1] + ("A" if game.seats[0][-1] != "A" else "Q"),
                Keys((bytes(32),), None).token(Credential(game.id, Role.CREATOR)),
            ],
            "another": [*self.another.all_credentials],
            "spectator": [game.spectator],
            "seat to act": [game.seats[self.to_act]],
            "other seat": [game.seats[1 - self.to_act]],
            "creator": [game.creator],
            "creator key": [place.server.creator_key],
            "operator key": [place.server.operator_key],
            "revoked spectator": [self.old_spectator],
            "revoked seat": [self.old_seat],
        }
        return columns[column]


async def scene(place: Place, moment: str) -> Scene:
    """Set a scene."""
    waits = moment == "waiting"
    options = Options(players=3 if waits else 2, rounds=1, turn_limit=4)
    seats = [COMMITTED, COMMITTED, *([pb.SeatSetup(open=True)] if waits else [])]
    game = await place.client.create(pb.CreateGameRequest(options=options, seats=seats))
    another = await place.client.create(pb.CreateGameRequest(options=SHORT))
    view = game.view
    if not waits:
        for seat in game.seats:
            view = await place.client.reveal(game.name, seat, ENTROPY)
    to_act = view.decision.seat
    old_spectator, old_seat = game.spectator, game.seats[to_act]
    game.spectator = await place.client.rotate(game.name, game.creator)
    game.seats[to_act] = await place.client.rotate(game.name, old_seat, to_act)
    if moment == "over":
        view = await play(place.client, game, seed=1)
        assert view.HasField("result")
    elif moment == "deleted":
        await place.client.delete(game.name, game.creator)
    return Scene(game, another, to_act, view.version, old_spectator, old_seat, moment)


async def call(place: Place, scene: Scene, method: str, credential: str | None) -> None:
    """Make the call of a row. Raises Failure."""
    client, name = place.client, scene.game.name
    match method:
        case "CreateGame":
            await client.create(credential=credential)
        case "CreateGame with a deal":
            await client.create(pb.CreateGameRequest(deal=pb.Deal(secret=bytes(range(32)))), credential)
        case "CreateGame where the key is required":
            await place.demanding.create(credential=credential)
        case "ClaimSeat":
            assert (await client.claim(name, credential=credential)).credential
        case "LeaveSeat of the seat to act":
            await client.leave(name, credential, scene.to_act)
        case "RevealEntropy":
            assert (await client.reveal(name, credential, ENTROPY)).name == name
        case "ReclaimSeat":
            await client.reclaim(name, credential)
        case "Rematch":
            answer = await client.rematch(name, credential)
            assert bool(answer.seat_credential) != bool(answer.creator_credential)
        case "GetView":
            await client.view(name, credential)
        case "SubmitAction":
            await client.submit(name, credential, [PEEK], scene.version)
        case "WatchGame":
            async with aclosing(client.watch(name, credential)) as messages:
                assert (await anext(messages)).HasField("view")
        case "WatchTurns":
            await watch_a_turn(place, scene, credential or "")
        case "ListEvents":
            await client.events(name, credential)
        case "GetReplay":
            await client.replay(name, credential)
        case "Resign":
            await client.resign(name, credential)
        case "DeleteGame":
            await client.delete(name, credential)
        case "RotateCredential of the seat to act":
            assert await client.rotate(name, credential, scene.to_act)
        case "RotateCredential of the spectators":
            assert await client.rotate(name, credential)
        case "ListGames":
            await client.list_games(credential)
        case "GetCatalog" | "GetServerInfo":
            assert await client.raw(method, b"", credential)
        case _:
            pytest.fail(f"no call for {method}")


async def watch_a_turn(place: Place, scene: Scene, credential: str) -> None:
    """Watch the turns of a seat until its first one, which is made to come. Raises Failure for what is told instead."""
    game = scene.game
    async with aclosing(place.client.turns([(game.name, credential)])) as messages:
        if scene.moment == "waiting" and credential and credential in game.seats:
            await place.client.claim(game.name)  # after which the entropy is to be revealed
        if scene.moment == "on" and credential == game.seats[1 - scene.to_act]:
            await place.client.submit(game.name, game.seats[scene.to_act], [PEEK], scene.version)
        message = await anext(messages)
    assert message.HasField("index")
    if message.HasField("error"):
        raise seat_failure(message.error)
    assert message.HasField("over" if scene.moment == "over" else "turn")


def seat_failure(error: pb.SeatError) -> Failure:
    """What is told of a seat in a stream of turns, as a failed call."""
    code = next(code for code in grpc.StatusCode if code.value[0] == error.code)
    reason = errors_pb2.ErrorReason.Name(error.reason).removeprefix("ERROR_REASON_")
    return Failure(code, reason, error.message, dict(error.metadata), (), ())


def test_the_table_has_every_method_at_every_moment() -> None:
    methods = [method.name for method in pb.DESCRIPTOR.services_by_name["GameService"].methods]
    rows = [(row[0].split()[0], row[1]) for row in ROWS]
    assert list(dict.fromkeys(method for method, _ in rows)) == methods
    for method in methods:
        moments = [moment for each, moment in rows if each == method]
        has_name = method in {*NAMING, "WatchTurns"}
        assert set(moments) == ({"waiting", "on", "over", "deleted"} if has_name else {"any"}), method
    assert all(len(row) == len(HEADER) for row in ROWS)
    assert {cell for row in ROWS for cell in row[2:]} == set(OUTCOMES)


NAMING: Final = [
    method.name
    for method in pb.DESCRIPTOR.services_by_name["GameService"].methods
    if {"name", "parent"} & {field.name for field in method.input_type.fields}
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}, {row[1]}")
async def test_a_call_ends_as_the_table_says(place: Place, row: list[str]) -> None:
    method, moment, *cells = row
    changes = method.split()[0] not in ("GetView", "WatchGame", "ListEvents", "GetReplay")
    now = await scene(place, moment)
    for column, cell in zip(COLUMNS, cells, strict=True):
        for credential in now.credentials(column, place):
            ended = await outcome(place, now, method, credential)
            assert ended == OUTCOMES[cell], (method, moment, column)
            if ended == "OK" and changes:
                now = await scene(place, moment)


async def outcome(place: Place, now: Scene, method: str, credential: str | None) -> str:
    """How a call ends: OK or a reason. One that fails has changed nothing and does not repeat the credential."""
    before = await stored(place, now.game)
    try:
        await call(place, now, method, credential)
    except Failure as failed:
        error = failed
    else:
        return "OK"
    assert await stored(place, now.game) == before
    assert credential is None or credential not in f"{error}"
    return error.reason


async def stored(place: Place, game: Game) -> list[bytes | None]:
    """All that is stored of a game."""
    return [await place.raw.dump(key(game.id)) for key in (game_key, log_key)]


async def test_keys_are_rotated_without_locking_anybody_out(valkey: StoreServer, tmp_path: Path) -> None:
    old, new = "A" * 43, "B" * 42 + "A"
    file = tmp_path / "keys_of_all"
    games: list[Game] = []
    for lines, refused in (([old], 0), ([old, new], 0), ([new, old], 0), ([new], 2)):
        file.write_text("\n".join(lines))
        server = await start_server(valkey.url, tmp_path, keys_file=str(file))
        async with Client(server.address) as client:
            for number, game in enumerate(games):
                for credential in game.all_credentials:
                    if number < refused:
                        with pytest.raises(Failure) as raised:
                            await client.view(game.name, credential)
                        assert raised.value.reason == "CREDENTIAL_INVALID"
                    else:
                        assert (await client.view(game.name, credential)).name == game.name
            games.append(await client.create())
        await server.stop()


async def test_the_operator_key_is_needed_only_where_it_is_named(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path)
    key = server.operator_key
    assert re.fullmatch(r"mvo1\.[A-Za-z0-9_-]{43}", key)
    (tmp_path / "operator_key").unlink()
    await server.stop()
    without = await start_server(valkey.url, tmp_path, keys_file=str(tmp_path / "keys"), operator_key_file="")
    assert without.operator_key != key  # made anew in the data folder
    async with Client(without.address) as client:
        game = await client.create()
        with pytest.raises(Failure) as raised:
            await client.delete(game.name, key)
        assert raised.value.reason == "CREDENTIAL_INVALID"
        await client.delete(game.name, without.operator_key)
    await without.stop()


async def test_rotation_is_carried_out_once_for_each_request_id(client: Client) -> None:
    game = await client.create()
    old, request = game.seats[1], "a request id of a seat"
    new = await client.rotate(game.name, old, 1, request)
    assert new != old
    assert await client.rotate(game.name, old, 1, request) == new  # its answer was lost, and its credential is revoked
    assert await client.rotate(game.name, game.creator, 1, request) == new
    with pytest.raises(Failure) as raised:
        await client.rotate(game.name, old, 1, "another request id")
    assert raised.value.reason == "CREDENTIAL_REVOKED"
    assert (await client.view(game.name, new)).viewer_seat == 1
    newer = await client.rotate(game.name, new, 1)
    assert newer not in (old, new)
    for credential in (old, new):
        with pytest.raises(Failure) as raised:
            await client.view(game.name, credential)
        assert raised.value.reason == "CREDENTIAL_REVOKED"
    for credential in (newer, game.seats[0], game.spectator, game.creator):
        assert (await client.view(game.name, credential)).name == game.name


async def test_rotations_at_the_same_time_all_count(client: Client) -> None:
    game = await client.create()
    made = await asyncio.gather(*[client.rotate(game.name, game.creator, 0) for _ in range(8)])
    assert len(set(made)) == 8
    good = []
    for credential in made:
        with suppress(Failure):
            await client.view(game.name, credential)
            good.append(credential)
    assert len(good) == 1


async def test_a_repeat_of_create_game_returns_the_credentials_that_are_good_now(client: Client) -> None:
    request = pb.CreateGameRequest(options=SHORT, request_id="a request id of a creator")
    game = await client.create(request)
    seat = await client.rotate(game.name, game.creator, 0)
    spectator = await client.rotate(game.name, game.creator)
    again = await client.create(request)
    assert (again.seats, again.spectator, again.creator) == ([seat, game.seats[1]], spectator, game.creator)


@pytest.mark.parametrize(
    ("seat", "request_id", "field"), [(-1, "", "seat"), (2, "", "seat"), (0, "short", "request_id")]
)
async def test_wrong_fields_of_a_rotation_are_named(client: Client, seat: int, request_id: str, field: str) -> None:
    game = await client.create()
    with pytest.raises(Failure) as raised:
        await client.rotate(game.name, game.creator, seat, request_id)
    assert (raised.value.reason, raised.value.fields) == ("INVALID_FIELD", (field,))


async def test_a_stream_ends_when_its_credential_is_replaced(
    server: RunningServer, client: Client, valkey: StoreServer, tmp_path: Path
) -> None:
    replica = await start_server(valkey.url, tmp_path, keys_file=str(server.settings.data / "keys"))
    async with Client(replica.address) as another:
        game = await client.create()
        async with AsyncExitStack() as stack:
            opened = [
                await stack.enter_async_context(aclosing(each.watch(game.name, credential)))
                for each in (client, another)
                for credential in (game.seats[0], game.seats[1])
            ]
            for messages in opened:
                assert (await anext(messages)).HasField("view")
            new = await client.rotate(game.name, game.seats[0], 0)
            for messages in opened[::2]:
                with pytest.raises(Failure) as raised:
                    await anext(messages)
                assert raised.value.reason == "CREDENTIAL_REVOKED"
            stale = another.watch(game.name, game.seats[0])  # of a game that this replica watches already
            with pytest.raises(Failure) as raised:
                await anext(stale)
            assert raised.value.reason == "CREDENTIAL_REVOKED"
            await client.resign(game.name, new)
            for messages in opened[1::2]:
                assert (await anext(messages)).HasField("entry")
    await replica.stop()


async def list_all(client: Client, key: str, page_size: int) -> list[pb.GameSummary]:
    """Every game on every page."""
    listed: list[pb.GameSummary] = []
    token = ""
    while True:
        page = await client.list_games(key, page_size, token)
        assert len(page.games) <= page_size
        listed += page.games
        token = page.next_page_token
        if not token:
            return listed


@pytest.mark.parametrize("page_size", [1, 3, 200])
async def test_every_game_is_listed_once_whatever_the_size_of_pages(
    server: RunningServer, client: Client, page_size: int
) -> None:
    request = pb.CreateGameRequest(options=SHORT, external_id="mine", labels={"a": "b"})
    games = {game.name: game for game in [await client.create(request) for _ in range(7)]}
    over, gone = list(games.values())[:2]
    await play(client, over, seed=1)
    await client.delete(gone.name, server.operator_key)
    del games[gone.name]
    listed = await list_all(client, server.operator_key, page_size)
    assert sorted(game.name for game in listed) == sorted(games)
    for game in listed:
        view = await client.view(game.name, games[game.name].spectator)
        assert (game.external_id, dict(game.labels), game.version) == ("mine", {"a": "b"}, view.version)
        assert (game.create_time, game.update_time) == (view.create_time, view.update_time)


async def test_games_of_one_shard_are_listed_over_several_pages(server: RunningServer, client: Client) -> None:
    keys = load_keys(server.settings, make=False)
    requests = (f"a request id, number {number}" for number in range(100_000))
    shard = [request for request in requests if keys.game_id(request)[:2] == "ab"][:5]
    games = [await client.create(pb.CreateGameRequest(options=SHORT, request_id=request)) for request in shard]
    listed = await list_all(client, server.operator_key, 2)
    assert [game.name for game in listed] == sorted(game.name for game in games)


async def test_games_that_have_expired_are_not_listed_and_leave_the_index(
    server: RunningServer, client: Client, raw: aioredis.Redis
) -> None:
    games = [await client.create() for _ in range(3)]
    for game in games[:2]:
        await raw.delete(game_key(game.id))
    for size in (1, 200):
        assert [game.name for game in await list_all(client, server.operator_key, size)] == [games[2].name]
    for game in games[:2]:
        assert await raw.zscore(index_key(shard_of(game.id)), game.id) is None


async def test_new_games_take_those_that_have_expired_out_of_the_index(
    server: RunningServer, client: Client, raw: aioredis.Redis
) -> None:
    game = await client.create()
    index = index_key(shard_of(game.id))
    gone = [f"{game.id[:2]}{'a' * 16}{letter}b" for letter in "cdef"]
    await raw.zadd(index, dict.fromkeys(gone, 0))
    store = RedisStore(server.settings.store, 10)
    for number in range(1000):
        if await raw.zcard(index) == 1:
            break
        name = f"{game.id[:2]}{number:018}".translate(str.maketrans("0189", "wxyz"))
        await store.create(name, digest=b"d", mark=b"m", state=b"s", meta=b"{}", expiry=0)
        await store.delete(name)
    await store.close()
    assert await raw.zrange(index, 0, -1) == [game.id.encode()]


async def test_wrong_fields_of_list_games_are_named(server: RunningServer, client: Client) -> None:
    for field, size, token in (("page_size", -1, ""), ("page_token", 0, "nonsense")):
        with pytest.raises(Failure) as raised:
            await client.list_games(server.operator_key, size, token)
        assert (raised.value.reason, raised.value.fields) == ("INVALID_FIELD", (field,))
