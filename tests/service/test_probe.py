"""The probe command tells whether the service beside it lives, and whether it is ready."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moonvale_service import probe
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer


async def asked(server: RunningServer, what: str, host: str = "127.0.0.1") -> int:
    environment = {"MOONVALE_HTTP_LISTEN": f"{host}:{server.server.http_port}"}
    return await asyncio.to_thread(probe.main, environment, [what])


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_a_service_whose_store_is_away_lives_but_is_not_ready(
    valkey: StoreServer, tmp_path: Path, host: str
) -> None:
    server = await start_server(valkey.url, tmp_path, store_timeout="200ms")
    assert await asked(server, "live", host) == 0
    assert await asked(server, "ready", host) == 0
    valkey.kill()
    while await asked(server, "ready", host) == 0:
        pass
    assert await asked(server, "live", host) == 0
    await server.stop()
    assert await asked(server, "live", host) == probe.EXIT_NO


def test_what_can_not_be_asked_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.main({"MOONVALE_HTTP_LISTEN": "off"}, ["live"]) == probe.EXIT_USAGE
    assert "MOONVALE_HTTP_LISTEN" in capsys.readouterr().err
    assert probe.main({}, ["alive"]) == probe.EXIT_USAGE
    assert "live, ready" in capsys.readouterr().err
