"""The results of an event on disk: a folder with a file that only grows, and the record of every game.

``results.jsonl`` begins with a line that says what the event is; each line after it is a game that is over, in the
order in which they ended. A line counts once it is whole. docs/arena.md says what stands in it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from moonvale_arena.errors import ArenaError
from moonvale_arena.event import Event
from moonvale_arena.results import GameResult
from moonvale_engine import Record, write_record

RESULTS: Final = "results.jsonl"
RECORDS: Final = "records"
FORMAT: Final = 1
_HEAD: Final = "moonvale arena"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a results file holds: the event, its games by number, and how many bytes of it are whole lines."""

    event: Event
    games: Mapping[int, GameResult]
    size: int


def results_path(path: Path) -> Path:
    """Return the results file that a path means: itself, or that of a folder."""
    return path / RESULTS if path.is_dir() else path


def read(path: Path) -> Kept:
    """Read a results file, or that of a folder. Raises ArenaError, which names the line."""
    path = results_path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ArenaError(f"{path}: {error.strerror}") from error
    whole = lines[:-1]  # behind the last end of a line may stand one that was being written when the arena was killed
    if not whole:
        raise ArenaError(f"{path}: holds no results of an event")
    event = _head(path, whole[0])
    games: dict[int, GameResult] = {}
    for number, line in enumerate(whole[1:], 2):
        try:
            game = GameResult.from_json(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise ArenaError(f"{path}, line {number}: is no result of a game") from error
        if game.number in games:
            raise ArenaError(f"{path}, line {number}: game {game.number} stands there twice")
        games[game.number] = game
    return Kept(event, games, sum(map(len, whole)) + len(whole))


def _head(path: Path, line: bytes) -> Event:
    try:
        head: Any = json.loads(line)
        version = head[_HEAD]
    except (ValueError, KeyError, TypeError) as error:
        raise ArenaError(f"{path}, line 1: does not say which event this is") from error
    if version != FORMAT:
        raise ArenaError(f"{path}, line 1: is of format {version}; this arena reads {FORMAT}")
    return Event.from_json(head)


class Journal:
    """A results file that is added to, by one arena at a time. event: of a new one; None: it is there already."""

    def __init__(self, folder: Path, event: Event | None = None) -> None:
        self.folder = folder
        self._event = event
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def open(self) -> None:
        """Begin the event, or go on with one: then a line that was not written whole is taken away.

        Raises ArenaError if a new event's folder has one already, or if another arena is playing it.
        """
        try:
            if self._event is None:
                self._open(0)
                os.ftruncate(self._descriptor, read(self.folder).size)
                return
            (self.folder / RECORDS).mkdir(parents=True, exist_ok=True)
            self._open(os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise ArenaError(
                f"{self.folder}: has the results of an event already; resume it, or choose another"
            ) from None
        except OSError as error:
            raise ArenaError(f"{self.folder}: {error.strerror}") from error
        self._append({_HEAD: FORMAT, **self._event.to_json()})

    def add(self, game: GameResult, record: Record) -> None:
        """Keep a game, for good: when this returns, it is on the disk."""
        path = self.folder / game.record
        unfinished = path.with_suffix(".part")
        unfinished.write_text(write_record(record), encoding="utf-8")
        unfinished.rename(path)
        self._append(game.to_json())

    def _open(self, more: int) -> None:
        self._descriptor = os.open(self.folder / RESULTS, os.O_WRONLY | os.O_APPEND | more, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ArenaError(f"{self.folder}: another arena is playing this event") from None

    def _append(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]
        os.fsync(self._descriptor)
