"""Exactly once: a request that is made again, anywhere, changes nothing and gets what it got."""

from __future__ import annotations

import asyncio
import uuid

import pytest
import redis.asyncio as aioredis

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action
from moonvale.v1.options_pb2 import Options
from moonvale_service.store.log_codec import RING_SIZE
from tests.service.client import Client, Failure, play
from tests.service.servers import running_service


async def stored(raw: aioredis.Redis) -> dict[bytes, object]:
    """All that the store holds, byte for byte."""
    return {key: await raw.dump(key) async for key in raw.scan_iter()}


async def test_a_game_is_created_once(client: Client, raw: aioredis.Redis) -> None:
    request = pb.CreateGameRequest(
        options=Options(players=3), labels={"a": "1", "b": "2"}, request_id=str(uuid.uuid4())
    )
    first = await client.create(request)
    before = await stored(raw)
    assert await client.create(request) == first
    assert await stored(raw) == before
    await play(client, first, seed=1, moves=3)
    later = await client.create(request)
    assert (later.name, later.seats, later.creator) == (first.name, first.seats, first.creator)
    assert later.view.version == 3  # the view is the present one


async def test_many_creations_at_once_are_one(client: Client, raw: aioredis.Redis) -> None:
    request = pb.CreateGameRequest(request_id=str(uuid.uuid4()))
    games = await asyncio.gather(*(client.create(request) for _ in range(10)))
    assert all(game == games[0] for game in games)
    assert sum(b":g:" in key for key in await stored(raw)) == 1


async def test_an_action_is_carried_out_once(client: Client, raw: aioredis.Redis) -> None:
    game = await client.create()
    view = await client.view(game.name, game.spectator)
    seat = view.decision.seat
    mine = await client.view(game.name, game.seats[seat])
    action, request_id = mine.decision.legal_actions[3], str(uuid.uuid4())
    first = await client.submit(game.name, game.seats[seat], [action], 0, request_id)
    before = await stored(raw)
    assert await client.submit(game.name, game.seats[seat], [action], 0, request_id) == first
    assert await stored(raw) == before
    await play(client, game, seed=1, moves=10)
    later = await client.submit(game.name, game.seats[seat], [action], 0, request_id)
    assert (later.version, later.mark, later.entries) == (first.version, first.mark, first.entries)
    assert later.view.version > first.view.version


async def test_many_submissions_at_once_are_one(client: Client) -> None:
    game = await client.create()
    view = await client.view(game.name, game.spectator)
    credential = game.seats[view.decision.seat]
    action = (await client.view(game.name, credential)).decision.legal_actions[0]
    request_id = str(uuid.uuid4())
    answers = await asyncio.gather(*(client.submit(game.name, credential, [action], 0, request_id) for _ in range(10)))
    assert all(answer == answers[0] for answer in answers)
    assert (await client.view(game.name, game.spectator)).version == 1


async def test_without_a_request_id_a_repeat_is_stale(client: Client) -> None:
    game = await client.create()
    view = await client.view(game.name, game.spectator)
    credential = game.seats[view.decision.seat]
    action = (await client.view(game.name, credential)).decision.legal_actions[0]
    await client.submit(game.name, credential, [action], 0)
    with pytest.raises(Failure, match="STALE_VERSION"):
        await client.submit(game.name, credential, [action], 0)


async def test_a_request_older_than_the_ring_is_stale(client: Client) -> None:
    game = await client.create()
    made: list[tuple[int, Action, int, str]] = []
    view = await client.view(game.name, game.spectator)
    while sum(seat == made[0][0] for seat, *_ in made) <= RING_SIZE if made else True:
        seat = view.decision.seat
        mine = await client.view(game.name, game.seats[seat])
        request = (seat, mine.decision.legal_actions[0], mine.version, str(uuid.uuid4()))
        view = (await client.submit(game.name, game.seats[seat], [request[1]], request[2], request[3])).view
        made.append(request)
    own = [request for request in made if request[0] == made[0][0]]
    with pytest.raises(Failure, match="STALE_VERSION"):
        await client.submit(game.name, game.seats[own[0][0]], [own[0][1]], *own[0][2:])
    for seat, action, version, request_id in own[1:]:
        answer = await client.submit(game.name, game.seats[seat], [action], version, request_id)
        assert answer.version == version + 1


async def test_seats_may_use_the_same_request_id(client: Client) -> None:
    game = await client.create()
    request_id = str(uuid.uuid4())
    for version in range(2):
        seat = (await client.view(game.name, game.spectator)).decision.seat
        action = (await client.view(game.name, game.seats[seat])).decision.legal_actions[0]
        answer = await client.submit(game.name, game.seats[seat], [action], version, request_id)
        assert answer.version == version + 1


def test_a_repeat_may_reach_another_worker() -> None:
    with running_service() as service:
        asyncio.run(_repeat_elsewhere(service.address))
        pids = {line["pid"] for line in service.log_lines() if line.get("method") == "SubmitAction"}
        assert pids == {worker.pid for worker in service.workers()}


async def _repeat_elsewhere(address: str) -> None:
    # Each channel is a connection of its own, and the kernel spreads connections over the workers.
    clients = [Client(address) for _ in range(24)]
    create = pb.CreateGameRequest(options=Options(players=2), request_id=str(uuid.uuid4()))
    games = await asyncio.gather(*(client.create(create) for client in clients))
    game = games[0]
    assert all(other == game for other in games)
    view = await clients[0].view(game.name, game.spectator)
    for version in range(6):
        seat = view.decision.seat
        action = (await clients[0].view(game.name, game.seats[seat])).decision.legal_actions[-1]
        request_id = str(uuid.uuid4())
        submissions = (client.submit(game.name, game.seats[seat], [action], version, request_id) for client in clients)
        answers = await asyncio.gather(*submissions)
        assert {(answer.version, answer.mark) for answer in answers} == {(version + 1, answers[0].mark)}
        assert all(answer == answers[0] for answer in answers)
        view = answers[0].view
    resignations = await asyncio.gather(*(client.resign(game.name, game.seats[0]) for client in clients))
    assert all(answer == resignations[0] for answer in resignations)
    replay = await clients[5].replay(game.name, game.spectator)
    assert len(replay.replay.entries) == 7
    for client in clients:
        await client.__aexit__(None, None, None)
