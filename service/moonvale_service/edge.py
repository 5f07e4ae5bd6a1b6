"""The edge: every call of GameService comes in here as bytes and goes out as bytes.

One way for all methods: bound the size, parse, authenticate, call, and turn whatever is raised into a status with its
reason; one line in the log for each call.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from moonvale.v1 import game_service_pb2 as pb
from moonvale_engine.errors import UnknownRulesError
from moonvale_service import logs, render
from moonvale_service.calls import Caller, Calls
from moonvale_service.credentials import IN_A_GAME, Credential, InvalidCredentialError, Keys, Role
from moonvale_service.errors import (
    DETAILS_KEY,
    CallError,
    CredentialInvalidError,
    CredentialMissingError,
    CredentialOfAnotherGameError,
    DrainingError,
    FieldError,
    GameNotFoundError,
    InternalError,
    MalformedRequestError,
    MessageTooLargeError,
    ReaderTooSlowError,
    RoleNotAllowedError,
    RulesUnknownError,
    UnavailableError,
    status_bytes,
)
from moonvale_service.quotas import Quotas
from moonvale_service.store import GameMissingError, StoreUnavailableError
from moonvale_service.store.redis_store import is_game_id

SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"].full_name

_LAST_WORDS: Final = 5.0  # seconds for a slow reader to get the reason why it is cut off

Context = grpc.aio.ServicerContext[bytes, bytes]

_A_SEAT: Final = frozenset({Role.SEAT})
_THE_OPERATOR: Final = frozenset({Role.OPERATOR_KEY})
_CREATOR_OR_SEAT: Final = frozenset({Role.CREATOR, Role.SEAT})
_CREATOR_OR_OPERATOR: Final = frozenset({Role.CREATOR, Role.OPERATOR_KEY})


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its request, the field that names the game (empty: none), who may call it (None: anybody)."""

    request: type[Message]
    call: Callable[..., Any]
    target: str = "name"
    roles: frozenset[Role] | None = None


