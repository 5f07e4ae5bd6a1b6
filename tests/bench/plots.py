"""Draws the plots of a run, from its JSON: ``python -m tests.bench.plots RESULTS FOLDER``.

It runs in the environment that has matplotlib, and needs nothing else.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl  # type: ignore[import-not-found, unused-ignore]
from matplotlib import pyplot as plt  # type: ignore[import-not-found, unused-ignore]

#: What each plot's axes mean; one with a single label is of bars.
LABELS = {
    "engine": ("decisions a second of CPU (more is better)",),
    "service": ("µs of CPU of the server for each (less is better)",),
    "growth by stored games": ("stored games", "µs of CPU of a worker"),
    "growth by moves": ("moves already made in the game", "µs of CPU of a worker"),
}
OURS, THEIRS = "#2a6f97", "#b5838d"
PEERS = ("OpenSpiel", "RLCard", "boardgame.io")

Series = list[dict[str, Any]]


def bars(axes: Any, series: Series) -> None:  # noqa: ANN401  # matplotlib is not installed where types are checked
    """One bar for each, ours and theirs in different colours."""
    names = [each["name"] for each in series]
    values = [each["y"][0] for each in series]
    colours = [THEIRS if name.startswith(PEERS) else OURS for name in names]
    drawn = axes.barh(names, values, color=colours)
    axes.bar_label(drawn, labels=[f"{value:,.0f}" for value in values], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.xaxis.set_major_formatter("{x:,.0f}")


def lines(axes: Any, name: str, series: Series) -> None:  # noqa: ANN401
    """One line for each, from zero, so that what is flat looks flat."""
    for each in series:
        axes.plot(each["x"], each["y"], marker="o", label=each["name"])
    if "stored" in name:
        axes.set_xscale("log")
        axes.set_xticks(series[0]["x"], [f"{x:,.0f}" for x in series[0]["x"]])
    axes.margins(y=0.15)
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")


def main(results: str, folder: str) -> None:
    """Draw all plots that there is something for."""
    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "moonvale", "font.size": 9})
    for part in json.loads(Path(results).read_text(encoding="utf-8"))["parts"]:
        for name, series in part["plots"].items():
            labels = LABELS[name]
            height = 0.8 + 0.3 * len(series) if len(labels) == 1 else 3.2
            figure, axes = plt.subplots(figsize=(8, height), layout="constrained")
            if len(labels) == 1:
                bars(axes, series)
            else:
                lines(axes, name, series)
                axes.set_ylabel(labels[1])
            axes.set_xlabel(labels[0])
            axes.spines[["top", "right"]].set_visible(False)
            figure.savefig(Path(folder) / f"{name.replace(' ', '-')}.svg", metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:])
