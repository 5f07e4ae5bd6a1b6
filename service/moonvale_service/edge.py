"""The edge: every call of GameService comes in here, whatever transport has brought it.

One way for all methods: bound the size, parse, authenticate, call, and turn whatever is raised into an error with its
reason; one line in the log for each call. A transport says how its bytes are read and how errors travel, no more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from moonvale.v1 import game_service_pb2 as pb
from moonvale_service import limits, logs, metrics, render, tracing
from moonvale_service.calls import Caller, Calls
from moonvale_service.credentials import IN_A_GAME, Credential, InvalidCredentialError, Keys, Role
from moonvale_service.errors import (
    CallError,
    CredentialInvalidError,
    CredentialMissingError,
    CredentialOfAnotherGameError,
    DrainingError,
    FieldError,
    MessageTooLargeError,
    ReaderTooSlowError,
    RoleNotAllowedError,
)
from moonvale_service.failures import failure_of
from moonvale_service.quotas import Quotas
from moonvale_service.store.redis_store import is_game_id

DESCRIPTOR: Final = pb.DESCRIPTOR.services_by_name["GameService"]
SERVICE: Final = DESCRIPTOR.full_name

_A_SEAT: Final = frozenset({Role.SEAT})
_THE_OPERATOR: Final = frozenset({Role.OPERATOR_KEY})
_CREATOR_OR_SEAT: Final = frozenset({Role.CREATOR, Role.SEAT})
_CREATOR_OR_OPERATOR: Final = frozenset({Role.CREATOR, Role.OPERATOR_KEY})


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its request, the field that names the game (empty: none), who may call it (None: anybody).

    ``call``: what returns its response, as a message or encoded; if it has many, an iterator of encoded ones.
    ``each``: the field of a list in which each element names a game and brings the credential of such a caller.
    """

    request: type[Message]
    call: Callable[..., Any]
    target: str = "name"
    roles: frozenset[Role] | None = None
    each: str = ""


METHODS: Final = {
    "CreateGame": Method(pb.CreateGameRequest, Calls.create_game, ""),
    "ClaimSeat": Method(pb.ClaimSeatRequest, Calls.claim_seat, ""),
    "LeaveSeat": Method(pb.LeaveSeatRequest, Calls.leave_seat, roles=_CREATOR_OR_SEAT),
    "RevealEntropy": Method(pb.RevealEntropyRequest, Calls.reveal_entropy, roles=_A_SEAT),
    "ReclaimSeat": Method(pb.ReclaimSeatRequest, Calls.reclaim_seat, roles=_A_SEAT),
    "Rematch": Method(pb.RematchRequest, Calls.rematch, roles=_CREATOR_OR_SEAT),
    "GetView": Method(pb.GetViewRequest, Calls.get_view, roles=IN_A_GAME),
    "SubmitAction": Method(pb.SubmitActionRequest, Calls.submit_action, roles=_A_SEAT),
    "WatchGame": Method(pb.WatchGameRequest, Calls.watch_game, roles=IN_A_GAME),
    "WatchTurns": Method(pb.WatchTurnsRequest, Calls.watch_turns, roles=_A_SEAT, each="seats"),
    "ListEvents": Method(pb.ListEventsRequest, Calls.list_events, "parent", IN_A_GAME),
    "GetReplay": Method(pb.GetReplayRequest, Calls.get_replay, roles=IN_A_GAME),
    "Resign": Method(pb.ResignRequest, Calls.resign, roles=_A_SEAT),
    "DeleteGame": Method(pb.DeleteGameRequest, Calls.delete_game, roles=_CREATOR_OR_OPERATOR),
    "RotateCredential": Method(pb.RotateCredentialRequest, Calls.rotate_credential, roles=_CREATOR_OR_SEAT),
    "ListGames": Method(pb.ListGamesRequest, Calls.list_games, "", _THE_OPERATOR),
    "GetCatalog": Method(pb.GetCatalogRequest, Calls.get_catalog, ""),
    "GetServerInfo": Method(pb.GetServerInfoRequest, Calls.get_server_info, ""),
}
"""Who may call what: this table is the one place that says so, and docs/security.md says it for people."""

STREAMS: Final = frozenset(method.name for method in DESCRIPTOR.methods if method.server_streaming)


