"""What all workers have counted, in one, as Prometheus reads it; and the port that tells it, with probes.

The supervisor tells it: a scrape of the workers' shared port would reach one of them, each time another. Counters and
histograms are sums which never go back: what a worker had counted stays when it ends, up to its last report.
"""

from __future__ import annotations

import asyncio
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from moonvale_engine import state
from moonvale_engine.catalog import known_versions
from moonvale_service import metrics
from moonvale_service.errors import CallError
from moonvale_service.http import statuses
from moonvale_service.http.exchange import ClientGoneError, Exchange, Receive, Scope, Send
from moonvale_service.metrics import FAMILIES, Across, Counter, Family, Gauge, Histogram, Labels, Row, WorkerCounter

_REPORT_SECONDS: Final = 2.0  # for a worker that is busy; Prometheus waits ten

_Values = dict[str, dict[Labels, float | Row]]


class Report(NamedTuple):
    """What a process has counted, and which one."""

    process: str
    values: _Values


def parse(made: Mapping[str, Any]) -> Report:
    """Return the report that a worker has made."""
    values = {name: {tuple(labels): value for labels, value in rows} for name, rows in made["values"].items()}
    return Report(made["process"], values)


class Totals:
    """The reports of all workers, and what those had counted that have ended."""

    def __init__(self) -> None:
        self._ended: defaultdict[str, dict[Labels, float | Row]] = defaultdict(dict)
        self._last: dict[int, Report] = {}
        self._now: dict[int, Report] = {}

    def learn(self, reports: Mapping[int, Report | None]) -> None:
        """Take the reports of the workers by their numbers; None: there is none, and its counts stand as they were."""
        self._now = {number: report for number, report in reports.items() if report is not None}
        for number, report in self._now.items():
            last = self._last.get(number)
            if last is not None and last.process != report.process:
                for name, values in last.values.items():
                    if _adds_up(FAMILIES[name]):
                        _add(self._ended[name], values)
            self._last[number] = report

    def answers(self, number: int) -> bool:
        """Whether a worker has given a report."""
        return number in self._now

    def sums(self, name: str) -> dict[Labels, float | Row]:
        """Return a family over all workers, living or not."""
        total: dict[Labels, float | Row] = {}
        for values in (self._ended.get(name, {}), *[last.values.get(name, {}) for last in self._last.values()]):
            _add(total, values)
        return total

    def present(self, name: str) -> dict[int, dict[Labels, float | Row]]:
        """Return a family of each worker that gives a report."""
        return {number: report.values[name] for number, report in self._now.items() if name in report.values}


def _adds_up(family: Family) -> bool:
    return isinstance(family, Histogram) or type(family) is Counter


def _add(total: dict[Labels, float | Row], values: Mapping[Labels, float | Row]) -> None:
    for labels, value in values.items():
        known = total.get(labels)
        if known is None:
            total[labels] = value
        elif isinstance(value, list) and isinstance(known, list):
            total[labels] = [a + b for a, b in zip(known, value, strict=True)]
        elif not isinstance(value, list) and not isinstance(known, list):
            total[labels] = known + value


class WorkerState(NamedTuple):
    """What the supervisor knows of a worker: how often it was started anew."""

    number: int
    restarts: int


class _Collected(Collector):
    """All families, in the form of prometheus-client."""

    def __init__(self, totals: Totals, workers: Sequence[WorkerState]) -> None:
        self._totals = totals
        self._workers = workers

    def collect(self) -> Iterable[Metric]:
        """Yield the families: the supervisor's own, then the workers'."""
        yield _build_info()
        up = GaugeMetricFamily("moonvale_worker_up", "1 where a worker process has given its report", labels=["worker"])
        restarts = CounterMetricFamily(
            "moonvale_worker_restarts", "Workers started anew, as they had ended by themselves", labels=["worker"]
        )
        for worker in self._workers:
            up.add_metric([str(worker.number)], int(self._totals.answers(worker.number)))
            restarts.add_metric([str(worker.number)], worker.restarts)
        yield up
        yield restarts
        for family in FAMILIES.values():
            yield self._family(family)

    def _family(self, family: Family) -> Metric:
        told: CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
        if isinstance(family, Histogram):
            told = HistogramMetricFamily(family.name, family.text, labels=family.labels)
            for labels, row in self._totals.sums(family.name).items():
                assert isinstance(row, list)
                told.add_metric(labels, list(_cumulative(family.bounds, row)), row[-1])
        elif isinstance(family, Gauge) and family.across is not Across.EACH:
            told = GaugeMetricFamily(family.name, family.text, labels=family.labels)
            for labels, value in _joined(self._totals.present(family.name), family.across).items():
                told.add_metric(labels, value)
        elif isinstance(family, Gauge | WorkerCounter):
            kind = GaugeMetricFamily if isinstance(family, Gauge) else CounterMetricFamily
            told = kind(family.name, family.text, labels=[*family.labels, "worker"])
            for number, values in self._totals.present(family.name).items():
                for labels, each in values.items():
                    assert not isinstance(each, list)
                    told.add_metric([*labels, str(number)], each)
        else:
            told = CounterMetricFamily(family.name, family.text, labels=family.labels)
            for labels, each in self._totals.sums(family.name).items():
                assert not isinstance(each, list)
                told.add_metric(labels, each)
        return told


