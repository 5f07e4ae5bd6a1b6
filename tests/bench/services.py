"""Services to be measured: started as people start them, beside a store, and looked at from outside."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import redis

from moonvale_service.credentials import load_keys
from moonvale_service.settings import EMBEDDED, Settings, variable_of
from tests.bench.environments import COMPILED
from tests.bench.machine import cores, cpu_seconds, pin
from tests.bench.players import Player
from tests.bench.rounds import Sample
from tests.service.servers import Service
from tests.support.servers import Program, running

#: Limits are off, since one load plays for many.
UNLIMITED = {"call_rate": "0", "spectator_call_rate": "0", "create_rate": "0", "spectator_watches": "0"}
#: Commands by which connections begin and are looked at.
OF_CONNECTIONS = ("client", "hello", "ping")
MARK = "the moves have been made"


class MiscountError(Exception):
    """The store doesn't have what the load was told that it has."""


class Measured:
    """A running service, its store and its load."""

    def __init__(self, service: Service, store: redis.Redis, url: str, store_process: int, load: Player) -> None:
        self.service = service
        self.store = store
        self.store_url = url
        self._store_process = store_process
        self._workers = [worker.pid for worker in service.workers()]
        self._load = load
        self.cases = load.cases

    def measure(self, case: str, seconds: float) -> Sample:
        """Have the load run a case; return what it did, and what it cost the workers.

        Raises MiscountError if moves were answered that the store hasn't, or the other way round.
        """
        moves = case.startswith("submit")
        versions = self.versions() if moves else 0
        before = (self._cpu(), cpu_seconds(self._store_process))
        answer = self._load.ask(case, seconds)
        cpu, store_cpu = self._cpu() - before[0], cpu_seconds(self._store_process) - before[1]
        count = answer.pop("count")
        if moves and (kept := self.versions() - versions) != count:
            raise MiscountError(f"the load was told of {count} moves, the store has {kept} more")
        return Sample(count, cpu, answer.pop("wall"), {**answer, "store_cpu": store_cpu})

    def _cpu(self) -> float:
        return sum([cpu_seconds(worker) for worker in self._workers])

    @property
    def memory(self) -> float:
        """The resident memory of the workers, in KiB."""
        return sum([psutil.Process(worker).memory_info().rss for worker in self._workers]) / 1024

    @property
    def engine(self) -> str:
        """Which engine the workers run on, by the libraries that they have loaded."""
        loaded = [entry.path for worker in self._workers for entry in psutil.Process(worker).memory_maps()]
        return "compiled" if any([path.startswith(str(COMPILED)) for path in loaded]) else "pure"

    def versions(self) -> int:
        """Return how many moves the store has, of all games."""
        keys = list(self.store.scan_iter("mv:*:g:*", count=1000))
        with self.store.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.hget(key, "v")
            return sum([int(version) for version in pipeline.execute() if version is not None])

    def commands_per_move(self, seconds: float) -> tuple[float, str]:
        """Return how many commands the workers send to the store for a move, and in words how many of each kind.

        What a script does within the store is no command of theirs, and what belongs to a connection is for no move.
        Ask before anything is watched, since watches look at their games by themselves.
        """
        self._load.ask("submit", seconds)  # opens the connections
        self._load.ask("submit", 0)  # creates what games are needed
        counts: Counter[str] = Counter()
        with self.store.monitor() as monitor:  # type: ignore[no-untyped-call]

            def count() -> None:
                for entry in monitor.listen():
                    words = entry["command"].split(" ")
                    if entry["client_type"] != "lua":
                        if MARK in entry["command"]:
                            return
                        if words[0].lower() not in OF_CONNECTIONS:
                            counts[words[0].lower()] += 1

            counting = threading.Thread(target=count)
            counting.start()
            moves = self._load.ask("submit", seconds)["count"]
            self.store.echo(MARK)
            counting.join()
        kinds = ", ".join(f"{number / moves:.2f} {command}" for command, number in sorted(counts.items()))
        return counts.total() / moves, f"({kinds})"


@contextmanager
def measured(
    workers: int, loops: int, folder: Path, engine: Path, store: Program | None = None, **settings: str
) -> Iterator[Measured]:
    """A service with so many workers, pinned, over the embedded store or over one of its own; all is gone afterwards.

    ``loops``: how many calls its load keeps in flight. ``engine``: the folder of the engine to run on, pure or
    compiled.
    """
    folder.mkdir()
    keys = Settings.from_environment({variable_of("data"): str(folder / "data")})
    keys.data.mkdir()
    load_keys(keys, make=True)
    creator_key = keys.data / "creator_key"
    with ExitStack() as stack:
        url = EMBEDDED
        if store is not None:
            server = stack.enter_context(running(store))
            url = server.url
        service = Service(
            folder,
            **{
                "workers": str(workers),
                "pin_workers": "true",
                "store": url,
                "keys_file": str(keys.data / "keys"),
                "creator_key_file": str(creator_key),
                "log_level": "info",
                **UNLIMITED,
                **settings,
            },
        )
        stack.callback(service.close)
        with python_path(engine):
            service.start()
        process = service.store().pid if store is None else server.pid
        pin(process, cores()[-1])
        socket = f"unix://{keys.data / 'run' / 'store.sock'}" if store is None else url
        raw = stack.enter_context(redis.Redis.from_url(socket))
        http = service.url.removeprefix("http://")
        load = Player(
            [sys.executable, "-m", "tests.bench.load", service.address, creator_key, socket, str(loops), http],
            cores()[-1],
        )
        stack.callback(load.close)
        yield Measured(service, raw, socket, process, load)


@contextmanager
def python_path(engine: Path) -> Iterator[None]:
    """Let processes that start meanwhile import the engine from a folder."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(engine)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
