"""A bot that serves at a free port, prints where, and ends with its owner: ``python -m tests.arena.serving``."""

from __future__ import annotations

import asyncio

from moonvale_client import bot_server
from tests.arena.bots import first


async def main() -> None:
    """Serve."""
    async with bot_server(first, "127.0.0.1:0") as server:
        print(server.address, flush=True)
        await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main())
