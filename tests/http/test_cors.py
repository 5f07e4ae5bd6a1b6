"""Pages of other origins may call what the setting lets them, and no others may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from moonvale_service.edge import DESCRIPTOR
from moonvale_service.http.cors import _VERBS
from moonvale_service.http.routes import Routes
from moonvale_service.settings import SettingError, Settings
from tests.http.clients import JSON, bearer
from tests.service.servers import start_server
from tests.support.servers import StoreServer

OURS = "https://play.example.org"
OTHER = "https://evil.example.org"


@asynccontextmanager
async def serving(valkey: StoreServer, data: Path, origins: str) -> AsyncIterator[httpx.AsyncClient]:
    """A plain client of a server with the setting."""
    server = await start_server(valkey.url, data, cors_origins=origins)
    async with httpx.AsyncClient(base_url=server.url) as http:
        yield http
    await server.stop()


async def preflight(http: httpx.AsyncClient, origin: str, verb: str, headers: str) -> httpx.Response:
    """What a browser asks before it lets a page call."""
    asked = {"access-control-request-method": verb, "access-control-request-headers": headers}
    return await http.options("/v1/games", headers={"origin": origin, **asked})


async def test_pages_of_listed_origins_may_call(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, f"http://localhost:3000, {OURS}") as http:
        for verb in ("POST", "GET", "DELETE"):
            allowed = await preflight(http, OURS, verb, "authorization,content-type,last-event-id")
            assert allowed.status_code == 200
            assert allowed.headers["access-control-allow-origin"] == OURS
            assert verb in allowed.headers["access-control-allow-methods"]
        for headers in (
            "connect-protocol-version,connect-timeout-ms,content-type",
            "x-grpc-web,x-user-agent,grpc-timeout",
        ):
            assert (await preflight(http, OURS, "POST", headers)).status_code == 200
        created = await http.post("/v1/games", headers={"origin": OURS})
        assert created.status_code == 200
        assert created.headers["access-control-allow-origin"] == OURS
        assert created.headers["vary"] == "Origin"
        refused = await http.get("/v1/games/x", headers={"origin": OURS, **JSON})
        assert refused.status_code == 400
        exposed = refused.headers["access-control-expose-headers"]
        assert {"retry-after", "grpc-status-details-bin"} <= set(exposed.split(", "))
        assert "access-control-allow-credentials" not in created.headers


async def test_pages_of_other_origins_may_not(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, OURS) as http:
        assert (await preflight(http, OTHER, "POST", "content-type")).status_code == 400
        assert (await preflight(http, OURS, "PUT", "content-type")).status_code == 400
        assert (await preflight(http, OURS, "POST", "x-nonsense")).status_code == 400
        answer = await http.get("/v1/serverInfo", headers={"origin": OTHER})
        assert "access-control-allow-origin" not in answer.headers


async def test_all_pages_may_call_where_the_setting_says_so(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, "*") as http:
        game = (await http.post("/v1/games", headers={"origin": OTHER})).json()
        headers = {"origin": OTHER, **bearer(game["spectatorCredential"])}
        async with http.stream("GET", f"/v1/{game['name']}:watch", headers=headers) as response:
            assert response.headers["access-control-allow-origin"] == "*"
            assert (await anext(response.aiter_lines())).startswith("retry: ")


async def test_without_the_setting_no_page_of_another_origin_may(http: httpx.AsyncClient) -> None:
    assert (await preflight(http, OURS, "POST", "content-type")).status_code == 405
    answer = await http.get("/v1/serverInfo", headers={"origin": OURS})
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_the_setting_takes_origins_alone() -> None:
    for text in (
        "example.org",
        "https://example.org/",
        "https://example.org/path",
        "HTTPS://example.org",
        "null",
        "* *",
    ):
        with pytest.raises(SettingError, match="MOONVALE_CORS_ORIGINS: needs origins"):
            Settings.from_environment({"MOONVALE_CORS_ORIGINS": text})
    settings = Settings.from_environment({"MOONVALE_CORS_ORIGINS": "http://[::1]:80 ,https://a-b.org"})
    assert settings.cors_origins == ("http://[::1]:80", "https://a-b.org")


def test_every_verb_of_the_routes_is_allowed() -> None:
    assert set(_VERBS) == {route.verb for route in Routes(DESCRIPTOR).all}