class GoneError(Exception):
    """The client of a stream is gone; what is told to it reaches nobody."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A call as a transport has received it.

    ``size``: how many bytes its request has. ``read``: parses them as a message of this type, or raises a CallError.
    ``authorization``: the values of that header. ``header``: returns the first value of another one, or nothing.
    """

    size: int
    read: Callable[[type[Message]], Message]
    authorization: Sequence[str] = ()
    header: Callable[[str], str] = lambda _name: ""


@dataclass(slots=True)
class _Line:
    """What the log will say of a call."""

    method: str
    began: float = field(default_factory=time.perf_counter)
    game: str | None = None
    role: str | None = None
    seat: int | None = None
    seats: int | None = None
    request_id: str | None = None
    span: tracing.CallSpan | None = None

    def write(self, level: str, code: str, reason: str | None = None) -> None:
        seconds = time.perf_counter() - self.began
        metrics.calls.add(self.method, code)
        if self.method not in STREAMS:
            metrics.call_seconds.observe(seconds, self.method)
        trace = None
        if self.span is not None:
            trace = tracing.trace_id()
            self.span.end(code, reason=reason, game=self.game, role=self.role, seat=self.seat, seats=self.seats)
        logs.call(
            level,
            self.method,
            code=code,
            reason=reason,
            milliseconds=seconds * 1000,
            game=self.game,
            role=self.role,
            seat=self.seat,
            seats=self.seats,
            request_id=self.request_id,
            trace=trace,
        )


