"""REST: requests by path, query and JSON body, answers in JSON; streams as server-sent events or as lines of JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from moonvale.v1 import game_service_pb2 as pb
from moonvale_service.edge import Edge, Incoming
from moonvale_service.errors import CallError, FieldError, UnsupportedMediaTypeError
from moonvale_service.http import from_json, statuses, to_json
from moonvale_service.http.descriptors import descriptor_of
from moonvale_service.http.exchange import Exchange
from moonvale_service.http.routes import Route, Routes, bind, from_query
from moonvale_service.http.streaming import stream

LAST_EVENT_ID: Final = "Last-Event-ID"
LINES: Final = "application/x-ndjson"
EVENTS: Final = "text/event-stream"

_EVENT_ID: Final = re.compile(r"([0-9]{1,20})\.([0-9A-Za-z]{0,64})(\.end)?")
#: After these there is nothing more to come, so that nobody should watch again.
_LAST_ENDS: Final = {pb.WATCH_END_REASON_GAME_OVER, pb.WATCH_END_REASON_GAME_DELETED}
_RETRY_MS: Final = 1000  # after which browsers resume a stream that has ended


class Told(NamedTuple):
    """A message of a stream: its kind, where it stands in the game if that can be resumed, whether it is the last."""

    kind: str
    place: str
    is_last: bool
    json: bytes


class Rest:
    """All routes over one edge. ``limit``: the largest body, in bytes."""

    def __init__(self, edge: Edge, routes: Routes, limit: int) -> None:
        self._edge = edge
        self._routes = routes
        self._limit = limit
        self._responses = {route.method.name: GetMessageClass(route.method.output_type) for route in routes.all}
        self._tellers = {
            route.method.name: _teller(self._responses[route.method.name])
            for route in routes.all
            if route.method.server_streaming
        }

    async def serve(self, exchange: Exchange) -> None:
        """Answer a request. Raises CallError, before anything is answered."""
        route, bound = self._routes.find(exchange.verb, exchange.path)
        body, size = await exchange.body(self._limit) if route.body else (b"", 0)

        def read(kind: type[Message]) -> Message:
            message = _read_body(exchange, kind, body) if route.body else _read_query(exchange, kind)
            bind(message, bound)
            return message

        incoming = Incoming(size, read, exchange.headers(b"authorization"), exchange.header_named)
        name = route.method.name
        if not route.method.server_streaming:
            response = await self._edge.answer(name, incoming)
            await exchange.respond(200, statuses.JSON, to_json.recode(self._responses[name], response))
        elif LINES in exchange.header(b"accept").lower():
            await stream(exchange, self._edge, name, incoming, Lines(self._tellers[name]))
        else:
            await self._stream_events(exchange, route, incoming)

    async def _stream_events(self, exchange: Exchange, route: Route, incoming: Incoming) -> None:
        name = route.method.name
        resumable = "after_version" in route.method.input_type.fields_by_name
        last = exchange.header(LAST_EVENT_ID.lower().encode("ascii")) if resumable else ""
        if last.endswith(".end") and _EVENT_ID.fullmatch(last):
            await exchange.respond_empty(204)  # which is how browsers are told to ask no more
            return
        events = Events(self._tellers[name])

        def read(kind: type[Message]) -> Message:
            message = incoming.read(kind)
            if last:
                _resume(message, last)
            if resumable:
                events.begin(message)
            return message

        await stream(exchange, self._edge, name, replace(incoming, read=read), events)


class Lines:
    """A stream as newline-delimited JSON: each line a message; or, last, ``{"status": ...}`` with the error."""

    answers_early_errors = True
    media_type = LINES.encode("ascii")

    def __init__(self, tell: Callable[[bytes], Told]) -> None:
        self._tell = tell

    def message(self, encoded: bytes) -> bytes:
        """Write a message."""
        return self._tell(encoded).json + b"\n"

    def end(self) -> bytes:
        """Write nothing: the last message has said that the stream ends."""
        return b""

    def error(self, error: CallError) -> bytes:
        """Write the error's google.rpc.Status."""
        return orjson.dumps({"status": statuses.status_json(error)}) + b"\n"


