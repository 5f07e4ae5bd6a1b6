"""The tables of docs/security.md over REST: every method against every kind of credential."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.asyncio as aioredis

from tests.http.clients import RestClient
from tests.service.servers import RunningServer, start_server
from tests.service.test_security import ROWS, Place
from tests.service.test_security import test_a_call_ends_as_the_table_says as check
from tests.support.servers import StoreServer


@pytest.fixture
async def place(
    server: RunningServer, rest: RestClient, raw: aioredis.Redis, valkey: StoreServer, tmp_path: Path
) -> AsyncIterator[Place]:
    """The place of the tables, with clients that speak REST."""
    demanding = await start_server(valkey.url, tmp_path, create_needs_key="true")
    async with RestClient(demanding.url) as another:
        yield Place(server, rest, another, raw)
    await demanding.stop()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}, {row[1]}")
async def test_a_call_over_rest_ends_as_the_table_says(place: Place, row: list[str]) -> None:
    await check(place, row)
