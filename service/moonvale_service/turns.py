"""Turns: what is told of many seats at once, to a bot that plays many games on one stream.

Nothing is queued but which seats have news. What is told of a seat is what holds when the reader is ready for it, so
that a slow reader costs no memory, and a stream has nothing to resume: another one tells again who is to act.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from moonvale_service.credentials import Credential
from moonvale_service.errors import HistoryRewoundError, TooManyWatchesError
from moonvale_service.games import check_epoch
from moonvale_service.history import Snapshot
from moonvale_service.quotas import Quotas, holder_of
from moonvale_service.store import GameMissingError, StoreUnavailableError
from moonvale_service.watch import End, Watched, Watches

_AT_ONCE: Final = 8  # games that a stream begins to watch at a time: it must leave connections to others
_PAUSE: Final = 0.2  # seconds until a store that did not answer is asked again


class Turn(NamedTuple):
    """A seat is to act, or its game is over: the game as it is now, and the seat's place in the list."""

    place: int
    snapshot: Snapshot


class Lost(NamedTuple):
    """A seat that can't be watched, or can't any more, and its place in the list."""

    place: int
    error: Exception


Told = Turn | Lost | End | None
"""None is a sign of life."""


class _Seat:
    """A seat of a stream. ``mark``: that of the turn that was told of it last."""

    __slots__ = ("credential", "error", "mark", "on_news", "place", "watched")

    def __init__(self, place: int, credential: Credential, on_news: Callable[[], None]) -> None:
        self.place = place
        self.credential = credential
        self.on_news = on_news
        self.mark = ""
        self.watched: Watched | None = None
        self.error: Exception | None = None


class TurnWatch:
    """One stream over many seats: ``seats`` has the credential of each by its place in the list."""

    def __init__(self, watches: Watches, quotas: Quotas, seats: Mapping[int, Credential]) -> None:
        self._watches = watches
        self._quotas = quotas
        self._asked = seats
        self._seats: dict[int, _Seat] = {}
        self._unopened: deque[_Seat] = deque()
        self._opening: set[asyncio.Task[None]] = set()
        self._news: dict[int, _Seat] = {}  # in the order in which it came
        self._woken = asyncio.Event()
        self._reached = False
        self._failure: StoreUnavailableError | None = None

    async def told(self) -> AsyncGenerator[Told, None]:
        """Yield what is to be told of the seats, a sign of life when nothing was for a while, and last an End.

        Raises StoreUnavailableError if no game at all could be read. If some could, the others are tried again.
        """
        now = asyncio.get_running_loop().time
        oldest = now() + self._watches.lifetime()
        self._watches.when_draining.add(self._woken.set)
        try:
            for place, credential in self._asked.items():
                try:
                    self._quotas.hold(holder_of(credential))
                except TooManyWatchesError as error:
                    yield Lost(place, error)
                    continue
                seat = self._seats[place] = _Seat(place, credential, partial(self._notice, place))
                self._open(seat)
            beat = now() + self._watches.heartbeat
            while True:
                if self._failure is not None:
                    raise self._failure
                end = self._end() or (End.MAX_AGE if now() >= oldest else None)
                if end is not None:
                    yield end
                    return
                if self._news:
                    told = self._look(self._news.pop(next(iter(self._news))))
                    if told is not None:
                        yield told
                        beat = now() + self._watches.heartbeat
                    continue
                self._woken.clear()
                try:
                    async with asyncio.timeout_at(min(beat, oldest)):
                        await self._woken.wait()
                except TimeoutError:
                    if beat <= oldest:
                        yield None
                        beat = now() + self._watches.heartbeat
        finally:
            self._close()

    def _end(self) -> End | None:
        if not self._seats:
            return End.NO_SEAT_LEFT
        return End.DRAINING if self._watches.draining else None

    def _look(self, seat: _Seat) -> Turn | Lost | None:
        """Return what is to be told of a seat now, if anything."""
        try:
            return self._turn(seat)
        except HistoryRewoundError:  # whatever was told of it, the seat has to act on what there is now
            self._leave(seat)
            seat.mark = ""
            self._open(seat)
            return None
        except Exception as error:  # noqa: BLE001  # one seat is lost by it; the edge says what that one gets to read
            self._drop(seat)
            return Lost(seat.place, error)

    def _turn(self, seat: _Seat) -> Turn | None:
        """Raises whatever keeps the seat from being watched."""
        if seat.error is not None:
            raise seat.error
        watched = seat.watched
        assert watched is not None, "only seats that are open, or failed to, have news"
        feed = watched.feed
        check_epoch(feed.about, seat.credential)
        if watched.end is End.GAME_DELETED:
            raise GameMissingError
        if isinstance(watched.end, Exception):
            raise watched.end
        over = feed.is_over()
        number = seat.credential.seat
        if not over and (number is None or not feed.has_to_act(number) or feed.mark == seat.mark):
            return None
        seat.mark = feed.mark
        turn = Turn(seat.place, feed.snapshot())
        if over:
            self._drop(seat)
        return turn

    def _notice(self, place: int) -> None:
        """Have the stream look at a seat."""
        self._news[place] = self._seats[place]
        self._woken.set()

    def _open(self, seat: _Seat) -> None:
        """Have a seat's game watched, and tell the stream when it is."""
        self._unopened.append(seat)
        if len(self._opening) < _AT_ONCE:
            task = asyncio.create_task(self._open_all())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open_all(self) -> None:
        while self._unopened and self._failure is None:
            seat = self._unopened.popleft()
            try:
                watched = await self._watches.join(seat.credential.game)
            except StoreUnavailableError as error:
                if not self._reached:
                    self._failure = error
                    self._woken.set()
                elif self._wants(seat):
                    self._unopened.append(seat)
                    await asyncio.sleep(_PAUSE)
                continue
            except Exception as error:  # noqa: BLE001  # told as the seat's
                seat.error = error
            else:
                seat.watched = watched
                watched.feed.listeners.add(seat.on_news)
            self._reached = True
            if self._wants(seat):
                seat.on_news()
            else:
                self._leave(seat)

    def _wants(self, seat: _Seat) -> bool:
        """Whether the seat is still watched. If not, this task was canceled, which can be in vain (``tasks.end``)."""
        return seat.place in self._seats

    def _leave(self, seat: _Seat) -> None:
        watched, seat.watched = seat.watched, None
        if watched is not None:
            watched.feed.listeners.discard(seat.on_news)
            self._watches.leave(watched)

    def _drop(self, seat: _Seat) -> None:
        """Watch a seat no more."""
        self._leave(seat)
        del self._seats[seat.place]
        self._quotas.release(holder_of(seat.credential))

    def _close(self) -> None:
        """Give up whatever is held. Nothing here waits, so that nothing can keep it from being done."""
        self._unopened.clear()
        self._watches.when_draining.discard(self._woken.set)
        for task in self._opening:
            task.cancel()
        for seat in list(self._seats.values()):
            self._drop(seat)
