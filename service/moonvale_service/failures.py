"""Failures: what a client gets to read of whatever was raised."""

from __future__ import annotations

import secrets

from moonvale_engine.errors import UnknownRulesError
from moonvale_service import logs, tracing
from moonvale_service.errors import CallError, GameNotFoundError, InternalError, RulesUnknownError, UnavailableError
from moonvale_service.store import GameMissingError, StoreUnavailableError


def failure_of(error: Exception) -> CallError:
    """Return the error that the client gets. The service's own mistakes are logged here, with a trace id."""
    if isinstance(error, CallError):
        return error
    if isinstance(error, GameMissingError):
        return GameNotFoundError()
    if isinstance(error, StoreUnavailableError):
        logs.event("warning", "store_unavailable", error=error)
        return UnavailableError()
    if isinstance(error, UnknownRulesError):
        return RulesUnknownError(error.what, error.version, error.known)
    trace = tracing.trace_id() or secrets.token_hex(8)
    logs.event("error", "internal_error", error=error, trace=trace)
    return InternalError(trace)
