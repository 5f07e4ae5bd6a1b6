"""What the converters share: the error of a wrong field, and times."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp


class InvalidFieldError(ValueError):
    """A field of a request is wrong. ``field``: its path, ``actions[0].take.depth``. ``message``: what would do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def timestamp(milliseconds: int) -> Timestamp:
    """Return a time given in milliseconds since the epoch."""
    return Timestamp(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)
