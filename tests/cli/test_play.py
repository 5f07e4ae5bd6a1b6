"""`moonvale play` at a terminal: a round against agents on a real service, and what else can be typed."""

import io
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import unicodedata

import psutil
import pytest
from rich.console import Console

from moonvale_agents import RandomAgent
from moonvale_cli import at_hand
from moonvale_cli.bots import Bots
from moonvale_client import Client, Options
from moonvale_engine import Position
from tests.cli.terminal import Terminal

PROMPT = r"\n> "
OVER = r"You win!|You are \d\w\w of \d\."
ASKED = re.compile(r"^ *(\d+)\) (.+)$", re.MULTILINE)


def play_on(terminal: Terminal, rng: random.Random) -> str:
    """Choose at random until the game is over; returns the last words."""
    while True:
        shown = terminal.until(PROMPT, OVER)
        if not shown.endswith("> "):
            return shown
        numbers = [int(number) for number in re.findall(r"(?:^|\s)(\d+)\) ", shown)]
        terminal.type(str(rng.choice(numbers or [1])))


@pytest.mark.parametrize(("players", "columns"), [(2, 80), (4, 60)])
def test_a_round_is_played_to_its_end(service_address: str, players: int, columns: int) -> None:
    arguments = ["--rounds", "1", "--players", str(players), "--address", service_address, "--seed", "7"]
    with Terminal("play", *arguments, columns=columns, lines=40) as terminal:
        first = terminal.until(PROMPT)
        assert "Which two of your cards do you look at?" in first
        terminal.type("1")
        last = play_on(terminal, random.Random(7))
        assert terminal.end() == 0
    assert "Place ┃ Player" in last
    text = terminal.text
    assert "Traceback" not in text
    assert re.search(r"The game is over, since all rounds\s+were\s+played\.", text)
    lines = [line for line in text.splitlines() if not line.startswith("> ")]
    assert max(map(width, lines)) <= columns


def width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def test_what_else_can_be_typed(service_address: str) -> None:
    with Terminal("play", "--players", "2", "--address", service_address, "--name", "Zoe") as terminal:
        assert "Type ? for help." in " ".join(terminal.until(PROMPT).split())
        terminal.type("?7")
        assert "7 Nostro: " in terminal.until(PROMPT)
        terminal.type("?14")
        assert "There is no card 14" in terminal.until(PROMPT)
        terminal.type("?")
        assert "what a card does" in terminal.until(PROMPT)
        terminal.type("b")
        assert "Zoe (you), 0 points" in terminal.until(PROMPT)
        terminal.type("s")
        assert "Player" in terminal.until(PROMPT)
        terminal.type("")
        assert " 10) Look at your 4th and 5th cards" in terminal.until(PROMPT)
        terminal.type("11")
        assert "The choices are 1 to 10." in terminal.until(PROMPT)
        terminal.type("1 2")
        assert "Only cards to exchange can be chosen several at once." in terminal.until(PROMPT)
        terminal.type("look")
        assert "or ? for help" in terminal.until(PROMPT)
        terminal.type("10")
        assert "You looked at your 4th and 5th cards (" in terminal.until(PROMPT)
        terminal.type("resign")
        terminal.until(PROMPT)
        terminal.type("no")
        terminal.until(PROMPT)
        terminal.type("resign")
        terminal.until(PROMPT)
        terminal.type("yes")
        assert "You resigned." in terminal.until(OVER)
        terminal.until(r"Play again with the same players\? Type yes to do so\.\n> ")
        terminal.type("no")
        assert terminal.end() == 0


def test_several_cards_are_exchanged_at_once_by_typing_several_choices(service_address: str) -> None:
    with Terminal("play", "--players", "2", "--address", service_address, "--seed", "3") as terminal:
        terminal.until(PROMPT)
        terminal.type("1")
        while "It is your turn" not in terminal.until(PROMPT):
            terminal.type("1")
        terminal.type("1")
        shown = terminal.until(PROMPT)
        first, second = [number for number, words in ASKED.findall(shown) if words.startswith("Put it in place")][:2]
        terminal.type(f"{second} {first}")
        shown = terminal.until(PROMPT)
        assert re.search(r"tried\s+to\s+exchange|where your|discarded", shown)


@pytest.mark.parametrize("way", ["q", "\x04"])
def test_the_table_can_be_left(service_address: str, way: str) -> None:
    with Terminal("play", "--players", "3", "--address", service_address) as terminal:
        terminal.until(PROMPT)
        terminal.type(way)
        terminal.until("You left the table.")
        assert terminal.end() == 0


def test_ctrl_c_leaves_the_table(service_address: str) -> None:
    with Terminal("play", "--players", "3", "--address", service_address) as terminal:
        terminal.until(PROMPT)
        terminal.interrupt("You left the table.")
        assert terminal.end() == 0
        assert "Traceback" not in terminal.text


