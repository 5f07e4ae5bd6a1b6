"""Looking on: a game shown as it goes, redrawn in place on a terminal, told line by line elsewhere."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Final, TextIO

from google.protobuf.json_format import MessageToDict
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from moonvale.v1.event_pb2 import LogEntry
from moonvale_cli.draw import NAME, TableDrawing, scores
from moonvale_cli.story import Story
from moonvale_cli.words.seating import Seating
from moonvale_cli.words.table import Table
from moonvale_client import AsyncClient, View

WAITING: Final = "The table waits for its players."
_LINES_KEPT: Final = 12
_LEAST_LINES: Final = 3  # below the table, however low the terminal is


class Onlooker:
    """Somebody who looks on at one game. ``saved``: gets all that is told, one JSON object a line."""

    def __init__(
        self, client: AsyncClient, game: str, credential: str, console: Console, saved: TextIO | None = None
    ) -> None:
        self._client = client
        self._game = game
        self._credential = credential
        self._console = console
        self._saved = saved
        self._view = View()
        self._table = Table(self._view)
        self._story = Story(-1)
        self._seating = Seating()
        self._lines: list[str] = []

    async def look_on(self) -> View:
        """Show the game until it is over, and return the last view. Raises MoonvaleError."""
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            with Live(console=self._console, auto_refresh=False, vertical_overflow="crop") as live:
                await self._follow(live)
        else:
            await self._follow(None)
        return self._view

    async def _follow(self, live: Live | None) -> None:
        async with aclosing(self._client.watch(self._game, self._credential)) as updates:
            async for update in updates:
                if isinstance(update, View):
                    await self._sit_down(update)
                else:
                    await self._take_in(update, live is not None)
                if live is not None:
                    live.update(self._screen(), refresh=True)
                else:
                    self._print(finished=True)
        if live is None:
            self._print(finished=False)
        await self._look()

    async def _sit_down(self, view: View) -> None:
        """Take in the game as it is, and how it came to that; or, if it waits, who has come."""
        self._save("view", view)
        self._view = view
        self._table = Table(view)
        self._story = Story(-1)
        if not view.HasField("version"):
            self._lines += self._seating.news(view)
            return
        async for entry in self._client.list_events(self._game, self._credential):
            if entry.version > view.version:
                break
            self._save("entry", entry)
            self._story.add(entry, self._table)

    async def _take_in(self, entry: LogEntry, drawn: bool) -> None:
        self._save("entry", entry)
        if entry.version == 0:
            await self._look()
            self._table = Table(self._view)
            self._lines += self._seating.news(self._view)
        self._story.add(entry, self._table)
        began = any(event.HasField("round_began") for event in entry.events)
        if drawn or began:
            await self._look()
        if began and not drawn:
            self._print(finished=False)
            self._console.print(scores(self._view))

    def _save(self, kind: str, told: View | LogEntry) -> None:
        if self._saved is not None:
            json.dump({kind: MessageToDict(told)}, self._saved)
            self._saved.write("\n")
            self._saved.flush()

    async def _look(self) -> None:
        self._view = await self._client.get_view(self._game, self._credential)

    def _print(self, *, finished: bool) -> None:
        lines, self._lines = self._lines, []
        for line in [*lines, *self._story.tell(self._table, finished=finished)]:
            self._console.print(Text(line), soft_wrap=True)

    def _screen(self) -> Group:
        """Return the table with as many of the latest lines below it as there is room for."""
        self._lines += self._story.tell(self._table, finished=True)
        self._lines = self._lines[-_LINES_KEPT:]
        table = TableDrawing(self._view) if self._view.HasField("version") else Text(WAITING, style=NAME)
        room = max(_LEAST_LINES, self._console.height - len(self._console.render_lines(table)) - 2)
        shown: list[Text] = []
        for line in reversed([*self._lines, *self._story.open_line(self._table)]):
            text = Text(line)
            room -= len(self._console.render_lines(text))
            if room < 0:
                break
            shown.insert(0, text)
        return Group(table, Text(), *shown)