class Events:
    """A stream as server-sent events, named after what they tell; an error is the event ``status``.

    Their ids are places in the game, after which the stream goes on if one is sent back.
    """

    answers_early_errors = True
    media_type = EVENTS.encode("ascii")

    def __init__(self, tell: Callable[[bytes], Told]) -> None:
        self._tell = tell
        self._resumed = False
        self._place = ""
        self._head = f"retry: {_RETRY_MS}\n"

    def begin(self, request: Message) -> None:
        """Note after which place the stream goes on."""
        assert isinstance(request, pb.WatchGameRequest)
        if request.HasField("after_version"):
            self._resumed = True
            self._place = f"{request.after_version}.{request.after_mark}"

    def message(self, encoded: bytes) -> bytes:
        """Write an event."""
        told = self._tell(encoded)
        if told.is_last and self._place:
            self._place += ".end"
        elif told.place and not (told.kind == "view" and self._resumed):  # the entries up to a newer view are to come
            self._place = told.place
        return self._event(told.kind, told.json)

    def end(self) -> bytes:
        """Write nothing: the last event has said that the stream ends."""
        return b""

    def error(self, error: CallError) -> bytes:
        """Write the error's google.rpc.Status."""
        return self._event("status", statuses.rest_body(error))

    def _event(self, name: str, data: bytes) -> bytes:
        number = f"id: {self._place}\n" if self._place else ""
        head, self._head = self._head, ""
        return b"".join([f"{head}{number}event: {name}\ndata: ".encode(), data, b"\n\n"])


def _teller(kind: type[Message]) -> Callable[[bytes], Told]:
    """Return what takes the encoded messages of a stream apart; it keeps the last ones, as many may watch a game."""
    with_place = {
        field.name
        for field in descriptor_of(kind).oneofs_by_name["content"].fields
        if field.message_type is not None and {"version", "mark"} <= set(field.message_type.fields_by_name)
    }
    resumable = "heartbeat" in with_place

    @lru_cache(to_json.MOST_KEPT)
    def tell(encoded: bytes) -> Told:
        message: Any = kind.FromString(encoded)
        told = message.WhichOneof("content")
        content: Any = getattr(message, told) if told is not None else None
        place = f"{content.version}.{content.mark}" if resumable and told in with_place else ""
        is_last = told == "end" and content.reason in _LAST_ENDS
        return Told(told or "message", place, is_last, to_json.encode(message))

    return tell


def _read_body(exchange: Exchange, kind: type[Message], body: bytes) -> Message:
    if exchange.query:
        name = from_json.printable(exchange.query.partition("&")[0].partition("=")[0])
        raise FieldError(name, "can't be a query parameter here: all fields are in the body")
    if body and exchange.media_type not in ("application/json", ""):
        raise UnsupportedMediaTypeError("the body needs to be JSON, with the header 'content-type: application/json'")
    if exchange.header(b"content-encoding").lower() not in ("", "identity"):
        raise UnsupportedMediaTypeError("the body needs to be as it is, without a content-encoding")
    return from_json.parse(kind, body)


def _read_query(exchange: Exchange, kind: type[Message]) -> Message:
    if not exchange.query:
        return kind()
    return from_json.from_dict(kind, from_query(kind, exchange.query))


def _resume(message: Message, last: str) -> None:
    """Let a watch go on after an event. Raises FieldError."""
    assert isinstance(message, pb.WatchGameRequest)
    match = _EVENT_ID.fullmatch(last)
    if match is None or int(match[1]) >= 1 << 64:
        raise FieldError(LAST_EVENT_ID, "is not the id of an event of this stream")
    message.after_version, message.after_mark = int(match[1]), match[2]
