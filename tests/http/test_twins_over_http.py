"""Hidden twins over REST: a viewer gets the same bodies and headers of two games that look the same to it (HID-4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from random import Random

import pytest
import redis.asyncio as aioredis

from moonvale_engine import SPECTATOR, seat_to_act
from tests.http.clients import RestClient, headers_of
from tests.service.client import Client
from tests.service.servers import RunningServer
from tests.service.test_twins import SHARDS, Table, cases, times_and_marks_equal
from tests.support.servers import StoreServer


class WholeClient(RestClient):
    """Returns all that has come, letter for letter, in place of messages."""

    async def raw(self, method: str, request: bytes, credential: str | None = None) -> bytes:
        """Call a method."""
        response = await self.http.send(self._request(method, request, credential))
        return repr((response.status_code, headers_of(response), response.text)).encode()

    async def raw_stream(
        self, method: str, request: bytes, credential: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Call a method that answers with a stream."""
        async with aclosing(self.events_of(method, request, credential)) as events:
            async for event in events:
                yield repr(event).encode()


class RestTable(Table):
    """A table that is asked over REST."""

    def client(self, server: RunningServer) -> Client:
        """Return what the viewer asks with."""
        return WholeClient(server.url)


@pytest.fixture
def table(server: RunningServer, raw: aioredis.Redis, valkey: StoreServer) -> Iterator[RestTable]:
    """A table at which times and marks are equal."""
    with times_and_marks_equal():
        yield RestTable(server, raw, valkey.url)


@pytest.mark.parametrize("shard", range(SHARDS))
async def test_a_viewer_gets_the_same_responses_of_twins(table: RestTable, shard: int) -> None:
    for name in sorted(cases())[shard::SHARDS]:
        case = cases()[name]
        to_act = seat_to_act(case.state)
        for viewer in (to_act, SPECTATOR):
            assert await table.differences(case, viewer, Random(name)) == [], f"{name}, viewer {viewer}"
