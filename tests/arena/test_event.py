"""Events from end to end: what is kept, sequential stopping, several endpoints, and what ends before any game."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from moonvale_arena import ArenaError, Event, Services, parse_entrants, processes, standings
from moonvale_arena.journal import RESULTS
from moonvale_arena.players import shown_to_others
from moonvale_arena.results import GameResult, Times
from moonvale_arena.run import Progress
from moonvale_arena.words import summary
from moonvale_cli.main import main
from moonvale_client import AsyncClient, Client, CreateGameResponse, MoonvaleError
from moonvale_engine import read_record, replay_record
from tests.arena.playing import BOT, event, play
from tests.service.servers import Service, running_service


class Tags(HTMLParser):
    """Counts the elements of a page, and finds those that are not closed, or closed without having been opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Note an element."""
        self.seen[tag] += 1
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note its end."""
        assert self.open.pop() == tag


@pytest.mark.parametrize("seats", [2, 4])
def test_every_game_is_kept_with_a_record_that_can_be_played_again(
    seats: int, services: Services, tmp_path: Path
) -> None:
    chosen = event("greedy", "Steady", seats=seats, games=8, deck="mix", rounds=2)
    games = play(chosen, services, tmp_path)
    assert sorted(games) == list(range(8))
    for game in games.values():
        record = read_record((tmp_path / game.record).read_text(encoding="utf-8"))
        replay_record(record)
        assert record.result is not None
        assert (record.result.places, record.result.scores) == (game.places, game.scores)
        assert record.names == tuple(chosen.entrants[entrant].name for entrant in game.seats)
        assert len(game.scores) == 2
        assert [times.decisions for times in game.times] == [
            sum(entry.seat == seat for entry in record.entries) for seat in range(seats)
        ]
    secrets = {game.block: read_record((tmp_path / game.record).read_text()).secret for game in games.values()}
    assert len(set(secrets.values())) == 8 // seats
    head, *lines = (tmp_path / RESULTS).read_text(encoding="utf-8").splitlines()
    assert Event.from_json(json.loads(head)) == chosen
    assert [GameResult.from_json(json.loads(line)).number for line in lines] == list(games)


def test_an_agent_that_thinks_plays_in_processes_that_are_kept_and_its_seed_decides(
    services: Services, tmp_path: Path
) -> None:
    chosen = event("thinks=ismcts:iterations=2", "greedy", games=4)
    once = play(chosen, services, tmp_path / "once", at_once=1)
    again = play(chosen, services, tmp_path / "again", at_once=4)
    assert [game.scores for _, game in sorted(once.items())] == [game.scores for _, game in sorted(again.items())]
    assert not any(game.by_rule for game in once.values())


def test_games_are_played_at_all_endpoints(service: Service, services: Services, tmp_path: Path) -> None:
    key_file = str(service.folder / "data" / "creator_key")
    with running_service(workers="1", log_level="warning", creator_key_file=key_file) as other:
        both = Services([service.address, other.address], services.creator_key)
        assert len(play(event("Hasty", "Steady", games=6), both, tmp_path)) == 6
        with Client(other.address) as client:
            operator_key = (other.folder / "data" / "operator_key").read_text().strip()
            assert len(list(client.list_games(operator_key))) == 3


def test_a_service_that_refuses_ends_the_event_in_one_line(service: Service, tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match=r"the service does not play game \d: CREATOR_KEY_REQUIRED") as refused:
        play(event("Hasty", "Steady", games=2), Services([service.address], "mvk1.wrong"), tmp_path)
    assert "\n" not in str(refused.value)


