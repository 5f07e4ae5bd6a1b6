"""The probe command tells whether the service beside it lives, and whether it is ready."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moonvale_service import probe
from tests.service.certificates import Authority
from tests.service.servers import RunningServer, running_service, start_server
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


async def test_a_service_with_tls_is_asked_with_tls(valkey: StoreServer, tmp_path: Path) -> None:
    cert, key = Authority(tmp_path / "authority").sign()
    files = {"tls_cert": str(cert), "tls_key": str(key)}
    server = await start_server(valkey.url, tmp_path, **files)
    assert await asked(server, "ready") == probe.EXIT_NO
    given = {f"MOONVALE_{name.upper()}": value for name, value in files.items()}
    environment = {"MOONVALE_HTTP_LISTEN": f"127.0.0.1:{server.server.http_port}", **given}
    assert await asyncio.to_thread(probe.main, environment, ["ready"]) == 0
    await server.stop()


def test_where_clients_need_certificates_the_port_of_metrics_is_asked(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    cert, key = authority.sign()
    files = {"tls_cert": str(cert), "tls_key": str(key), "tls_client_ca": str(authority.file)}
    with running_service(workers="1", metrics_listen="127.0.0.1:0", **files) as service:
        told = service.metrics_url.removeprefix("http://")
        given = {f"MOONVALE_{name.upper()}": value for name, value in files.items()}
        environment = {**given, "MOONVALE_HTTP_LISTEN": service.url.removeprefix("https://")}
        assert probe.main({**environment, "MOONVALE_METRICS_LISTEN": told}, ["ready"]) == 0
        assert probe.main(environment, ["ready"]) == probe.EXIT_USAGE


def test_what_can_not_be_asked_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.main({"MOONVALE_HTTP_LISTEN": "off"}, ["live"]) == probe.EXIT_USAGE
    assert "MOONVALE_HTTP_LISTEN" in capsys.readouterr().err
    assert probe.main({}, ["alive"]) == probe.EXIT_USAGE
    assert "live, ready" in capsys.readouterr().err
