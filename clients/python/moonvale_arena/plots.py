"""The plots of an event's report, drawn by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from moonvale_arena.errors import fail_without
from moonvale_arena.results import TIME_BUCKETS
from moonvale_arena.standings import Standing, Standings
from moonvale_arena.words import faults_words, points_words, seconds_words, share_words, summary

#: One for each entrant, in the order of the standings; they differ for the colour-blind, too (Okabe and Ito, darkened).
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#6a4c93", "#7f7f7f")
_INK: Final = "#22303c"
_FAINT: Final = "#8a97a3"
_GRID: Final = "#e3e8ec"
_STYLE: Final = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "moonvale",
}

Draw = Callable[[Any, Standings], None]


def _pyplot() -> tuple[Any, Any]:
    """Return matplotlib and its pyplot, which draw without a screen. Raises ArenaError where they are missing."""
    try:
        import matplotlib as mpl
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise fail_without("matplotlib") from error
    mpl.use("agg")
    return mpl, plt


def svg(name: str, standings: Standings) -> str:
    """Return one of the plots as an SVG element. name: a key of PLOTS."""
    mpl, plt = _pyplot()
    with mpl.rc_context(_STYLE):
        rows = len(standings.entrants)
        heights = {"ratings": 1.1 + 0.34 * rows, "heat": 1.3 + 0.45 * rows, "times": 3.1, "scores": 1.1 + 0.55 * rows}
        figure, axes = plt.subplots(figsize=(5.6, max(2.4, heights[name])), layout="constrained")
        PLOTS[name](axes, standings)
        axes.set_title("")
        with io.StringIO() as file:
            figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
            drawn = file.getvalue()
        plt.close(figure)
    return drawn[drawn.index("<svg") :]


def png(standings: Standings, path: Path) -> None:
    """Draw the whole report as one picture. Raises ArenaError, or OSError if the file can't be written."""
    mpl, plt = _pyplot()
    with mpl.rc_context(_STYLE):
        rows = len(standings.entrants)
        table = 0.9 + 0.27 * rows
        upper, lower = 1.3 + 0.42 * max(rows, 4), 1.6 + 0.42 * max(rows, 4)
        figure = plt.figure(figsize=(11.5, 0.55 + table + upper + lower), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
        grid = figure.add_gridspec(3, 2, height_ratios=[table, upper, lower])
        _table(figure.add_subplot(grid[0, :]), standings)
        for place, name in (((1, 0), "ratings"), ((1, 1), "heat"), ((2, 0), "scores"), ((2, 1), "times")):
            PLOTS[name](figure.add_subplot(grid[place]), standings)
        event = standings.event
        figure.suptitle(
            f"Moonvale arena: {len(event.entrants)} entrants, {standings.games} games at {event.seats} seats"
            f" ({event.deck}, {event.rounds} rounds)",
            x=0.012,
            ha="left",
            fontsize=14,
            fontweight="bold",
        )
        figure.savefig(path, format="png", dpi=150, facecolor="white", metadata={"Software": None})
        plt.close(figure)


def ratings(axes: Any, standings: Standings) -> None:  # noqa: ANN401  # matplotlib's own types are optional here
    """Ratings with bars of two standard deviations."""
    shown = sorted(standings.entrants, key=lambda each: each.rating.mean)
    for row, each in enumerate(shown):
        colour = colour_of(standings, each)
        axes.errorbar(
            each.rating.mean, row, xerr=2 * each.rating.deviation, fmt="o", color=colour, capsize=4, lw=2, markersize=7
        )
        axes.annotate(
            f"{each.rating.mean:.1f}",
            (each.rating.mean, row),
            (0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
        )
    axes.set_yticks(range(len(shown)), [each.name for each in shown])
    axes.set_ylim(-0.6, len(shown) - 0.3)
    axes.grid(axis="x", color=_GRID)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("rating, ± 2 standard deviations")
    axes.set_title("Ratings")


def heat(axes: Any, standings: Standings) -> None:  # noqa: ANN401
    """How often each entrant was placed before each other."""
    shown = standings.entrants
    share = [[_ahead(standings, row, column) for column in shown] for row in shown]
    numbers = [[float("nan") if value is None else value for value in row] for row in share]
    edges = [i - 0.5 for i in range(len(shown) + 1)]
    axes.pcolormesh(edges, edges, numbers, cmap="RdBu", vmin=-0.25, vmax=1.25, edgecolor="white", lw=2)
    axes.invert_yaxis()
    for i, row in enumerate(share):
        for j, value in enumerate(row):
            if value is None:
                axes.text(j, i, "–", ha="center", va="center", color=_FAINT)
            else:
                colour = "white" if abs(value - 0.5) > 0.42 else _INK
                axes.text(j, i, f"{value:.0%}", ha="center", va="center", fontsize=9.5, color=colour)
    names = [each.name for each in shown]
    axes.set_xticks(
        range(len(shown)),
        names,
        rotation=20 if max(map(len, names)) > 9 else 0,
        ha="right" if max(map(len, names)) > 9 else "center",
    )
    axes.set_yticks(range(len(shown)), names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("… the entrant of the column")
    axes.set_title("How often the entrant of the row was ahead of")


def scores(axes: Any, standings: Standings) -> None:  # noqa: ANN401
    """How the points of a round are distributed: the fewer the better."""
    shown = [each for each in reversed(standings.entrants) if each.rounds]
    for row, each in enumerate(shown):
        colour = colour_of(standings, each)
        if len(set(each.rounds)) > 1:
            (body,) = axes.violinplot([each.rounds], [row], orientation="horizontal", widths=0.8, showextrema=False)[
                "bodies"
            ]
            body.set(facecolor=colour, alpha=0.35, edgecolor=colour)
        low, middle, high = (sorted(each.rounds)[int(len(each.rounds) * part)] for part in (0.25, 0.5, 0.75))
        axes.plot([low, high], [row, row], color=colour, lw=4, solid_capstyle="butt")
        axes.plot(middle, row, "o", color="white", markeredgecolor=colour, markersize=7, mew=2)
    axes.set_yticks(range(len(shown)), [each.name for each in shown])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=_GRID)
    axes.set_xlabel("points in a round (fewer are better); bar: middle half, ring: median")
    axes.set_title("Points")


def times(axes: Any, standings: Standings) -> None:  # noqa: ANN401
    """What decisions took: for each entrant the part of them that took longer."""
    edges = [2.0**i / 1e6 for i in range(TIME_BUCKETS + 1)]
    for each in standings.entrants:
        left = in_all = sum(each.buckets)
        if not in_all:
            continue
        longer = [1.0]
        for count in each.buckets:
            left -= count
            longer.append(left / in_all)
        axes.plot(
            edges,
            longer,
            color=colour_of(standings, each),
            lw=2,
            label=f"{each.name}, median {seconds_words(each.median)}",
        )
    used = [edges[i] for each in standings.entrants for i, count in enumerate(each.buckets) if count]
    axes.set_xscale("log")
    if used:
        axes.set_xlim(min(used) / 1.5, max(used) * 4)
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.xaxis.set_major_formatter(lambda value, _: seconds_words(value))
    axes.grid(color=_GRID)
    axes.legend(fontsize=8.5, loc="upper right", edgecolor="none", framealpha=0.9)
    axes.set_xlabel("time for a decision, as the arena measured it")
    axes.set_ylabel("decisions that took longer")
    axes.set_title("Decision times")


PLOTS: Final[dict[str, Draw]] = {"ratings": ratings, "heat": heat, "scores": scores, "times": times}


def colour_of(standings: Standings, each: Standing) -> str:
    """Return an entrant's colour."""
    return COLOURS[standings.entrants.index(each) % len(COLOURS)]


def _ahead(standings: Standings, row: Standing, column: Standing) -> float | None:
    pair = standings.pair(row.entrant, column.entrant)
    if pair is None or row is column:
        return None
    return pair.ahead.mean if pair.first == row.entrant else 1 - pair.ahead.mean


def _table(axes: Any, standings: Standings) -> None:  # noqa: ANN401
    axes.axis("off")
    headings = ("", "Entrant", "Games", "Rating", "Ahead of others", "Wins", "Points a round", "Lost by rule")
    columns = (0.0, 0.02, 0.26, 0.38, 0.54, 0.70, 0.86, 1.0)
    rows = [
        (
            f"{place}.",
            each.name,
            str(each.games),
            f"{each.rating.mean:.1f} ± {2 * each.rating.deviation:.1f}",
            share_words(each.beaten),
            share_words(each.wins),
            points_words(each.round_points),
            faults_words(each),
        )
        for place, each in enumerate(standings.entrants, 1)
    ]
    step = 1 / (len(rows) + 2.2)
    for number, row in enumerate([headings, *rows]):
        height = 1 - step * (number + 0.5)
        for text, left in zip(row, columns, strict=True):
            style = {"fontweight": "bold", "color": _FAINT} if number == 0 else {}
            if number and left == columns[1]:
                style = {"fontweight": "bold", "color": COLOURS[(number - 1) % len(COLOURS)]}
            right = left > columns[1]
            axes.text(left, height, text, ha="right" if right else "left", va="center", fontsize=9.5, **style)
        axes.axhline(1 - step * (number + 1), color=_GRID, lw=1)
    note = summary(standings)[-1] if standings.pairs else ""
    axes.text(
        0, step * 0.55, f"Intervals of 95 % over blocks of rotated deals. {note}", fontsize=8, color=_FAINT, va="center"
    )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
