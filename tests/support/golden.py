"""Golden records; made anew, after a change of the rules that is meant, by ``python -m tests.support.golden``."""

from dataclasses import replace
from pathlib import Path

from moonvale_engine import (
    Entry,
    Record,
    action_text,
    commitment,
    encode,
    history,
    replay_record,
    result,
    write_record,
)
from moonvale_engine.events import ACTED, KINDS
from tests.support.playing import positions, random_setup

GOLDEN = Path(__file__).parent.parent / "engine" / "golden"
SEEDS = {2: 29, 3: 25, 4: 29}


def transcript(record: Record) -> list[str]:
    """Return all events of a record, one line each, with nothing hidden."""
    assert record.secret is not None
    replay_record(record)
    lines = []
    for version, events in enumerate(history(record.options, record.secret, record.entropy, record.entries)):
        for kind, seat, a, b, audience, cards in events:
            what = action_text(a) if kind == ACTED else a
            lines.append(f"{version} {KINDS[kind]} {seat} {what} {b} {audience} {' '.join(map(str, cards))}".rstrip())
    return lines


def played(seed: int, **options: object) -> tuple[Record, bytes]:
    """Return the record of a random game and the bytes of its last state."""
    setup = random_setup(seed, **options)
    log: list[Entry] = []
    *_, s = positions(setup, log)
    names = ("Ann", "Ben", "Çem", 'D "Z"')[: setup.options.players]
    record = Record(
        setup.options, commitment(setup.secret), setup.secret, (), names, "games/x", 1000, tuple(log), result(s)
    )
    entries = tuple(entry._replace(time=1000 + entry.time) for entry in record.entries)
    return replace(record, entries=entries), encode(s)


def main() -> None:
    """Write a record and its transcript for each number of players."""
    GOLDEN.mkdir(exist_ok=True)
    for players, seed in SEEDS.items():
        record, _ = played(
            seed, players=players, rounds=4, turn_limit=200, memory="assisted", successful_call="zero", villages=()
        )
        path = GOLDEN / f"coin-{players}.txt"
        path.write_text(write_record(record), encoding="utf-8")
        path.with_suffix(".events").write_text("\n".join(transcript(record)) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(record.entries)} actions")


if __name__ == "__main__":
    main()