def _cumulative(bounds: Sequence[float], row: Row) -> Iterator[tuple[str, float]]:
    total = 0.0
    for bound, count in zip([*[str(bound) for bound in bounds], "+Inf"], row[:-1], strict=True):
        total += count
        yield bound, total


def _joined(present: Mapping[int, Mapping[Labels, float | Row]], across: Across) -> dict[Labels, float]:
    joined: dict[Labels, float] = {}
    for values in present.values():
        for labels, value in values.items():
            assert not isinstance(value, list)
            if labels not in joined:
                joined[labels] = value
            elif across is Across.SUM:
                joined[labels] += value
            else:
                joined[labels] = max(joined[labels], value)
    return joined


def _build_info() -> Metric:
    facts = {
        "version": metadata.version("moonvale"),
        "rules_version": str(known_versions()[-1]),
        "python": platform.python_version(),
        "engine": "pure" if state.__file__.endswith(".py") else "compiled",
    }
    return InfoMetricFamily("moonvale_build", "What runs here", value=facts)


class MetricsApp:
    """The ASGI application of the port: /metrics, /livez and /readyz. ``sockets``: of the workers, by number.

    ``workers``: says what the supervisor knows of them.
    """

    def __init__(self, sockets: Mapping[int, Path], workers: Callable[[], Sequence[WorkerState]]) -> None:
        self._sockets = sockets
        self._workers = workers
        self._totals = Totals()
        self._paths = {"/metrics": self._metrics, "/livez": self._livez, "/readyz": self._readyz}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        exchange = Exchange(scope, receive, send)
        try:
            exchange.must_read()
            await self._paths.get(exchange.path, self._nothing)(exchange)
        except CallError as error:
            body, headers = statuses.rest_body(error), statuses.headers(error)
            await exchange.respond(statuses.http_code(error), statuses.JSON, body, headers)
        except ClientGoneError:
            exchange.abort()

    async def _metrics(self, exchange: Exchange) -> None:
        await self._learn()
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Collected(self._totals, self._workers()))
        encode, media_type = choose_encoder(exchange.header(b"accept"))
        await exchange.respond(200, media_type.encode("ascii"), encode(registry))

    async def _nothing(self, exchange: Exchange) -> None:
        await exchange.respond(404, b"text/plain", f"There is: {' '.join(self._paths)}\n".encode())

    async def _livez(self, exchange: Exchange) -> None:
        await exchange.respond(200, statuses.JSON, orjson.dumps({"ready": True}))

    async def _readyz(self, exchange: Exchange) -> None:
        """Say whether any worker serves calls: the system hands connections to all of them alike."""
        await self._learn()
        ready = any([any(values.values()) for values in self._totals.present(metrics.store_ready.name).values()])
        await exchange.respond(200 if ready else 503, statuses.JSON, orjson.dumps({"ready": ready}))

    async def _learn(self) -> None:
        reports = await asyncio.gather(*[_report(path) for path in self._sockets.values()])
        self._totals.learn(dict(zip(self._sockets, reports, strict=True)))


async def _report(path: Path) -> Report | None:
    """Return what a worker reports, or None if there is no worker now, or it takes too long."""
    try:
        async with asyncio.timeout(_REPORT_SECONDS):
            return parse(await metrics.fetch_report(path))
    except (OSError, ValueError):  # TimeoutError is an OSError
        return None
