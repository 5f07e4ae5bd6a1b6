"""Times: milliseconds since the epoch to timestamps."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp


def timestamp(milliseconds: int) -> Timestamp:
    """Return a time given in milliseconds since the epoch."""
    return Timestamp(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)
