"""What a run has found: figures with targets and tables, as text (Markdown) and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.bench.rounds import Sample, Spread

#: Between these a page holds the report of a run.
BEGIN = "<!-- what follows is written by `make bench PUBLISH=1` -->"
END = "<!-- so far -->"


@dataclass(frozen=True)
class Figure:
    """A figure of a run; ``value`` is None if it could not be had, and ``note`` says why.

    ``at_least`` or ``at_most`` is its target, if it has one.
    """

    name: str
    value: Spread | None
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def target(self) -> str:
        """The target in words, or nothing."""
        if self.at_least is not None:
            return f"at least {self.at_least:,g}"
        return "" if self.at_most is None else f"at most {self.at_most:,g}"

    @property
    def verdict(self) -> str:
        """Whether the median keeps to the target: ``yes``, ``no``, ``not measured``, or nothing without a target."""
        if not self.target:
            return ""
        if self.value is None:
            return "not measured"
        low = self.at_least is None or self.value.median >= self.at_least
        high = self.at_most is None or self.value.median <= self.at_most
        return "yes" if low and high else "no"


@dataclass(frozen=True)
class Table:
    """Figures side by side; the first column names the row."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Series:
    """Points of a plot: what was measured over what."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass
class Part:
    """A part of a run. ``plots``: series by the name of the plot they belong to. ``notes``: what a reader must know.

    ``samples``: what all was made from, subject by subject.
    """

    name: str
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: dict[str, list[Series]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    samples: dict[str, list[Sample]] = field(default_factory=dict)


def number(value: float) -> str:
    """Write a number with three digits that count, thousands apart."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 4
    return f"{value:.{digits}f}"


def between(value: Spread | None) -> str:
    """Write a median with its quartiles."""
    return "-" if value is None else f"{number(value.median)} ({number(value.low)} to {number(value.high)})"


def figures_table(parts: Sequence[Part]) -> Table:
    """All figures with a target, beside it."""
    rows = [
        (
            part.name,
            figure.name,
            " ".join(filter(None, (between(figure.value), figure.unit if figure.value else figure.note))),
            figure.target,
            figure.verdict,
        )
        for part in parts
        for figure in part.figures
        if figure.target
    ]
    return Table("Targets", ("part", "figure", "median (quartiles)", "target", "holds"), rows)


def others_table(part: Part) -> Table:
    """The figures of a part that have no target."""
    rows = [
        (figure.name, between(figure.value), figure.unit, figure.note) for figure in part.figures if not figure.target
    ]
    return Table(f"{part.name}: figures", ("figure", "median (quartiles)", "unit", "note"), rows)


def text(table: Table) -> str:
    """Write a table as Markdown, in columns that line up."""
    rows = [table.header, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([f"### {table.title}", "", *lines, ""])


def report(machine: dict[str, str], parts: Sequence[Part]) -> str:
    """Write a whole run: the machine, the targets, and each part's tables and notes."""
    sections = [text(Table("Machine", ("what", "value"), list(machine.items())))]
    if any(figure.target for part in parts for figure in part.figures):
        sections.append(text(figures_table(parts)))
    for part in parts:
        if any(not figure.target for figure in part.figures):
            sections.append(text(others_table(part)))
        sections += [text(table) for table in part.tables]
        sections += [f"- {part.name}: {note}" for note in part.notes]
        sections += [""] * bool(part.notes)
    return "\n".join(sections)


def publish(written: str, page: str) -> str:
    """Return a page with a run's report in place of the one that stands between its marks."""
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return f"{page[:begin]}\n\n{written}\n{page[end:]}"


def to_json(machine: dict[str, str], parts: Sequence[Part]) -> str:
    """Write a run as JSON."""
    return json.dumps({"machine": machine, "parts": [_plain(part) for part in parts]}, indent=1)


def _plain(part: Part) -> dict[str, Any]:
    plain = asdict(part)
    for figure, values in zip(part.figures, plain["figures"], strict=True):
        values["value"] = None if figure.value is None else figure.value._asdict()
        values["holds"] = figure.verdict
    return plain
