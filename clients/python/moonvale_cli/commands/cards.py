"""`moonvale cards`: the catalogue."""

from __future__ import annotations

import argparse
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from moonvale_cli.errors import CommandError
from moonvale_engine import texts
from moonvale_engine.cards.card import DRAWN, PILE_TOP, RESIDENT, SCORING

DESCRIPTION: Final = """\
List all cards: their deck, their number, which is also what they count unless something else is
said, how many there are, and what each does when. Name some to see those alone, by number, by
name, or as DECK/NAME.
"""
EXAMPLES: Final = """\
  moonvale cards
  moonvale cards 7 pixie eye/tanner
"""

_WHEN: Final = {DRAWN: "drawn", RESIDENT: "faceup", SCORING: "scoring", PILE_TOP: "on top"}
_LEGEND = (
    "drawn: when you draw it from the deck and discard it at once. faceup: while it lies faceup in your village."
    " scoring: if it lies faceup in your village when the round ends. on top: while it tops the pile."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which cards to list."""
    parser.add_argument("cards", metavar="CARD", nargs="*", help="a number, a name, or DECK/NAME; all if left out")


def run(arguments: argparse.Namespace) -> int:
    """Print the catalogue, or a part of it."""
    entries = texts.entries()
    if arguments.cards:
        entries = tuple([entry for wanted in arguments.cards for entry in _find(wanted)])
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("Deck", no_wrap=True)
    for name in ("Number", "Copies"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Name", no_wrap=True)
    table.add_column("When", no_wrap=True)
    table.add_column("What it does")
    for entry in entries:
        number = str(entry.number) if entry.number == entry.value else f"{entry.number}, counts {entry.value}"
        table.add_row(
            entry.deck, number, str(entry.copies), Text(entry.name, style="bold"), _WHEN[entry.kind], entry.ability
        )
    console = Console()
    console.print(table)
    console.print()
    console.print(_LEGEND, style="dim")
    for token in texts.token_entries():
        console.print(f"The {token.name} token. {token.ability}", style="dim")
    return 0


def _find(wanted: str) -> list[texts.CardEntry]:
    """Return the card types that a word names. Raises CommandError if there is none."""
    word = wanted.lower().replace(" ", "_")
    found = [
        entry
        for entry in texts.entries()
        if word in (str(entry.number), entry.key, f"{entry.deck}/{entry.key}", entry.name.lower())
    ]
    if not found:
        raise CommandError(f"'{wanted}' is no card; `moonvale cards` lists them all")
    return found
