"""The service gives the answers of the vectors over every transport, as it does to the TypeScript client."""

import json

import pytest

from tests.http.clients import TRANSPORTS
from tests.service.client import Client
from tests.service.conftest import client, server
from tests.service.servers import RunningServer
from tests.vectors.exchanges import FILE, made, repeated, text

__all__ = ["client", "server"]

EXCHANGES = json.loads(FILE.read_text(encoding="utf-8"))


async def test_the_exchanges_are_those_of_the_service(client: Client, server: RunningServer) -> None:
    now = text(await made(client, server.creator_key))
    assert FILE.read_text(encoding="utf-8") == now, "run: python -m tests.vectors"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_they_are_the_same_over_every_transport(transport: str, server: RunningServer) -> None:
    async with TRANSPORTS[transport](server.url) as other:
        again = await repeated(other, server.creator_key, EXCHANGES)
    for exchange, before in zip(again, EXCHANGES, strict=True):
        assert exchange == before
