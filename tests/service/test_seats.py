"""Seats: who gets one, who loses it, when a game begins, and what decides its shuffles."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1 import view_pb2
from moonvale.v1.clock_pb2 import Clock
from moonvale.v1.event_pb2 import CAUSE_CREATION
from moonvale.v1.game_service_pb2 import SeatSetup
from moonvale.v1.options_pb2 import Options
from moonvale_engine import replay_record
from moonvale_engine.record import read_record
from moonvale_service.seats import entropy_commitment, plain_code
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import RunningServer, start_server, start_steward
from tests.support.servers import StoreServer

OPEN = SeatSetup(open=True)
ENTROPY = (bytes(range(32)), bytes(range(100, 116)))
ROUNDS = 100
CLAIMERS = 50


@pytest.fixture
async def two(valkey: StoreServer, tmp_path: Path) -> AsyncIterator[tuple[Client, Client]]:
    """Clients of two replicas, which don't mind how many games are created."""
    servers = [await start_server(valkey.url, tmp_path, create_rate="0") for _ in range(2)]
    async with Client(servers[0].address) as one, Client(servers[1].address) as another:
        yield one, another
    for server in servers:
        await server.stop()


async def waiting(client: Client, *seats: SeatSetup, code: bool = False) -> Game:
    """A game of so many seats."""
    options = Options(players=len(seats), rounds=1, turn_limit=4)
    return await client.create(pb.CreateGameRequest(options=options, seats=seats, with_join_code=code))


def statuses(view: view_pb2.View) -> str:
    """The seats of a view: o for an open one, k for a kept one, t for a taken one."""
    return "".join(".okt"[seat.status] for seat in view.seats)


async def refused(call: object) -> str:
    """The reason that a call fails with."""
    with pytest.raises(Failure) as raised:
        await call  # type: ignore[misc]
    return raised.value.reason


async def test_of_fifty_who_claim_a_seat_at_once_one_gets_it(two: tuple[Client, Client]) -> None:
    """A hundred times, at two replicas; and the winner's repeat, at any of them, finds the same seat."""

    async def claim(client: Client, game: str) -> tuple[str, str]:
        request_id = str(uuid.uuid4())
        try:
            return (await client.claim(game, request_id=request_id)).credential, request_id
        except Failure as error:
            return error.reason, ""

    for number in range(ROUNDS):
        game = await waiting(two[0], SeatSetup(), OPEN)
        claims = await asyncio.gather(*[claim(two[i % 2], game.name) for i in range(CLAIMERS)])
        won = [(credential, request) for credential, request in claims if request]
        assert len(won) == 1, number
        assert {reason for reason, request in claims if not request} == {"GAME_BEGUN"}
        ((credential, request_id),) = won
        for client in two:
            again = await client.claim(game.name, request_id=request_id)
            assert (again.credential, again.seat) == (credential, 1)
        assert (await two[1].view(game.name, credential)).viewer_seat == 1


async def test_claimers_of_any_seat_get_one_each(two: tuple[Client, Client]) -> None:
    game = await waiting(two[0], OPEN, OPEN, OPEN, OPEN)
    assert (statuses(game.view), game.seats) == ("oooo", [""] * 4)
    taken = await asyncio.gather(*[two[i % 2].claim(game.name) for i in range(4)])
    assert sorted(each.seat for each in taken) == [0, 1, 2, 3]
    assert len({each.credential for each in taken}) == 4
    view = await two[0].view(game.name, taken[0].credential)
    assert (view.phase, statuses(view), view.version) == (view_pb2.PHASE_PLAYING, "tttt", 0)


