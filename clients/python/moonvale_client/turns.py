"""Turns of many seats: what has come of each so far, over any number of streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import grpc

from moonvale.v1.errors_pb2 import ErrorReason
from moonvale.v1.game_service_pb2 import SeatError, WatchedSeat, WatchTurnsRequest, WatchTurnsResponse
from moonvale.v1.view_pb2 import View
from moonvale_client.errors import MoonvaleError

_CODES = {code.value[0]: code for code in grpc.StatusCode}


@dataclass(frozen=True, slots=True)
class Turn:
    """What a watch of turns yields: a seat is to act, its game is over, or it can't be watched any more.

    index: its place among the seats. view: the game as the seat sees it, with the legal actions or, if it is ``over``,
    the result; None if there is an ``error``. stream: how many streams there were before the one that told it: each
    new one tells again who is to act.
    """

    index: int
    game: str
    credential: str = field(repr=False)
    view: View | None
    error: MoonvaleError | None = None
    stream: int = 0

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.view is not None and self.view.HasField("result")


class WatchedSeats:
    """The seats of one watch, each a game and a credential, of which there is more to tell.

    settled: whether the present stream has told anything that none before it had.
    """

    def __init__(self, seats: Iterable[tuple[str, str]]) -> None:
        self.settled = False
        self._seats = dict(enumerate(seats))
        self._listed: list[int] = []
        self._streams = 0
        self._marks: dict[int, str] = {}

    @property
    def finished(self) -> bool:
        """Whether all has been told."""
        return not self._seats

    def request(self) -> WatchTurnsRequest:
        """Return the request of the next stream."""
        self.settled = False
        self._streams += 1
        self._listed = list(self._seats)
        return WatchTurnsRequest(
            seats=[WatchedSeat(name=game, credential=credential) for game, credential in self._seats.values()]
        )

    def take(self, response: WatchTurnsResponse) -> Turn | None:
        """Return what a message of the stream brings, if anything.

        Raises MoonvaleError if a seat can't be watched just now: the stream is to be opened anew.
        """
        content = response.WhichOneof("content")
        if content not in ("turn", "over", "error"):
            self.settled = self.settled or content == "heartbeat"
            return None
        index = self._listed[response.index]
        game, credential = self._seats[index]
        stream = self._streams - 1
        if content == "turn":
            self.settled = self.settled or self._marks.get(index) != response.turn.mark
            self._marks[index] = response.turn.mark
            return Turn(index, game, credential, response.turn, stream=stream)
        error = _error(response.error) if content == "error" else None
        if error is not None and error.is_transient:
            raise error
        del self._seats[index]
        self.settled = True
        return Turn(index, game, credential, response.over if error is None else None, error, stream)


def _error(told: SeatError) -> MoonvaleError:
    reason = ErrorReason.Name(told.reason) if told.reason in ErrorReason.values() else ""
    return MoonvaleError(
        _CODES.get(told.code, grpc.StatusCode.UNKNOWN),
        reason.removeprefix("ERROR_REASON_"),
        told.message,
        dict(told.metadata),
        retry_delay=told.retry_delay.ToNanoseconds() / 1e9 if told.HasField("retry_delay") else None,
    )
