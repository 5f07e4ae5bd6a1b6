"""The engine: pure and compiled, and the games of peers, all played at random from Python in the same way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.bench import environments
from tests.bench.environments import NotInstalledError, Tell
from tests.bench.machine import cores
from tests.bench.players import Player, PlayerFailedError
from tests.bench.report import Figure, Part, Series, Table, between, number
from tests.bench.rounds import Sample, Spread, interleave, ratio, spread
from tests.bench.silver import DECKS, OPERATIONS, PLAYERS

#: What the operations are called in tables.
TITLES = {
    "moves": "legal + choice + apply",
    "observe": "with a position for the seat to act",
    "view": "with a view for the seat to act",
    "clone": "clone",
    "encode": "encode",
    "decode": "decode",
    "sample_world": "sample_world",
}

#: The game that targets are about, and the peer that they compare with.
OURS = "mix 4"
THEIRS = "OpenSpiel crazy_eights"
#: Its chance nodes are drawn in the fastest way there is, or as its own examples do.
OWN_CHANCE = ", chance_outcomes"
#: How many times its decisions ours are to be.
BOUNDS = (
    ("compiled", "observe", 2.0),
    ("compiled", "moves", 3.0),
    ("pure", "observe", 0.75),
    ("pure", "moves", 1.5),
)

Samples = dict[str, list[Sample]]


@dataclass(frozen=True)
class Size:
    """How long it takes: rounds, and seconds of each subject in a round."""

    rounds: int
    seconds: float
    short_seconds: float  # of what no ratio to a peer is taken of


FULL = Size(rounds=15, seconds=0.25, short_seconds=0.06)
QUICK = Size(rounds=3, seconds=0.05, short_seconds=0.01)


def run(size: Size, tell: Tell, only: Sequence[str] = ("pure", "compiled", "OpenSpiel", "RLCard")) -> Part:
    """Measure the engine beside its peers; ``only`` these of them."""
    makers = {
        "pure": lambda: _engine("pure", environments.PURE),
        "compiled": lambda: _engine("compiled", environments.compiled_engine()),
        "OpenSpiel": lambda: _peer("open_spiel", "open_spiel", tell),
        "RLCard": lambda: _peer("rlcard", "uno", tell),
    }
    part = Part("Engine")
    with ExitStack() as stack:
        players: dict[str, Player] = {}
        for name in only:
            try:
                players[name] = stack.enter_context(makers[name]())
            except (NotInstalledError, PlayerFailedError) as error:
                tell(f"left out: {error}")
                part.notes.append(f"left out: {error}")
        subjects: dict[str, Callable[[], Sample]] = {}
        for name, player in players.items():
            for case in player.cases:
                compared = name not in ("pure", "compiled") or case in (f"{OURS} moves", f"{OURS} observe")
                seconds = size.seconds if compared else size.short_seconds
                subjects[f"{name} {case}"] = partial(player.measure, case, seconds)
        samples = interleave(subjects, size.rounds, tell)
    part.figures += _targets(samples)
    part.samples = samples
    part.tables += [_own_table(samples), _peers_table(samples)]
    part.plots["engine"] = _plot(samples)
    return part


def _engine(kind: str, folder: Path) -> Player:
    player = Player([sys.executable, "-m", "tests.bench.silver"], cores()[-1], {"PYTHONPATH": str(folder)})
    if player.about["version"] != kind:
        player.close()
        raise NotInstalledError(f"{kind} engine: what was imported is the {player.about['version']} one")
    return player


def _peer(environment: str, module: str, tell: Tell) -> Player:
    python = environments.python_with(environment, tell)
    return Player([python, "-m", f"tests.bench.peers.{module}"], cores()[-1])


def _targets(samples: Samples) -> list[Figure]:
    figures = []
    for kind, what, at_least in BOUNDS:
        for chance in ("", OWN_CHANCE):
            ours, theirs = f"{kind} {OURS} {what}", f"{THEIRS} {what}{chance}"
            missing = ours not in samples or theirs not in samples
            figures.append(
                Figure(
                    f"{kind} {OURS} players, {TITLES[what]}",
                    None if missing else ratio(samples[ours], samples[theirs]),
                    f"times {theirs}",
                    at_least,
                    note="left out" if missing else "",
                )
            )
    clone = samples.get(f"compiled {OURS} clone")
    cost = None if clone is None else spread([sample.cost for sample in clone])
    figures.append(Figure(f"compiled {OURS} players, clone", cost, "µs", at_most=1.0, note="" if cost else "left out"))
    return figures


def _rate(samples: Samples, subject: str) -> Spread | None:
    return spread([sample.rate / 1000 for sample in samples[subject]]) if subject in samples else None


def _own_table(samples: Samples) -> Table:
    """Return a row for each operation and number of players, a column for each deck."""

    def cell(case: str) -> str:
        pure, compiled = samples.get(f"pure {case}"), samples.get(f"compiled {case}")
        rates = [_rate(samples, f"{kind} {case}") for kind in ("compiled", "pure")]
        medians = ["-" if rate is None else number(rate.median) for rate in rates]
        times = f" = {between(ratio(compiled, pure))}" if pure and compiled else ""
        return f"{' / '.join(medians)}{times}"

    rows = [
        (f"{TITLES[operation]}, {players} players", *[cell(f"{deck} {players} {operation}") for deck in DECKS])
        for operation in OPERATIONS
        for players in PLAYERS
    ]
    title = "Moonvale's engine: compiled / pure, thousands a second of CPU, and the ratio"
    return Table(title, ("operation", *DECKS), rows)


def _peers_table(samples: Samples) -> Table:
    rows = []
    for subject, taken in samples.items():
        if subject.startswith(("pure ", "compiled ")):
            continue
        what = "observe" if "observe" in subject else "moves"
        ours = [samples.get(f"{kind} {OURS} {what}") for kind in ("pure", "compiled")]
        rows.append(
            (subject, between(_rate(samples, subject)), *(between(ratio(own, taken) if own else None) for own in ours))
        )
    header = ("peer", "thousand decisions a second of CPU", "pure Moonvale, times that", "compiled, times that")
    return Table("Peers beside Moonvale with the mixed deck and four players", header, rows)


def _plot(samples: Samples) -> list[Series]:
    bars = []
    for subject, taken in samples.items():
        own = subject.startswith(("pure ", "compiled "))
        if own and not subject.endswith((f"{OURS} moves", f"{OURS} observe")):
            continue
        name = f"Moonvale {subject.replace(f' {OURS}', '')}" if own else subject
        name = name.replace(" moves", ": legal + apply").replace(" observe", ": with what is seen")
        bars.append(Series(name, [0.0], [spread([sample.rate for sample in taken]).median]))
    return bars
