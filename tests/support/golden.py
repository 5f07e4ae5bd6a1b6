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
from moonvale_engine.options import DEMANDS, parse_deck
from tests.support.playing import positions, random_setup

GOLDEN = Path(__file__).parent.parent / "engine" / "golden"
#: Players, deck, token and seed; seeds of games in which nearly every kind of action comes up.
GAMES = {
    "coin-2": (2, "coin", "coin", 38),
    "coin-3": (3, "coin", "coin", 50),
    "coin-4": (4, "coin", "coin", 48),
    "eye-4": (4, "eye", "eye", 59),
    "mix-3": (3, "coin,0=eye,2=eye,3=eye,4=eye,7=eye,9=eye,10=eye,13=eye", "eye", 52),
}


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


def golden(name: str) -> Record:
    """Return the record of a golden game, played anew."""
    players, deck, token, seed = GAMES[name]
    record, _ = played(
        seed,
        players=players,
        deck=parse_deck(deck),
        token=token,
        demands=DEMANDS,
        rounds=4,
        turn_limit=200,
        memory="assisted",
        successful_call="zero",
        villages=(),
    )
    return record


def main() -> None:
    """Write the record and the transcript of each golden game."""
    GOLDEN.mkdir(exist_ok=True)
    for name in GAMES:
        record = golden(name)
        path = GOLDEN / f"{name}.txt"
        path.write_text(write_record(record), encoding="utf-8")
        path.with_suffix(".events").write_text("\n".join(transcript(record)) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(record.entries)} actions")


if __name__ == "__main__":
    main()
