"""The log's entries, and the ring of answered requests, as bytes.

An entry is the time (8 bytes, big-endian milliseconds, added by the store), the mark of its commit (8), the seat (1),
the cause (1) and the action plus three (varint; what is less than three is no action). A ring is a row of answers, the
newest first: request (16), content (8), version (8).
"""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from moonvale_engine.log import TABLE_ENTRIES, Entry

MARK_BYTES: Final = 8
RING_SIZE: Final = 8  # answers that are remembered for each slot
SLOTS: Final = 4  # one for each seat

_FIRST: Final = min(TABLE_ENTRIES)
_TIME_BYTES: Final = 8
_HEAD: Final = _TIME_BYTES + MARK_BYTES
_REQUEST_BYTES: Final = 16
_CONTENT_BYTES: Final = 8
_ANSWER_BYTES: Final = _REQUEST_BYTES + _CONTENT_BYTES + 8


class LogError(Exception):
    """Stored bytes are no log entry."""


class MarkedEntry(NamedTuple):
    """An entry of the log, and the mark of the commit that it came with."""

    mark: bytes
    entry: Entry


class Answer(NamedTuple):
    """A request that was answered before: its content, and the version it was applied at."""

    content: bytes
    version: int


def encode_entry(mark: bytes, entry: Entry) -> bytes:
    """Return an entry without its time."""
    out = bytearray(mark)
    out += bytes((entry.seat, entry.cause))
    number = entry.action - _FIRST
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode_entry(data: bytes) -> MarkedEntry:
    """Return the entry of stored bytes, time included. Raises LogError."""
    if len(data) < _HEAD + 3 or data[-1] > 127:
        raise LogError("not a log entry")
    number = 0
    for byte in reversed(data[_HEAD + 2 :]):
        number = number << 7 | byte & 127
    time = int.from_bytes(data[:_TIME_BYTES], "big")
    return MarkedEntry(data[_TIME_BYTES:_HEAD], Entry(data[_HEAD], number + _FIRST, data[_HEAD + 1], time))


def request_key(request_id: str) -> bytes:
    """Return what is kept of a request id, which is a secret itself."""
    return hashlib.sha256(b"moonvale/1/request/" + request_id.encode()).digest()[:_REQUEST_BYTES]


def content_digest(content: bytes) -> bytes:
    """Return what is kept of a request's content."""
    return hashlib.sha256(b"moonvale/1/content/" + content).digest()[:_CONTENT_BYTES]


def find_answer(ring: bytes, request: bytes) -> Answer | None:
    """Return the answer that a request has got before, if the ring still holds it."""
    for start in range(0, len(ring), _ANSWER_BYTES):
        at = start + _REQUEST_BYTES
        if ring[start:at] == request:
            version = ring[at + _CONTENT_BYTES : start + _ANSWER_BYTES]
            return Answer(ring[at : at + _CONTENT_BYTES], int.from_bytes(version, "big"))
    return None


def add_answer(ring: bytes, request: bytes, answer: Answer) -> bytes:
    """Return the ring with one more answer; the oldest one falls out of a full one."""
    return (request + answer.content + answer.version.to_bytes(8, "big") + ring)[: RING_SIZE * _ANSWER_BYTES]
