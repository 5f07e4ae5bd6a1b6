"""Clients for tests that speak the protocols of the HTTP port, each written from its description and nothing of ours.

They are drop-in replacements of the gRPC client: a test that takes one says the same over any transport.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, ClassVar, Final, Self
from urllib.parse import unquote

import grpc
import httpx
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from moonvale.v1 import game_service_pb2 as pb
from tests.service.client import SERVICE, Client, Failure

JSON: Final = {"content-type": "application/json"}

#: The verb, the path and whether the fields are in a body; {} stands for the field named last.
REST: Final = {
    "CreateGame": ("POST", "/v1/games", True, ""),
    "ClaimSeat": ("POST", "/v1/{}:claimSeat", True, "name"),
    "LeaveSeat": ("POST", "/v1/{}:leaveSeat", True, "name"),
    "RevealEntropy": ("POST", "/v1/{}:revealEntropy", True, "name"),
    "ReclaimSeat": ("POST", "/v1/{}:reclaimSeat", True, "name"),
    "Rematch": ("POST", "/v1/{}:rematch", True, "name"),
    "GetView": ("GET", "/v1/{}", False, "name"),
    "SubmitAction": ("POST", "/v1/{}:submitAction", True, "name"),
    "WatchGame": ("GET", "/v1/{}:watch", False, "name"),
    "WatchTurns": ("POST", "/v1/games:watchTurns", True, ""),
    "ListEvents": ("GET", "/v1/{}/events", False, "parent"),
    "GetReplay": ("GET", "/v1/{}/replay", False, "name"),
    "Resign": ("POST", "/v1/{}:resign", True, "name"),
    "DeleteGame": ("DELETE", "/v1/{}", False, "name"),
    "RotateCredential": ("POST", "/v1/{}:rotateCredential", True, "name"),
    "ListGames": ("GET", "/v1/games", False, ""),
    "GetCatalog": ("GET", "/v1/catalog", False, ""),
    "GetServerInfo": ("GET", "/v1/serverInfo", False, ""),
}
CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


def failure(status: status_pb2.Status, *said: object) -> Failure:
    """Take an error apart. ``said``: everything that came with it, for those who compare."""
    info = error_details_pb2.ErrorInfo()
    violations = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    delay = None
    for detail in status.details:
        if detail.Unpack(retry):
            delay = retry.retry_delay.ToNanoseconds() / 1e9
        else:
            assert detail.Unpack(violations) or detail.Unpack(info)
    assert info.domain == "moonvale.v1"
    fields = tuple([violation.field for violation in violations.field_violations])
    code = CODES[status.code]
    return Failure(code, info.reason, status.message, dict(info.metadata), fields, (("said", said),), delay)


def headers_of(response: httpx.Response) -> dict[str, str]:
    """The headers of a response, without the one that says when."""
    return {name: value for name, value in response.headers.items() if name != "date"}


def rest_failure(response: httpx.Response) -> Failure:
    """Take an error over REST apart."""
    assert response.headers["content-type"] == "application/json"
    status = json_format.Parse(response.text, status_pb2.Status())
    return failure(status, response.status_code, headers_of(response), response.text)


def bearer(credential: str | None) -> dict[str, str]:
    """The header of a credential."""
    return {} if credential is None else {"authorization": f"Bearer {credential}"}


def request_class(method: str) -> type[Message]:
    """The request of a method."""
    return getattr(pb, f"{method}Request")  # type: ignore[no-any-return]


def response_class(method: str) -> type[Message]:
    """The response of a method."""
    return getattr(pb, f"{method}Response")  # type: ignore[no-any-return]


class HttpClient(Client):
    """What the clients of all protocols share."""

    def __init__(self, url: str) -> None:
        self.http = httpx.AsyncClient(base_url=url, timeout=60)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()


class RestClient(HttpClient):
    """REST; streams are read as server-sent events, or by ``LinesClient`` as lines."""

    async def raw(self, method: str, request: bytes, credential: str | None = None) -> bytes:
        """Call a method."""
        response = await self.http.send(self._request(method, request, credential))
        if response.status_code != 200:
            raise rest_failure(response)
        assert response.headers["content-type"] == "application/json"
        return json_format.Parse(response.text, response_class(method)()).SerializeToString()

    def _request(
        self, method: str, request: bytes, credential: str | None, more: Mapping[str, str] | None = None
    ) -> httpx.Request:
        verb, path, has_body, name = REST[method]
        message = request_class(method).FromString(request)
        fields = json_format.MessageToDict(message)
        target = fields.pop(name, "") if name else ""
        headers = {**bearer(credential), **(more or {})}
        path = path.format(target)
        if has_body:
            return self.http.build_request(verb, path, json=fields, headers=headers)
        return self.http.build_request(verb, path, params=fields, headers=headers)

    async def raw_stream(
        self, method: str, request: bytes, credential: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Call a method that answers with a stream."""
        async with aclosing(self.events_of(method, request, credential)) as events:
            async for event in events:
                yield json_format.Parse(event["data"], response_class(method)()).SerializeToString()

    async def events_of(
        self, method: str, request: bytes, credential: str | None, last: str | None = None
    ) -> AsyncGenerator[dict[str, str], None]:
        """Yield the server-sent events of a stream, field by field."""
        more = {"accept": "text/event-stream"} | ({} if last is None else {"last-event-id": last})
        response = await self.http.send(self._request(method, request, credential, more), stream=True)
        try:
            if response.status_code == 204:
                return
            if response.status_code != 200:
                await response.aread()
                raise rest_failure(response)
            assert response.headers["content-type"] == "text/event-stream"
            async for event in _events(response):
                if event["event"] == "status":
                    raise failure(json_format.Parse(event["data"], status_pb2.Status()), event)
                yield event
        finally:
            await response.aclose()


