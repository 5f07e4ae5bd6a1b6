"""Whatever is sent, the answer is the right code of HTTP with a reason, and nothing is changed; never 500."""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

import httpx
import pytest
import redis.asyncio as aioredis
from google.protobuf import json_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moonvale_service.errors import CallError
from moonvale_service.http import from_json
from tests.http.clients import JSON, request_class, rest_failure
from tests.service.client import Client, Failure, Game
from tests.service.servers import RunningServer
from tests.service.test_errors import stored

FORM = {"content-type": "application/x-www-form-urlencoded"}
GAME = "/v1/{game}"
SUBMIT = "/v1/{game}:submitAction"


class Bad(NamedTuple):
    """A request that must be refused, and how."""

    request: str
    body: str | bytes | None
    code: int
    reason: str
    field: str = ""
    headers: dict[str, str] = JSON


TABLE = [
    # Paths and methods.
    Bad("PUT /", None, 405, "METHOD_NOT_ALLOWED"),
    Bad("POST /docs", None, 405, "METHOD_NOT_ALLOWED"),
    Bad("GET /docs/../keys", None, 404, "UNKNOWN_PATH"),
    Bad("GET /v1", None, 404, "UNKNOWN_PATH"),
    Bad("GET /v1/game/x", None, 404, "UNKNOWN_PATH"),
    Bad("GET /v1/games/", None, 404, "UNKNOWN_PATH"),
    Bad("GET /v1/games/a/b/c", None, 404, "UNKNOWN_PATH"),
    Bad("GET /V1/games", None, 404, "UNKNOWN_PATH"),
    Bad("GET //v1/games", None, 404, "UNKNOWN_PATH"),
    Bad("POST /moonvale.v1.GameService/Cheat", "{}", 404, "UNKNOWN_PATH"),
    Bad("PUT /v1/games", "{}", 405, "METHOD_NOT_ALLOWED"),
    Bad("POST " + GAME, "{}", 405, "METHOD_NOT_ALLOWED"),
    Bad("GET " + SUBMIT, None, 405, "METHOD_NOT_ALLOWED"),
    Bad("POST " + GAME + ":watch", "{}", 405, "METHOD_NOT_ALLOWED"),
    Bad("OPTIONS /v1/games", None, 405, "METHOD_NOT_ALLOWED"),
    Bad("GET /moonvale.v1.GameService/GetView", None, 405, "METHOD_NOT_ALLOWED"),
    Bad("POST /readyz", None, 405, "METHOD_NOT_ALLOWED"),
    # Names of games.
    Bad("GET /v1/games/x", None, 400, "INVALID_FIELD", "name"),
    Bad("GET " + GAME + ":nonsense", None, 400, "INVALID_FIELD", "name"),
    Bad("GET /v1/games/a%2Fb", None, 400, "INVALID_FIELD", "name"),
    Bad("GET /v1/games/%ff", None, 400, "MALFORMED_REQUEST"),
    Bad("GET /v1/games/%2e%2e", None, 400, "INVALID_FIELD", "name"),
    # Bodies that are no JSON.
    Bad("POST /v1/games", "{", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", "nonsense", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", "{} {}", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", b"\xff\xfe{\x00}\x00", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", "[" * 50_000, 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '{"externalId": "a", "externalId": "b"}', 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '{"options": {"players": NaN}}', 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '{"options": {"players": ' + "9" * 6000 + "}}", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '{"seats": [' + "{}," * 5000 + "{}]}", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '{"labels": {"a": [' + "[1]," * 3000 + "[]]}}", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '{"seats": [' + "{}," * 3000 + '{"name": 1}]}', 400, "INVALID_FIELD", "seats[3000].name"),
    Bad("POST /v1/games", "[]", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", "null", 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '"text"', 400, "MALFORMED_REQUEST"),
    # Fields.
    Bad("POST /v1/games", '{"cheat": true}', 400, "INVALID_FIELD", "cheat"),
    Bad("POST /v1/games", '{"\\ud800": 1}', 400, "MALFORMED_REQUEST"),
    Bad("POST /v1/games", '{"é": 1}', 400, "INVALID_FIELD", "\\xe9"),
    Bad("POST /v1/games", '{"options": {"players": "two"}}', 400, "INVALID_FIELD", "options.players"),
    Bad("POST /v1/games", '{"options": {"players": 2.5}}', 400, "INVALID_FIELD", "options.players"),
    Bad("POST /v1/games", '{"options": {"players": 4294967296}}', 400, "INVALID_FIELD", "options.players"),
    Bad("POST /v1/games", '{"options": {"players": true}}', 400, "INVALID_FIELD", "options.players"),
    Bad("POST /v1/games", '{"options": {"players": 9}}', 400, "INVALID_FIELD", "options.players"),
    Bad("POST /v1/games", '{"options": {"memory": "MEMORY_PERFECT"}}', 400, "INVALID_FIELD", "options.memory"),
    Bad("POST /v1/games", '{"options": []}', 400, "INVALID_FIELD", "options"),
    Bad("POST /v1/games", '{"options": {"demands": [{"atMost": 1}, {"atMost": "x"}]}}', 400, "INVALID_FIELD",
        "options.demands[1].at_most"),
    Bad("POST /v1/games", '{"options": {"demands": [{"atMost": 1, "parity": "PARITY_ODD"}]}}', 400, "INVALID_FIELD",
        "options.demands[0].at_most"),
    Bad("POST /v1/games", '{"options": {"demands": [null]}}', 400, "INVALID_FIELD", "options.demands[0]"),
    Bad("POST /v1/games", '{"seats": {}}', 400, "INVALID_FIELD", "seats"),
    Bad("POST /v1/games", '{"seats": [{"name": 1}]}', 400, "INVALID_FIELD", "seats[0].name"),
    Bad("POST /v1/games", '{"labels": {"a": "b", "c": 1}}', 400, "INVALID_FIELD", 'labels["c"]'),
    Bad("POST /v1/games", '{"labels": []}', 400, "INVALID_FIELD", "labels"),
    Bad("POST /v1/games", '{"externalId": "\\ud800"}', 400, "INVALID_FIELD", "external_id"),
    Bad("POST /v1/games", '{"deal": {"secret": "A"}}', 400, "INVALID_FIELD", "deal.secret"),
    Bad("POST /v1/games", '{"deal": {"secret": "AAAA"}}', 403, "CREATOR_KEY_REQUIRED"),
    Bad("POST /v1/games", '{"sealReplayUntil": "tomorrow"}', 400, "INVALID_FIELD", "seal_replay_until"),
    Bad("POST /v1/games", '{"sealReplayUntil": 12}', 400, "INVALID_FIELD", "seal_replay_until"),
    Bad("POST /v1/games?options.players=2", "{}", 400, "INVALID_FIELD", "options.players"),
    Bad("POST " + SUBMIT, '{"actions": null, "version": 0}', 400, "INVALID_FIELD", "actions"),
    Bad("POST " + SUBMIT, '{"actions": [{"draw": {}}], "version": null}', 400, "INVALID_FIELD", "version"),
    Bad("POST " + SUBMIT, '{"actions": [{"draw": {}}], "version": -1}', 400, "INVALID_FIELD", "version"),
    Bad("POST " + SUBMIT, '{"actions": [{"draw": {}}], "version": "0x1"}', 400, "INVALID_FIELD", "version"),
    Bad("POST " + SUBMIT, '{"actions": [{"pick": {"card": {"seat": 0, "spot": "a"}}}]}', 400, "INVALID_FIELD",
        "actions[0].pick.card.spot"),
    Bad("POST " + SUBMIT, '{"actions": [{"draw": {}, "take": {}}], "version": 0}', 400, "INVALID_FIELD",
        "actions[0].take"),
    Bad("POST " + SUBMIT, '{"name": "games/another", "actions": [], "version": 0}', 400, "INVALID_FIELD", "name"),
    Bad("POST /v1/games:watchTurns", "{}", 400, "INVALID_FIELD", "seats"),
    # Query parameters.
    Bad("GET " + GAME + "?cheat=1", None, 400, "INVALID_FIELD", "cheat"),
    Bad("GET " + GAME + "?name=games/another", None, 400, "INVALID_FIELD", "name"),
    Bad("GET " + GAME + "/events?pageSize=many", None, 400, "INVALID_FIELD", "page_size"),
    Bad("GET " + GAME + "/events?pageSize=", None, 400, "INVALID_FIELD", "page_size"),
    Bad("GET " + GAME + "/events?page_size=1&pageSize=2", None, 400, "INVALID_FIELD", "pageSize"),
    Bad("GET " + GAME + "/events?pageSize.x=1", None, 400, "INVALID_FIELD", "pageSize.x"),
    Bad("GET " + GAME + "/events?pageToken=%ff", None, 400, "MALFORMED_REQUEST"),
    Bad("GET " + GAME + "/events?" + "&".join(["a=1"] * 200), None, 400, "MALFORMED_REQUEST"),
    Bad("GET " + GAME + ":watch?afterVersion=-1", None, 400, "INVALID_FIELD", "after_version"),
    Bad("GET " + GAME + ":watch", None, 400, "INVALID_FIELD", "Last-Event-ID", {"last-event-id": "nonsense"}),
    Bad("GET " + GAME + ":watch", None, 400, "INVALID_FIELD", "Last-Event-ID", {"last-event-id": f"{1 << 64}.aa"}),
    Bad("GET " + GAME + ":watch", None, 409, "HISTORY_REWOUND", "", {"last-event-id": "0.0123456789abcdef"}),
    # Media types.
    Bad("POST /v1/games", "{}", 415, "UNSUPPORTED_MEDIA_TYPE", "", FORM),
    Bad("POST /v1/games", "{}", 415, "UNSUPPORTED_MEDIA_TYPE", "", {"content-type": "text/plain"}),
    Bad("POST /v1/games", "{}", 415, "UNSUPPORTED_MEDIA_TYPE", "", JSON | {"content-encoding": "gzip"}),
    Bad("POST /moonvale.v1.GameService/GetView", "{}", 415, "UNSUPPORTED_MEDIA_TYPE", "", FORM),
    Bad("POST /moonvale.v1.GameService/GetView", "{}", 415, "UNSUPPORTED_MEDIA_TYPE", "",
        {"content-type": "application/connect+json"}),
    Bad("POST /moonvale.v1.GameService/WatchGame", "{}", 415, "UNSUPPORTED_MEDIA_TYPE"),
    # Credentials.
    Bad("GET " + GAME, None, 401, "CREDENTIAL_MISSING", "", {"authorization": ""} ),
    Bad("GET " + GAME, None, 401, "CREDENTIAL_INVALID", "", {"authorization": "Bearer nonsense"}),
    Bad("GET " + GAME, None, 401, "CREDENTIAL_INVALID", "", {"authorization": "Basic abc"}),
    Bad("GET " + GAME, None, 401, "CREDENTIAL_INVALID", "", {"authorization": "Bearer \xe9"}),
    Bad("GET /v1/games", None, 403, "ROLE_NOT_ALLOWED"),
    Bad("DELETE " + GAME, None, 403, "ROLE_NOT_ALLOWED"),
]  # fmt: skip


@pytest.fixture
async def game(client: Client) -> Game:
    """A game of two at its beginning."""
    return await client.create()


async def ask(http: httpx.AsyncClient, game: Game, bad: Bad) -> httpx.Response:
    """Send a request, with a seat's credential unless it brings another."""
    verb, _, path = bad.request.partition(" ")
    url = httpx.URL(f"{http.base_url}".rstrip("/") + path.format(game=game.name))
    headers: dict[str, bytes | str] = {"authorization": f"Bearer {game.seats[0]}"}
    headers |= {name: value.encode("latin-1") for name, value in bad.headers.items()}
    if headers["authorization"] == b"":
        del headers["authorization"]
    return await http.request(verb, url, content=bad.body, headers=headers)  # type: ignore[arg-type]  # bytes do, too


async def test_every_bad_request_gets_the_right_answer(
    http: httpx.AsyncClient, raw: aioredis.Redis, game: Game
) -> None:
    before = await stored(raw)
    for bad in TABLE:
        response = await ask(http, game, bad)
        error = rest_failure(response)
        told = (response.status_code, error.reason, error.fields)
        assert told == (bad.code, bad.reason, (bad.field,) if bad.field else ()), (bad, response.text)
        assert (response.headers.get("www-authenticate") == "Bearer") == (bad.code == 401)
        assert ("allow" in response.headers) == (bad.code == 405)
        assert response.headers["cache-control"] == "no-store"
    assert await stored(raw) == before


async def test_a_method_that_is_not_allowed_says_which_are(http: httpx.AsyncClient) -> None:
    response = await http.put("/v1/games")
    assert response.headers["allow"] == "GET, POST"
    assert rest_failure(response).metadata == {"allow": "GET, POST"}


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_is_too_large_is_not_read(
    http: httpx.AsyncClient, server: RunningServer, raw: aioredis.Redis, *, chunked: bool
) -> None:
    size = 40 * 1024 * 1024
    before = await stored(raw)

    async def body() -> object:
        for _ in range(size // 65536):
            yield b" " * 65536

    content = body() if chunked else b" " * size
    response = await http.post("/v1/games", content=content, headers=JSON)  # type: ignore[arg-type]
    error = rest_failure(response)
    limit = server.settings.message_limit
    assert (response.status_code, error.reason) == (413, "MESSAGE_TOO_LARGE")
    assert error.metadata == {"limit_bytes": str(limit)}
    assert await stored(raw) == before
    largest = b" " * (limit - 2) + b"{}"
    assert (await http.post("/v1/games", content=largest, headers=JSON)).status_code == 200
    assert (await http.post("/v1/games", content=largest + b" ", headers=JSON)).status_code == 413


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/connect+json", b"{}"),
        ("application/connect+json", b"\0\0\0\0\x05{}"),
        ("application/connect+json", b"\0\0\0\0\x02[]"),
        ("application/connect+json", b"\1\0\0\0\x02{}"),
        ("application/connect+proto", b"\0\0\0\0\x02\x0a\xff"),
        ("application/grpc-web+proto", b"\0\0\0\0\x00\0\0\0\0\0"),
        ("application/grpc-web-text", b"####"),
        ("application/grpc-web", b""),
    ],
)
async def test_envelopes_that_are_none_are_refused_within_their_protocol(
    http: httpx.AsyncClient, media_type: str, body: bytes
) -> None:
    path = "/moonvale.v1.GameService/WatchGame"
    response = await http.post(path, content=body, headers={"content-type": media_type})
    assert response.status_code == 200
    said = response.content
    if "connect" in media_type:
        assert said[0] == 2
        assert b'"code":"invalid_argument"' in said or b'"code":"unimplemented"' in said
    else:
        assert response.headers["content-type"].startswith(media_type)


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /v1/games HTTP/9.9\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /v1/games HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"GET /v1/games HTTP/1.1\r\nhost: x\r\nx: " + b"a" * 40_000,
        b"".join([b"GET /v1/games HTTP/1.1\r\n", *[b"x: %d\r\n" % number for number in range(10_000)]]),
    ],
)
async def test_what_is_no_http_is_refused_and_the_connection_closed(server: RunningServer, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.server.http_port)
    try:
        writer.write(sent)
        said = await reader.read()
    finally:
        writer.close()
    assert said.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b'"reason":"MALFORMED_REQUEST"' in said


