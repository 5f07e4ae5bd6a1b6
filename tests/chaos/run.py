"""A chaos run: games are played while a schedule of faults strikes, and each is checked when it is over."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

from tests.chaos.calling import Connections
from tests.chaos.checker import check
from tests.chaos.cluster import Cluster
from tests.chaos.faults import KINDS, Fault, UncleanStopError, disturb, schedule
from tests.chaos.progress import ACKNOWLEDGED, Progress
from tests.chaos.record import Game
from tests.chaos.tables import RecordingClient, Table
from tests.support.servers import Program

_SHOW_SECONDS: Final = 2.0
_END_SECONDS: Final = 180.0  # for all games to come to an end, once nothing is broken any more
_GAMES_OVER: Final = "games over"
_VIOLATIONS: Final = "violations"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done. The run ends after ``seconds``, and when ``games`` are over and ``faults`` have struck.

    It ends early at so many ``violations``. ``calm``: from how many to how many changes are acknowledged between two
    faults of a disturber. ``module``: the one that is run as a worker.
    """

    seed: int
    program: Program
    workers: int = 3
    at_once: int = 100
    seconds: float = 0.0
    games: int = 0
    faults: int = 0
    violations: int = 20
    kinds: Sequence[str] = tuple(KINDS)
    disturbers: int = 2
    calm: tuple[int, int] = (20, 200)
    module: str = "moonvale_service.server"


@dataclass(slots=True)
class Report:
    """What came of it."""

    violations: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def faults(self) -> dict[str, int]:
        """How many faults of which kind there were."""
        return {kind: self.counts[kind] for kind in KINDS}

    def lines(self) -> Iterator[str]:
        """Say it in words."""
        yield f"Faults: {sum(self.faults.values())} ({_listed(self.faults)})."
        yield f"What came of those on the network: {_listed(self.struck)}."
        yield f"Played: {_listed({name: count for name, count in self.counts.items() if name not in KINDS})}."
        yield f"Calls and streams, by how they ended: {_listed(self.outcomes)}."


class Run:
    """One run in an empty folder. ``show`` gets a line of progress now and then."""

    def __init__(self, plan: Plan, folder: Path, show: Callable[[str], None]) -> None:
        self._plan = plan
        self._folder = folder
        self._show = show
        self._rng = Random(plan.seed)
        self._progress = Progress()
        self._report = Report(counts=self._progress.counts)
        self._under_way = 0

    async def run(self) -> Report:
        """Do it, and return what came of it."""
        plan = self._plan
        cluster = Cluster(self._folder, plan.program, plan.workers, plan.module, self._new_rng())
        try:
            await cluster.start()
            connections = Connections(cluster.addresses, self._new_rng())
            try:
                async with RecordingClient(f"ipv4:{','.join(cluster.addresses)}") as agents:
                    await self._play(cluster, connections, agents)
            finally:
                await connections.close()
            for process in (*cluster.workers, *cluster.stewards):
                code = await process.stop()
                if code:
                    self._violated(f"{process.name} ended with code {code} when it was told to stop")
        finally:
            await cluster.close()
        for line in cluster.errors():
            self._violated(line)
        self._report.struck = cluster.struck()
        self._report.outcomes = connections.outcomes
        return self._report

    async def _play(self, cluster: Cluster, connections: Connections, agents: RecordingClient) -> None:
        faults = schedule(self._new_rng(), self._plan.kinds, self._plan.workers)
        async with asyncio.TaskGroup() as background:
            showing = background.create_task(self._show_progress())
            for _ in range(self._plan.disturbers):
                background.create_task(self._disturb(cluster, faults, self._new_rng()))
            tables = [
                background.create_task(self._play_one_after_another(cluster, connections, agents))
                for _ in range(self._plan.at_once)
            ]
            await self._until_enough()
            self._progress.end()
            _, hung = await asyncio.wait(tables, timeout=_END_SECONDS)
            for task in (*hung, showing):
                task.cancel()
            if hung:
                self._violated(f"{len(hung)} games did not come to an end within {_END_SECONDS:g} s")

    async def _until_enough(self) -> None:
        plan, counts = self._plan, self._progress.counts
        try:
            async with asyncio.timeout(plan.seconds):
                await self._progress.until(lambda: counts[_VIOLATIONS] >= plan.violations)
        except TimeoutError:
            await self._progress.until(
                lambda: (
                    counts[_VIOLATIONS] >= plan.violations
                    or (counts[_GAMES_OVER] >= plan.games and sum(self._report.faults.values()) >= plan.faults)
                )
            )

    async def _disturb(self, cluster: Cluster, faults: Iterator[Fault], rng: Random) -> None:
        try:
            await disturb(cluster, faults, self._progress, lambda: rng.randint(*self._plan.calm), self._note)
        except UncleanStopError as error:
            self._violated(str(error))

    async def _play_one_after_another(
        self, cluster: Cluster, connections: Connections, agents: RecordingClient
    ) -> None:
        while not self._progress.ending.is_set():
            table = Table(connections, agents, cluster.creator_key, self._progress, self._new_rng())
            self._under_way += 1
            went_well = await self._attempt(table, table.play())
            violations = check(table.game) if table.game.name else []
            for violation in violations:
                self._violated(str(violation))
            if went_well and not violations:
                await self._attempt(table, table.delete())
            else:
                self._keep(table.game)
            self._under_way -= 1
            self._progress.add(_GAMES_OVER)

    async def _attempt(self, table: Table, doing: Awaitable[None]) -> bool:
        """Do something at a table; return whether that went well."""
        try:
            await doing
        except Exception as error:  # noqa: BLE001  # whatever goes wrong at a table is what the run looks for
            self._violated(f"{table.game.name or 'a new game'}: {_in_short(error)}")
            return False
        return True

    def _note(self, what: str) -> None:
        """Write down when a fault or a violation happened."""
        with (self._folder / "run.log").open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {what}\n")

    def _violated(self, what: str) -> None:
        self._report.violations.append(what)
        self._note(what)
        self._show(f"VIOLATION {what}")
        self._progress.add(_VIOLATIONS)

    def _keep(self, game: Game) -> None:
        """Write down all that is known of a game, for whoever looks for the cause."""
        path = self._folder / f"{game.name.replace('/', '-') or 'new-game'}.txt"
        parts = [f"{game.name}, commitment {game.commitment.hex()}, first mark {game.mark}"]
        parts += [*map(str, game.changes), *map(str, game.sights), *map(str, game.watches)]
        if game.replay is not None:
            parts.append(game.replay.record)
        path.write_text("\n".join(parts) + "\n", encoding="utf-8")

    async def _show_progress(self) -> None:
        began = time.monotonic()
        while True:
            await asyncio.sleep(_SHOW_SECONDS)
            counts = self._progress.counts
            self._show(
                f"{time.monotonic() - began:4.0f} s: {counts[_GAMES_OVER]} games over, {self._under_way} under way,"
                f" {counts[ACKNOWLEDGED]} changes acknowledged, {sum(self._report.faults.values())} faults,"
                f" {counts[_VIOLATIONS]} violations"
            )

    def _new_rng(self) -> Random:
        return Random(self._rng.getrandbits(64))


def _in_short(error: BaseException) -> str:
    """Return what an error says and where it arose; of a group, the first one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()) if count) or "nothing"
