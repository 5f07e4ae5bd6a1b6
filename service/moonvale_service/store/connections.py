"""Connections to one server of the store, each shared by the steps that are on their way at the same time.

redis-py opens them: the handshake, TLS and authentication are its own. Then what is written and read is ours: the
commands of a step go out together, answers come in the order of the commands, and so the next answer belongs to the
first step that still waits for one. Nothing but that order says whose an answer is; a step that is given up therefore
stays in the row until its answers have come, and a connection on which anything is wrong ends with all of its steps.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import hiredis
from redis import exceptions as redis_errors
from redis.asyncio.connection import AbstractConnection

from moonvale_service import metrics

LENT: Final = 32  # connections for steps that block theirs
FIRST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.2  # seconds between attempts, whatever is tried again
_ATTEMPTS: Final = 10  # to open a connection, at least, for each step that waits for one

Command = tuple[bytes | str | int, ...]

_pack: Callable[[Any], bytes] = hiredis.pack_command  # whose stub knows commands of one word alone
_NOTHING: Final = object()  # what hiredis is to say when an answer is not all there


class _Step:
    """A step that was sent. ``missing``: how many of its answers have not come."""

    __slots__ = ("answers", "answers_in", "missing", "sent")

    def __init__(self, answers_in: asyncio.Future[list[Any]], missing: int) -> None:
        self.answers_in = answers_in
        self.answers: list[Any] = []
        self.missing = missing
        self.sent = time.perf_counter()


class Connection(asyncio.Protocol):
    """An open connection. A server that leaves its first step without an answer for ``timeout`` seconds is given up."""

    def __init__(self, opened: AbstractConnection, timeout: float) -> None:
        """Take over what redis-py has opened."""
        # Its stream is kept, since a stream that is forgotten closes what lies below.
        self._stream, opened._writer, opened._reader = opened._writer, None, None
        assert self._stream is not None, "an open connection has a stream"
        self._transport: asyncio.Transport = self._stream.transport  # type: ignore[assignment]
        self._reader = hiredis.Reader(
            protocolError=redis_errors.InvalidResponse,
            replyError=opened._parser.parse_error,
            notEnoughData=_NOTHING,
        )
        self._timeout = timeout
        self._row: deque[_Step] = deque()
        self._watch: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._writable = asyncio.Event()
        self._writable.set()
        self._lost = asyncio.Event()
        self.is_open = not self._transport.is_closing()
        self._transport.set_protocol(self)

    def send(self, commands: Sequence[Command]) -> asyncio.Future[list[Any]]:
        """Send the commands of a step; return what its answers will be, errors included. Needs an open connection.

        The future fails with redis-py's ConnectionError, or TimeoutError, when the connection ends before.
        """
        packed = _pack(commands[0]) if len(commands) == 1 else b"".join([_pack(command) for command in commands])
        step = _Step(self._loop.create_future(), len(commands))
        self._row.append(step)
        if self._watch is None:
            self._watch = self._loop.call_later(self._timeout, self._look)
        self._transport.write(packed)
        return step.answers_in

    @property
    def is_writable(self) -> bool:
        """Whether what is sent would leave soon."""
        return self._writable.is_set()

    async def writable(self) -> None:
        """Wait until what is sent would leave soon, or nothing will."""
        await self._writable.wait()

    def retire(self) -> None:
        """Take no new steps, and end when those that were sent are answered."""
        self.is_open = False
        if not self._row:
            self.abort()

    async def lost(self) -> None:
        """Return when it has ended."""
        await self._lost.wait()

    def abort(self) -> None:
        """End at once, and whatever is on its way with it."""
        self._end("the connection was given up")

    def data_received(self, data: bytes) -> None:
        """Hand out the answers that have come."""
        try:
            self._reader.feed(data)
            while (answer := self._reader.gets()) is not _NOTHING:
                if type(answer) is not hiredis.PushNotification:  # which answers nothing
                    self._hand_out(answer)
        except (redis_errors.RedisError, IndexError) as error:  # no answer at all, or one that nobody has asked for
            self._end(f"what the server sends makes no sense: {type(error).__name__}")

    def _hand_out(self, answer: Any) -> None:  # noqa: ANN401
        step = self._row[0]
        step.answers.append(answer)
        step.missing -= 1
        if step.missing:
            return
        self._row.popleft()
        metrics.store_round_trip_seconds.observe(time.perf_counter() - step.sent)
        if not step.answers_in.done():  # else nobody waits for it any more
            step.answers_in.set_result(step.answers)
        if not self.is_open and not self._row:
            self.abort()

    def eof_received(self) -> None:
        """End: the server has."""
        self._end("the server has ended the connection")

    def connection_lost(self, error: Exception | None) -> None:
        """Fail what is on its way."""
        self._end("the connection is lost", cause=error)
        self._lost.set()

    def pause_writing(self) -> None:
        """Let steps wait: the server, or the network, doesn't take what was sent already."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let steps be sent again."""
        self._writable.set()

    def _look(self) -> None:
        """End if the first step has waited too long; else look again when it will have."""
        self._watch = None
        if not self._row:
            return
        left = self._row[0].sent + self._timeout - time.perf_counter()
        if left <= 0:
            self._end("the server has not answered in time", redis_errors.TimeoutError)
        else:
            self._watch = self._loop.call_later(left, self._look)

    def _end(
        self,
        why: str,
        kind: type[redis_errors.RedisError] = redis_errors.ConnectionError,
        cause: Exception | None = None,
    ) -> None:
        """Close, and fail all steps that are on their way."""
        self.is_open = False
        self._writable.set()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._transport.abort()
        while self._row:
            step = self._row.popleft()
            if not step.answers_in.done():
                error = kind(why)
                error.__cause__ = cause
                step.answers_in.set_exception(error)