NAMES = [
    "options", "seats", "labels", "externalId", "external_id", "deal", "secret", "villages", "name", "actions", "draw",
    "pick", "card", "seat", "spot", "version", "players", "memory", "demands", "parity", "atMost", "sealReplayUntil",
    "peek", "spots", "place_end", "placeEnd", "end", "nonsense", "\ud800", "é",
]  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 5),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["1", "MEMORY_TABLE", "END_LEFT", "2026-03-01T10:00:00Z", "AAAA", "1e3", "\ud800"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=25,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["CreateGame", "SubmitAction", "RotateCredential", "WatchTurns"]),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5),
)
def test_json_is_read_as_protobuf_reads_it(method: str, made: dict[str, object]) -> None:
    """What protobuf's own mapper takes is taken as the same message; what it refuses is refused with a field."""
    kind, text = request_class(method), json.dumps(made)
    try:
        expected = json_format.Parse(text, kind())
    except json_format.ParseError:
        with pytest.raises(CallError) as raised:
            from_json.parse(kind, text.encode())
        assert raised.value.reason in ("INVALID_FIELD", "MALFORMED_REQUEST")
        str(raised.value).encode()
    else:
        try:
            assert from_json.parse(kind, text.encode()) == expected
        except CallError:
            assert "[]" in text  # which the mapper takes for a message without fields; we don't


def test_failures_of_tests_are_failures() -> None:
    """A test of the tests: a response without our details is not taken for one of ours."""
    with pytest.raises(AssertionError):
        rest_failure(httpx.Response(500, text="{}", headers={"content-type": "application/json"}))
    assert issubclass(Failure, Exception)