async def test_a_named_seat_is_had_by_one(client: Client) -> None:
    game = await waiting(client, SeatSetup(), OPEN, OPEN)
    taken = await client.claim(game.name, 2, player=SeatSetup(name="Ben", labels={"rating": "1500"}))
    assert taken.seat == 2
    assert (taken.view.seats[2].name, dict(taken.view.seats[2].labels)) == ("Ben", {"rating": "1500"})
    assert taken.view.phase == view_pb2.PHASE_WAITING
    assert await refused(client.claim(game.name, 2)) == "SEAT_TAKEN"
    assert await refused(client.claim(game.name, 0)) == "SEAT_TAKEN"
    request = str(uuid.uuid4())
    await client.claim(game.name, 1, request_id=request)
    assert await refused(client.claim(game.name, 2, request_id=request)) == "REQUEST_ID_REUSED"
    assert await refused(client.claim(game.name)) == "GAME_BEGUN"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ClaimSeatRequest(name="games/no"), "name"),
        (pb.ClaimSeatRequest(seat=2), "seat"),
        (pb.ClaimSeatRequest(seat=-1), "seat"),
        (pb.ClaimSeatRequest(request_id="short"), "request_id"),
        (pb.ClaimSeatRequest(player=SeatSetup(open=True)), "player.open"),
        (pb.ClaimSeatRequest(player=SeatSetup(bot="greedy")), "player.bot"),
        (pb.ClaimSeatRequest(player=SeatSetup(entropy_commitment=b"short")), "player.entropy_commitment"),
    ],
)
async def test_a_claim_that_cannot_be_is_refused_by_its_field(
    client: Client, request_: pb.ClaimSeatRequest, field: str
) -> None:
    game = await waiting(client, SeatSetup(), OPEN)
    request_.name = request_.name or game.name
    request_.request_id = request_.request_id or str(uuid.uuid4())
    with pytest.raises(Failure) as raised:
        await client.raw("ClaimSeat", request_.SerializeToString())
    assert (raised.value.reason, raised.value.fields) == ("INVALID_FIELD", (field,))
    without = pb.ClaimSeatRequest(name=game.name)
    with pytest.raises(Failure) as raised:
        await client.raw("ClaimSeat", without.SerializeToString())
    assert raised.value.fields == ("request_id",)
    assert statuses(await client.view(game.name, game.creator)) == "to"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.CreateGameRequest(with_join_code=True), "with_join_code"),
        (pb.CreateGameRequest(seats=[OPEN] * 4, clock=Clock()), "clock"),
        (pb.CreateGameRequest(seats=[SeatSetup(bot="stockfish")] * 4), "seats[0].bot"),
        (pb.CreateGameRequest(seats=[SeatSetup(bot="greedy", open=True)] * 4), "seats[0].bot"),
        (pb.CreateGameRequest(seats=[SeatSetup(name="Ann", open=True)] * 4), "seats[0].open"),
        (pb.CreateGameRequest(seats=[OPEN]), "seats"),
    ],
)
async def test_a_table_that_cannot_be_is_refused_by_its_field(
    client: Client, request_: pb.CreateGameRequest, field: str
) -> None:
    with pytest.raises(Failure) as raised:
        await client.create(request_)
    assert (raised.value.reason, raised.value.fields) == ("INVALID_FIELD", (field,))


async def test_a_join_code_finds_the_game_and_opens_its_seats(two: tuple[Client, Client]) -> None:
    game = await waiting(two[0], SeatSetup(), OPEN, OPEN, code=True)
    other = await waiting(two[0], SeatSetup(), OPEN, code=True)
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}", game.join_code)
    assert game.view.join_needs_code
    for wrong in ("", "0000-0000", other.join_code):
        assert await refused(two[1].claim(game.name, code=wrong)) == "JOIN_CODE_WRONG"
    assert await refused(two[1].claim("games/-", code="0000-0000")) == "JOIN_CODE_WRONG"
    assert await refused(two[1].claim("games/-")) == "JOIN_CODE_WRONG"
    typed = game.join_code.lower().replace("-", " ").replace("0", "o").replace("1", "l")
    first = await two[1].claim("games/-", code=typed)
    assert (first.name, first.seat) == (game.name, 1)
    request = str(uuid.uuid4())
    second = await two[0].claim("games/-", code=game.join_code, request_id=request)
    assert (second.name, second.seat, second.view.phase) == (game.name, 2, view_pb2.PHASE_PLAYING)
    assert not second.view.join_needs_code
    # The code is no more when the game has begun. A repeat names the game, which the first answer did not tell.
    assert await refused(two[0].claim("games/-", code=game.join_code)) == "JOIN_CODE_WRONG"


async def test_a_repeat_of_create_game_returns_the_same_code(client: Client) -> None:
    request = pb.CreateGameRequest(
        options=Options(players=2), seats=[SeatSetup(), OPEN], with_join_code=True, request_id=str(uuid.uuid4())
    )
    game, again = await client.create(request), await client.create(request)
    assert (game.name, game.join_code, game.seats) == (again.name, again.join_code, again.seats)
    assert (await client.claim("games/-", code=game.join_code)).name == game.name
    begun = await client.create(request)
    assert (begun.name, begun.join_code, begun.seats) == (game.name, "", game.seats)


def test_what_people_may_type_for_a_code() -> None:
    assert plain_code(" 7qx4-m2tc ") == plain_code("7QX4 M2TC") == "7QX4M2TC"
    assert plain_code("oil0") == "0110"


