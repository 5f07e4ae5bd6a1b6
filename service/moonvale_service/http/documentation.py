"""The documentation page: files of this package, shown without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import Final

from moonvale_service.http.exchange import Exchange

_FILES: Final = {
    "/docs": ("docs.html", b"text/html; charset=utf-8"),
    "/docs.css": ("docs.css", b"text/css; charset=utf-8"),
    "/docs.js": ("docs.js", b"text/javascript; charset=utf-8"),
}
#: The page runs its own script, and talks to its own server; nobody shows it within another page.
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    b" base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def pages() -> Mapping[str, Callable[[Exchange], Awaitable[None]]]:
    """Return for each path of the documentation what serves it."""
    folder = resources.files(__package__) / "pages"
    served = {path: file((folder / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}
    return {**served, "/": _redirect}


def file(content: bytes, media_type: bytes) -> Callable[[Exchange], Awaitable[None]]:
    """Return what answers with a file."""

    async def serve(exchange: Exchange) -> None:
        exchange.must_read()
        await exchange.respond(200, media_type, content, [(b"content-security-policy", _POLICY)])

    return serve


async def _redirect(exchange: Exchange) -> None:
    """Lead people who have typed no path to the documentation."""
    exchange.must_read()
    await exchange.respond(302, b"text/plain", b"", [(b"location", b"/docs")])
