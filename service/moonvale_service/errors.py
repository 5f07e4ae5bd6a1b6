"""Errors of calls: one class for each reaction a client can have, with its status code and reason; and their encoding.

Messages and metadata are made of public facts alone: not of credentials, request ids, cards or an exception's text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Final

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

DOMAIN: Final = "moonvale.v1"
DETAILS_KEY: Final = "grpc-status-details-bin"

_LONGEST_MESSAGE: Final = 300  # trailers have to fit into a few kilobytes


class CallError(Exception):
    """A call has failed. ``metadata`` is for programs, the message for people."""

    code: ClassVar[grpc.StatusCode]
    reason: ClassVar[str]

    def __init__(self, message: str, **metadata: str) -> None:
        super().__init__(message)
        self.message = message[:_LONGEST_MESSAGE]
        self.metadata = metadata


class MalformedRequestError(CallError):
    """The bytes are not a message of the method."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "MALFORMED_REQUEST"


class FieldError(CallError):
    """A field of the request is wrong: ``field`` is its path."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "INVALID_FIELD"

    def __init__(self, field: str, description: str) -> None:
        super().__init__(f"{field}: {description}")
        self.field = field
        self.description = description[:_LONGEST_MESSAGE]


class MessageTooLargeError(CallError):
    """The request is larger than the service reads."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "MESSAGE_TOO_LARGE"

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the request has {size} bytes, at most {limit} are read", limit_bytes=str(limit))


class UnknownPathError(CallError):
    """The HTTP port has nothing at this path."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_PATH"

    def __init__(self) -> None:
        super().__init__("there is nothing at this path: /openapi.json lists all that there is")


class MethodNotAllowedError(CallError):
    """The path is good, but not with this HTTP method; ``allowed``: those that it is good with."""

    code = grpc.StatusCode.UNIMPLEMENTED
    reason = "METHOD_NOT_ALLOWED"

    def __init__(self, verb: str, allowed: Sequence[str]) -> None:
        super().__init__(f"this path takes no {verb}, but {' or '.join(allowed)}", allow=", ".join(allowed))
        self.allowed = allowed


class UnsupportedMediaTypeError(CallError):
    """The body of an HTTP request is of a form that the service doesn't read."""

    code = grpc.StatusCode.UNIMPLEMENTED
    reason = "UNSUPPORTED_MEDIA_TYPE"


class DeadlineExceededError(CallError):
    """The call took longer than its client wanted to wait; gRPC clients notice that by themselves."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED
    reason = "DEADLINE_EXCEEDED"

    def __init__(self) -> None:
        super().__init__("the call took longer than its deadline allows: try again, with the same request id")


class CredentialMissingError(CallError):
    """The method needs a credential, and the call has none."""

    code = grpc.StatusCode.UNAUTHENTICATED
    reason = "CREDENTIAL_MISSING"

    def __init__(self) -> None:
        message = (
            "needs a credential: send the metadata 'authorization: Bearer CREDENTIAL', or the seat's to WatchTurns"
        )
        super().__init__(message)


class CredentialInvalidError(CallError):
    """The credential is not one of this service's."""

    code = grpc.StatusCode.UNAUTHENTICATED
    reason = "CREDENTIAL_INVALID"

    def __init__(self) -> None:
        super().__init__("the credential is not one that this service has given out")


class CredentialRevokedError(CallError):
    """The credential was replaced by another one."""

    code = grpc.StatusCode.UNAUTHENTICATED
    reason = "CREDENTIAL_REVOKED"

    def __init__(self) -> None:
        super().__init__("the credential was replaced by RotateCredential: ask for the new one")


class CredentialOfAnotherGameError(CallError):
    """The credential is good, but for another game."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "CREDENTIAL_OF_ANOTHER_GAME"

    def __init__(self) -> None:
        super().__init__("the credential is for another game than the one that the request names")


class CreatorKeyRequiredError(CallError):
    """Only the holder of the server's creator key may do this."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "CREATOR_KEY_REQUIRED"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs the creator key: send the metadata 'authorization: Bearer CREATOR_KEY'")


class RoleNotAllowedError(CallError):
    """The credential's role may not do this."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "ROLE_NOT_ALLOWED"

    def __init__(self, role: str, words: str, allowed: str) -> None:
        super().__init__(f"the credential is: {words}; this method needs: {allowed}", role=role)


class GameNotFoundError(CallError):
    """There is no such game."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "GAME_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("there is no such game: it never was, was deleted, or has expired")


