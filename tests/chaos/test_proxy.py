"""The proxy passes everything on, and does to connections what it is told."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.chaos.proxy import Link

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Echo:
    """A server that answers each line with the same line, and keeps all that it was asked."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.serving: list[asyncio.Task[None]] = []

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin to serve a connection."""
        self.serving.append(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while line := await reader.readline():
                self.asked.append(line)
                writer.write(line)
            writer.close()
            await writer.wait_closed()


@pytest.fixture
def echo() -> Echo:
    """The server behind the link."""
    return Echo()


@pytest.fixture
async def link(echo: Echo) -> AsyncIterator[Link]:
    """A link to it."""
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        path = Path(folder) / "echo.sock"
        server = await asyncio.start_unix_server(echo.begin, path)
        link = Link("echo", path, Random(1))
        await link.open()
        yield link
        await link.close()
        server.close()
        await server.wait_closed()
        await asyncio.gather(*echo.serving)


async def connect(link: Link) -> Connection:
    """A connection that has said enough for its handshake to be over."""
    host, _, port = link.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    for _ in range(4):
        assert await ask((reader, writer), b"hello\n") == b"hello\n"
    return reader, writer


async def ask(connection: Connection, line: bytes) -> bytes:
    """Say something; return what comes back, which is short if the connection was cut."""
    reader, writer = connection
    writer.write(line)
    try:
        return await reader.readline()
    except ConnectionError:
        return b""


async def hang_up(*connections: Connection) -> None:
    for _, writer in connections:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_all_is_passed_on_in_order_however_long_it_takes(link: Link) -> None:
    connection = await connect(link)
    link.delay = 0.002
    lines = [b"%d\n" % number for number in range(50)]
    for line in lines:
        connection[1].write(line)
        await connection[1].drain()
    assert [await connection[0].readline() for _ in lines] == lines
    assert link.counts["chunks delayed"] > 0
    large = b"x" * 60_000 + b"\n"
    link.heal()
    assert await ask(connection, large) == large
    await hang_up(connection)


async def test_the_end_of_one_side_is_that_of_the_other(link: Link) -> None:
    reader, writer = await connect(link)
    writer.write_eof()
    assert await reader.read() == b""
    await hang_up((reader, writer))


async def test_connections_are_cut(link: Link) -> None:
    connections = [await connect(link) for _ in range(3)]
    link.cut()
    assert [await ask(connection, b"hello\n") for connection in connections] == [b""] * 3
    assert link.counts == {"connections cut": 3}
    again = await connect(link)
    await hang_up(*connections, again)


async def test_new_connections_are_refused(link: Link) -> None:
    connection = await connect(link)
    link.refusing = True
    host, _, port = link.address.rpartition(":")
    refused = await asyncio.open_connection(host, int(port))
    assert await ask(refused, b"hello\n") == b""
    assert await ask(connection, b"hello\n") == b"hello\n"
    assert link.counts == {"connections refused": 1}
    link.heal()
    await hang_up(connection, refused, await connect(link))


async def test_a_lost_reply_is_that_to_a_request_which_was_carried_out(link: Link, echo: Echo) -> None:
    connections = [await connect(link) for _ in range(3)]
    link.lose_replies(1, to=b"commit")
    assert await ask(connections[0], b"read\n") == b"read\n"
    assert await ask(connections[1], b"commit\n") == b""
    assert await ask(connections[2], b"commit\n") == b"commit\n"
    assert echo.asked[-3:] == [b"read\n", b"commit\n", b"commit\n"]
    assert link.counts == {"replies lost": 1}
    await hang_up(*connections)


async def test_a_torn_reply_arrives_by_half(link: Link) -> None:
    connection = await connect(link)
    link.lose_replies(1, torn=True)
    assert await ask(connection, b"12345\n") == b"123"
    assert link.counts == {"replies torn": 1}
    await hang_up(connection)


async def test_while_it_stalls_nothing_passes_and_afterwards_all_does(link: Link, echo: Echo) -> None:
    connections = [await connect(link) for _ in range(3)]
    link.stalled = True
    answers = [asyncio.create_task(ask(connection, b"late\n")) for connection in connections]
    await link.hold(3)
    assert b"late\n" not in echo.asked
    link.heal()
    assert await asyncio.gather(*answers) == [b"late\n"] * 3
    assert link.held() == 0
    await hang_up(*connections)


async def test_a_server_that_is_down_refuses(link: Link, tmp_path: Path) -> None:
    nowhere = Link("nowhere", tmp_path / "none.sock", Random(1))
    await nowhere.open()
    host, _, port = nowhere.address.rpartition(":")
    connection = await asyncio.open_connection(host, int(port))
    assert await ask(connection, b"hello\n") == b""
    await nowhere.close()
    await hang_up(connection)
