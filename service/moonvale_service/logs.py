"""Logs: one JSON object per line on standard error, made of known fields alone.

Nothing hidden can slip in: the functions here take what may be logged and nothing else, a request id is hashed on the
way, and of an exception only its class and where it arose are written, since its message could hold anything.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

import grpc.aio
import orjson
import structlog

_MOST_FRAMES: Final = 16
_REQUEST_HASH: Final = 12  # hex digits: enough to find the calls that repeat each other


def configure(level: str) -> None:
    """Log from this level on, and the standard library's loggers with it. Called once, as the process starts."""
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_process,
            structlog.processors.JSONRenderer(serializer=orjson.dumps),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.BytesLoggerFactory(file=sys.stderr.buffer),
    )
    _Bound.logger = structlog.get_logger().bind()
    root = logging.getLogger()
    root.handlers[:] = [_StandardHandler()]
    root.setLevel(threshold)


def call(
    level: str,
    method: str,
    *,
    code: str,
    milliseconds: float,
    reason: str | None = None,
    game: str | None = None,
    role: str | None = None,
    seat: int | None = None,
    seats: int | None = None,
    request_id: str | None = None,
    version: int | None = None,
    trace: str | None = None,
) -> None:
    """Log a finished call. ``trace``: the id of its trace, if it is traced."""
    fields = {
        "method": method,
        "code": code,
        "reason": reason,
        "ms": round(milliseconds, 2),
        "game": game,
        "role": role,
        "seat": seat,
        "seats": seats,
        "request": hashlib.sha256(request_id.encode()).hexdigest()[:_REQUEST_HASH] if request_id else None,
        "version": version,
        "trace": trace,
    }
    _write(level, "call", fields)


def event(
    level: str,
    name: str,
    *,
    error: BaseException | None = None,
    trace: str | None = None,
    worker: int | None = None,
    process: int | None = None,
    code: int | None = None,
    seconds: float | None = None,
    address: str | None = None,
    game: str | None = None,
) -> None:
    """Log something that is no call. ``code``: how a process ended; ``address``: where the service is reached."""
    fields = {
        "error": None if error is None else _describe(error),
        "trace": trace,
        "worker": worker,
        "process": process,
        "code": code,
        "seconds": seconds,
        "address": address,
        "game": game,
    }
    _write(level, name, fields)


def _write(level: str, name: str, fields: Mapping[str, Any]) -> None:
    known = {key: value for key, value in fields.items() if value is not None}
    getattr(_Bound.logger, level)(name, **known)


class _Bound:
    """What ``configure`` has made once: structlog would make a logger anew for each line."""

    logger: Any = structlog.get_logger()


def _add_process(_logger: object, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    fields["pid"] = os.getpid()
    return fields


def _describe(error: BaseException) -> list[str]:
    """Say of an exception, and of what it came from, its class and where it arose: never its message."""
    lines = []
    cause: BaseException | None = error
    while cause is not None:
        kind = type(cause)
        lines.append(f"{kind.__module__}.{kind.__qualname__}")
        for frame, line in list(traceback.walk_tb(cause.__traceback__))[-_MOST_FRAMES:]:
            lines.append(f"  {frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_name}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return lines


class _StandardHandler(logging.Handler):
    """Writes what libraries log, without its text: where it was logged says what it is."""

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = {"logger": record.name, "at": f"{record.module}:{record.lineno}"}
        # Libraries have levels of their own; structlog has these.
        level = next(name for least, name in _LEVELS if record.levelno >= least)
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            fields["error"] = _describe(error)
        if isinstance(error, grpc.aio.InternalError):  # a client was gone before its answer: no mistake of ours
            level = "info"
        _write(level, "library", fields)


_LEVELS: Final = ((logging.ERROR, "error"), (logging.WARNING, "warning"), (logging.INFO, "info"), (0, "debug"))