class Edge:
    """The methods of GameService, for all transports. ``message_limit``: the largest request, in bytes.

    ``reader_timeout``: how many seconds a message of a stream may wait for a slow client.
    """

    def __init__(self, calls: Calls, keys: Keys, quotas: Quotas, message_limit: int, *, reader_timeout: float) -> None:
        self._calls = calls
        self._keys = keys
        self._quotas = quotas
        self._message_limit = message_limit
        self._reader_timeout = reader_timeout
        self._draining = False
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._called = asyncio.Event()
        for name in METHODS:  # a rate needs a first value: without one, the first failure of a method is none
            for code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE):
                metrics.calls.add(name, code.name, by=0)

    def drain(self) -> None:
        """Refuse new calls from now on, as another server will answer them."""
        self._draining = True

    async def idle(self) -> None:
        """Return when no call is open."""
        await self._idle.wait()

    async def quiet(self, seconds: float) -> None:
        """Return when no call was open for some time."""
        while True:
            await self._idle.wait()
            self._called.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._called.wait()
            except TimeoutError:
                return

    async def answer(self, name: str, incoming: Incoming) -> bytes:
        """Answer a call of a method that has one response, encoded.

        Raises CallError, and nothing else but cancellation.
        """
        method = METHODS[name]
        with self._call(name, incoming) as line:
            request, caller = self._admit(method, incoming, line)
            response: Message | bytes = await method.call(self._calls, request, caller)
            if isinstance(response, bytes):
                return response
            if isinstance(response, pb.CreateGameResponse | pb.ClaimSeatResponse):
                line.game = render.game_of(response.name)
            return response.SerializeToString()

    async def stream(self, name: str, incoming: Incoming, send: Callable[[bytes], Awaitable[None]]) -> None:
        """Carry out a call of a method with a stream of responses, and ``send`` each, encoded; it may raise GoneError.

        Raises CallError, and nothing else but cancellation.
        """
        method = METHODS[name]
        with self._call(name, incoming) as line:
            request, caller = self._admit(method, incoming, line)
            messages: AsyncGenerator[bytes, None] = method.call(self._calls, request, caller)
            async with aclosing(messages), _open_watch(name):
                async for message in messages:
                    try:
                        async with asyncio.timeout(self._reader_timeout):
                            await send(message)
                    except TimeoutError:
                        metrics.slow_readers.add()
                        raise ReaderTooSlowError from None
                    except GoneError:  # which ends the call as if the client had said so
                        raise asyncio.CancelledError from None

    @contextmanager
    def _call(self, name: str, incoming: Incoming) -> Iterator[_Line]:
        """Count and log a call, and turn what is raised within into a CallError."""
        line = _Line(name)
        if tracing.is_on():
            line.span = tracing.CallSpan(SERVICE, name, incoming.header)
        self._open += 1
        self._idle.clear()
        self._called.set()
        try:
            yield line
        except asyncio.CancelledError:
            line.write("info", grpc.StatusCode.CANCELLED.name)
            raise
        except Exception as error:  # noqa: BLE001  # nothing but the edge may say what a client gets to read
            failure = failure_of(error)
            line.write(_LEVELS.get(failure.code, "info"), failure.code.name, failure.reason)
            raise failure from None
        else:
            line.write("info", grpc.StatusCode.OK.name)
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()

    def _admit(
        self, method: Method, incoming: Incoming, line: _Line
    ) -> tuple[Message, Caller | list[Caller | CallError]]:
        """Parse a request and say who calls. Raises the CallErrors of both."""
        if self._draining:
            raise DrainingError
        if incoming.size > self._message_limit:
            raise MessageTooLargeError(incoming.size, self._message_limit)
        request = incoming.read(method.request)
        line.request_id = getattr(request, "request_id", None)
        if method.each:
            return request, self._authenticate_each(method, getattr(request, method.each), line)
        return request, self._authenticate(method, request, _token(incoming.authorization), line)

    def _authenticate(self, method: Method, request: Message, token: str | None, line: _Line) -> Caller:
        if method.roles is None:
            return Caller(creator_key=token is not None and self._keys.is_creator_key(token))
        if method.target:
            line.game = _game(method.target, getattr(request, method.target))
        credential = self._verify(token)
        line.role, line.seat = credential.role.name.lower(), credential.seat
        return self._allow(method, line.game or "", credential)

    def _authenticate_each(
        self, method: Method, listed: Sequence[pb.WatchedSeat], line: _Line
    ) -> list[Caller | CallError]:
        """Return for each of the seats who it is, or why it may not call.

        Raises FieldError, and if none may call the reason of the first: nobody gets a stream for wrong credentials.
        """
        line.seats = len(listed)
        if not 1 <= len(listed) <= limits.MAX_WATCHED_SEATS:
            raise FieldError(method.each, f"needs 1..{limits.MAX_WATCHED_SEATS} seats, has {len(listed)}")
        games = [_game(f"{method.each}[{i}].name", each.name) for i, each in enumerate(listed)]
        places: dict[str, int] = {}
        for i, each in enumerate(listed):
            if each.credential and places.setdefault(each.credential, i) != i:
                known = places[each.credential]
                raise FieldError(f"{method.each}[{i}].credential", f"is that of {method.each}[{known}]: list it once")
        callers = [self._caller(method, game, each.credential) for game, each in zip(games, listed, strict=True)]
        first = callers[0]
        if isinstance(first, CallError) and all([isinstance(caller, CallError) for caller in callers]):
            raise first
        return callers

    def _caller(self, method: Method, game: str, token: str) -> Caller | CallError:
        try:
            return self._allow(method, game, self._verify(token or None))
        except CallError as error:
            return error

    def _allow(self, method: Method, game: str, credential: Credential) -> Caller:
        """Return who holds a credential, if the method may be called with it. Raises CallError."""
        role = credential.role
        if game and role in IN_A_GAME and credential.game != game:
            raise CredentialOfAnotherGameError
        if role not in (method.roles or ()):
            allowed = " or ".join(sorted(r.words for r in method.roles or ()))
            raise RoleNotAllowedError(role.name.lower(), role.words, allowed)
        caller = Caller(game, credential)
        self._quotas.call(caller.holder)
        return caller

    def _verify(self, token: str | None) -> Credential:
        if token is None:
            raise CredentialMissingError
        try:
            return self._keys.verify(token)
        except InvalidCredentialError:
            raise CredentialInvalidError from None


@asynccontextmanager
async def _open_watch(name: str) -> AsyncIterator[None]:
    """Count a stream as long as it is open."""
    metrics.open_watches.add(name)
    try:
        yield
    finally:
        metrics.open_watches.add(name, by=-1)


_LEVELS: Final = {grpc.StatusCode.INTERNAL: "error", grpc.StatusCode.UNAVAILABLE: "warning"}


def _game(field: str, name: str) -> str:
    """Return the id of the game that a field names. Raises FieldError."""
    game = render.game_of(name)
    if not is_game_id(game):
        raise FieldError(field, "needs the form games/{game}, as CreateGame has returned it")
    return game


def _token(authorization: Sequence[str]) -> str | None:
    """Return the bearer token of a call. Raises CredentialInvalidError for a credential of another kind."""
    if not authorization:
        return None
    scheme, _, token = authorization[0].partition(" ")
    if len(authorization) > 1 or scheme.lower() != "bearer" or not token:
        raise CredentialInvalidError
    return token.strip()
