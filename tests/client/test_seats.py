"""Seats of both clients: how one sits down, waits, reveals entropy, and takes a seat back after its time was out."""

import asyncio
import random
import threading
from contextlib import aclosing
from dataclasses import replace

import grpc
import pytest

from moonvale.v1.view_pb2 import PHASE_WAITING
from moonvale_client import (
    Action,
    AsyncClient,
    Client,
    Clock,
    CommitmentChangedError,
    LogEntry,
    MoonvaleError,
    Result,
    RetryPolicy,
    SeatSetup,
    Update,
    View,
    entropy_commitment,
    new_entropy,
    play_seat,
    play_seats,
)
from moonvale_client.requests import create_game
from tests.client.fake import GAME, SEATS, SPECTATOR_CREDENTIAL, FakeService

QUICK = RetryPolicy(timeout=20, attempt_timeout=5, first_pause=0.001, longest_pause=0.002)
LOST = [grpc.StatusCode.UNAVAILABLE]
OPEN = frozenset({1})
ENTROPIES = [bytes([seat]) * 32 for seat in range(len(SEATS))]
COMMITMENTS = [entropy_commitment(entropy) for entropy in ENTROPIES]


def choose(view: View) -> Action:
    assert not view.seats[view.viewer_seat].away
    return random.choice(view.decision.legal_actions)


def test_a_seat_is_claimed_by_the_games_name_or_by_the_join_code_alone(fake: FakeService, address: str) -> None:
    fake.faults = LOST[:]
    with Client(address, retry=QUICK) as client:
        assert client.claim_seat(GAME, "Ben", seat=1).credential == f"{GAME} Ben"
        assert fake.request_ids[0] == fake.request_ids[1] != ""
        setup = SeatSetup(name="Cleo", entropy_commitment=COMMITMENTS[0])
        assert client.claim_seat(player=setup, join_code="7QX4-M2TC").credential == "games/- Cleo"


async def test_leaving_a_seat_again_after_a_lost_answer_is_done(fake: FakeService, address: str) -> None:
    fake.faults = LOST[:]
    async with AsyncClient(address, retry=QUICK) as client:
        await client.leave_seat(GAME, SEATS[1])
        assert fake.left == [None]
        with pytest.raises(MoonvaleError) as caught:
            await client.leave_seat(GAME, SEATS[1])
    assert caught.value.reason == "CREDENTIAL_REVOKED"


def test_a_rematch_names_a_number_and_a_commitment(fake: FakeService, address: str) -> None:
    with Client(address, retry=QUICK) as client:
        again = client.rematch(GAME, SEATS[0], number=0, entropy_commitment=COMMITMENTS[0])
        assert again.seat_credential == f"0 {COMMITMENTS[0].hex()}"
        assert client.rematch(GAME, SEATS[0]).seat_credential == "None "


def test_entropy_is_drawn_anew_and_committed_to_as_the_service_reads_it() -> None:
    assert new_entropy() != new_entropy()
    assert len(new_entropy()) == len(COMMITMENTS[0]) == 32
    known = "b628b6da52bced3f691aaa221b5418e160f37a75bfdf8049edea8ac76b33315b"
    assert entropy_commitment(b"0123456789abcdef").hex() == known


def told(update: Update) -> str | int:
    """What an update is about: the mark of a view, or the version of an entry."""
    return update.mark if isinstance(update, View) else update.version


def test_a_game_that_waits_is_told_at_each_change_and_begins_with_version_0(fake: FakeService, address: str) -> None:
    fake.wait_for_players(open_seats=OPEN)
    assert fake.lobby is not None
    with Client(address, retry=QUICK) as client:
        watch = client.watch(GAME, SPECTATOR_CREDENTIAL)
        first = next(watch)
        assert isinstance(first, View)
        assert (first.phase, first.HasField("version"), len(first.seats[1].village)) == (PHASE_WAITING, False, 0)
        fake.change(replace(fake.lobby, open=frozenset()))
        assert told(next(watch)) == "change-1"
        fake.change(None)
        fake.act()
        assert [told(next(watch)) for _ in range(2)] == [0, 1]
        watch.close()


async def test_a_stream_that_broke_while_the_game_waited_tells_no_view_twice(fake: FakeService, address: str) -> None:
    fake.wait_for_players(open_seats=OPEN)
    assert fake.lobby is not None
    fake.stream_lengths = [1, 1]
    async with AsyncClient(address, retry=QUICK) as client, aclosing(client.watch(GAME, SPECTATOR_CREDENTIAL)) as watch:
        assert told(await anext(watch)) == "change-0"
        fake.change(replace(fake.lobby, open=frozenset()))
        assert told(await anext(watch)) == "change-1"
        fake.change(None)
        assert told(await anext(watch)) in (0, "mark-0")
    assert [version for version, _ in fake.watched_from][:2] == [None, None]