def test_replays_stay_sealed_and_bots_can_not_tell_games_of_a_deal_by_their_commitment(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[CreateGameResponse] = []
    create = AsyncClient.create_game

    async def noted(*given: Any, **more: Any) -> CreateGameResponse:  # noqa: ANN401  # whatever is given is passed on
        created.append(await create(*given, **more))
        return created[-1]

    monkeypatch.setattr(AsyncClient, "create_game", noted)
    play(event("Hasty", "Steady", games=2), services, tmp_path)
    assert len({game.view.commitment for game in created}) == 1
    assert {shown_to_others(game.view).commitment for game in created} == {b""}
    assert not created[0].view.labels
    with Client(services.addresses[0]) as client:
        for game in created:
            with pytest.raises(MoonvaleError) as refused:
                client.get_replay(game.name, game.creator_credential)
            assert refused.value.reason == "REPLAY_SEALED"


def result(number: int, chosen: Event, lineup: tuple[int, ...], seats: tuple[int, ...], winner: int) -> GameResult:
    """A made-up result that an entrant wins, the others in the order of their seats."""
    places = sorted(range(len(seats)), key=lambda seat: (seats[seat] != winner, seat))
    return GameResult(
        number, number // chosen.seats, lineup, seats, tuple(places), (), (None,) * len(seats), (Times(),) * len(seats)
    )


def test_a_lineup_stops_when_told_apart_and_the_same_results_stop_it_at_the_same_game() -> None:
    chosen = event("greedy", "random", "Steady", games=1000, alpha=0.05)
    played: list[list[tuple[int, ...]]] = []
    for order in (1, -1):
        progress, numbers = Progress(chosen, {}), []
        while True:
            waiting = []
            while (game := progress.next_game()) is not None:
                waiting.append(game)
            if not waiting:
                break
            for game in waiting[::order]:
                winner = 0 if 0 in game.lineup else game.seats[game.block % 2]  # the others are even
                progress.add(result(game.number, chosen, game.lineup, game.seats, winner))
                numbers.append(game.lineup)
        played.append(sorted(numbers))
    assert played[0] == played[1]
    assert len(played[0]) == 1000
    assert played[0].count((0, 1)) == played[0].count((0, 2)) < 100
    assert played[0].count((1, 2)) > 800


def test_all_games_are_played_without_alpha() -> None:
    progress = Progress(event("greedy", "random", games=200), {})
    count = 0
    while (game := progress.next_game()) is not None:
        progress.add(result(game.number, event("greedy", "random"), game.lineup, game.seats, 0))
        count += 1
    assert count == 200


def test_standings_say_who_is_better_and_how_sure_that_is() -> None:
    chosen = event("greedy", "random", games=80)
    games = [result(number, chosen, (0, 1), (number % 2, 1 - number % 2), 0) for number in range(40)]
    found = standings(chosen, games)
    assert [each.name for each in found.entrants] == ["greedy", "random"]
    assert found.entrants[0].beaten.mean == 1
    assert found.entrants[0].wins.low > 0.8 > 0.2 > found.entrants[1].wins.high
    assert found.entrants[0].rating.mean > 25 > found.entrants[1].rating.mean
    words = " ".join(summary(found))
    assert "greedy is better than random: ahead in 100.0% of their meetings" in words
    even = [result(number, chosen, (0, 1), (number % 2, 1 - number % 2), number % 2) for number in range(40)]
    assert "level after 20 blocks: no difference is established" in " ".join(summary(standings(chosen, even)))
    assert standings(chosen, games[:39]).left_over == 1


def test_points_of_games_lost_by_rule_do_not_count(services: Services, tmp_path: Path) -> None:
    games = play(event("Raises", "Steady", games=2), services, tmp_path)
    found = standings(event("Raises", "Steady", games=2), list(games.values()))
    assert [each.name for each in found.entrants] == ["Steady", "Raises"]
    assert found.pairs[0].fewer is None


def test_a_bot_over_bot_service_plays(services: Services, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.arena.serving"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as bot:
        assert bot.stdout is not None
        address = bot.stdout.readline().strip()
        try:
            games = play(event(f"served=grpc://{address}", f"started=cmd:{BOT} first"), services, tmp_path)
        finally:
            bot.kill()
    assert len(games) == 4
    assert not any(game.by_rule for game in games.values())
    with pytest.raises(ArenaError, match=re.escape(f"entrant 'served': no bot answers at {address}")):
        play(event(f"served=grpc://{address}", "random"), services, tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


REFUSED = {
    "run greedy nobody": "entrant 'nobody' is not known: choose random, greedy, ismcts",
    "run greedy": "an event needs 2 to 64 entrants, and 1 were named",
    "run greedy greedy": "two entrants are called 'greedy': give them different names",
    "run greedy random --games 1": "games: a block of all seatings at 2 seats has 2, so needs as many",
    "run greedy random --deck spades": "deck: deck: 'spades' is not known; choose one of: coin, eye; or choose mix",
    "run greedy random --alpha 2": "alpha: must be between 0 and 1, is 2.0",
    "run greedy random --rounds 0": "rounds: must be 1..20, is 0",
    "run greedy random --seed 'a b'": "seed: is 1 to 64 letters",
    "run greedy greedy:wrong=1": "entrant 'greedy:wrong=1': TypeError: ",
    "run greedy python:no_such_module:Bot": "entrant 'Bot': ModuleNotFoundError: No module named 'no_such_module'",
    "run greedy python:tests.arena.bots:Broken": "entrant 'Broken': RuntimeError: out of order",
    "run greedy python:tests.arena.bots": "needs a module and a class, as in python:my_bots:Cautious",
    "run greedy grpc://nowhere": "needs an address, as in grpc://127.0.0.1:7360",
    "run greedy cmd:": "needs a command, as in cmd:node bot.js",
    "run greedy cmd:no-such-program": "entrant 'no-such-program': its process ended with 127: no-such-program: No such",
    f"run greedy 'quits=cmd:{BOT} ends'": "entrant 'quits': its process ended with 0",
    "run greedy random --creator-key /no/such/file": "/no/such/file: No such file or directory; name its file with",
    "show /no/such/folder": "/no/such/folder: No such file or directory",
    "resume /no/such/folder": "/no/such/folder: No such file or directory",
}


@pytest.mark.parametrize(("order", "words"), REFUSED.items())
def test_bad_input_ends_with_one_line_before_any_game(
    order: str, words: str, service: Service, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["arena", *shlex.split(order)]
    if arguments[1] != "show":
        arguments += ["--address", service.address]
    if arguments[1] == "run":
        arguments += ["--into", str(tmp_path / "event")]
        if "--creator-key" not in arguments:
            arguments += ["--creator-key", str(service.folder / "data" / "creator_key")]
    assert main(arguments) == 1
    printed, told = capfd.readouterr()
    assert not printed
    assert told.startswith("moonvale arena: ")
    assert told.count("\n") == 1
    assert words in told
    assert not (tmp_path / "event").exists()


def test_a_class_that_is_never_loaded_ends_it_before_any_game(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "endless_bot.py").write_text("while True:\n    pass\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(processes, "LOAD_SECONDS", 2.0)
    with pytest.raises(ArenaError, match=r"entrant 'Bot': was not loaded within 2 s"):
        play(event("greedy", "python:endless_bot:Bot"), services, tmp_path / "event")
    assert not (tmp_path / "event").exists()


def test_a_service_that_is_not_there_ends_it_before_any_game(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match=r"no service answers at 127\.0\.0\.1:1$"):
        play(event("greedy", "random"), Services(["127.0.0.1:1"], "mvk1.x"), tmp_path / "event")
    assert not (tmp_path / "event").exists()


def test_the_report_is_one_page_with_all_plots_and_a_picture(services: Services, tmp_path: Path) -> None:
    play(event("greedy", "Steady", "b.co=random", games=12), services, tmp_path)
    assert main(["arena", "report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.seen["table"] == 3
    assert tags.seen["tr"] == 1 + 3 + 1 + 3 + 10  # entrants and pairs below their heads, and the event
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "12 games in 6 blocks at 2 seats" in page
    picture = (tmp_path / "report.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 20_000


def test_the_same_entrants_twice_are_named_apart() -> None:
    assert [each.name for each in parse_entrants(["greedy", "again=greedy", "greedy:feed=0"])] == [
        "greedy",
        "again",
        "greedy:feed=0",
    ]
    assert parse_entrants(["a=greedy:feed=0.5,horizon=2", "b=cmd:X=1 run"])[0].settings == (
        ("feed", 0.5),
        ("horizon", 2),
    )
