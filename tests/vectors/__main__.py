"""Writes the vectors anew after a change of the contract: python -m tests.vectors."""

import asyncio
import logging
import tempfile
from pathlib import Path

import structlog

from tests.service.client import Client
from tests.service.servers import start_server
from tests.support.servers import running, valkey_program
from tests.vectors import contract, exchanges


async def exchanged() -> str:
    """Play the fixed game on a service of its own."""
    with running(valkey_program()) as store, tempfile.TemporaryDirectory() as folder:
        server = await start_server(store.url, Path(folder))
        try:
            async with Client(server.address) as client:
                return exchanges.text(await exchanges.made(client, server.creator_key))
        finally:
            await server.stop()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    contract.FILE.write_text(contract.text(), encoding="utf-8")
    exchanges.FILE.write_text(asyncio.run(exchanged()), encoding="utf-8")