def test_a_game_that_began_while_the_stream_was_broken_is_told_by_one_more_view(
    fake: FakeService, address: str
) -> None:
    fake.wait_for_players(open_seats=OPEN)
    with Client(address, retry=QUICK) as client:
        fake.stream_lengths = [1, 0, 2]
        watch = client.watch(GAME, SPECTATOR_CREDENTIAL)
        assert told(next(watch)) == "change-0"
        fake.act()
        fake.act()
        fake.change(None)
        assert told(next(watch)) == "mark-2"
        fake.act()
        fake.act()
        assert [told(next(watch)) for _ in range(2)] == [3, 4]
        watch.close()
        assert [entry.version for entry in client.list_events(GAME, SPECTATOR_CREDENTIAL)] == [0, 1, 2, 3, 4]


async def test_agents_reveal_their_entropy_and_play(fake: FakeService, address: str) -> None:
    fake.wait_for_players(*COMMITMENTS, open_seats=OPEN)
    assert fake.lobby is not None
    fake.faults = LOST * 3
    full = replace(fake.lobby, open=frozenset())
    async with AsyncClient(address, retry=QUICK) as client:
        playing = [
            asyncio.create_task(play_seat(client, GAME, credential, choose, entropy=entropy))
            for credential, entropy in zip(SEATS, ENTROPIES, strict=True)
        ]
        fake.change(full)
        await asyncio.gather(*playing)
    assert fake.state.is_over()


async def test_a_bot_of_many_seats_reveals_their_entropies(fake: FakeService, address: str) -> None:
    fake.wait_for_players(*COMMITMENTS)
    entropies = dict(zip(SEATS, ENTROPIES, strict=True))
    results = await play_seats(address, [(GAME, seat) for seat in SEATS], choose, entropies=entropies)
    assert fake.state.is_over()
    assert all(isinstance(result, Result) for result in results)


async def test_nothing_is_revealed_to_a_service_that_shows_another_commitment(fake: FakeService, address: str) -> None:
    fake.wait_for_players(COMMITMENTS[1], COMMITMENTS[1])
    with pytest.raises(CommitmentChangedError):
        await play_seat(address, GAME, SEATS[0], choose, entropy=ENTROPIES[0])
    with pytest.raises(CommitmentChangedError):
        await play_seats(address, [(GAME, SEATS[0])], choose, entropies={SEATS[0]: ENTROPIES[0]})
    assert fake.lobby is not None
    assert fake.lobby.entropy == {}


async def test_nothing_is_revealed_once_the_service_has_changed_its_own_commitment(
    fake: FakeService, address: str
) -> None:
    fake.wait_for_players(*COMMITMENTS, open_seats=OPEN)
    assert fake.lobby is not None
    playing = asyncio.create_task(play_seat(address, GAME, SEATS[0], choose, entropy=ENTROPIES[0]))
    await asyncio.to_thread(fake.wait_until_viewed)
    fake.commitment = bytes([1]) * 32
    fake.change(replace(fake.lobby, open=frozenset()))
    with pytest.raises(CommitmentChangedError, match="of the service's"):
        await playing
    assert fake.lobby.entropy == {}


@pytest.mark.parametrize("many", [False, True])
async def test_a_seat_whose_time_was_out_is_taken_back_and_played_on(
    fake: FakeService, address: str, *, many: bool
) -> None:
    fake.late = [0, 4]
    if many:
        await play_seats(address, [(GAME, seat) for seat in SEATS], choose)
    else:
        await asyncio.gather(*(play_seat(address, GAME, seat, choose) for seat in SEATS))
    assert fake.state.is_over()
    assert fake.reclaimed == 2
    assert not fake.late


async def test_a_seat_that_never_answers_in_time_is_left_to_the_agent(fake: FakeService, address: str) -> None:
    seat = fake.state.holder
    fake.late = list(range(1000))
    watching = threading.Event()
    asked: list[int] = []

    def choose_late(view: View) -> Action:
        asked.append(view.version)
        return choose(view)

    async with AsyncClient(address, retry=QUICK) as client:
        playing = asyncio.create_task(play_seat(client, GAME, SEATS[seat], choose_late))
        async with aclosing(client.watch(GAME, SPECTATOR_CREDENTIAL)) as watch:
            away = 0
            async for update in watch:
                if isinstance(update, LogEntry):
                    away += update.events[-1].HasField("away")
                if away == 2 and not watching.is_set():
                    watching.set()
                    while not fake.state.is_over():  # the agent, and whoever else plays
                        fake.act()
        await playing
    assert len(asked) == 2
    assert fake.reclaimed == 1


def test_a_table_is_asked_for_as_given() -> None:
    clock = Clock(agent="greedy")
    seats: list[str | SeatSetup] = ["Ann", SeatSetup(open=True)]
    request = create_game(None, seats, None, "", None, None, clock, with_join_code=True, request_id="")
    assert [(seat.name, seat.open) for seat in request.seats] == [("Ann", False), ("", True)]
    assert (request.clock, request.with_join_code) == (clock, True)
