"""The cursor of a watch: what has come so far, so that nothing is passed on twice or left out when a stream breaks."""

from __future__ import annotations

from typing import Final

import grpc

from moonvale.v1.event_pb2 import LogEntry
from moonvale.v1.game_service_pb2 import (
    WATCH_END_REASON_GAME_DELETED,
    WATCH_END_REASON_GAME_OVER,
    WatchEnd,
    WatchGameRequest,
    WatchGameResponse,
)
from moonvale.v1.view_pb2 import View
from moonvale_client.errors import GAME_NOT_FOUND, MoonvaleError
from moonvale_client.retry import StreamBrokenError

#: What a watch yields: the view, anew at each change while the game waits for players, then every entry of the log.
Update = View | LogEntry

#: How long one stream lasts before it is renewed: watchers move to servers that came later. It costs one view.
STREAM_SECONDS: Final = 600.0

#: Before the entry of version 0.
_WAITING: Final = -1


def is_newer(entry: LogEntry, view: View) -> bool:
    """Whether an entry came after the view was made."""
    return not view.HasField("version") or entry.version > view.version


class Cursor:
    """One watch over any number of streams."""

    def __init__(self, game: str, after_version: int | None, after_mark: str) -> None:
        self.finished = False
        self._game = game
        self._version = after_version  # None until the game has begun
        self._mark = after_mark
        self._viewed = False

    def request(self) -> WatchGameRequest:
        """Return the request of the next stream: it goes on after what has come."""
        if self._version is None:
            return WatchGameRequest(name=self._game)
        return WatchGameRequest(name=self._game, after_version=self._version, after_mark=self._mark)

    def take(self, response: WatchGameResponse) -> Update | None:
        """Return what a message of the stream brings that is new, if anything.

        Raises StreamBrokenError if an entry was left out, and MoonvaleError if the game was deleted.
        """
        content = response.WhichOneof("content")
        if content == "view":
            return self._take_view(response.view)
        if content == "entry":
            return self._take_entry(response.entry)
        if content == "heartbeat":
            if response.heartbeat.HasField("version"):
                self._check(response.heartbeat.version)
        elif content == "end":
            self._take_end(response.end)
        return None

    def _take_view(self, view: View) -> View | None:
        if self._version is None:
            if self._viewed and view.mark == self._mark:
                return None
            self._version = view.version if view.HasField("version") else None
            self._mark = view.mark
        elif self._viewed:
            return None
        self._viewed = True
        return view

    def _take_entry(self, entry: LogEntry) -> LogEntry | None:
        if self._version is not None and entry.version <= self._version:
            return None
        self._check(entry.version - 1)
        self._version = entry.version
        self._mark = entry.mark
        return entry

    def _take_end(self, end: WatchEnd) -> None:
        if end.reason == WATCH_END_REASON_GAME_DELETED:
            raise MoonvaleError(grpc.StatusCode.NOT_FOUND, GAME_NOT_FOUND, f"{self._game} was deleted")
        self.finished = end.reason == WATCH_END_REASON_GAME_OVER

    def _check(self, version: int) -> None:
        """Raise StreamBrokenError if the stream is past this version and its entry has not come."""
        if version > (_WAITING if self._version is None else self._version):
            raise StreamBrokenError(f"the stream left out what came before version {version + 1} of {self._game}")
