"""Cross-origin requests: which pages of other origins may call the HTTP port from a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.middleware.cors import CORSMiddleware

from moonvale_service.http.exchange import Application

_VERBS: Final = ("GET", "POST", "DELETE")
_REQUEST_HEADERS: Final = (
    "authorization",
    "last-event-id",
    *("connect-protocol-version", "connect-timeout-ms"),
    *("grpc-timeout", "x-grpc-web", "x-user-agent"),
)
_RESPONSE_HEADERS: Final = (
    *("allow", "retry-after", "www-authenticate"),
    *("grpc-status", "grpc-message", "grpc-status-details-bin"),
)
_SECONDS: Final = 7200  # for which a browser remembers what it may do; more, none does


def shared(app: Application, origins: Sequence[str]) -> Application:
    """Return the application as it answers pages of these origins; without any, as it is.

    There are no cookies: a page has a credential only if somebody gave it one.
    """
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=_VERBS,
        allow_headers=_REQUEST_HEADERS,
        expose_headers=_RESPONSE_HEADERS,
        max_age=_SECONDS,
    )
