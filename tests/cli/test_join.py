"""`moonvale play --host` and `moonvale join`: people at several terminals, who come and go."""

import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moonvale_cli.main import main
from moonvale_client import Client, Options, SeatSetup, entropy_commitment
from tests.cli.terminal import Terminal
from tests.cli.test_play import PROMPT, width

AGAIN = r"Play again with the same players\? Type yes to do so\.\n> "
ENTROPY = bytes(32)


def host(address: str, *arguments: str) -> tuple[Terminal, str]:
    """Ann's terminal, at which a table is set, and its join code."""
    terminal = Terminal("play", "--host", "--rounds", "1", "--name", "Ann", "--address", address, *arguments)
    said = terminal.until(r"Waiting for .+ more players?\.")
    found = re.search(rf"moonvale join (\S+) --address {re.escape(address)}\n", said)
    assert found is not None
    return terminal, found[1]


def play_on(terminal: Terminal, seed: int) -> None:
    """Choose at random until another game is offered."""
    rng = random.Random(seed)
    while not (shown := terminal.until(AGAIN, PROMPT)).endswith("Type yes to do so.\n> "):
        numbers = [int(number) for number in re.findall(r"(?:^|\s)(\d+)\) ", shown)]
        terminal.type(str(rng.choice(numbers or [1])))


