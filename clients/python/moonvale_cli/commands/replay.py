"""`moonvale replay`: shows a game record as one seat, or a spectator, saw the game."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from moonvale.v1.view_pb2 import View
from moonvale_cli.draw import LEGEND, TableDrawing, scores
from moonvale_cli.errors import CommandError
from moonvale_cli.story import Story
from moonvale_cli.typed import line
from moonvale_cli.words.table import Table, printable
from moonvale_engine import (
    EngineError,
    Record,
    State,
    enter,
    new_game,
    read_record,
    replay_record,
    seat_to_act,
    seen_by,
    view,
)
from moonvale_engine.events import SPECTATOR, Event

DESCRIPTION: Final = """\
Show a game turn by turn as one of its seats saw it: with the cards that the seat knew, and no
others. Without --seat you see what spectators saw. On a terminal Enter goes on and q ends;
elsewhere, and with --pause, it goes on by itself.
"""
EXAMPLES: Final = """\
  moonvale replay game.moonvale --seat 2
  moonvale replay spring/records/000017.moonvale --seat greedy --pause 1
  moonvale replay game.moonvale > story.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, the seat and the pace."""
    parser.add_argument("file", metavar="RECORD", help="a game record, or - for the standard input")
    parser.add_argument("--seat", metavar="SEAT", help="its number, from 1, or the name of whoever sat there")
    parser.add_argument("--pause", type=float, metavar="SECONDS", help="how long each turn is shown")


def run(arguments: argparse.Namespace) -> int:
    """Show the game."""
    record = _read(arguments.file)
    viewer = SPECTATOR if arguments.seat is None else _seat(record, arguments.seat)
    console = Console(highlight=False)
    waits = arguments.pause is None and console.is_terminal and sys.stdin.isatty()
    console.print(LEGEND, style="dim")
    last = View()
    for shown, told in _turns(record, viewer):
        last = shown
        console.print()
        for sentence in told:
            console.print(Text(sentence), soft_wrap=True)
        if shown.HasField("result"):
            break
        console.print(*([Text()] if told else []), TableDrawing(shown), sep="\n")
        if waits and _ends(console):
            return 0
        if arguments.pause:
            time.sleep(arguments.pause)
    console.print()
    console.print(scores(last))
    return 0


def _ends(console: Console) -> bool:
    try:
        return line(console, "Enter: next turn, q: end. ").strip().lower().startswith("q")
    except EOFError:
        return True


def _read(file: str) -> Record:
    """Return a record that has been checked. Raises CommandError."""
    try:
        record = read_record(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
        replay_record(record)
    except (OSError, UnicodeDecodeError, EngineError) as error:
        raise CommandError(f"{file}: {error}") from error
    return record


def _seat(record: Record, text: str) -> int:
    seats = record.options.players
    if text.isascii() and text.isdigit() and 1 <= int(text) <= seats:
        return int(text) - 1
    if record.names.count(text) == 1:
        return record.names.index(text)
    names = f", or one of the names {', '.join(map(printable, record.names))}" if record.names else ""
    raise CommandError(f"--seat {printable(text)}: is no seat of this game; give a number of 1 to {seats}{names}")


def _turns(record: Record, viewer: int) -> Iterator[tuple[View, list[str]]]:
    """Yield the game at the beginning of each turn, and at its end, with what happened since the one before."""
    from moonvale_service.convert.events import log_entry

    assert record.secret is not None
    s = new_game(record.options, record.secret, record.entropy)
    shown = _view(record, s, viewer)
    story = Story(0)
    yield shown, []
    for number, entry in enumerate(record.entries, 1):
        before = (s.round, s.turn)
        happened: list[Event] = []
        s.events = happened
        enter(s, entry)
        seen = [seen_by(event, viewer) for event in happened]
        to_act = seat_to_act(s) if not s.is_over() else -1
        story.add(log_entry(record.options, number, "", entry, 0, to_act, seen), Table(shown))
        if (s.round, s.turn) != before or s.is_over():
            table = Table(shown)
            shown = _view(record, s, viewer)
            yield shown, story.tell(table, finished=True)


def _view(record: Record, s: State, viewer: int) -> View:
    from moonvale_service.about import About, SeatAbout
    from moonvale_service.convert.views import GameHeader, to_proto

    names = record.names or tuple([f"Seat {seat + 1}" for seat in range(record.options.players)])
    header = GameHeader(
        record.game,
        0,
        "",
        record.commitment,
        record.created,
        0,
        About(seats=tuple([SeatAbout(name=name) for name in names])),
    )
    return to_proto(view(s, viewer), "", header)
