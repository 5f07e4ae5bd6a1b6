"""Links to a store: a connection that ends, or a step that is given up in its middle, never spoils a later step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop
from redis.asyncio import Redis

from moonvale_service import tasks
from moonvale_service.store.links import CONNECTIONS, connect, link
from tests.service.moments import give_up_at_any_moment
from tests.support.servers import running, valkey_program

Scenario = Callable[[str], Coroutine[Any, Any, None]]
RUNS: tuple[Callable[[Coroutine[Any, Any, None]], None], ...] = (asyncio.run, uvloop.run)
_SECONDS = 20.0


async def echo(store: Any, text: bytes) -> bytes:  # noqa: ANN401
    """Run a step whose answer tells whose it is."""
    (answer,) = await store.run("any", ("ECHO", text))
    assert isinstance(answer, bytes)
    return answer


async def ids(client: Redis) -> list[str]:
    """Return the ids of all connections but this client's own."""
    mine = await client.client_id()
    return [each["id"] for each in await client.client_list() if int(each["id"]) != mine]


async def a_connection_that_ends_while_nobody_uses_it(url: str) -> None:
    store = link(url, _SECONDS)
    async with connect(url, _SECONDS) as client:
        assert await echo(store, b"before") == b"before"
        (connection,) = await ids(client)
        await client.client_kill_filter(_id=connection)
        assert await echo(store, b"after") == b"after"
        assert await ids(client) != [connection]
    await store.close()


async def a_connection_that_ends_amid_a_step(url: str) -> None:
    store = link(url, _SECONDS)
    async with connect(url, _SECONDS) as client:
        step = asyncio.create_task(store.run("row", ("BLPOP", "row", 0)))
        await blocked(client)
        (connection,) = await ids(client)
        await client.client_kill_filter(_id=connection)
        await client.rpush("row", "x")
        assert await step == [[b"row", b"x"]]  # the step was tried again
    await store.close()


async def a_step_that_is_given_up(url: str) -> None:
    store = link(url, _SECONDS)
    async with connect(url, _SECONDS) as client:
        step = asyncio.create_task(store.run("row", ("BLPOP", "row", 0)))
        await blocked(client)
        await tasks.end(step)
        await client.rpush("row", "an answer that comes too late")
        for text in (b"one", b"two"):
            assert await echo(store, text) == text
    await store.close()


async def steps_that_are_given_up_at_any_moment(url: str) -> None:
    store = link(url, _SECONDS)
    await give_up_at_any_moment(lambda: echo(store, b"given up"))
    assert await echo(store, b"after") == b"after"
    await store.close()


async def many_steps_at_once(url: str) -> None:
    store = link(url, _SECONDS)
    texts = [b"%d" % number for number in range(20 * CONNECTIONS)]
    async with connect(url, _SECONDS) as client:
        for _ in range(3):
            assert await asyncio.gather(*[echo(store, text) for text in texts]) == texts
        assert len(await ids(client)) <= CONNECTIONS
        await store.close()
        assert await echo(store, b"after close") == b"after close"  # opens one anew
    await store.close()


async def a_row_with_an_error_in_it(url: str) -> None:
    store = link(url, _SECONDS)
    answers = await store.run("any", ("ECHO", "a"), ("NO-SUCH-COMMAND",), ("ECHO", "b"))
    assert answers[0] == b"a"
    assert isinstance(answers[1], Exception)
    assert answers[2] == b"b"
    await store.close()


async def blocked(client: Redis) -> None:
    """Wait until a command waits at the server."""
    while not (await client.info("clients"))["blocked_clients"]:  # noqa: ASYNC110  # only the server can tell
        await asyncio.sleep(0)


SCENARIOS: tuple[Scenario, ...] = (
    a_connection_that_ends_while_nobody_uses_it,
    a_connection_that_ends_amid_a_step,
    a_step_that_is_given_up,
    steps_that_are_given_up_at_any_moment,
    many_steps_at_once,
    a_row_with_an_error_in_it,
)


@pytest.mark.parametrize("run", RUNS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("scheme", ["redis", "unix"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_link(run: Callable[[Coroutine[Any, Any, None]], None], scheme: str, scenario: Scenario) -> None:
    with running(valkey_program(), tcp=scheme == "redis") as server:
        run(scenario(server.url))