METHODS: Final = {
    "CreateGame": Method(pb.CreateGameRequest, Calls.create_game, ""),
    "GetView": Method(pb.GetViewRequest, Calls.get_view, roles=IN_A_GAME),
    "SubmitAction": Method(pb.SubmitActionRequest, Calls.submit_action, roles=_A_SEAT),
    "WatchGame": Method(pb.WatchGameRequest, Calls.watch_game, roles=IN_A_GAME),
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

_STREAMS: Final = frozenset({"WatchGame"})


@dataclass(slots=True)
class _Line:
    """What the log will say of a call."""

    method: str
    began: float = field(default_factory=time.perf_counter)
    game: str | None = None
    role: str | None = None
    seat: int | None = None
    request_id: str | None = None

    def write(self, level: str, code: str, reason: str | None = None) -> None:
        logs.call(
            level,
            self.method,
            code=code,
            reason=reason,
            milliseconds=(time.perf_counter() - self.began) * 1000,
            game=self.game,
            role=self.role,
            seat=self.seat,
            request_id=self.request_id,
        )


class Edge:
    """The handlers of GameService. ``message_limit``: the largest request, in bytes.

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

    def handlers(self) -> grpc.GenericRpcHandler:
        """Return the handlers of all methods, for a server."""
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                name: grpc.unary_stream_rpc_method_handler(self._stream(name, method))
                if name in _STREAMS
                else grpc.unary_unary_rpc_method_handler(self._unary(name, method))
                for name, method in METHODS.items()
            },
        )

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

    def _unary(self, name: str, method: Method) -> Callable[[bytes, Context], Awaitable[bytes]]:
        async def handle(raw: bytes, context: Context) -> bytes:
            async with self._call(name, context) as line:
                request, caller = self._admit(method, raw, context, line)
                response: Message = await method.call(self._calls, request, caller)
                if isinstance(response, pb.CreateGameResponse):
                    line.game = render.game_of(response.name)
                return response.SerializeToString()
            raise AssertionError("a failed call was aborted")

        return handle

    def _stream(self, name: str, method: Method) -> Callable[[bytes, Context], Awaitable[None]]:
        async def handle(raw: bytes, context: Context) -> None:
            async with self._call(name, context) as line:
                request, caller = self._admit(method, raw, context, line)
                messages: AsyncGenerator[bytes, None] = method.call(self._calls, request, caller)
                async with aclosing(messages):
                    async for message in messages:
                        try:
                            async with asyncio.timeout(self._reader_timeout):
                                await context.write(message)
                        except TimeoutError:
                            raise ReaderTooSlowError from None
                        except grpc.aio.InternalError:  # the client is gone, which ends the call as if it had said so
                            raise asyncio.CancelledError from None

        return handle

    @asynccontextmanager
    async def _call(self, name: str, context: Context) -> AsyncIterator[_Line]:
        """Log the call, and answer what is raised within."""
        line = _Line(name)
        self._open += 1
        self._idle.clear()
        self._called.set()
        try:
            yield line
        except asyncio.CancelledError:
            line.write("info", grpc.StatusCode.CANCELLED.name)
            raise
        except Exception as error:  # noqa: BLE001  # nothing but the edge may say what a client gets to read
            failure = _failure(error)
            level = _LEVELS.get(failure.code, "info")
            line.write(level, failure.code.name, failure.reason)
            try:
                # The status of a slow reader has to wait behind its messages, which it may never read.
                async with asyncio.timeout(_LAST_WORDS if isinstance(failure, ReaderTooSlowError) else None):
                    await context.abort(failure.code, failure.message, ((DETAILS_KEY, status_bytes(failure)),))
            except TimeoutError:
                raise asyncio.CancelledError from None
        else:
            line.write("info", grpc.StatusCode.OK.name)
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()

    def _admit(self, method: Method, raw: bytes, context: Context, line: _Line) -> tuple[Message, Caller]:
        """Parse a request and say who calls. Raises the CallErrors of both."""
        if self._draining:
            raise DrainingError
        if len(raw) > self._message_limit:
            raise MessageTooLargeError(len(raw), self._message_limit)
        try:
            request = method.request.FromString(raw)
        except DecodeError:
            raise MalformedRequestError(f"not a {method.request.DESCRIPTOR.full_name}") from None
        line.request_id = getattr(request, "request_id", None)
        caller = self._authenticate(method, request, _token(context.invocation_metadata()), line)
        return request, caller

    def _authenticate(self, method: Method, request: Message, token: str | None, line: _Line) -> Caller:
        if method.roles is None:
            return Caller(creator_key=token is not None and self._keys.is_creator_key(token))
        game = ""
        if method.target:
            game = render.game_of(getattr(request, method.target))
            if not is_game_id(game):
                raise FieldError(method.target, "needs the form games/{game}, as CreateGame has returned it")
            line.game = game
        credential = self._verify(token)
        role = credential.role
        line.role, line.seat = role.name.lower(), credential.seat
        if game and role in IN_A_GAME and credential.game != game:
            raise CredentialOfAnotherGameError
        if role not in method.roles:
            raise RoleNotAllowedError(role.name.lower(), role.words, " or ".join(sorted(r.words for r in method.roles)))
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


_LEVELS: Final = {grpc.StatusCode.INTERNAL: "error", grpc.StatusCode.UNAVAILABLE: "warning"}


def _token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str | None:
    """Return the bearer token of a call. Raises CredentialInvalidError for a credential of another kind."""
    values = [value for key, value in metadata or () if key == "authorization"]
    if not values:
        return None
    scheme, _, token = str(values[0]).partition(" ")
    if len(values) > 1 or scheme.lower() != "bearer" or not token:
        raise CredentialInvalidError
    return token.strip()


def _failure(error: Exception) -> CallError:
    """Return the error that the client gets. The service's own mistakes are logged here, with a trace id."""
    if isinstance(error, CallError):
        return error
    if isinstance(error, GameMissingError):
        return GameNotFoundError()
    if isinstance(error, StoreUnavailableError):
        logs.event("warning", "store_unavailable", error=error)
        return UnavailableError()
    if isinstance(error, UnknownRulesError):
        return RulesUnknownError()
    trace = secrets.token_hex(8)
    logs.event("error", "internal_error", error=error, trace=trace)
    return InternalError(trace)
