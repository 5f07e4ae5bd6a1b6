"""The ASGI application of the HTTP port: which path is served by what, and how errors are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson

from moonvale_service.edge import DESCRIPTOR, Edge
from moonvale_service.errors import CallError
from moonvale_service.failures import failure_of
from moonvale_service.http import openapi, statuses
from moonvale_service.http.documentation import file, pages
from moonvale_service.http.exchange import ClientGoneError, Exchange, Receive, Scope, Send
from moonvale_service.http.rest import Rest
from moonvale_service.http.routes import Routes
from moonvale_service.http.rpc import Rpc


class App:
    """All that the HTTP port serves. ``limit``: the largest request; ``ready``: says whether calls can be answered."""

    def __init__(self, edge: Edge, limit: int, ready: Callable[[], bool]) -> None:
        routes = Routes(DESCRIPTOR)
        self._rest = Rest(edge, routes, limit)
        self._ready = ready
        self._paths = {
            **Rpc(edge, DESCRIPTOR, limit).paths,
            **pages(),
            "/openapi.json": file(openapi.document(routes), statuses.JSON),
            "/livez": self._livez,
            "/readyz": self._readyz,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; nothing is raised."""
        exchange = Exchange(scope, receive, send)
        try:
            await self._paths.get(exchange.path, self._rest.serve)(exchange)
        except CallError as error:
            await _refuse(exchange, error)
        except (ClientGoneError, asyncio.CancelledError):  # cancelled by the server when its grace is over
            exchange.abort()
        except Exception as error:  # noqa: BLE001  # nobody but this place may say what a client gets to read
            failure = failure_of(error)
            if exchange.started:
                exchange.abort()
            else:
                await _refuse(exchange, failure)

    async def _livez(self, exchange: Exchange) -> None:
        await _say(exchange, ready=True)

    async def _readyz(self, exchange: Exchange) -> None:
        await _say(exchange, ready=self._ready())


async def _say(exchange: Exchange, *, ready: bool) -> None:
    """Answer a probe."""
    exchange.must_read()
    await exchange.respond(200 if ready else 503, statuses.JSON, orjson.dumps({"ready": ready}))


async def _refuse(exchange: Exchange, error: CallError) -> None:
    body = statuses.rest_body(error)
    await exchange.respond(statuses.http_code(error), statuses.JSON, body, statuses.headers(error))
