"""Links to a store: a connection that ends, or a step that is given up in its middle, never spoils a later step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import hiredis
import pytest
import uvloop
from redis import exceptions as redis_errors
from redis.asyncio import Redis, UnixDomainSocketConnection

from moonvale_service import tasks
from moonvale_service.store.connections import LENT, Connections
from moonvale_service.store.links import connect, link
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
    texts = [b"%d" % number for number in range(1000)]
    async with connect(url, _SECONDS) as client:
        for _ in range(3):
            assert await asyncio.gather(*[echo(store, text) for text in texts]) == texts
        assert len(await ids(client)) == 1
    await store.close()


async def more_than_the_network_takes_at_once(url: str) -> None:
    store = link(url, _SECONDS)
    texts = [b"%d" % number * 200_000 for number in range(1000, 1040)]
    for _ in range(2):
        steps = [asyncio.create_task(echo(store, text)) for text in texts]
        await asyncio.sleep(0)
        given_up = steps[1::3]
        await tasks.end(*given_up)
        assert await asyncio.gather(*steps[::3], *steps[2::3]) == texts[::3] + texts[2::3]
    await store.close()


async def a_link_that_is_closed_amid_its_steps(url: str) -> None:
    store = link(url, _SECONDS)
    async with connect(url, _SECONDS) as client:
        assert await echo(store, b"before") == b"before"
        (connection,) = await ids(client)
        texts = [b"%d" % number for number in range(100)]
        steps = [asyncio.create_task(echo(store, text)) for text in texts]
        await asyncio.sleep(0)
        await store.close()
        assert await asyncio.gather(*steps) == texts
        assert await echo(store, b"after close") == b"after close"  # opens one anew
        assert connection not in await ids(client)
    await store.close()


async def steps_that_block(url: str) -> None:
    store = link(url, _SECONDS)
    async with connect(url, _SECONDS) as client:
        waiting = [asyncio.create_task(store.run("row", ("BLPOP", "row", 0), blocks=True)) for _ in range(3)]
        await blocked(client, 3)
        assert await echo(store, b"meanwhile") == b"meanwhile"
        assert len(await ids(client)) == 4
        await tasks.end(*waiting[:2])
        await blocked(client, 1)  # the server knows that they are gone: else one of them could get what comes
        await client.rpush("row", "x")
        assert await waiting[2] == [[b"row", b"x"]]
        await client.rpush("row", "y")  # which nobody waits for any more
        assert await store.run("row", ("BLPOP", "row", 0), blocks=True) == [[b"row", b"y"]]
        assert len(await ids(client)) == 2  # one was lent twice; those that were given up are gone
        many = [store.run("row", ("ECHO", b"%d" % number), blocks=True) for number in range(4 * LENT)]
        assert await asyncio.gather(*many) == [[b"%d" % number] for number in range(4 * LENT)]
        assert len(await ids(client)) == LENT + 1
    await store.close()


async def a_row_with_an_error_in_it(url: str) -> None:
    store = link(url, _SECONDS)
    answers = await store.run("any", ("ECHO", "a"), ("NO-SUCH-COMMAND",), ("ECHO", "b"))
    assert answers[0] == b"a"
    assert isinstance(answers[1], Exception)
    assert answers[2] == b"b"
    await store.close()


async def blocked(client: Redis, number: int = 1) -> None:
    """Wait until so many commands wait at the server, no more and no less."""
    while (await client.info("clients"))["blocked_clients"] != number:  # noqa: ASYNC110  # only the server can tell
        await asyncio.sleep(0)


SCENARIOS: tuple[Scenario, ...] = (
    a_connection_that_ends_while_nobody_uses_it,
    a_connection_that_ends_amid_a_step,
    a_step_that_is_given_up,
    steps_that_are_given_up_at_any_moment,
    many_steps_at_once,
    more_than_the_network_takes_at_once,
    a_link_that_is_closed_amid_its_steps,
    steps_that_block,
    a_row_with_an_error_in_it,
)


@pytest.mark.parametrize("run", RUNS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("scheme", ["redis", "unix"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_link(run: Callable[[Coroutine[Any, Any, None]], None], scheme: str, scenario: Scenario) -> None:
    with running(valkey_program(), tcp=scheme == "redis") as server:
        run(scenario(server.url))


class Faulty:
    """A server that answers ECHO, and anything else with OK. ``more``: what it sends after ``last`` besides."""

    def __init__(self, last: bytes, more: bytes) -> None:
        self.last = last
        self.more = more
        self.connections = self.open = 0
        self.ended = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        commands = hiredis.Reader(notEnoughData=None)
        while chunk := await reader.read(1 << 16):
            commands.feed(chunk)
            while (command := commands.gets()) is not None:
                text = command[1] if command[0] == b"ECHO" else b"OK"
                writer.write(b"+%b\r\n" % text + (self.more if text == self.last else b""))
        writer.close()
        await writer.wait_closed()
        self.open -= 1
        self.ended.set()


@pytest.mark.parametrize("more", [b"+an answer that nobody has asked for\r\n", b"nonsense\r\n"])
async def test_a_connection_on_which_anything_is_wrong_ends(more: bytes) -> None:
    texts = [b"%d" % number for number in range(20)]
    faulty = Faulty(texts[-1], more)
    server = await asyncio.start_server(faulty.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        store = link(f"redis://127.0.0.1:{port}/0?protocol=2", _SECONDS)
        assert await echo(store, b"before") == b"before"
        steps = [echo(store, text) for text in texts]
        assert await asyncio.gather(*steps) == texts
        await asyncio.wait_for(faulty.ended.wait(), _SECONDS)
        faulty.ended.clear()
        assert await echo(store, b"after") == b"after"
        assert (faulty.connections, faulty.open) == (2, 1)
        await store.close()
        await asyncio.wait_for(faulty.ended.wait(), _SECONDS)


@pytest.mark.parametrize("blocks", [False, True])
async def test_a_server_that_hangs_is_given_up_in_time_and_its_late_answers_are_nobodys(blocks: bool) -> None:
    with running(valkey_program()) as server:
        store = link(server.url, 1.0)
        assert await store.run("any", ("ECHO", "before"), blocks=blocks) == [b"before"]
        server.pause()
        steps = [store.run("any", ("ECHO", "late"), blocks=blocks) for _ in range(50)]
        errors = await asyncio.gather(*steps, return_exceptions=True)
        assert all(isinstance(error, OSError | redis_errors.RedisError) for error in errors)
        server.resume()
        for text in (b"one", b"two"):
            assert await store.run("any", ("ECHO", text), blocks=blocks) == [text]
        await store.close()


async def test_a_server_that_is_away_is_not_stormed_by_those_who_wait_for_it() -> None:
    attempts = 0

    async def refuse(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal attempts
        attempts += 1
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        store = link(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0", 1.0)
        errors = await asyncio.gather(*[echo(store, b"lost") for _ in range(200)], return_exceptions=True)
        assert all(isinstance(error, OSError | redis_errors.RedisError) for error in errors)
        assert 1 < attempts <= 16  # after 10, 20, 40, 80, 100, 100 ... milliseconds
        await store.close()


async def test_a_step_waits_for_no_more_than_a_tenth_of_its_time_before_a_connection_is_tried(tmp_path: Path) -> None:
    connections = Connections(lambda: UnixDomainSocketConnection(path=str(tmp_path / "nothing")), 0.05)
    for _ in range(8):
        with pytest.raises(redis_errors.ConnectionError):
            await connections.run([("PING",)], blocks=False)
        assert connections._again - time.monotonic() <= 0.005
