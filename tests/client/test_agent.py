"""The agent loop: whole games over gRPC, with answers that get lost and streams that break."""

import asyncio
import random

import grpc
import pytest

from moonvale_client import Action, AsyncClient, MoonvaleError, RetryPolicy, View, play_seat
from tests.client.fake import GAME, SEATS, FakeService

QUICK = RetryPolicy(timeout=20, attempt_timeout=5, first_pause=0.001, longest_pause=0.002)


def choose(view: View) -> Action:
    assert view.decision.seat == view.viewer_seat
    return random.choice(view.decision.legal_actions)


async def choose_later(view: View) -> Action:
    await asyncio.sleep(0)
    return choose(view)


async def test_agents_play_a_game_to_its_end(fake: FakeService, address: str) -> None:
    results = await asyncio.gather(
        play_seat(address, GAME, SEATS[0], choose), play_seat(address, GAME, SEATS[1], choose_later)
    )
    assert fake.state.is_over()
    assert results[0] == results[1]
    assert tuple(results[0].totals) == fake.state.totals


async def test_agents_play_on_through_lost_answers_and_broken_streams(fake: FakeService, address: str) -> None:
    fake.faults = [grpc.StatusCode.UNAVAILABLE] * 60
    fake.stream_lengths = [1, 2, 3] * 10
    async with AsyncClient(address, retry=QUICK) as client:
        await asyncio.gather(*(play_seat(client, GAME, seat, choose) for seat in SEATS))
    assert fake.state.is_over()
    assert not fake.faults
    assert len(fake.carried_out) == len(fake.log) - 1


async def test_an_agent_whose_choice_came_too_late_chooses_anew(fake: FakeService, address: str) -> None:
    chosen: list[int] = []

    def choose_late(view: View) -> Action:
        if not chosen:
            fake.act()
        chosen.append(view.version)
        return choose(view)

    seats = [play_seat(address, GAME, seat, choose_late) for seat in SEATS]
    await asyncio.gather(*seats)
    assert fake.state.is_over()
    assert chosen[:2] == [0, 1]


async def test_an_illegal_choice_is_the_authors_to_mend(fake: FakeService, address: str) -> None:
    holder = fake.state.holder
    with pytest.raises(MoonvaleError) as caught:
        await play_seat(address, GAME, SEATS[holder], lambda view: Action())
    assert caught.value.reason == "INVALID_FIELD"
