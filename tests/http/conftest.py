"""Fixtures of the HTTP port's tests: those of the service's, and plain HTTP clients."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.http.clients import RestClient
from tests.service.conftest import client, raw, server
from tests.service.servers import RunningServer

__all__ = ["client", "raw", "server"]


@pytest.fixture
async def http(server: RunningServer) -> AsyncIterator[httpx.AsyncClient]:
    """A plain HTTP client of ``server``."""
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        yield http


@pytest.fixture
async def rest(server: RunningServer) -> AsyncIterator[RestClient]:
    """A client of ``server`` over REST."""
    async with RestClient(server.url) as client:
        yield client