def test_two_people_play_at_two_terminals(service_address: str) -> None:
    with Client(service_address) as client:
        game = client.create_game(Options(players=2, rounds=1), ["Ann", "Ben"])
    seats = [
        Terminal("play", "--game", game.name, "--address", service_address, MOONVALE_CREDENTIAL=credential)
        for credential in game.seat_credentials
    ]
    holder = game.view.token_holder
    with seats[0], seats[1]:
        seats[holder].until(PROMPT)
        seats[holder].type("1")
        name = ["Ann", "Ben"][holder]
        assert f"{name} looked at their 1st and 2nd cards." in seats[1 - holder].until(PROMPT)
        seats[1 - holder].type("1")
        seats[holder].until(PROMPT)
        seats[1 - holder].interrupt("The game waits for you")
        seats[holder].type("resign")
        seats[holder].until(PROMPT)
        seats[holder].type("yes")
        assert "You are 2nd of 2." in seats[holder].until(OVER)


def test_no_color_is_heeded(service_address: str) -> None:
    with Terminal("play", "--players", "2", "--address", service_address, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        terminal.type("q")
        terminal.end()
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38)", terminal.raw)
    with Terminal("play", "--players", "2", "--address", service_address) as terminal:
        terminal.until(PROMPT)
        terminal.type("q")
        terminal.end()
    assert re.search(r"\x1b\[[0-9;]*9[0-7]", terminal.raw)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--address", "127.0.0.1:1"], "no service answers at 127.0.0.1:1. Start one with: "),
        (["--open", "1"], "--open goes with --host, and is 1 to 3 with 4 players"),
        (["--host", "--open", "2", "--players", "2"], "--open goes with --host, and is 1 to 1 with 2 players"),
        (["--host", "--seed", "1"], "--seed is for agents of this command"),
        (["--clock", "0.01s"], "INVALID_FIELD: "),
        (["--bots", "nobody"], "INVALID_FIELD: "),
        (["--bots", "nobody", "--seed", "1"], "with --seed --bots is one of greedy, ismcts, random"),
        (["--players", "2", "--seat", "3"], "--seat 3 is not there with --players 2"),
        (["--rounds", "99"], "INVALID_FIELD"),
        (["--game", "games/aaaaaaaaaaaaaaaaaaaa"], "--game needs your seat's --credential"),
        (["--game", "games/aaaaaaaaaaaaaaaaaaaa", "--credential", "wrong"], "CREDENTIAL_INVALID"),
    ],
)
def test_errors_are_said_in_a_line(service_address: str, arguments: list[str], error: str) -> None:
    if "--address" not in arguments:
        arguments = [*arguments, "--address", service_address]
    with Terminal("play", *arguments, columns=200) as terminal:
        assert terminal.end() == 1
    assert f"moonvale play: {error}" in terminal.text
    assert "Traceback" not in terminal.text


class Broken:
    """An agent with a defect."""

    def choose(self, position: Position) -> int:
        raise ValueError("out of ideas")


def test_an_agent_that_fails_interrupts_the_player_and_says_why(service_address: str) -> None:
    with Client(service_address) as client:
        game = client.create_game(Options(players=2))
    agents = dict.fromkeys(game.seat_credentials, Broken())
    with pytest.raises(KeyboardInterrupt), Bots(service_address, game.name, agents) as bots:
        threading.Event().wait(60)
    assert str(bots.failure) == "out of ideas"


def test_agents_stop_when_the_player_leaves(service_address: str) -> None:
    with Client(service_address) as client:
        game = client.create_game(Options(players=2))
        mine, other = game.seat_credentials
        with Bots(service_address, game.name, {other: RandomAgent()}) as bots:
            pass
        assert bots.failure is None
        assert not client.get_view(game.name, mine).HasField("result")


def test_where_no_service_runs_one_is_started_and_ends_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_hand, "DEFAULT_ADDRESS", "127.0.0.1:1")
    console = Console(file=io.StringIO(), width=100)
    with at_hand.any_service(None, console) as address, Client(address) as client:
        assert client.get_server_info().rules_version >= 1
    assert not at_hand.answers(address)


def test_a_service_of_the_commands_own_ends_with_it_even_if_it_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from rich.console import Console; from moonvale_cli import at_hand;"
        "at_hand.DEFAULT_ADDRESS = '127.0.0.1:1';"
        "service = at_hand.any_service(None, Console(stderr=True)); print(service.__enter__(), flush=True);"
        "sys.stdin.read()"
    )
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        owner = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "TMPDIR": folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert owner.stdout is not None
        address = owner.stdout.readline().strip()
        assert at_hand.answers(address)
        services = psutil.Process(owner.pid).children(recursive=True)
        owner.kill()
        owner.communicate()
        gone, alive = psutil.wait_procs(services, timeout=60)
    assert len(gone) >= 3  # the supervisor, a worker, the store
    assert alive == []
