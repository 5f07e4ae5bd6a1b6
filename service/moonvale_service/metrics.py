"""What a process counts of itself, and how it reports that to its supervisor, which tells it to Prometheus.

Counting is adding to an int in a dict: a quarter of a microsecond for a call's counter and histogram, where
prometheus-client takes 2.6 and its files for several processes 4.3. Nothing is counted until ``turn_on``.

Labels are methods, codes, steps and the like: never a game, a seat, a name or whatever else a caller chooses.
"""

from __future__ import annotations

import asyncio
import resource
import secrets
import sys
from bisect import bisect_left
from collections import defaultdict
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson

from moonvale_engine.options import MAX_PLAYERS, MIN_PLAYERS

Labels = tuple[str, ...]
Row = list[float]
"""Of a histogram: how many observations fell into each bucket, the last one without a bound, and their sum."""

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of buckets, for times."""

_PAGE_BYTES: Final = resource.getpagesize()
_FILES: Final = Path("/proc/self/fd")
_MEMORY: Final = Path("/proc/self/statm")


class Across(Enum):
    """What a gauge of several processes comes to."""

    SUM = 1
    MOST = 2
    EACH = 3  # told one by one, with a label ``worker``


class _Switch:
    on = False


class Counter:
    """Grows: a family of numbers by the values of its labels."""

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.name = name
        self.text = text
        self.labels = labels
        self.values: defaultdict[Labels, float] = defaultdict(int)

    def add(self, *labels: str, by: float = 1) -> None:
        """Count, if anybody wants to know."""
        if _Switch.on:
            self.values[labels] += by


class Gauge(Counter):
    """Goes up and down. Without a value nothing is told of it."""

    def __init__(self, name: str, text: str, *labels: str, across: Across = Across.SUM) -> None:
        super().__init__(name, text, *labels)
        self.across = across

    def set(self, value: float, *labels: str) -> None:
        """Replace a value."""
        self.values[labels] = value


class WorkerCounter(Counter):
    """Grows as long as its process lives, and is told for each worker."""


class Histogram:
    """How often something took how long, by the values of its labels."""

    def __init__(self, name: str, text: str, *labels: str, bounds: tuple[float, ...] = SECONDS) -> None:
        self.name = name
        self.text = text
        self.labels = labels
        self.bounds = bounds
        self.values: defaultdict[Labels, Row] = defaultdict(lambda: [0] * (len(bounds) + 2))

    def observe(self, value: float, *labels: str) -> None:
        """Count an observation, if anybody wants to know."""
        if _Switch.on:
            row = self.values[labels]
            row[bisect_left(self.bounds, value)] += 1
            row[-1] += value


Family = Counter | Histogram
FAMILIES: Final[dict[str, Family]] = {}
"""All of them by name, in the order in which they are told."""

_Family = TypeVar("_Family", bound=Family)


def _told(family: _Family) -> _Family:
    FAMILIES[family.name] = family
    return family


calls: Final = _told(Counter("moonvale_calls", "Calls that have ended, streams too", "method", "code"))
call_seconds: Final = _told(Histogram("moonvale_call_seconds", "How long calls took, but for streams", "method"))
open_watches: Final = _told(Gauge("moonvale_open_watches", "Streams that are open", "method"))
watched_games: Final = _told(Gauge("moonvale_watched_games", "Games that are followed for those who watch them"))
slow_readers: Final = _told(Counter("moonvale_slow_readers", "Streams that were cut off as nobody read them"))

games_created: Final = _told(Counter("moonvale_games_created", "Games created; a repeated request is none", "players"))
games_finished: Final = _told(Counter("moonvale_games_finished", "Games that came to their end", "players"))
games_deleted: Final = _told(Counter("moonvale_games_deleted", "Games deleted by a call"))
games_kept: Final = _told(
    Gauge(
        "moonvale_games_kept",
        "Games in the store's indexes, running and finished: all replicas', and some that have expired meanwhile",
        across=Across.MOST,
    )
)
commits: Final = _told(Counter("moonvale_commits", "Changes of games that the store has made"))
conflicts: Final = _told(Counter("moonvale_conflicts", "Changes that were refused, as another one came first"))
deadlines_enforced: Final = _told(
    Counter("moonvale_deadlines_enforced", "Deadlines that passed, by what was done then", "effect")
)
bot_moves: Final = _told(Counter("moonvale_bot_moves", "Moves of the service's own bots", "bot"))
bot_move_seconds: Final = _told(
    Histogram("moonvale_bot_move_seconds", "How long a bot took for a move, from asking it to its answer", "bot")
)

store_step_seconds: Final = _told(
    Histogram("moonvale_store_step_seconds", "How long steps of the store took, attempts and waits included", "step")
)
store_failures: Final = _told(
    Counter("moonvale_store_failures", "Steps that were given up, as the store did not serve them in time", "step")
)
store_round_trip_seconds: Final = _told(
    Histogram("moonvale_store_round_trip_seconds", "How long the store's servers took to answer what was sent at once")
)
store_retries: Final = _told(Counter("moonvale_store_retries", "Attempts that broke, so that another one was made"))
subscriptions_lost: Final = _told(
    Counter("moonvale_subscriptions_lost", "Connections lost on which the store tells what has changed")
)
store_ready: Final = _told(
    Gauge("moonvale_store_ready", "1 where the store answered last, and calls are served", across=Across.EACH)
)

cpu_seconds: Final = _told(WorkerCounter("moonvale_process_cpu_seconds", "Processor time of a worker"))
resident_bytes: Final = _told(
    Gauge("moonvale_process_resident_bytes", "Memory of a worker (Linux alone)", across=Across.EACH)
)
open_files: Final = _told(
    Gauge("moonvale_process_open_files", "Files and connections a worker has open (Linux alone)", across=Across.EACH)
)
certificate_expiry: Final = _told(
    Gauge(
        "moonvale_tls_certificate_expiry_timestamp_seconds",
        "When the certificate of the ports expires",
        across=Across.MOST,
    )
)

# What has known labels is told from the start: a rate needs a first value, or the first one counts for nothing.
for _unlabelled in FAMILIES.values():
    if type(_unlabelled) is Counter and not _unlabelled.labels:
        _unlabelled.values[()] = 0
for _players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
    for _counter in (games_created, games_finished):
        _counter.values[str(_players),] = 0


def turn_on() -> None:
    """Count from now on. Called once, as the process starts."""
    _Switch.on = True


def deadline_enforced(effect: str) -> None:
    """Count a deadline that has passed. ``effect``: what was done, one of few words (``action``, ``resignation``)."""
    deadlines_enforced.add(effect)


def bot_moved(bot: str, seconds: float) -> None:
    """Count a move of a bot of the service. ``bot``: the name of its kind, one of few; ``seconds``: for its choice."""
    bot_moves.add(bot)
    bot_move_seconds.observe(seconds, bot)


_PROCESS: Final = secrets.token_hex(8)  # ids of processes are used again


def report() -> bytes:
    """Return all that this process has counted, for ``exposition``."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds.values[()] = usage.ru_utime + usage.ru_stime
    if sys.platform == "linux":
        resident_bytes.set(int(_MEMORY.read_text().split()[1]) * _PAGE_BYTES)
        open_files.set(sum([1 for _ in _FILES.iterdir()]))
    values = {name: list(family.values.items()) for name, family in FAMILIES.items() if family.values}
    return orjson.dumps({"process": _PROCESS, "values": values})


def socket_of(address: str) -> Path:
    """Return where the process that serves on an own address, unix:PATH, gives its reports."""
    return Path(address.removeprefix("unix:")).with_suffix(".metrics")


async def serve_reports(path: Path) -> asyncio.Server:
    """Give a report to whoever connects to a socket, which is this user's alone."""

    async def tell(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(report())
        writer.close()

    return await asyncio.start_unix_server(tell, path)


async def fetch_report(path: Path) -> dict[str, Any]:
    """Return what the process at a socket reports. Raises OSError and ValueError."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        return dict(orjson.loads(await reader.read()))
    finally:
        writer.close()
