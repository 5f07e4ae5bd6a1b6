"""The process of a steward, beside the workers that answer calls: it serves nothing but health."""

from __future__ import annotations

import asyncio
import os
import sys

import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from moonvale_service import server, tasks, tls
from moonvale_service.bots import Bots
from moonvale_service.commits import Commits
from moonvale_service.credentials import load_keys
from moonvale_service.edge import SERVICE
from moonvale_service.recent import Recent
from moonvale_service.seats import Seats
from moonvale_service.settings import Settings
from moonvale_service.steward import Steward
from moonvale_service.store import StoreUnavailableError


class StewardProcess:
    """A steward over one store, with health. Make and use it within a running loop."""

    kind = "steward"

    def __init__(self, settings: Settings, _number: int) -> None:
        """Raises SettingError."""
        self._settings = settings
        url = server.store_url(settings)
        self._store = server.make_store(settings)
        recent = Recent()
        commits = Commits(self._store, recent, settings)
        seats = Seats(self._store, recent, load_keys(settings, make=False), settings)
        self._bots = Bots(settings)
        self._steward = Steward(self._store, recent, commits, seats, self._bots, url, settings)
        self._certificates = tls.certificates(settings)
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 1),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self._running: list[asyncio.Task[None]] = []

    async def start(self, public: str, own: str) -> None:
        """Begin, and serve health at the own address; where no worker serves, at the public one too.

        Raises SettingError.
        """
        for address in (own,) if self._settings.workers else (own, public):
            tls.add_port(self._server, address, self._certificates)
        await self._check_store()
        checking = server.keep_checking(self._check_store, self._certificates)
        self._running = [asyncio.create_task(self._steward.run()), asyncio.create_task(checking)]
        await self._server.start()

    async def failed(self) -> None:
        """Return when what runs in the background has ended by itself, which it never should."""
        await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)

    async def stop(self) -> None:
        """Attend to no more games, end what was begun, and stop."""
        await self._health.enter_graceful_shutdown()
        await tasks.end(*self._running)
        await self._steward.finish(self._settings.grace)
        await self._server.stop(None)
        await self._bots.close()
        await self._store.close()

    async def _check_store(self) -> None:
        try:
            await self._store.ping()
        except StoreUnavailableError:
            await self._health.set(SERVICE, health_pb2.HealthCheckResponse.NOT_SERVING)
        else:
            await self._health.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)


if __name__ == "__main__":
    sys.exit(server.main(os.environ, int(sys.argv[1]), sys.argv[2], StewardProcess))
