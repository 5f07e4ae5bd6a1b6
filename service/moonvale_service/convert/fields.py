"""Fields of requests that more than one method has: texts, labels, times, ids, commitments. All raise FieldError."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from moonvale_service import limits
from moonvale_service.errors import FieldError

_COMMITMENT_BYTES: Final = 32
_LAST_SECOND: Final = 253_402_300_799  # of the year 9999, the last that timestamps go to


def text(field: str, given: str) -> str:
    """Return a text that is short enough to be kept."""
    size = len(given.encode())
    if size > limits.MAX_TEXT_BYTES:
        raise FieldError(field, f"may have {limits.MAX_TEXT_BYTES} bytes, has {size}")
    return given


def labels(field: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return labels that are few and short enough to be kept."""
    if len(given) > limits.MAX_LABELS:
        raise FieldError(field, f"may have {limits.MAX_LABELS} entries, has {len(given)}")
    for key, value in given.items():
        text(f"{field} (a key)", key)
        text(f"{field} (a value)", value)
    return dict(given)


def secret_id(given: str) -> str:
    """Return a request id that leads to credentials; one of our own if the caller gave none."""
    request_id = text("request_id", given) or secrets.token_hex()
    if len(request_id) < limits.MIN_SECRET_REQUEST_ID:
        least = limits.MIN_SECRET_REQUEST_ID
        raise FieldError("request_id", f"needs {least} characters or more, best a random UUID: it is a secret")
    return request_id


def milliseconds(field: str, time: Timestamp) -> int:
    """Return a time in milliseconds since the epoch."""
    if not (0 <= time.seconds <= _LAST_SECOND and 0 <= time.nanos < 1_000_000_000):
        raise FieldError(field, "needs a time of the years 1970 to 9999")
    return time.seconds * 1000 + time.nanos // 1_000_000


def commitment(field: str, given: bytes) -> bytes:
    """Return what a seat commits to: a digest, or nothing."""
    if len(given) not in (0, _COMMITMENT_BYTES):
        raise FieldError(field, f"needs {_COMMITMENT_BYTES} bytes, has {len(given)}")
    return given
