"""An arena that is killed goes on without losing or repeating a game."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from moonvale_arena import ArenaError, GameResult, Journal, Services, play_event, read
from moonvale_arena.journal import RESULTS
from moonvale_engine import read_record
from tests.arena.playing import event, marked, play
from tests.service.servers import Service

ENTRANTS = ["python:tests.arena.bots:Steady", "python:tests.arena.bots:Hasty", "greedy"]
EVENT = ["--games", "36", "--rounds", "1", "--deck", "mix", "--seed", "killed", "--all"]
KILLS = 10


def arena(service: Service, mark: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command."""
    where = ["--address", service.address, "--creator-key", str(service.folder / "data" / "creator_key")]
    playing = where if arguments[0] != "show" else []
    return subprocess.Popen(
        [sys.executable, "-m", "moonvale_cli", "arena", *arguments, *playing],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "ARENA_TEST": str(mark)},
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for the command's good end, and return what it printed."""
    printed, _ = process.communicate(timeout=200)
    assert process.returncode == 0, printed
    return printed


def lines(folder: Path) -> int:
    """How many lines the results file has."""
    path = folder / RESULTS
    return path.read_bytes().count(b"\n") if path.exists() else 0


def outcome(folder: Path) -> list[object]:
    """All that the games of an event came to, but for what is measured or named by the service."""
    games = sorted(read(folder).games.values(), key=lambda game: game.number)
    found: list[object] = []
    for game in games:
        record = read_record((folder / game.record).read_text(encoding="utf-8"))
        moves = [(entry.seat, entry.action) for entry in record.entries]
        found.append((game.number, game.seats, game.places, game.scores, game.faults, record.secret, moves))
    return found


@pytest.mark.timeout(400)
def test_killed_ten_times_it_ends_with_the_table_of_an_undisturbed_run(service: Service, tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    finish(arena(service, tmp_path, "run", *ENTRANTS, *EVENT, "--into", str(undisturbed)))
    process = arena(service, tmp_path, "run", *ENTRANTS, *EVENT, "--into", str(killed))
    for _ in range(KILLS):
        before = lines(killed)
        while lines(killed) == before and process.poll() is None:
            time.sleep(0.005)  # nothing tells of a file that has grown
        assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
        process = arena(service, tmp_path, "resume", str(killed))
    finish(process)

    numbers = [json.loads(line)["game"] for line in (killed / RESULTS).read_text(encoding="utf-8").splitlines()[1:]]
    assert sorted(numbers) == list(range(36))
    assert outcome(killed) == outcome(undisturbed)
    tables = [finish(arena(service, tmp_path, "show", str(folder))) for folder in (killed, undisturbed)]
    assert tables[0] == tables[1]
    assert "36 games in 18 blocks" in tables[0]
    assert psutil.wait_procs(marked(str(tmp_path)), timeout=10)[1] == []


def test_a_line_that_was_not_written_whole_is_played_again(services: Services, tmp_path: Path) -> None:
    chosen = event("Steady", "Hasty", games=6)
    before = play(chosen, services, tmp_path)
    path = tmp_path / RESULTS
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert len(read(tmp_path).games) == 5
    play_on(services, tmp_path)
    after = read(tmp_path).games
    assert {number: (game.places, game.scores) for number, game in after.items()} == {
        number: (game.places, game.scores) for number, game in before.items()
    }
    assert path.read_bytes().startswith(whole[: whole.rindex(b"\n", 0, -20)])


def play_on(services: Services, folder: Path) -> list[GameResult]:
    """Resume an event; return the games that were played for it."""
    kept, played = read(folder), list[GameResult]()
    with Journal(folder) as journal:
        asyncio.run(play_event(kept.event, services, journal, 2, played.append, kept.games))
    return played


def test_resuming_what_is_over_plays_nothing(services: Services, tmp_path: Path) -> None:
    play(event("Steady", "Hasty"), services, tmp_path)
    before = (tmp_path / RESULTS).read_bytes()
    assert play_on(services, tmp_path) == []
    assert (tmp_path / RESULTS).read_bytes() == before


def test_two_arenas_do_not_play_one_event(services: Services, tmp_path: Path) -> None:
    with Journal(tmp_path, event("Steady", "Hasty")) as journal:
        journal.open()
        with Journal(tmp_path) as other, pytest.raises(ArenaError, match="another arena is playing this event"):
            other.open()
        with Journal(tmp_path, event("Steady", "Hasty")) as new, pytest.raises(ArenaError, match="already; resume it"):
            new.open()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no results of an event"),
        (b"not JSON\n", "line 1: does not say which event this is"),
        (b'{"moonvale arena":2}\n', "line 1: is of format 2"),
        (b'{"moonvale arena":1,"entrants":["random","greedy"]}\n', "lacks something: 'seed'"),
    ],
)
def test_a_file_of_something_else_is_refused_in_one_line(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_bytes(content)
    with pytest.raises(ArenaError, match=words) as refused:
        read(tmp_path)
    assert "\n" not in str(refused.value)


def test_lines_that_are_no_results_or_come_twice_are_named(services: Services, tmp_path: Path) -> None:
    play(event("Steady", "Hasty", games=2), services, tmp_path)
    path = tmp_path / RESULTS
    head, first, second = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(head + first + '{"game":1}\n' + second, encoding="utf-8")
    with pytest.raises(ArenaError, match="line 3: is no result of a game"):
        read(path)
    path.write_text(head + first + second + first, encoding="utf-8")
    with pytest.raises(ArenaError, match=r"line 4: game \d stands there twice"):
        read(path)
