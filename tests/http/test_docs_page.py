"""The documentation page needs nothing from elsewhere, and is held to that by its policy."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

import moonvale_service.http

PAGES = Path(moonvale_service.http.__file__).parent / "pages"


@pytest.mark.parametrize(
    ("path", "media_type"),
    [("/docs", "text/html"), ("/docs.css", "text/css"), ("/docs.js", "text/javascript")],
)
async def test_its_files_are_served_with_a_strict_policy(http: httpx.AsyncClient, path: str, media_type: str) -> None:
    response = await http.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == f"{media_type}; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert not {"unsafe-inline", "unsafe-eval", "*", "https:"} & set(
        re.findall(r"[a-z*:-]+", " ".join(policy.values()))
    )
    assert (await http.head(path)).content == b""


async def test_who_types_no_path_is_led_to_it(http: httpx.AsyncClient) -> None:
    response = await http.get("/")
    assert (response.status_code, response.headers["location"]) == (302, "/docs")


async def test_all_that_it_refers_to_is_served_here(http: httpx.AsyncClient) -> None:
    text = "".join([file.read_text(encoding="utf-8") for file in sorted(PAGES.iterdir())])
    assert "://" not in text
    links = set(re.findall(r'(?:src|href)[=:] ?"(/[^"]+)"', text)) | set(re.findall(r'fetch\("([^"]+)"\)', text))
    assert {"/docs.css", "/docs.js", "/openapi.json"} <= links
    for link in links:
        assert (await http.get(link)).status_code == 200, link


def test_it_puts_nothing_into_the_page_but_text() -> None:
    script = (PAGES / "docs.js").read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert way not in script
    for way in ("localStorage", "sessionStorage", "cookie"):  # the credential is of the page alone
        assert way not in script
