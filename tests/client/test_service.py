"""Both clients against the real service: every method once, and the bot of ten lines."""

import asyncio
import doctest
import random
import re
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import moonvale_client
from moonvale.v1.view_pb2 import PHASE_WAITING
from moonvale_client import (
    AsyncClient,
    Client,
    Deal,
    LogEntry,
    MoonvaleError,
    Options,
    SeatSetup,
    View,
    play_seat,
)
from moonvale_engine import read_record, replay_record
from tests.service.servers import Service, running_service
from tests.test_readme import ADDRESS, ROOT, run

PAGE = ROOT / "docs" / "clients.md"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A whole service: two worker processes, an embedded store."""
    with running_service() as service:
        yield service


def choose(view: View) -> moonvale_client.Action:
    return random.choice(view.decision.legal_actions)


def test_the_synchronous_client_plays_a_game_by_hand(service: Service) -> None:
    with Client(service.address) as client:
        game = client.create_game(
            Options(players=2, rounds=1),
            ["Ann", SeatSetup(name="Ben", labels={"rating": "1510"})],
            labels={"event": "friendly"},
            external_id="table 7",
        )
        seats = game.seat_credentials
        view = client.get_view(game.name, seats[0])
        assert (view.external_id, dict(view.labels), view.seats[1].labels["rating"]) == (
            *("table 7", {"event": "friendly"}),
            "1510",
        )
        watch = client.watch(game.name, game.spectator_credential)
        assert isinstance(next(watch), View)
        seat = view.decision.seat
        while True:
            view = client.get_view(game.name, seats[seat])
            while view.decision.legal_actions:
                view = client.submit_action(game.name, seats[seat], choose(view), view.version).view
            if view.HasField("result"):
                break
            seat = view.decision.seat
        versions = [update.version for update in watch if isinstance(update, LogEntry)]
        assert versions == list(range(1, view.version + 1))
        listed = [entry.version for entry in client.list_events(game.name, seats[0], page_size=50)]
        assert listed == list(range(view.version + 1))
        replay = client.get_replay(game.name, seats[1])
        assert replay_record(read_record(replay.record)).totals == tuple(view.result.totals)
        client.delete_game(game.name, game.creator_credential)
        with pytest.raises(MoonvaleError) as caught:
            client.get_view(game.name, seats[0])
        assert caught.value.reason == "GAME_NOT_FOUND"


async def test_the_asyncio_client_has_agents_play_with_a_supplied_deal(service: Service) -> None:
    creator_key = (service.folder / "data" / "creator_key").read_text().strip()
    sealed = datetime.now(UTC) + timedelta(hours=1)
    async with AsyncClient(service.address) as client:
        deal = Deal(secret=bytes(32), villages=[1, 0])
        game = await client.create_game(
            Options(players=2, rounds=1), deal=deal, creator_key=creator_key, seal_replay_until=sealed
        )
        async with aclosing(client.watch(game.name, game.spectator_credential)) as watch:
            first = await anext(watch)
            assert isinstance(first, View)
            assert first.options.deal_supplied
            seats = [play_seat(client, game.name, credential, choose) for credential in game.seat_credentials]
            results = await asyncio.gather(*seats)
            entries = [update async for update in watch if isinstance(update, LogEntry)]
        assert results[0] == results[1]
        assert entries[-1].events[-1].game_over.places == results[0].places
        with pytest.raises(MoonvaleError) as caught:
            await client.get_replay(game.name, game.spectator_credential)
        assert caught.value.reason == "REPLAY_SEALED"
        with pytest.raises(MoonvaleError) as caught:
            await client.create_game(deal=deal)
        assert caught.value.reason == "CREATOR_KEY_REQUIRED"


async def test_the_rest_of_the_methods(service: Service) -> None:
    async with AsyncClient(service.address) as client:
        info = await client.get_server_info()
        catalog = await client.get_catalog()
        assert info.limits.max_actions >= 5
        assert {card.deck for card in catalog.cards} == {"coin", "eye"}
        game = await client.create_game(Options(players=2))
        resigned = await client.resign(game.name, game.seat_credentials[0])
        assert resigned.view.result.places == [1, 0]
        assert (await client.resign(game.name, game.seat_credentials[0])).version == resigned.version
        with pytest.raises(MoonvaleError) as caught:
            await client.resign(game.name, game.seat_credentials[1])
        assert caught.value.reason == "GAME_OVER"


def test_calls_and_watches_outlive_a_restart_of_the_service(service: Service) -> None:
    with Client(service.address) as client:
        game = client.create_game(Options(players=2))
        holder = game.seat_credentials[game.view.decision.seat]
        watch = client.watch(game.name, game.spectator_credential)
        next(watch)
        service.stop()
        service.start()
        view = client.get_view(game.name, holder)
        client.submit_action(game.name, holder, view.decision.legal_actions[0], view.version)
        entry = next(watch)
        assert isinstance(entry, LogEntry)
        assert entry.version == 1
        watch.close()


def test_the_table_of_the_page_on_clients_is_played(service: Service, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert ADDRESS in example
    printed = run(example.replace(ADDRESS, service.address), tmp_path)
    assert re.fullmatch(r"places (\d \d \d) and \1\n", printed)


async def test_a_game_waits_for_its_players_and_a_seat_is_left_reclaimed_and_played_again(service: Service) -> None:
    async with AsyncClient(service.address) as client:
        game = await client.create_game(Options(players=2), ["Ann", SeatSetup(open=True)], with_join_code=True)
        ann = game.seat_credentials[0]
        first = await client.claim_seat(player="Ben", join_code=game.join_code.lower())
        assert (first.name, first.seat, first.view.seats[1].name) == (game.name, 1, "Ben")
        with pytest.raises(MoonvaleError) as caught:
            await client.leave_seat(game.name, first.credential)
        assert caught.value.reason == "GAME_BEGUN"
        assert (await client.reclaim_seat(game.name, ann)).version == 0
        await client.resign(game.name, ann)
        again = await client.rematch(game.name, ann, number=9)
        assert (again.view.phase, again.view.options.deck) == (PHASE_WAITING, "coin,9=eye")
        await client.leave_seat(again.name, again.seat_credential)
        with pytest.raises(MoonvaleError) as caught:
            await client.get_view(again.name, again.seat_credential)
        assert caught.value.reason == "CREDENTIAL_REVOKED"


def test_the_bot_of_the_packages_documentation_plays(service: Service) -> None:
    source = doctest.script_from_examples(moonvale_client.__doc__ or "")
    names: dict[str, object] = {}
    exec(compile(source.replace("127.0.0.1:7350", service.address), "moonvale_client", "exec"), names)
    game = names["game"]
    assert isinstance(game, moonvale_client.CreateGameResponse)
    with Client(service.address) as client:
        assert client.get_view(game.name, game.spectator_credential).HasField("result")
