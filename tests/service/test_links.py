"""A connection to the store that has ended is called that, whichever event loop says so, and is made anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import redis.exceptions
import uvloop
from redis.asyncio.connection import AbstractConnection

from moonvale_service.store.links import connect
from tests.support.servers import running, valkey_program

RUNS: tuple[Callable[[Coroutine[Any, Any, None]], None], ...] = (asyncio.run, uvloop.run)


async def ping_twice(connection: AbstractConnection) -> None:
    """Send two commands: a loop may need one to notice the end."""
    for _ in range(2):
        await connection.send_command("PING")
        await connection.read_response()


async def meet_a_connection_that_has_ended(url: str) -> None:
    """End a connection of the pool beneath it: with a command on its way, and while nobody uses it."""
    async with connect(url, 20.0) as client:
        pool = client.connection_pool
        connection = await pool.get_connection()  # type: ignore[no-untyped-call]
        connection._writer.transport.abort()
        with pytest.raises(redis.exceptions.ConnectionError):
            await ping_twice(connection)
        await pool.release(connection)
        assert await client.ping()
        connection = await pool.get_connection()  # type: ignore[no-untyped-call]
        await pool.release(connection)
        connection._writer.transport.abort()
        assert await client.ping()


@pytest.mark.parametrize("run", RUNS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("scheme", ["redis", "unix"])
def test_a_connection_that_has_ended(run: Callable[[Coroutine[Any, Any, None]], None], scheme: str) -> None:
    with running(valkey_program(), tcp=scheme == "redis") as server:
        run(meet_a_connection_that_has_ended(server.url))