async def test_who_leaves_before_the_game_begins_frees_the_seat(client: Client) -> None:
    game = await waiting(client, SeatSetup(name="Ann"), OPEN, OPEN)
    ben = await client.claim(game.name, player=SeatSetup(name="Ben"))
    await client.leave(game.name, ben.credential)
    assert await refused(client.view(game.name, ben.credential)) == "CREDENTIAL_REVOKED"
    assert await refused(client.leave(game.name, ben.credential)) == "CREDENTIAL_REVOKED"
    view = await client.view(game.name, game.creator)
    assert (statuses(view), view.seats[1].name) == ("too", "")
    cleo = await client.claim(game.name, 1)
    assert cleo.credential != ben.credential
    await client.leave(game.name, game.creator, 1)
    await client.leave(game.name, game.creator, 1)  # which changes nothing more
    assert await refused(client.view(game.name, cleo.credential)) == "CREDENTIAL_REVOKED"
    await client.leave(game.name, game.seats[0])  # a reserved seat is open from then on, too
    assert statuses(await client.view(game.name, game.creator)) == "ooo"
    taken = [await client.claim(game.name) for _ in range(3)]
    assert await refused(client.leave(game.name, taken[0].credential)) == "GAME_BEGUN"
    assert await refused(client.view(game.name, game.seats[0])) == "CREDENTIAL_REVOKED"


async def test_watchers_see_the_table_fill_and_the_game_begin(client: Client) -> None:
    game = await waiting(client, SeatSetup(), OPEN, OPEN)
    async with aclosing(client.watch(game.name, game.spectator)) as messages:
        seen = [statuses((await anext(messages)).view)]
        for _ in range(2):
            await client.claim(game.name)
            message = await anext(messages)
            if message.HasField("view"):
                assert not message.view.HasField("version")
                assert not message.view.HasField("decision")
                seen.append(statuses(message.view))
        assert seen == ["too", "tto"]
        assert (message.entry.version, message.entry.cause) == (0, CAUSE_CREATION)
        assert message.entry.events[0].round_began.round == 1
    listed = await client.events(game.name, game.spectator)
    assert [entry.version for entry in listed.entries] == [0]


async def test_entropy_of_the_seats_decides_the_shuffles(client: Client) -> None:
    committed = [SeatSetup(entropy_commitment=entropy_commitment(each)) for each in ENTROPY]
    game = await waiting(client, committed[0], SeatSetup(), OPEN)
    taken = await client.claim(game.name, player=committed[1])
    view = taken.view
    assert view.phase == view_pb2.PHASE_REVEALING
    assert [seat.entropy_commitment for seat in view.seats] == [
        entropy_commitment(ENTROPY[0]),
        b"",
        committed[1].entropy_commitment,
    ]
    assert 0 < view.time_left.seconds <= 30
    assert await refused(client.leave(game.name, taken.credential)) == "GAME_BEGUN"
    assert await refused(client.reveal(game.name, game.seats[0], ENTROPY[1])) == "INVALID_FIELD"
    assert await refused(client.reveal(game.name, game.seats[1], ENTROPY[0])) == "INVALID_FIELD"
    async with aclosing(client.turns([(game.name, taken.credential), (game.name, game.seats[1])])) as turns:
        turn = await anext(turns)
        assert (turn.index, turn.turn.phase) == (0, view_pb2.PHASE_REVEALING)
    revealed = await client.reveal(game.name, game.seats[0], ENTROPY[0])
    assert revealed.mark == (await client.reveal(game.name, game.seats[0], ENTROPY[0])).mark
    assert [seat.entropy for seat in revealed.seats] == [b"", b"", b""]  # nobody learns it before all have revealed
    begun = await client.reveal(game.name, taken.credential, ENTROPY[1])
    assert begun.phase == view_pb2.PHASE_PLAYING
    assert [seat.entropy for seat in begun.seats] == [ENTROPY[0], b"", ENTROPY[1]]
    game.seats[2] = taken.credential
    await play(client, game, seed=1)
    replay = (await client.replay(game.name, game.creator)).replay
    assert list(replay.entropy) == [ENTROPY[0], b"", ENTROPY[1]]
    assert replay_record(read_record(replay.record)).entropy == tuple(replay.entropy)


async def test_who_does_not_reveal_in_time_adds_nothing(valkey: StoreServer, tmp_path: Path) -> None:
    server = await start_server(valkey.url, tmp_path, reveal_time="100ms")
    committed = [SeatSetup(entropy_commitment=entropy_commitment(each)) for each in ENTROPY]
    async with Client(server.address) as client:
        game = await waiting(client, committed[0], committed[1], OPEN)
        async with aclosing(client.watch(game.name, game.spectator)) as messages:
            await client.claim(game.name)
            await client.reveal(game.name, game.seats[0], ENTROPY[0])
            steward = await start_steward(valkey.url, tmp_path)  # only now, or the reveal might come too late
            async for message in messages:
                if message.HasField("entry"):
                    break
        view = await client.view(game.name, game.spectator)
        assert [(seat.entropy, seat.entropy_withheld) for seat in view.seats] == [
            (ENTROPY[0], False),
            (b"", True),
            (b"", False),
        ]
        assert await refused(client.reveal(game.name, game.seats[1], ENTROPY[1])) == "GAME_BEGUN"
        assert (await client.reveal(game.name, game.seats[0], ENTROPY[0])).phase == view_pb2.PHASE_PLAYING
    await steward.stop()
    await server.stop()