class LinesClient(RestClient):
    """REST; streams are read as newline-delimited JSON."""

    async def raw_stream(
        self, method: str, request: bytes, credential: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Call a method that answers with a stream."""
        asking = self._request(method, request, credential, {"accept": "application/x-ndjson"})
        response = await self.http.send(asking, stream=True)
        try:
            if response.status_code != 200:
                await response.aread()
                raise rest_failure(response)
            assert response.headers["content-type"] == "application/x-ndjson"
            async for line in response.aiter_lines():
                told = json.loads(line)
                if "status" in told:
                    raise failure(json_format.ParseDict(told["status"], status_pb2.Status()), line)
                yield json_format.ParseDict(told, response_class(method)()).SerializeToString()
        finally:
            await response.aclose()


async def _events(response: httpx.Response) -> AsyncIterator[dict[str, str]]:
    event: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            assert name in ("id", "event", "data", "retry")
            assert name not in event
            event[name] = value
        else:
            yield event
            event = {}
    assert not event


class ConnectClient(HttpClient):
    """Connect with protobuf's bytes."""

    codec: ClassVar[str] = "proto"

    async def raw(self, method: str, request: bytes, credential: str | None = None) -> bytes:
        """Call a method."""
        headers = {"content-type": f"application/{self.codec}", "connect-protocol-version": "1", **bearer(credential)}
        body = self._written(request_class(method), request)
        response = await self.http.post(f"/{SERVICE}/{method}", content=body, headers=headers)
        if response.status_code != 200:
            assert response.headers["content-type"] == "application/json"
            raise _connect_failure(response.json(), response.status_code, headers_of(response), response.text)
        assert response.headers["content-type"] == f"application/{self.codec}"
        return self._read(response_class(method), response.content)

    async def raw_stream(
        self, method: str, request: bytes, credential: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Call a method that answers with a stream."""
        media_type = f"application/connect+{self.codec}"
        body = self._written(request_class(method), request)
        body = struct.pack(">BI", 0, len(body)) + body
        headers = {"content-type": media_type, **bearer(credential)}
        path = f"/{SERVICE}/{method}"
        async with self.http.stream("POST", path, content=body, headers=headers) as response:
            assert (response.status_code, response.headers["content-type"]) == (200, media_type)
            async with aclosing(envelopes(response.aiter_raw())) as parts:
                async for flags, part in parts:
                    if flags == 0:
                        yield self._read(response_class(method), part)
                        continue
                    assert flags == 2
                    last = json.loads(part)
                    if "error" in last:
                        raise _connect_failure(last["error"], part)
                    assert last == {}

    def _written(self, _kind: type[Message], request: bytes) -> bytes:
        return request

    def _read(self, _kind: type[Message], response: bytes) -> bytes:
        return response


class ConnectJsonClient(ConnectClient):
    """Connect with JSON."""

    codec = "json"

    def _written(self, kind: type[Message], request: bytes) -> bytes:
        return json_format.MessageToJson(kind.FromString(request)).encode()

    def _read(self, kind: type[Message], response: bytes) -> bytes:
        return json_format.Parse(response, kind()).SerializeToString()


def _connect_failure(error: dict[str, Any], *said: object) -> Failure:
    names = {code.name.lower().replace("cancelled", "canceled"): code for code in grpc.StatusCode}
    status = status_pb2.Status(code=names[error["code"]].value[0], message=error["message"])
    for detail in error["details"]:
        value = base64.b64decode(detail["value"] + "=" * (-len(detail["value"]) % 4))
        status.details.add(type_url=f"type.googleapis.com/{detail['type']}", value=value)
    return failure(status, *said)


class GrpcWebClient(HttpClient):
    """gRPC-Web, binary."""

    media_type: ClassVar[str] = "application/grpc-web+proto"

    async def raw(self, method: str, request: bytes, credential: str | None = None) -> bytes:
        """Call a method."""
        async with aclosing(self._call(method, request, credential)) as messages:
            (message,) = [message async for message in messages]
            return message

    async def raw_stream(
        self, method: str, request: bytes, credential: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Call a method that answers with a stream."""
        async with aclosing(self._call(method, request, credential)) as messages:
            async for message in messages:
                yield message

    async def _call(self, method: str, request: bytes, credential: str | None) -> AsyncGenerator[bytes, None]:
        headers = {"content-type": self.media_type, "x-grpc-web": "1", **bearer(credential)}
        body = self._written(struct.pack(">BI", 0, len(request)) + request)
        path = f"/{SERVICE}/{method}"
        async with self.http.stream("POST", path, content=body, headers=headers) as response:
            assert (response.status_code, response.headers["content-type"]) == (200, self.media_type)
            async with aclosing(envelopes(self._read(response.aiter_raw()))) as parts:
                async for flags, part in parts:
                    if flags == 0:
                        yield part
                        continue
                    assert flags == 0x80
                    trailers = dict(line.split(": ", 1) for line in part.decode("ascii").split("\r\n") if line)
                    if trailers["grpc-status"] != "0":
                        raise _grpc_failure(trailers)

    def _written(self, body: bytes) -> bytes:
        return body

    def _read(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        return parts


class GrpcWebTextClient(GrpcWebClient):
    """gRPC-Web as text: pieces of base64."""

    media_type = "application/grpc-web-text+proto"

    def _written(self, body: bytes) -> bytes:
        return base64.b64encode(body)

    async def _read(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        kept = b""
        async for part in parts:
            kept += part
            while len(kept) >= 4:
                yield base64.b64decode(kept[:4])
                kept = kept[4:]
        assert not kept


def _grpc_failure(trailers: dict[str, str]) -> Failure:
    packed = trailers["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    assert str(status.code) == trailers["grpc-status"]
    assert status.message == unquote(trailers["grpc-message"])
    return failure(status, trailers)


async def envelopes(parts: AsyncIterator[bytes]) -> AsyncGenerator[tuple[int, bytes], None]:
    """Yield the flags and the message of each envelope."""
    kept = b""
    async for part in parts:
        kept += part
        while len(kept) >= 5 and len(kept) >= 5 + (size := struct.unpack(">BI", kept[:5])[1]):
            yield kept[0], kept[5 : 5 + size]
            kept = kept[5 + size :]
    assert not kept


TRANSPORTS: Final[dict[str, type[HttpClient]]] = {
    "rest": RestClient,
    "lines": LinesClient,
    "connect": ConnectClient,
    "connect+json": ConnectJsonClient,
    "grpc-web": GrpcWebClient,
    "grpc-web-text": GrpcWebTextClient,
}
