"""Records keep a game, replay to the same bytes elsewhere, and are refused when they are wrong."""

import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from moonvale_engine import (
    RecordError,
    encode,
    history,
    read_record,
    replay_record,
    write_record,
)
from tests.support.golden import GAMES, GOLDEN, played, transcript


@pytest.mark.parametrize("seed", range(10))
def test_a_record_reads_back_and_replays_to_the_same_bytes(seed: int) -> None:
    record, data = played(seed)
    again = read_record(write_record(record))
    assert again == record
    assert encode(replay_record(again)) == data


@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_a_record_replays_alike_in_another_process(hash_seed: str, tmp_path: Path) -> None:
    record, data = played(11)
    path = tmp_path / "game.txt"
    path.write_text(write_record(record), encoding="utf-8")
    script = (
        "import sys, hashlib\n"
        "from moonvale_engine import *\n"
        "r = read_record(open(sys.argv[1], encoding='utf-8').read())\n"
        "events = list(history(r.options, r.secret, r.entropy, r.entries))\n"
        "print(encode(replay_record(r)).hex(), hashlib.sha256(repr(events).encode()).hexdigest())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    other, events = run.stdout.split()
    assert bytes.fromhex(other) == data
    mine = list(history(record.options, record.secret or b"", record.entropy, record.entries))
    assert events == sha256(repr(mine).encode()).hexdigest()


def test_a_sealed_record_keeps_the_commitment_only() -> None:
    record = replace(played(1)[0], secret=None)
    text = write_record(record)
    assert "secret" not in text
    assert read_record(text) == record
    with pytest.raises(RecordError, match="sealed"):
        replay_record(record)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("moonvale record 1", "moonvale record 9", "line 1"),
        ("rules: 1", "rules: one", "rules"),
        ("commitment: ", "commitment: zz", "commitment"),
        ("secret: ", "secret: 00", "commitment"),
        ("names: [", "names: [1, ", "names"),
        ("created: 1970", "created: noon 1970", "created"),
        ("result: rounds", "result: magic", "result"),
        ("places b a", "places a b", "result"),
        ("options: coin 2p", "options: coin 7p", "players"),
        ("options: coin 2p", "options: eyes 2p", "deck"),
        ("options:", "colour:", "line"),
        (" peek ", " peer ", "line"),
        ("0 a peek", "0 a draw; peek", "line"),
    ],
)
def test_a_wrong_record_is_refused_with_the_place(old: str, new: str, says: str) -> None:
    text = (GOLDEN / "coin-2.txt").read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(RecordError, match=says):
        replay_record(read_record(text.replace(old, new, 1)))


@pytest.mark.parametrize("name", GAMES)
def test_golden_records_replay_line_by_line(name: str) -> None:
    """Whole games of both decks and a mix: if the rules change, the first line that differs says where."""
    path = GOLDEN / f"{name}.txt"
    record = read_record(path.read_text(encoding="utf-8"))
    assert write_record(record) == path.read_text(encoding="utf-8")
    expected = path.with_suffix(".events").read_text(encoding="utf-8").splitlines()
    assert transcript(record) == expected
