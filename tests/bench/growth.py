"""Growth: what calls cost with few and many games stored, and early and late in a game. Nothing should."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import uvloop

from moonvale_service.store.redis_store import RedisStore
from tests.bench import environments
from tests.bench.environments import Tell
from tests.bench.report import Figure, Part, Series, Table, between
from tests.bench.rounds import Sample, Spread, interleave, ratio, spread
from tests.bench.services import Measured, measured
from tests.bench.silver import options
from tests.bench.stored import SECONDS, create_games

CASES = ("view", "submit")
TITLES = {"view": "GetView", "submit": "SubmitAction"}
LATER_BLOCKS = 3  # of created games, after the first one
FLAT = 2.0  # percent of CPU that counts as nothing


@dataclass(frozen=True)
class Size:
    """How much is measured: stored games and moves already made, rounds, seconds of each subject, calls in flight."""

    stored: Sequence[int]
    lengths: Sequence[int]
    created: int  # games that are to leave nothing in a worker
    rounds: int
    seconds: float
    loops: int


FULL = Size((1, 100, 10_000, 100_000), (0, 500, 1000, 2000, 3000), 5000, rounds=10, seconds=0.3, loops=8)
QUICK = Size((1, 1000), (0, 1000), 200, rounds=2, seconds=0.1, loops=8)

Samples = dict[str, list[Sample]]


def run(size: Size, tell: Tell) -> Part:
    """Measure a service for each number of stored games, and the first one for each length of a game."""
    part = Part("Growth")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moonvale-")))
        engine, part.notes = environments.best_engine()
        services = {}
        for count in size.stored:
            tell(f"storing {count} games")
            services[count] = stack.enter_context(measured(1, size.loops, folder / str(count), engine))
            uvloop.run(_fill(services[count].store_url, count))
        subjects: dict[str, Callable[[], Sample]] = {}
        for case in CASES:
            for count, service in services.items():
                subjects[f"{case} with {count}"] = partial(service.measure, case, size.seconds)
            for length in size.lengths:
                at = f"{case} at {length}"
                subjects[at] = partial(services[size.stored[0]].measure, at, size.seconds)
        samples = part.samples = interleave(subjects, size.rounds, tell)
        part.figures += _memory(services[size.stored[0]], size)
    for case in CASES:
        per_tenfold = slope(samples, f"{case} with", size.stored, math.log10)
        per_thousand = slope(samples, f"{case} at", size.lengths, lambda length: length / 1000)
        part.figures += [
            Figure(f"{TITLES[case]}, CPU, for ten times the stored games", per_tenfold, "% more", at_most=FLAT),
            Figure(f"{TITLES[case]}, CPU, for 1000 more moves of its game", per_thousand, "% more", at_most=FLAT),
        ]
    part.tables = [
        _table("Calls by the number of stored games", "stored games", "with", samples, size.stored),
        _table("Calls by the length of their game", "moves before", "at", samples, size.lengths),
    ]
    for name, word, steps in (("stored games", "with", size.stored), ("moves", "at", size.lengths)):
        part.plots[f"growth by {name}"] = [
            Series(
                TITLES[case],
                [float(step) for step in steps],
                [spread([sample.cost for sample in samples[f"{case} {word} {step}"]]).median for step in steps],
            )
            for case in CASES
        ]
    return part


async def _fill(url: str, count: int) -> None:
    store = RedisStore(url, SECONDS)
    await create_games(store, options("mix", 4), count, Random(count))
    await store.close()


def _memory(service: Measured, size: Size) -> list[Figure]:
    """What the games that a worker has created leave in it: it remembers some of them, and no more than that."""

    def grown() -> float:
        before, created = service.memory, 0.0
        while created < size.created:
            created += service.measure("new_game", size.seconds).count
        return (service.memory - before) / created

    service.measure("new_game", size.seconds)
    first, *later = [grown() for _ in range(1 + LATER_BLOCKS)]
    name = f"a worker's memory for each of {size.created} games created"
    return [
        Figure(f"{name} first", spread([first]), "KiB"),
        Figure(f"{name} after those", spread(later), "KiB", at_most=0.1),
    ]


def slope(samples: Samples, case: str, steps: Sequence[int], place: Callable[[float], float]) -> Spread:
    """Return by how many percent of the first one's a call's CPU grows with each place, fitted in each round."""
    places = [place(step) for step in steps]
    rounds = zip(*[samples[f"{case} {step}"] for step in steps], strict=True)
    return spread(
        [
            100 * statistics.linear_regression(places, [sample.cost / taken[0].cost for sample in taken]).slope
            for taken in rounds
        ]
    )


def _table(title: str, first: str, word: str, samples: Samples, steps: Sequence[int]) -> Table:
    rows = []
    for step in steps:
        row = [f"{step:,}"]
        for case in CASES:
            taken, least = samples[f"{case} {word} {step}"], samples[f"{case} {word} {steps[0]}"]
            row += [
                between(spread([sample.cost for sample in taken])),
                between(ratio(taken, least, lambda sample: sample.cost)),
                between(spread([sample.more["p50"] for sample in taken])),
            ]
        rows.append(row)
    columns = [f"{TITLES[case]}{what}" for case in CASES for what in (", CPU µs", " against the first", ", ms")]
    return Table(title, [first, *columns], rows)
