"""How far an event is: a bar with the standings below it on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from moonvale_arena.event import Event
from moonvale_arena.results import GameResult
from moonvale_arena.standings import standings
from moonvale_arena.tables import entrants_table
from moonvale_arena.words import pairs_in_all, settled

_LINE_SECONDS: Final = 15.0
#: Standings are made anew at most so often, and never for more than this part of the time.
_TABLE_SECONDS: Final = 1.0
_TABLE_PART: Final = 0.03


class Spectator:
    """Shows an event as it goes. done: the games that have been played before."""

    def __init__(self, event: Event, done: Mapping[int, GameResult], console: Console) -> None:
        self._event = event
        self._games = list(done.values())
        self._console = console
        self._began = self._told = time.monotonic()
        self._before = len(done)
        self._next_table = 0.0
        self._table: RenderableType = Text()
        self._faults = 0
        self._live: Live | None = None
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            expand=True,
        )
        self._task = self._bar.add_task("Games", total=event.games // event.seats * event.seats, rate="")

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(console=self._console, refresh_per_second=4, get_renderable=self._screen)
            self._live.start()
        self._bar.update(self._task, completed=len(self._games))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def tell(self, game: GameResult) -> None:
        """Take in a game that is over."""
        self._games.append(game)
        for seat, fault in enumerate(game.faults):
            if fault is not None:
                self._faults += 1
                if self._faults <= _FAULTS_TOLD:
                    name = self._event.entrants[game.seats[seat]].name
                    more = "; more of this is not told" if self._faults == _FAULTS_TOLD else ""
                    words = f"Game {game.number}: {name} loses by rule ({fault.fault}): {fault.words}{more}"
                    self._console.print(Text(words, style="yellow"))
        now = time.monotonic()
        rate = (len(self._games) - self._before) / (now - self._began)
        self._bar.update(self._task, completed=len(self._games), rate=f"{rate:.2f} a second")
        if self._live is None and now - self._told >= _LINE_SECONDS:
            self._told = now
            self._console.print(f"{len(self._games)} of at most {self._event.games} games, {rate:.2f} a second")

    def _screen(self) -> RenderableType:
        now = time.monotonic()
        if now >= self._next_table:
            found = standings(self._event, self._games)
            words = f"{settled(found)} of {pairs_in_all(found)} pairs told apart, after {found.blocks} whole blocks"
            self._table = Group(entrants_table(found), Text(words, style="dim")) if found.entrants else Text()
            taken = time.monotonic() - now
            self._next_table = now + max(_TABLE_SECONDS, taken / _TABLE_PART)
        return Group(self._bar, self._table)


#: Of how many losses by rule one is told while they happen.
_FAULTS_TOLD: Final = 20
