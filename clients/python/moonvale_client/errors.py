"""Errors of the client: every failed call raises a `MoonvaleError`, which says what the service said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

import grpc
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "moonvale.v1"

# Reasons that the client itself acts on; all are listed in the contract's ErrorReason.
CREDENTIAL_REVOKED = "CREDENTIAL_REVOKED"
GAME_BEGUN = "GAME_BEGUN"
GAME_NOT_BEGUN = "GAME_NOT_BEGUN"
GAME_NOT_FOUND = "GAME_NOT_FOUND"
GAME_OVER = "GAME_OVER"
HISTORY_REWOUND = "HISTORY_REWOUND"
NOT_YOUR_TURN = "NOT_YOUR_TURN"
STALE_VERSION = "STALE_VERSION"
TIME_OUT = "TIME_OUT"

_DETAILS_KEY = "grpc-status-details-bin"
#: Codes of a call that may succeed when it is made again.
_TRANSIENT = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})
#: Codes that, without a reason of the service's, come from a connection or a server that ended amid the call.
_CUT_SHORT = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.CANCELLED})
#: What grpc says when this process has ended the call itself.
_ENDED_HERE = ("Channel closed!", "Locally cancelled by application!")


class FieldViolation(NamedTuple):
    """A wrong field of a request: its path, such as ``options.players``, and what would be right."""

    field: str
    description: str


class MoonvaleError(Exception):
    """A call failed.

    code: the gRPC status. reason: the name in the contract's ErrorReason, such as ``STALE_VERSION``; empty if the
    service was not reached. metadata: what belongs to the reason. field_violations: the wrong fields of an
    INVALID_FIELD. attempts: how often the call was made. retry_delay: the seconds after which the same call is
    worth repeating, if the service has said so.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        metadata: Mapping[str, str] | None = None,
        field_violations: tuple[FieldViolation, ...] = (),
        attempts: int = 1,
        retry_delay: float | None = None,
    ) -> None:
        super().__init__(code, reason, message, metadata, field_violations, attempts, retry_delay)
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata or {})
        self.field_violations = field_violations
        self.attempts = attempts
        self.retry_delay = retry_delay

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed when it is made again."""
        if self.code in _CUT_SHORT:
            return not self.reason and not any(words in self.message for words in _ENDED_HERE)
        return self.code in _TRANSIENT or self.retry_delay is not None


def from_rpc_error(failure: grpc.RpcError, attempts: int = 1) -> MoonvaleError:
    """Return the error of a failed call, made by the synchronous or the asyncio API."""
    call = cast("grpc.Call", failure)
    status = status_pb2.Status()
    for key, value in call.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            status.ParseFromString(value)
    info = error_details_pb2.ErrorInfo()
    request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    delay = None
    for detail in status.details:
        candidate = error_details_pb2.ErrorInfo()
        if detail.Unpack(candidate) and candidate.domain == DOMAIN:
            info = candidate
        detail.Unpack(request)
        if detail.Unpack(retry):
            delay = retry.retry_delay.ToNanoseconds() / 1e9
    violations = tuple([FieldViolation(wrong.field, wrong.description) for wrong in request.field_violations])
    return MoonvaleError(
        call.code(), info.reason, call.details() or "", dict(info.metadata), violations, attempts, delay
    )
