"""`moonvale demo` and `moonvale watch`: a whole game, looked on at from one terminal and from another."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from moonvale_agents import RandomAgent
from moonvale_cli.bots import chooser
from moonvale_cli.main import main
from moonvale_client import AsyncClient, Client, CreateGameResponse, Options, play_seat
from tests.cli.terminal import Terminal

PLACE = re.compile(r"^ +\d │ (\w+) +│ ([ \d│-]+?) *$", re.MULTILINE)


def table(printed: str) -> dict[str, list[int]]:
    """The points that a printed table of results lists: by name, those of the rounds and of all."""
    return {name: [int(number) for number in numbers.split("│")] for name, numbers in PLACE.findall(printed)}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with its output in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "moonvale_cli", *arguments], capture_output=True, text=True, timeout=100, check=False
    )


def test_four_agents_play_a_whole_game_while_somebody_looks_on(
    service_address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "game.moonvale"
    ran = command("demo", "--fast", "--seed", "1", "--record", str(record), "--address", service_address)
    assert (ran.returncode, ran.stderr) == (0, "")
    told = ran.stdout
    for number in range(1, 5):
        assert told.count(f"\nRound {number} began with ") == 1
    assert told.count("\nThe round is over: ") == 4
    assert told.count("\nThe game is over, since all rounds were played.") == 1
    points = table(told)
    assert points.keys() == {"Ann", "Ben", "Cleo", "Dan"}
    assert all(len(numbers) == 5 and sum(numbers[:4]) == numbers[4] for numbers in points.values())
    assert "all legal, with the same result" in told
    assert main(["record", str(record)]) == 0
    checked = capsys.readouterr().out
    assert [name for name, numbers in points.items() if f"{name}: {numbers[4]} points" not in checked] == []


def test_a_demo_is_drawn_in_place_on_a_terminal(service_address: str) -> None:
    arguments = ["--fast", "--rounds", "1", "--bots", "random", "--address", service_address]
    with Terminal("demo", *arguments, columns=80, lines=30) as terminal:
        assert terminal.end() == 0
    text = terminal.text
    assert "Traceback" not in text
    assert text.count("Round 1 of 1, turn ") > 3  # drawn again and again; how often depends on the machine
    assert len(table(text)) == 4


def finished_game(address: str) -> CreateGameResponse:
    """Have two agents play a game of one round."""

    async def play() -> CreateGameResponse:
        async with AsyncClient(address) as client:
            game = await client.create_game(Options(players=2, rounds=1), ["Ann", "Ben"])
            seats = [
                play_seat(client, game.name, credential, chooser(RandomAgent(seed)))
                for seed, credential in enumerate(game.seat_credentials)
            ]
            await asyncio.gather(*seats)
            return game

    return asyncio.run(play())


def test_a_game_that_is_over_is_told_from_its_beginning(service_address: str) -> None:
    game = finished_game(service_address)
    ran = command("watch", game.name, "--credential", game.spectator_credential, "--address", service_address)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Round 1 began with ")
    assert "\nThe game is over, since all rounds were played." in ran.stdout
    with Client(service_address) as client:
        view = client.get_view(game.name, game.spectator_credential)
    assert table(ran.stdout) == {seat.name: [*seat.scores, seat.total] for seat in view.seats}


def test_a_game_is_watched_while_it_is_played_with_a_credential_from_the_environment(service_address: str) -> None:
    with Client(service_address) as client:
        game = client.create_game(Options(players=2), ["Ann", "Ben"])
        id_alone = game.name.removeprefix("games/")
        spectator = game.spectator_credential
        with Terminal("watch", id_alone, MOONVALE_CREDENTIAL=spectator, MOONVALE_ADDRESS=service_address) as terminal:
            terminal.until("▸ " + ["Ann", "Ben"][game.view.token_holder])
            holder = game.seat_credentials[game.view.token_holder]
            view = client.get_view(game.name, holder)
            client.submit_action(game.name, holder, view.decision.legal_actions[0], view.version)
            terminal.until("looked at their 1st and 2nd cards")
            client.resign(game.name, game.seat_credentials[0])
            terminal.until("The game is over, since all others resigned")
            assert terminal.end() == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["games/aaaaaaaaaaaaaaaaaaaa"], "needs a --credential of the game"),
        (["games/aaaaaaaaaaaaaaaaaaaa", "--credential", "wrong"], "CREDENTIAL_INVALID"),
    ],
)
def test_errors_are_said_in_a_line(service_address: str, arguments: list[str], error: str) -> None:
    ran = command("watch", *arguments, "--address", service_address)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"moonvale watch: {error}")
    assert ran.stderr.count("\n") == 1


def test_a_table_that_never_was_agreed_on_is_said_in_a_line(service_address: str) -> None:
    ran = command("demo", "--rounds", "0", "--address", service_address)
    assert ran.returncode == 1
    assert ran.stderr.startswith("moonvale demo: INVALID_FIELD: ")
