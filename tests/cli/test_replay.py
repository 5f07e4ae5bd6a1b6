"""`moonvale replay`: a record shown as one seat saw the game."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from moonvale_cli.main import main
from moonvale_engine import (
    Entry,
    Options,
    Record,
    commitment,
    enter,
    legal_actions,
    new_game,
    result,
    seat_to_act,
    write_record,
)
from tests.cli.terminal import Terminal

SECRET = bytes(range(32))


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A game of three that was played at random."""
    options, rng, entries = Options(players=3, rounds=2), Random(5), []
    s = new_game(options, SECRET)
    while legal_actions(s):
        entries.append(Entry(seat_to_act(s), rng.choice(legal_actions(s))))
        enter(s, entries[-1])
    path = tmp_path / "game.moonvale"
    names = ("Ann", "Ben", "Cleo")
    path.write_text(
        write_record(Record(options, commitment(SECRET), SECRET, names=names, entries=tuple(entries), result=result(s)))
    )
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what the command prints, which must succeed."""
    assert main(["replay", *arguments]) == 0
    return capsys.readouterr().out


def test_a_seat_sees_what_it_looked_at_and_nothing_that_others_did(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ben = told(capsys, str(record), "--seat", "2")
    assert ben == told(capsys, str(record), "--seat", "Ben")
    assert re.search(r"^You looked at your \d\w\w and \d\w\w cards \(\d+ [A-Z]", ben, re.MULTILINE)
    assert re.search(r"^Ann looked at their \d\w\w and \d\w\w cards\.$", ben, re.MULTILINE)
    assert "Ben (you)" in ben
    assert ben.rstrip().splitlines()[-1].split()[0] == "3"

    spectator = told(capsys, str(record))
    assert not re.search(r"looked at their \d\w\w and \d\w\w cards \(", spectator)
    assert "(you)" not in spectator


def test_every_turn_is_shown_once(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heads = re.findall(r"^Round \d of 2.*$", told(capsys, str(record), "--seat", "1"), re.MULTILINE)
    assert heads[0] == "Round 1 of 2"
    assert heads[1] == "Round 1 of 2, turn 1"
    assert len(heads) == len(set(heads)) > 10
    assert any(head.startswith("Round 2") for head in heads)


def test_on_a_terminal_enter_goes_on_and_q_ends(record: Path) -> None:
    with Terminal("replay", str(record), "--seat", "1") as terminal:
        terminal.until("Enter: next turn, q: end. ")
        terminal.type("")
        assert "Round 1 of 2, turn 1" in terminal.until("Enter: next turn, q: end. ")
        terminal.type("q")
        assert terminal.end() == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/no/such/file"], "/no/such/file: [Errno 2] No such file or directory"),
        (
            ["{record}", "--seat", "4"],
            "--seat 4: is no seat of this game; give a number of 1 to 3, or one of the names Ann",
        ),
        (["{record}", "--seat", "Eve"], "--seat Eve: is no seat of this game"),
    ],
)
def test_what_can_not_be_shown_is_said_in_one_line(
    arguments: list[str], words: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", *[argument.format(record=record) for argument in arguments]]) == 1
    printed = capsys.readouterr().err
    assert words in printed
    assert printed.count("\n") == 1
