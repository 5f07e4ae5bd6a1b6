"""Games over gRPC: what is given at the start comes back, deals can be supplied, records replay, seats may resign."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
import redis.asyncio as aioredis
from google.protobuf.timestamp_pb2 import Timestamp

from moonvale.v1 import event_pb2
from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_engine.catalog import CARDS
from moonvale_engine.codec import encode
from moonvale_engine.options import parse_deck
from moonvale_engine.record import read_record, replay_record
from moonvale_engine.shuffle import commitment
from moonvale_engine.tokens import TOKENS
from moonvale_service.store.redis_store import game_key
from tests.service.client import Client, Failure, play
from tests.service.servers import RunningServer

SHORT = Options(players=2, rounds=1)


async def test_what_the_creator_says_comes_back_unchanged_to_everybody(client: Client) -> None:
    request = pb.CreateGameRequest(
        options=Options(players=3),
        seats=[
            pb.SeatSetup(name="Ann", labels={"rating": "1510"}),
            pb.SeatSetup(name="Bé\n\u202e 🂡"),
            pb.SeatSetup(),
        ],
        labels={"event": "club night", "": "even an empty key"},
        external_id="x-1/2",
        seal_replay_until=Timestamp(seconds=4_102_444_800, nanos=250_000_000),
    )
    game = await client.create(request)
    for credential in game.all_credentials:
        view = await client.view(game.name, credential)
        assert view.name == game.name
        assert dict(view.labels) == {"event": "club night", "": "even an empty key"}
        assert view.external_id == "x-1/2"
        assert view.seal_replay_until == request.seal_replay_until
        assert [seat.name for seat in view.seats] == ["Ann", "Bé\n\u202e 🂡", ""]
        assert dict(view.seats[0].labels) == {"rating": "1510"}
        assert (view.version, view.HasField("version")) == (0, True)
        assert len(view.commitment) == 32
        assert view.create_time == view.update_time


async def test_each_credential_sees_the_game_as_its_own_viewer(client: Client) -> None:
    game = await client.create(pb.CreateGameRequest(options=Options(players=4)))
    assert len(game.seats) == 4
    for seat, credential in enumerate(game.seats):
        view = await client.view(game.name, credential)
        assert view.viewer_seat == seat
        assert bool(view.decision.legal_actions) == (view.decision.seat == seat)
        assert f"as {'abcd'[seat]}" in view.position
    for credential in (game.creator, game.spectator):
        view = await client.view(game.name, credential)
        assert not view.HasField("viewer_seat")
        assert not view.decision.legal_actions
        assert "as spectator" in view.position
    assert not game.view.HasField("viewer_seat")  # the creator of a game gets to see nobody's cards


async def test_the_empty_request_creates_four_rounds_of_silver_coin_for_four(client: Client) -> None:
    game = await client.create(pb.CreateGameRequest())
    options = game.view.options
    assert (options.players, options.rounds, options.deck, options.token) == (4, 4, "coin", "coin")
    assert parse_deck(options.deck) == ("coin",) * 14
    assert not options.deal_supplied


async def test_secrets_of_games_differ(client: Client) -> None:
    games = [await client.create() for _ in range(8)]
    assert len({game.view.commitment for game in games}) == 8
    assert len({game.name for game in games}) == 8


async def test_a_supplied_deal_decides_the_cards_and_the_view_says_so(server: RunningServer, client: Client) -> None:
    secret = bytes(range(32))
    records = []
    for villages in ((), (0, 1), (1, 0)):
        deal = pb.Deal(secret=secret, villages=villages)
        game = await client.create(pb.CreateGameRequest(options=SHORT, deal=deal), server.creator_key)
        assert game.view.options.deal_supplied
        assert game.view.commitment == commitment(secret)
        view = await client.view(game.name, game.seats[0])
        assert view.options.deal_supplied
        await play(client, game, seed=5)
        replay = (await client.replay(game.name, game.spectator)).replay
        assert replay.secret == secret
        record = read_record(replay.record)
        records.append([(entry.seat, entry.action) for entry in record.entries])
        assert tuple(replay.options.villages) == (villages or (0, 1))
    assert records[0] == records[1]
    assert records[0] != records[2]


async def test_a_replay_opens_the_commitment_and_leads_to_the_stored_bytes(client: Client, raw: aioredis.Redis) -> None:
    game = await client.create(
        pb.CreateGameRequest(options=SHORT, seats=[pb.SeatSetup(name="Ann"), pb.SeatSetup(name="Ben")])
    )
    view = await play(client, game, seed=8)
    replay = (await client.replay(game.name, game.seats[1])).replay
    assert commitment(replay.secret) == replay.commitment == view.commitment
    assert replay.result == view.result
    assert len(replay.entries) == view.version
    record = read_record(replay.record)
    assert record.names == ("Ann", "Ben")
    assert record.game == game.id
    assert encode(replay_record(record)) == await raw.hget(game_key(game.id), "s")
    assert replay.entries[-1].create_time == view.update_time


async def test_a_seal_keeps_the_replay_shut_until_its_time(client: Client) -> None:
    game = await client.create(pb.CreateGameRequest(options=SHORT, seal_replay_until=timestamp(timedelta(hours=1))))
    await client.resign(game.name, game.seats[0])
    with pytest.raises(Failure, match="REPLAY_SEALED"):
        await client.replay(game.name, game.creator)
    past = await client.create(pb.CreateGameRequest(options=SHORT, seal_replay_until=timestamp(-timedelta(hours=1))))
    await client.resign(past.name, past.seats[0])
    assert (await client.replay(past.name, past.creator)).replay.secret


def timestamp(ahead: timedelta) -> Timestamp:
    """A time so far from now."""
    time = Timestamp()
    time.FromDatetime(datetime.now(UTC) + ahead)
    return time


async def test_resignation_ends_a_game_of_two_and_repeats_change_nothing(client: Client, raw: aioredis.Redis) -> None:
    game = await client.create()
    first = await client.resign(game.name, game.seats[1])
    assert first.version == 1
    assert list(first.view.result.places) == [0, 1]
    assert [entry.cause for entry in first.entries] == [event_pb2.CAUSE_RESIGNATION]
    assert [event.WhichOneof("kind") for event in first.entries[0].events] == ["resigned", "game_over"]
    before = await raw.dump(game_key(game.id))
    assert await client.resign(game.name, game.seats[1]) == first
    assert await raw.dump(game_key(game.id)) == before
    with pytest.raises(Failure, match="GAME_OVER"):
        await client.resign(game.name, game.seats[0])


async def test_a_resigned_seat_is_played_on_and_may_repeat_its_resignation_later(client: Client) -> None:
    game = await client.create(pb.CreateGameRequest(options=Options(players=3, rounds=1)))
    await play(client, game, seed=2, moves=5)
    first = await client.resign(game.name, game.seats[2])
    view = await client.view(game.name, game.spectator)
    assert view.decision.seat != 2
    rng = random.Random(4)
    while view.HasField("decision"):
        assert view.decision.seat != 2
        mine = await client.view(game.name, game.seats[view.decision.seat])
        action = rng.choice(mine.decision.legal_actions)
        view = (await client.submit(game.name, game.seats[view.decision.seat], [action], mine.version)).view
    again = await client.resign(game.name, game.seats[2])
    assert (again.version, again.mark, again.entries) == (first.version, first.mark, first.entries)
    assert again.view.version == view.version
    assert view.result.places[-1] == 2


async def test_events_page_by_page_are_those_of_one_page(client: Client) -> None:
    game = await client.create(pb.CreateGameRequest(options=SHORT))
    last = await play(client, game, seed=6)
    credential = game.seats[0]
    pages = []
    token = ""
    while True:
        page = await client.events(game.name, credential, page_size=7, page_token=token)
        pages.append(page)
        token = page.next_page_token
        if not token:
            break
    assert all(len(page.entries) == 7 for page in pages[:-1])
    entries = [entry for page in pages for entry in page.entries]
    assert [entry.version for entry in entries] == list(range(last.version + 1))
    assert [entry.HasField("seat") for entry in entries] == [False] + [True] * last.version
    assert entries[0].cause == event_pb2.CAUSE_CREATION
    assert entries[0].mark == game.view.mark
    assert entries[-1].mark == last.mark
    whole: list[event_pb2.LogEntry] = []
    page = await client.events(game.name, credential, page_size=1000)
    while page.next_page_token:
        assert len(page.entries) == 200
        whole += page.entries
        page = await client.events(game.name, credential, page_size=1000, page_token=page.next_page_token)
    assert [*whole, *page.entries] == entries


async def test_events_of_a_submission_are_those_that_the_list_tells_later(client: Client) -> None:
    game = await client.create(pb.CreateGameRequest(options=SHORT))
    told: dict[int, list[event_pb2.LogEntry]] = {0: [], 1: []}
    view = await client.view(game.name, game.spectator)
    rng = random.Random(9)
    while view.HasField("decision"):
        seat = view.decision.seat
        mine = await client.view(game.name, game.seats[seat])
        answer = await client.submit(
            game.name, game.seats[seat], [rng.choice(mine.decision.legal_actions)], mine.version
        )
        told[seat] += answer.entries
        view = answer.view
    for seat in range(2):
        page = await client.events(game.name, game.seats[seat])
        entries = list(page.entries)
        while page.next_page_token:
            page = await client.events(game.name, game.seats[seat], page_token=page.next_page_token)
            entries += page.entries
        assert told[seat] == [entry for entry in entries if entry.HasField("seat") and entry.seat == seat]


async def test_catalogue_and_server_info_need_no_credential(client: Client, server: RunningServer) -> None:
    catalogue = pb.GetCatalogResponse.FromString(await client.raw("GetCatalog", b""))
    assert (len(catalogue.cards), len(catalogue.tokens)) == (len(CARDS), len(TOKENS))
    info = pb.GetServerInfoResponse.FromString(await client.raw("GetServerInfo", b"", "not a credential"))
    assert info.limits.max_request_bytes == server.settings.message_limit
    assert info.limits.finished_game_ttl.seconds == 30 * 86400
    assert info.limits.heartbeat_interval.seconds == 15
    assert not info.creator_key_required


async def test_expiries_are_those_of_the_settings(client: Client, raw: aioredis.Redis) -> None:
    day = 86_400_000
    until = timestamp(timedelta(days=10))
    for request, kept in (
        (pb.CreateGameRequest(options=SHORT), 30 * day),
        (pb.CreateGameRequest(options=SHORT, seal_replay_until=until), 40 * day),
    ):
        game = await client.create(request)
        assert await raw.pttl(game_key(game.id)) == pytest.approx(90 * day, abs=day)
        await play(client, game, seed=1, moves=1)
        assert await raw.pttl(game_key(game.id)) == pytest.approx(90 * day, abs=day)
        await client.resign(game.name, game.seats[0])
        assert await raw.pttl(game_key(game.id)) == pytest.approx(kept, abs=day)
