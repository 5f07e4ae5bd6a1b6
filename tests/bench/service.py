"""The service: what calls cost its workers, beside a no-op of the same server and beside boardgame.io."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.bench import boardgame, environments
from tests.bench.environments import NotInstalledError, Tell
from tests.bench.players import PlayerFailedError
from tests.bench.report import Figure, Part, Series, Table, between, number
from tests.bench.rounds import Sample, interleave, ratio, spread
from tests.bench.services import Measured, measured
from tests.support.servers import Program, redis_program

TITLES = {
    "health": "no-op: Check of grpc.health",
    "info": "no-op through the edge: GetServerInfo",
    "view": "GetView",
    "http_view": "GetView as JSON over HTTP/1.1",
    "submit": "SubmitAction, durable, with the new view",
    "table": "SubmitAction, all four seats watching",
    "watch": "one entry to one watcher",
}
#: The service that targets are about.
FIRST = "embedded, 1 worker"
BOARDGAME = "boardgame.io"
WARM_UP = 6  # times a round, until its code is compiled

Samples = dict[str, list[Sample]]


@dataclass(frozen=True)
class Size:
    """How long it takes: rounds, and seconds of each subject in a round."""

    rounds: int
    seconds: float
    loops: int  # calls in flight


FULL = Size(rounds=12, seconds=0.5, loops=32)
QUICK = Size(rounds=2, seconds=0.1, loops=32)


STORES = ("embedded", "Redis")


def run(
    size: Size, tell: Tell, stores: Sequence[str] = STORES, workers: Sequence[int] = (1, 2), peers: bool = True
) -> Part:
    """Measure the service on both stores, and boardgame.io beside it."""
    part = Part("Service")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moonvale-")))
        services = _services(part, stack, folder, size, stores, workers, tell)
        for name, service in services.items():
            commands, kinds = service.commands_per_move(size.seconds)
            part.figures.append(Figure(f"{name}: commands to the store per move", spread([commands]), kinds, None, 1.1))
        subjects: dict[str, Callable[[], Sample]] = {
            f"{name}: {case}": partial(service.measure, case, size.seconds)
            for name, service in services.items()
            for case in TITLES
            if case in service.cases
        }
        if peers:
            try:
                boardgame_io = stack.enter_context(boardgame.running(tell))
            except (NotInstalledError, PlayerFailedError) as error:
                tell(f"left out: {error}")
                part.notes.append(f"left out: {error}")
            else:
                for case in boardgame_io.cases:
                    tell(f"warm-up: {BOARDGAME}")
                    boardgame_io.measure(case, WARM_UP * size.seconds)
                    subjects[f"{BOARDGAME}: {case}"] = partial(boardgame_io.measure, case, size.seconds)
        samples = interleave(subjects, size.rounds, tell)
    part.figures = [*_targets(samples), *part.figures]
    part.samples = samples
    part.tables += _tables(samples)
    part.plots["service"] = _plot(samples)
    return part


def _services(
    part: Part,
    stack: ExitStack,
    folder: Path,
    size: Size,
    stores: Sequence[str],
    workers: Sequence[int],
    tell: Tell,
) -> dict[str, Measured]:
    """Start a service for each store and number of workers, and another one on the pure engine if these are not."""
    engine, part.notes = environments.best_engine()
    services: dict[str, Measured] = {}

    def start(name: str, count: int, on: Path, program: Program | None) -> None:
        tell(f"starting: {name}")
        services[name] = stack.enter_context(measured(count, size.loops, folder / str(len(services)), on, program))

    for store in stores:
        program = redis_program() if store == "Redis" else None
        if store == "Redis" and program is None:
            part.notes.append("left out: Redis, which is not installed here")
            continue
        for count in workers:
            start(f"{store}, {count} worker{'s' if count > 1 else ''}", count, engine, program)
    if services[FIRST].engine == "compiled":
        start(f"{FIRST}, pure engine", 1, environments.PURE, None)
    part.notes += [f"{name}: on the {service.engine} engine" for name, service in services.items()]
    return services


def _targets(samples: Samples) -> list[Figure]:
    figures = []
    for name, over, under, at_least in (
        ("SubmitAction, calls of a core", "submit", "info", 0.5),
        ("SubmitAction, calls of a core", "submit", "health", None),  # which doesn't pass the edge
        ("GetView, calls of a core", "view", "info", 0.7),
        ("GetView, calls of a core", "view", "health", None),
    ):
        own = ratio(samples[f"{FIRST}: {over}"], samples[f"{FIRST}: {under}"])
        figures.append(Figure(name, own, f"times {TITLES[under]}", at_least))
    http = samples.get(f"{FIRST}: http_view")
    cost = None if http is None else ratio(http, samples[f"{FIRST}: view"], lambda sample: sample.cost)
    unit = "times that of gRPC"
    figures.append(Figure("GetView over HTTP, CPU", cost, unit, at_most=1.5, note="" if cost else "no HTTP port"))
    for name, ours, theirs in (
        ("SubmitAction, moves of a core", "submit", "1 client"),
        ("SubmitAction with all four seats watching, moves of a core", "table", "4 clients"),
    ):
        peer = samples.get(f"{BOARDGAME}: {theirs}")
        value = None if peer is None else ratio(samples[f"{FIRST}: {ours}"], peer)
        figures.append(Figure(name, value, f"times {BOARDGAME}", 5.0, note="" if value else "left out"))
    return figures


def _tables(samples: Samples) -> list[Table]:
    """CPU, rate and latency: a row for each call, a column for each service."""
    services = list(dict.fromkeys([name.partition(": ")[0] for name in samples]))
    own = [service for service in services if service != BOARDGAME]
    cases = [case for case in TITLES if f"{FIRST}: {case}" in samples]

    def table(title: str, cell: Callable[[list[Sample]], str]) -> Table:
        rows = [(TITLES[case], *[cell(samples[f"{service}: {case}"]) for service in own]) for case in cases]
        for name, taken in samples.items():
            if name.startswith(BOARDGAME):
                rows.append((name, cell(taken), *["" for _ in own[1:]]))
        return Table(title, ("call", *own), rows)

    def store(taken: list[Sample]) -> str:
        if "store_cpu" not in taken[0].more:
            return "-"
        return between(spread([1e6 * sample.more["store_cpu"] / sample.count for sample in taken]))

    def waits(taken: list[Sample]) -> str:
        return " / ".join([number(spread([sample.more[part] for sample in taken]).median) for part in ("p50", "p99")])

    return [
        table("CPU of the workers for each call, µs", lambda taken: between(spread([sample.cost for sample in taken]))),
        table("CPU of the store for each call, µs", store),
        table("Calls a second of the clock", lambda taken: between(spread([sample.pace for sample in taken]))),
        table("Half of the calls answered within / 99 % of them, ms", waits),
    ]


def _plot(samples: Samples) -> list[Series]:
    bars = []
    for name, taken in samples.items():
        service, _, case = name.partition(": ")
        if service in (FIRST, BOARDGAME):
            title = TITLES.get(case, f"{service}: a move, {case}")
            bars.append(Series(title, [0.0], [spread([sample.cost for sample in taken]).median]))
    return bars
