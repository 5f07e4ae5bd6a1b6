"""The log's entries, and the ring of answered requests, as bytes.

An entry is the time (8 bytes, big-endian milliseconds, added by the store), the mark of its commit (8), the seat (1),
the cause (1) and the action plus three (varint; what is less than three is no action). A ring is a row of answers, the
newest first: request (16), content (8), version (8).

The log of a game that has been over for a while is packed: each entry is the milliseconds since the one before
(varint), the seat with the cause above it (1), and the action as above, all of it compressed by zlib. Its marks are
gone, since nothing is committed upon it any more.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from moonvale_engine.log import TABLE_ENTRIES, Entry

MARK_BYTES: Final = 8
RING_SIZE: Final = 8  # answers that are remembered for each slot
SLOTS: Final = 4  # one for each seat

_FIRST: Final = min(TABLE_ENTRIES)
_CAUSE_AT: Final = 4  # bits, of a byte of a packed log
_SEAT: Final = 15
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
    _put(out, entry.action - _FIRST)
    return bytes(out)


def _put(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def decode_entry(data: bytes) -> MarkedEntry:
    """Return the entry of stored bytes, time included. Raises LogError."""
    if len(data) < _HEAD + 3 or data[-1] > 127:
        raise LogError("not a log entry")
    number = 0
    for byte in reversed(data[_HEAD + 2 :]):
        number = number << 7 | byte & 127
    time = int.from_bytes(data[:_TIME_BYTES], "big")
    return MarkedEntry(data[_TIME_BYTES:_HEAD], Entry(data[_HEAD], number + _FIRST, data[_HEAD + 1], time))


def pack_log(entries: Sequence[MarkedEntry]) -> bytes:
    """Return a whole log without its marks; times must not go back, as they never do in a log."""
    out, before = bytearray(), 0
    for _, entry in entries:
        _put(out, entry.time - before)
        out.append(entry.seat | entry.cause << _CAUSE_AT)
        _put(out, entry.action - _FIRST)
        before = entry.time
    return zlib.compress(out, 9)


def unpack_log(data: bytes) -> list[MarkedEntry]:
    """Return the entries of a packed log, their marks empty. Raises LogError."""
    entries, time = [], 0
    try:
        reader = iter(zlib.decompress(data))
        for first in reader:
            time += _number(first, reader)
            who = next(reader)
            action = _number(next(reader), reader) + _FIRST
            entries.append(MarkedEntry(b"", Entry(who & _SEAT, action, who >> _CAUSE_AT, time)))
    except (zlib.error, StopIteration):
        raise LogError("not a packed log") from None
    return entries


def _number(first: int, reader: Iterator[int]) -> int:
    number, shift = first & 127, 7
    while first > 127:
        first = next(reader)
        number |= (first & 127) << shift
        shift += 7
    return number


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
