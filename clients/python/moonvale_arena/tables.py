"""Standings as tables for the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from moonvale_arena.intervals import Estimate
from moonvale_arena.standings import Pair, Standing, Standings
from moonvale_arena.words import in_favour, p_words

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
    names = [entrant.name for entrant in standings.event.entrants]
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("Pair")
    for heading in ("Blocks", "Ahead", "95 % interval", "Fewer points/round", "p"):
        table.add_column(heading, justify="right")
    for pair in standings.pairs:
        turned = pair.ahead.mean < 0.5
        first, second = (pair.second, pair.first) if turned else (pair.first, pair.second)
        share, low, high = in_favour(pair)
        table.add_row(
            f"{names[first]} : {names[second]}",
            str(pair.blocks),
            f"{share:.1%}",
            f"{low:.1%} to {high:.1%}",
            points_words(fewer(pair)),
            p_words(pair.p).removeprefix("= "),
        )
    return table


def fewer(pair: Pair) -> Estimate | None:
    """Return by how many points a round whoever is behind has more."""
    if pair.fewer is None or pair.ahead.mean >= 0.5:
        return pair.fewer
    return Estimate(-pair.fewer.mean, -pair.fewer.high, -pair.fewer.low, pair.fewer.blocks)


def share_words(share: Estimate) -> str:
    """Return a share with its interval."""
    return f"{share.mean:.1%} ({100 * share.low:.0f}–{100 * share.high:.0f})"


def _short(share: Estimate) -> str:
    return f"{100 * share.mean:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f})"


def points_words(points: Estimate | None) -> str:
    """Return points with their interval."""
    if points is None:
        return "-"
    half = (points.high - points.low) / 2
    return f"{points.mean:.1f}" if half == float("inf") else f"{points.mean:.1f} ± {half:.1f}"


def faults_words(each: Standing) -> str:
    """Return how often an entrant has lost by rule, and how."""
    return ", ".join([f"{count} {fault}" for fault, count in sorted(each.lost_by_rule.items())]) or "0"


def seconds_words(seconds: float) -> str:
    """Return a short time as people say it."""
    for size, unit in ((1, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.0f} µs"
