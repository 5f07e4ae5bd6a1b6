"""Connections: who is slow in asking is cut off, workers share the port, and the log keeps secrets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from moonvale_service.http import exchange, port
from tests.http.clients import JSON, bearer
from tests.service.servers import RunningServer, running_service, start_server
from tests.support.servers import StoreServer

HALF_A_HEAD = b"POST /v1/games HTTP/1.1\r\nhost: x\r\ncontent-"
HALF_A_BODY = b"POST /v1/games HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{"
WHOLE = b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"


async def talk(server: RunningServer, *parts: bytes) -> bytes:
    """Send parts, and return all that comes until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.server.http_port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await asyncio.wait_for(reader.read(), 60)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD, HALF_A_BODY, WHOLE + HALF_A_HEAD])
async def test_a_request_that_does_not_come_is_not_waited_for(
    valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(port, "_HEAD_SECONDS", 0.1)
    monkeypatch.setattr(exchange, "_BODY_SECONDS", 0.1)
    server = await start_server(valkey.url, tmp_path)
    said = await talk(server, sent)
    assert said.count(b"HTTP/1.1") == said.count(b'{"ready":true}') == sent.count(WHOLE)
    async with httpx.AsyncClient(base_url=server.url) as http:
        assert (await http.get("/readyz")).status_code == 200
    await server.stop()


async def test_requests_that_are_sent_at_once_are_answered_in_their_order(server: RunningServer) -> None:
    last = b"GET /v1/nonsense HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    said = await talk(server, WHOLE + WHOLE + last)
    assert [answer[:3] for answer in said.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"404"]


def test_workers_share_the_port_and_the_log_keeps_secrets() -> None:
    secret = "a request id that is a secret"
    with running_service(workers="2") as service:
        credentials: set[str] = set()
        for _ in range(12):  # each on a connection of its own
            with httpx.Client(base_url=service.url, timeout=60) as http:
                body = {"options": {"players": 2}, "requestId": secret}
                game = http.post("/v1/games", json=body).json()
                credentials |= {*game["seatCredentials"], game["creatorCredential"], game["spectatorCredential"]}
                for credential in credentials:
                    assert http.get(f"/v1/{game['name']}", headers=bearer(credential)).status_code == 200
                http.get(f"/v1/nonsense?credential={game['creatorCredential']}")
                http.post("/v1/games", content=f'{{"{secret}": 1}}', headers=JSON)
        service.stop()
        text = service.log_text()
        calls = [line for line in service.log_lines() if line["event"] == "call"]
    assert {call["method"] for call in calls} == {"CreateGame", "GetView"}
    assert len({call["pid"] for call in calls}) == 2
    assert len(credentials) == 4
    for hidden in (secret, *credentials):
        assert hidden not in text
