"""`moonvale record`: checks a game record."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from moonvale_cli.errors import CommandError
from moonvale_cli.words.table import printable
from moonvale_engine import EngineError, read_record, replay_record
from moonvale_engine.position_text import game_text

DESCRIPTION: Final = """\
Replay a game record and print its result. Fails if an action is not legal, if the result is not
the one that the actions lead to, or if the secret does not open the commitment that was
published before the game.
"""
EXAMPLES: Final = """\
  moonvale demo --fast --record game.moonvale && moonvale record game.moonvale
  moonvale record - < game.moonvale
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file."""
    parser.add_argument("file", metavar="FILE", help="a game record, or - for the standard input")


def run(arguments: argparse.Namespace) -> int:
    """Replay a record and print its result."""
    try:
        text = sys.stdin.read() if arguments.file == "-" else Path(arguments.file).read_text(encoding="utf-8")
        record = read_record(text)
        replay_record(record)
    except (OSError, UnicodeDecodeError, EngineError) as error:
        raise CommandError(f"{arguments.file}: {error}") from error
    names = [printable(name) for name in record.names] or [f"Seat {seat + 1}" for seat in range(record.options.players)]
    print(f"{game_text(record.options)}, {len(record.entries)} actions: legal, and the secret opens the commitment")
    if record.result is None:
        print("The game is not over.")
        return 0
    for place, seat in enumerate(record.result.places, 1):
        scores = " + ".join(str(scores[seat]) for scores in record.result.scores) or "0"
        print(f"{place}. {names[seat]}: {record.result.totals[seat]} points ({scores})")
    return 0
