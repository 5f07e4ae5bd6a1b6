"""Errors over HTTP: the code, the headers and the JSON body of each."""

from __future__ import annotations

import base64
import math
from typing import Any, Final

import grpc
import orjson
from google.protobuf import json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2

from moonvale_service.errors import (
    CallError,
    MessageTooLargeError,
    MethodNotAllowedError,
    UnsupportedMediaTypeError,
    status_of,
)

JSON: Final = b"application/json"

#: As google/rpc/code.proto says; Connect has the same ones.
HTTP_CODES: Final = {
    grpc.StatusCode.CANCELLED: 499,
    grpc.StatusCode.UNKNOWN: 500,
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DATA_LOSS: 500,
}
#: Errors for which HTTP has a code that says more.
_OF_HTTP: Final = {MessageTooLargeError: 413, MethodNotAllowedError: 405, UnsupportedMediaTypeError: 415}
_RETRY_AFTER: Final = 1  # seconds, where the error itself names none


def http_code(error: CallError) -> int:
    """Return the code that a REST response has."""
    return http_code_of(type(error))


def http_code_of(kind: type[CallError]) -> int:
    """Return the code of a REST response with an error of a class."""
    return _OF_HTTP.get(kind) or HTTP_CODES[kind.code]


def headers(error: CallError) -> list[tuple[bytes, bytes]]:
    """Return the headers that belong to an error."""
    if error.code is grpc.StatusCode.UNAUTHENTICATED:
        return [(b"www-authenticate", b"Bearer")]
    if isinstance(error, MethodNotAllowedError):
        return [(b"allow", ", ".join(error.allowed).encode("ascii"))]
    seconds = _retry_after(error)
    return [] if seconds is None else [(b"retry-after", str(seconds).encode("ascii"))]


def status_json(error: CallError) -> dict[str, Any]:
    """Return the google.rpc.Status of an error in protobuf's JSON mapping."""
    return json_format.MessageToDict(status_of(error))


def rest_body(error: CallError) -> bytes:
    """Return the body of an error over REST."""
    return orjson.dumps(status_json(error))


def connect_error(error: CallError) -> dict[str, Any]:
    """Return an error as Connect writes it."""
    details = [
        {
            "type": detail.type_url.rpartition("/")[2],
            "value": base64.b64encode(detail.value).decode("ascii").rstrip("="),
            "debug": _debug(detail),
        }
        for detail in status_of(error).details
    ]
    # The protocol has one l where gRPC has two.
    code = error.code.name.lower().replace("cancelled", "canceled")
    return {"code": code, "message": error.message, "details": details}


def _debug(detail: AnyMessage) -> dict[str, Any]:
    debug = json_format.MessageToDict(detail)
    del debug["@type"]
    return debug


def _retry_after(error: CallError) -> int | None:
    """Return the whole seconds after which it is worth while to try again."""
    if error.code is grpc.StatusCode.UNAVAILABLE:
        return _RETRY_AFTER
    retry = error_details_pb2.RetryInfo()
    for detail in status_of(error).details:
        if detail.Unpack(retry):
            return max(1, math.ceil(retry.retry_delay.ToNanoseconds() / 1e9))
    return None