def test_two_people_and_a_bot_play_a_round_and_check_its_shuffles(
    service_address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ann, code = host(service_address, "--players", "3", "--open", "1")
    kept = tmp_path / "game"
    with (
        ann,
        Terminal("join", code.lower(), "--name", "Ben", "--save", str(kept), "--address", service_address) as ben,
        ThreadPoolExecutor() as people,
    ):
        ann.until("Ben 2 sat down.")
        ann.until("All are here.")
        list(people.map(play_on, (ann, ben), (1, 2)))
        for terminal, other in ((ann, "you and Ben 2"), (ben, "Ann and you")):
            shown = " ".join(terminal.text.split())
            assert f"all shuffles follow from what the service, {other} had committed to before the deal." in shown
            assert "Ben 3 (bot), 0 points" in terminal.text
            assert "Traceback" not in terminal.text
            lines = [line for line in terminal.text.splitlines() if not re.match("> |To check|  \\S*moonvale ", line)]
            assert max(map(width, lines)) <= 80
            terminal.type("no")
            assert terminal.end() == 0
    record, seen = f"{kept}.moonvale", f"{kept}.ndjson"
    assert f"verify {record} --seen {seen}" in ben.text
    assert main(["verify", record, "--seen", seen]) == 0
    assert "Seats a, b added entropy, which opens what had been committed to before." in capsys.readouterr().out


def test_who_leaves_before_the_game_begins_frees_the_seat(service_address: str) -> None:
    ann, code = host(service_address, "--players", "3")
    with ann, Terminal("join", code, "--name", "Ben", "--address", service_address) as ben:
        ben.until("At the table: Ann, Ben \\(you\\) and an open seat\\.")
        ann.until("Ben sat down.\\s+Waiting for one more player.")
        ben.interrupt("Your seat is open again.")
        assert ben.end() == 0
        ann.until("Ben left. The seat is open.\\s+Waiting for 2 more players.")
        ann.interrupt("the table is taken away")
        assert ann.end() == 0
    with Terminal("join", code, "--address", service_address) as late:
        assert late.end() == 1
        assert "moonvale join: no table waits for you with the code" in late.text


def test_a_table_that_is_taken_away_is_told_to_who_waits_there(service_address: str) -> None:
    ann, code = host(service_address, "--players", "3")
    with ann, Terminal("join", code, "--address", service_address) as guest:
        ann.until("Guest sat down.")
        ann.interrupt("the table is taken away")
        assert guest.end() == 1
        assert "moonvale join: whoever set the table has taken it away" in guest.text


def test_a_rematch_with_a_number_from_the_other_deck(service_address: str) -> None:
    ann, code = host(service_address, "--players", "2")
    with ann, Terminal("join", code, "--name", "Ben", "--address", service_address) as ben:
        for terminal in (ann, ben):
            terminal.until("Round 1 began")
        starts = ann if "you start" in " ".join(ann.until("\\.").split()) else ben
        waits = ben if starts is ann else ann
        starts.until(PROMPT)
        starts.type("resign")
        starts.until(PROMPT)
        starts.type("yes")
        waits.until("You win!")
        waits.until(AGAIN)
        waits.type("yes")
        waits.until("Waiting for (Ann|Ben)\\.")
        starts.until(AGAIN)
        starts.type("yes")
        assert " 2 Simon " in starts.until("Mad Bomber[^>]+> ")
        starts.type("14")
        assert "That number can't be had: must be 0..13, is 14" in starts.until(PROMPT)
        starts.type("two")
        starts.until("Type a number from 0 to 13, or press Enter.\n> ")
        starts.type("2")
        for terminal in (ann, ben):
            terminal.until("Cards of the other deck: 2 Simon\\.")
            terminal.until("Round 1 began")


def test_who_runs_out_of_time_is_played_for_and_comes_back(service_address: str) -> None:
    arguments = ["--players", "2", "--clock", "1s", "--on-time-out", "takeover", "--address", service_address]
    with Terminal("play", *arguments) as terminal:
        assert "The clock: 1 s for each decision; an agent plays on for whoever runs out of time." in " ".join(
            terminal.until("\\d s left\\)|0\\.\\d s left\\)").split()
        )
        terminal.until("Your time is out.")
        terminal.until("Your time was out, so an agent plays for you. Press Enter to come back.\\n> ")
        terminal.type("")
        terminal.until("You came back\\.")
        assert "You ran out of time and left the seat to an agent." in " ".join(terminal.text.split())
        terminal.interrupt("You left the table.")
        shown = terminal.until("--credential \\S+")
        assert "moonvale play --game games/" in shown


def test_who_runs_out_of_time_resigns_where_it_was_agreed_on(service_address: str) -> None:
    with Terminal("play", "--players", "2", "--clock", "0.5s", "--address", service_address) as terminal:
        terminal.until("Your time is out.")
        terminal.until("You ran out of time and resigned\\.")
        terminal.until("You are 2nd of 2.")


def test_a_table_that_waits_is_looked_on_at(service_address: str) -> None:
    with Client(service_address) as client:
        ann = SeatSetup(name="Ann", entropy_commitment=entropy_commitment(ENTROPY))
        seats = [ann, SeatSetup(open=True), SeatSetup(name="Cleo", bot="random")]
        game = client.create_game(Options(players=3, rounds=1), seats)
        arguments = ["watch", game.name, "--credential", game.spectator_credential, "--address", service_address]
        with Terminal(*arguments) as drawn, Terminal(*arguments, TERM="dumb") as told:
            for terminal in (drawn, told):
                terminal.until(
                    "At the table: Ann, an open seat and Cleo \\(a bot\\)\\.\\s+Waiting for one more player\\."
                )
            taken = client.claim_seat(game.name, "Ben")
            for terminal in (drawn, told):
                terminal.until("Ben sat down\\.\\s+All are here\\.")
            client.reveal_entropy(game.name, game.seat_credentials[0], ENTROPY)
            told.until("Round 1 began")  # by then everything that was told of seats has been
            assert told.text.count("sat down") == 1
            drawn.until("Cleo \\(bot\\), 0 points")
            client.resign(game.name, taken.credential)
            client.resign(game.name, game.seat_credentials[0])
            for terminal in (drawn, told):
                terminal.until("The game is over, since all others resigned")
                assert terminal.end() == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["AAAA-AAAA"], "no table waits for you with the code AAAA-AAAA: it is mistyped"),
        (["AAAA-AAAA", "--address", "127.0.0.1:1"], "no service answers at 127.0.0.1:1"),
    ],
)
def test_errors_are_said_in_a_line(service_address: str, arguments: list[str], error: str) -> None:
    with Terminal("join", *arguments, MOONVALE_ADDRESS=service_address, columns=200) as terminal:
        assert terminal.end() == 1
    assert f"moonvale join: {error}" in terminal.text
