"""The story: what happened at the table, told in lines of plain words, one for each turn or ability."""

from __future__ import annotations

from typing import NamedTuple

from moonvale.v1 import event_pb2
from moonvale.v1.action_pb2 import Action
from moonvale.v1.event_pb2 import LogEntry
from moonvale_cli.words.events import CAUSES, phrase
from moonvale_cli.words.table import Table, listed

#: Kinds of event that begin a line, whoever had the one before.
_BEGIN_LINES = frozenset({"turn_began", "scored", "resigned", "returned"})
#: Causes of entries in which an agent has chosen for the seat.
_BY_AGENT = frozenset({event_pb2.CAUSE_TIME_OUT, event_pb2.CAUSE_AGENT, event_pb2.CAUSE_BOT_FAILED})
#: Kinds of event that are the seat's, whoever has chosen for it.
_OF_SEAT = frozenset({"scored", "token_awarded", "resigned", "away"})


class _Line(NamedTuple):
    """What a seat did, or an agent for it; None: the table."""

    seat: int | None
    by_agent: bool
    texts: list[str]

    def sentence(self, table: Table) -> str:
        """Return the line in words."""
        texts = listed(self.texts)
        if self.seat is None:
            return f"{texts}."
        if self.by_agent:
            whose = table.whose(self.seat)
            return f"{whose[0].upper()}{whose[1:]} agent {texts}."
        return f"{table.subject(self.seat)} {texts}."


class Story:
    """Gathers entries of the log, each once and in order, until they are told."""

    def __init__(self, version: int) -> None:
        #: The version up to which everything has been gathered.
        self.version = version
        self._lines: list[_Line] = []
        self._action: Action | None = None
        self._away: set[int] = set()

    def add(self, entry: LogEntry, table: Table) -> None:
        """Gather what an entry brought, unless it has been gathered or others are missing before it."""
        if entry.version != self.version + 1:
            return
        self.version = entry.version
        caused = entry.cause in CAUSES and entry.seat not in self._away
        if caused:
            self._append(entry.seat, CAUSES[entry.cause], begins=True)
        for event in entry.events:
            kind = event.WhichOneof("kind")
            if kind == "acted":
                self._action = event.acted.action
            elif kind == "away":
                self._away.add(event.seat)
            elif kind == "returned":
                self._away.discard(event.seat)
            seat, text = phrase(event, self._action, table)
            by_agent = entry.cause in _BY_AGENT and seat == entry.seat and kind not in _OF_SEAT
            begins = kind in _BEGIN_LINES and not (caused and kind == "resigned")
            self._append(seat, text, by_agent=by_agent, begins=begins)

    def _append(self, seat: int | None, text: str, *, by_agent: bool = False, begins: bool) -> None:
        if not self._lines or seat is None or self._lines[-1][:2] != (seat, by_agent) or begins:
            self._lines.append(_Line(seat, by_agent, []))
        if text:
            self._lines[-1].texts.append(text)

    def tell(self, table: Table, *, finished: bool = False) -> list[str]:
        """Return the lines that have not been told, as sentences; ``finished``: without one that may still grow."""
        end = -1 if finished else len(self._lines)
        told, self._lines = self._lines[:end], self._lines[end:] if finished else []
        return [line.sentence(table) for line in told if line.texts]

    def open_line(self, table: Table) -> list[str]:
        """Return the line that may still grow, if there is one, without telling it."""
        return [line.sentence(table) for line in self._lines[-1:] if line.texts]
