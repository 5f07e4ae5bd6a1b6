"""Standings as tables for the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from moonvale_arena.intervals import Estimate
from moonvale_arena.standings import Standings
from moonvale_arena.words import faults_words, pair_cells, points_words

#: Columns of tables that go into a file or a pipe.
WIDTH = 120

_BEST = "bold bright_yellow"


def tables(standings: Standings) -> RenderableType:
    """Return all tables: entrants, then pairs."""
    return Group(entrants_table(standings), Text(), pairs_table(standings))


def entrants_table(standings: Standings) -> Table:
    """Return the entrants, the best first."""
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("", justify="right")
    table.add_column("Entrant")
    for heading in ("Games", "Rating", "Ahead %", "Wins %", "Points/round", "Places", "Lost"):
        table.add_column(heading, justify="right")
    for number, each in enumerate(standings.entrants, 1):
        table.add_row(
            str(number),
            Text(each.name, style=_BEST if number == 1 else ""),
            str(each.games),
            f"{each.rating.mean:.1f} ± {2 * each.rating.deviation:.1f}",
            _short(each.beaten),
            _short(each.wins),
            points_words(each.round_points),
            " ".join(map(str, each.places)),
            faults_words(each),
        )
    return table


def pairs_table(standings: Standings) -> Table:
    """Return how each pair met, whoever leads first."""
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("Pair")
    for heading in ("Blocks", "Ahead", "95 % interval", "Fewer points/round", "p"):
        table.add_column(heading, justify="right")
    for pair in standings.pairs:
        table.add_row(*pair_cells(standings, pair))
    return table


def _short(share: Estimate) -> str:
    return f"{100 * share.mean:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f})"