async def finished(client: Client) -> tuple[Game, list[int]]:
    """A game of three that is over, and its places."""
    game = await waiting(client, SeatSetup(name="Ann"), SeatSetup(name="Ben"), SeatSetup(name="Cleo"))
    assert await refused(client.rematch(game.name, game.seats[0])) == "GAME_NOT_OVER"
    return game, list((await play(client, game, seed=3)).result.places)


async def test_a_rematch_seats_the_same_players(two: tuple[Client, Client], tmp_path: Path) -> None:
    operator = (tmp_path / "operator_key").read_text().strip()
    game, places = await finished(two[0])
    loser, last = places[1:]
    for seat, number in ((places[0], 3), (loser, 14), (loser, -1)):  # which create nothing
        assert await refused(two[0].rematch(game.name, game.seats[seat], number=number)) == "INVALID_FIELD"
    assert [each.name for each in (await two[0].list_games(operator)).games] == [game.name]
    first = await two[0].rematch(game.name, game.seats[loser], number=9)
    assert first == await two[1].rematch(game.name, game.seats[loser], number=9)
    assert (first.view.rematch_of, first.view.phase) == (game.name, view_pb2.PHASE_WAITING)
    assert [seat.name for seat in first.view.seats] == ["Ann", "Ben", "Cleo"]
    assert statuses(first.view).count("k") == 2
    assert first.view.options.deck == "coin,9=eye"
    assert await refused(two[0].rematch(game.name, game.seats[last], number=9)) == "INVALID_FIELD"  # chosen already
    assert await refused(two[0].rematch(game.name, game.seats[places[0]], number=3)) == "INVALID_FIELD"  # the winner's
    assert await refused(two[0].claim(first.name)) == "SEAT_TAKEN"  # kept seats are not for anybody
    creator = await two[0].rematch(game.name, game.creator)
    assert creator.name == first.name
    assert (await two[0].view(first.name, creator.spectator_credential)).name == first.name
    second = await two[1].rematch(game.name, game.seats[last], number=2)
    third = await two[1].rematch(game.name, game.seats[places[0]])
    assert (third.view.phase, third.view.options.deck) == (view_pb2.PHASE_PLAYING, "coin,2=eye,9=eye")
    assert third.view.commitment != game.view.commitment
    seats = {first.seat_credential, second.seat_credential, third.seat_credential}
    assert len(seats) == 3
    assert not seats & set(game.seats)
    for credential in seats:
        assert (await two[0].view(first.name, credential)).phase == view_pb2.PHASE_PLAYING
    assert await refused(two[0].view(first.name, game.seats[0])) == "CREDENTIAL_OF_ANOTHER_GAME"
    assert await two[0].rematch(game.name, game.seats[last]) == await two[1].rematch(game.name, game.seats[last])


async def test_a_seat_whose_player_does_not_come_again_is_freed_by_the_creator(client: Client) -> None:
    game, places = await finished(client)
    again = await client.rematch(game.name, game.creator)
    for seat in places[:2]:
        await client.rematch(game.name, game.seats[seat])
    missing = places[2]
    await client.leave(again.name, again.creator_credential, missing)
    assert (await client.view(again.name, again.creator_credential)).seats[missing].status == view_pb2.SEAT_STATUS_OPEN
    dan = await client.claim(again.name, player=SeatSetup(name="Dan"))
    assert (dan.seat, dan.view.phase) == (missing, view_pb2.PHASE_PLAYING)
    assert await refused(client.rematch(game.name, game.seats[missing])) == "GAME_BEGUN"


async def test_who_comes_back_to_a_seat_that_was_freed_gets_it(client: Client) -> None:
    game, places = await finished(client)
    again = await client.rematch(game.name, game.creator)
    late = places[2]
    await client.leave(again.name, again.creator_credential, late)
    back = await client.rematch(game.name, game.seats[late])
    assert back.view.viewer_seat == late
    assert back == await client.rematch(game.name, game.seats[late])


async def test_a_game_that_waits_is_deleted_listed_and_looked_at(server: RunningServer, client: Client) -> None:
    game = await waiting(client, SeatSetup(), OPEN, code=True)
    (listed,) = (await client.list_games(server.operator_key)).games
    assert (listed.name, listed.HasField("version")) == (game.name, False)
    assert list((await client.events(game.name, game.creator)).entries) == []
    await client.delete(game.name, game.creator)
    assert await refused(client.claim("games/-", code=game.join_code)) == "GAME_NOT_FOUND"
