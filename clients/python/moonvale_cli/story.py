"""The story: what happened at the table, told in lines of plain words, one for each turn or ability."""

from __future__ import annotations

from moonvale.v1.action_pb2 import Action
from moonvale.v1.event_pb2 import LogEntry
from moonvale_cli.words.events import CAUSES, phrase
from moonvale_cli.words.table import Table, listed

#: Kinds of event that begin a line, whoever had the one before.
_BEGIN_LINES = frozenset({"turn_began", "scored", "resigned"})


class Story:
    """Gathers entries of the log, each once and in order, until they are told."""

    def __init__(self, version: int) -> None:
        #: The version up to which everything has been gathered.
        self.version = version
        self._lines: list[tuple[int | None, list[str]]] = []
        self._action: Action | None = None

    def add(self, entry: LogEntry, table: Table) -> None:
        """Gather what an entry brought, unless it has been gathered or others are missing before it."""
        if entry.version != self.version + 1:
            return
        self.version = entry.version
        caused = entry.cause in CAUSES
        if caused:
            self._append(entry.seat, _causes_words(entry), begins=True)
        for event in entry.events:
            kind = event.WhichOneof("kind")
            if kind == "acted":
                self._action = event.acted.action
            seat, text = phrase(event, self._action, table)
            self._append(seat, text, begins=kind in _BEGIN_LINES and not (caused and kind == "resigned"))

    def _append(self, seat: int | None, text: str, *, begins: bool) -> None:
        if not self._lines or seat is None or self._lines[-1][0] != seat or begins:
            self._lines.append((seat, []))
        if text:
            self._lines[-1][1].append(text)

    def tell(self, table: Table, *, finished: bool = False) -> list[str]:
        """Return the lines that have not been told, as sentences; ``finished``: without one that may still grow."""
        end = -1 if finished else len(self._lines)
        told, self._lines = self._lines[:end], self._lines[end:] if finished else []
        return [_sentence(seat, texts, table) for seat, texts in told if texts]

    def open_line(self, table: Table) -> list[str]:
        """Return the line that may still grow, if there is one, without telling it."""
        return [_sentence(seat, texts, table) for seat, texts in self._lines[-1:] if texts]


def _causes_words(entry: LogEntry) -> str:
    """Return why the seat did not choose itself what follows."""
    agent = any(event.HasField("acted") for event in entry.events)
    return f"{CAUSES[entry.cause]}{', so an agent chose' if agent else ''}"


def _sentence(seat: int | None, texts: list[str], table: Table) -> str:
    return f"{listed(texts)}." if seat is None else f"{table.subject(seat)} {listed(texts)}."