class Connections:
    """Connections to one server: one for all steps, and others that are lent to steps which block theirs.

    ``make``: a new one of redis-py's, not yet open. ``timeout``: seconds for the server to answer a step.
    """

    def __init__(self, make: Callable[[], AbstractConnection], timeout: float) -> None:
        self._make = make
        self._timeout = timeout
        self._shared: Connection | None = None
        self._opening = asyncio.Lock()
        self._idle: list[Connection] = []
        self._free = asyncio.Semaphore(LENT)
        self._longest_pause = min(LONGEST_PAUSE, timeout / _ATTEMPTS)
        self._pause = 0.0
        self._again = 0.0  # when one may be opened, by the monotonic clock

    def send(self, commands: Sequence[Command]) -> asyncio.Future[list[Any]] | None:
        """Send the commands of a step on the shared connection, if that can be done at once: see Connection.send."""
        shared = self._shared
        return shared.send(commands) if shared is not None and shared.is_open and shared.is_writable else None

    async def run(self, commands: Sequence[Command], *, blocks: bool) -> list[Any]:
        """Send the commands of a step; return the answers, errors included. Opens a connection if there is none.

        ``blocks``: it has commands that the server takes its time for, and would keep other steps waiting behind it.
        Raises what redis-py raises of a connection.
        """
        if blocks:
            return await self._run_alone(commands)
        sent = self.send(commands)
        if sent is not None:
            return await sent
        while True:
            async with self._opening:
                if self._shared is None or not self._shared.is_open:
                    self._shared = await self._open()
                shared = self._shared
            await shared.writable()
            if shared.is_open:
                return await shared.send(commands)

    async def _run_alone(self, commands: Sequence[Command]) -> list[Any]:
        async with self._free:
            self._idle = [connection for connection in self._idle if connection.is_open]
            connection = self._idle.pop() if self._idle else await self._open()
            try:
                answers = await connection.send(commands)
            except BaseException:
                connection.abort()  # or what it still waits for would block whoever gets it next
                raise
            self._idle.append(connection)
            return answers

    def retire(self) -> list[Connection]:
        """Give up the connections, each when it has answered what is on its way; later steps open new ones."""
        retired, self._idle = self._idle, []
        if self._shared is not None:
            retired.append(self._shared)
            self._shared = None
        for connection in retired:
            connection.retire()
        return retired

    async def close(self) -> None:
        """Give up the connections, and wait until they have ended."""
        for connection in self.retire():
            await connection.lost()

    async def _open(self) -> Connection:
        """Open a connection; not at once if that has just failed, however many steps are waiting for one."""
        await asyncio.sleep(max(0.0, self._again - time.monotonic()))
        opened = self._make()
        try:
            await opened.connect()  # type: ignore[no-untyped-call]
        except BaseException:
            self._pause = min(max(FIRST_PAUSE, 2 * self._pause), self._longest_pause)
            self._again = time.monotonic() + self._pause
            await opened.disconnect(nowait=True)
            raise
        self._pause = 0.0
        return Connection(opened, self._timeout)