class StaleVersionError(CallError):
    """The game has moved on since the version that the request names."""

    code = grpc.StatusCode.ABORTED
    reason = "STALE_VERSION"

    def __init__(self, sent: int, version: int) -> None:
        message = f"version {sent} was sent, the game is at version {version}: read the view and choose again"
        super().__init__(message, version=str(version))


class ActionIllegalError(CallError):
    """The action is not one of the open decision's."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "ILLEGAL_ACTION"

    def __init__(self, index: int) -> None:
        super().__init__(f"actions[{index}] is not one of the legal actions of the open decision")


class NotYourTurnError(CallError):
    """Another seat is to act."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "NOT_YOUR_TURN"

    def __init__(self, seat: int) -> None:
        super().__init__(f"seat {seat} is to act", seat=str(seat))


class GameIsOverError(CallError):
    """The game is over."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "GAME_OVER"

    def __init__(self) -> None:
        super().__init__("the game is over")


class GameNotOverError(CallError):
    """The game is not over yet."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "GAME_NOT_OVER"

    def __init__(self) -> None:
        super().__init__("the game is not over yet")


class ReplaySealedError(CallError):
    """The replay stays sealed for some time."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "REPLAY_SEALED"

    def __init__(self, until: str) -> None:
        super().__init__(f"the replay is sealed until {until}", until=until)


class BatchRevealsError(CallError):
    """Several actions were sent at once, and one before the last could reveal something."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "BATCH_REVEALS"

    def __init__(self, index: int) -> None:
        super().__init__(f"actions[{index}] could reveal something, so it must be the last: send the rest afterwards")


class RequestIdReusedError(CallError):
    """The request id was used before, for something else."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "REQUEST_ID_REUSED"

    def __init__(self) -> None:
        super().__init__("the request id was used before, for something else: choose a new one")


class HistoryRewoundError(CallError):
    """The game's log is not a continuation of what the client has seen."""

    code = grpc.StatusCode.ABORTED
    reason = "HISTORY_REWOUND"

    def __init__(self, version: int) -> None:
        message = f"the store lost its last writes and is at version {version}: read the view and go on from there"
        super().__init__(message, version=str(version))


class UnavailableError(CallError):
    """The store does not answer."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "STORE_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__("the store does not answer: try again, with the same request id")


class RulesUnknownError(CallError):
    """The game is of a version, of the rules or of what stored it, that this server does not know."""

    code = grpc.StatusCode.FAILED_PRECONDITION
    reason = "RULES_UNKNOWN"

    def __init__(self, what: str, version: int, known: Sequence[int]) -> None:
        versions = ", ".join([str(each) for each in known])
        super().__init__(
            f"the game is of version {version} of the {what}, this server knows {versions}: another server can play it"
        )


class DrainingError(CallError):
    """This server is shutting down."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "DRAINING"

    def __init__(self) -> None:
        super().__init__("this server is shutting down: try again, with the same request id")


class InternalError(CallError):
    """An error of the service itself, which is in its log with the trace id."""

    code = grpc.StatusCode.INTERNAL
    reason = "INTERNAL"

    def __init__(self, trace: str) -> None:
        super().__init__("internal error", trace_id=trace)


class ReaderTooSlowError(CallError):
    """The client of a stream does not read what it is sent."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "READER_TOO_SLOW"

    def __init__(self) -> None:
        super().__init__("messages have waited too long to be read: watch again, after the last version received")


class RateLimitedError(CallError):
    """The caller made too many calls in a short time; ``delay``: the seconds after which to try again."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "RATE_LIMITED"

    def __init__(self, per_second: int, delay: float) -> None:
        message = f"more than {per_second} calls a second: try again in {delay:.3f} s, with the same request id"
        super().__init__(message, per_second=str(per_second))
        self.delay = delay

    @property
    def retry_delay(self) -> Duration:
        """The delay as messages tell it."""
        delay = Duration()
        delay.FromNanoseconds(math.ceil(self.delay * 1e9))
        return delay


class TooManyWatchesError(CallError):
    """The credential has as many streams open as one may have."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_WATCHES"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the credential has {limit} streams open already: close one", limit=str(limit))


def status_of(error: CallError) -> status_pb2.Status:
    """Return the google.rpc.Status of an error, with its details."""
    status = status_pb2.Status(code=error.code.value[0], message=error.message)
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=error.metadata))
    if isinstance(error, FieldError):
        violation = error_details_pb2.BadRequest.FieldViolation(field=error.field, description=error.description)
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    if isinstance(error, RateLimitedError):
        status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=error.retry_delay))
    return status


def status_bytes(error: CallError) -> bytes:
    """Return the google.rpc.Status of an error, encoded for the trailers."""
    return status_of(error).SerializeToString(deterministic=True)
