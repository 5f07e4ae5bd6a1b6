"""Fixtures of the service's tests: servers in this process and services of several processes, and clients of both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.asyncio as aioredis

from tests.service.client import Client
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer


@pytest.fixture
async def server(valkey: StoreServer, tmp_path: Path) -> AsyncIterator[RunningServer]:
    """A server in this process, over a Valkey of its own."""
    server = await start_server(valkey.url, tmp_path)
    yield server
    await server.stop()


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[Client]:
    """A client of ``server``."""
    async with Client(server.address) as client:
        yield client


@pytest.fixture
async def raw(valkey: StoreServer) -> AsyncIterator[aioredis.Redis]:
    """What ``server`` has stored, from beneath."""
    async with aioredis.Redis.from_url(valkey.url) as raw:
        yield raw
