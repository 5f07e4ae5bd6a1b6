"""Nonsense is refused with a reason and changes nothing; and the fuzzer would notice if it were otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import redis.asyncio as aioredis

from moonvale.v1 import game_service_pb2 as pb
from moonvale_service.calls import Caller, Calls
from moonvale_service.edge import METHODS
from tests.chaos.fuzz_input import HEARTBEAT, REQUESTS, Fuzzer, NonsenseAcceptedError
from tests.chaos.mutations import mutate
from tests.service.servers import start_server
from tests.support.servers import StoreServer


@pytest.fixture
async def raw(valkey: StoreServer) -> AsyncIterator[aioredis.Redis]:
    """What the service has stored, from beneath."""
    async with aioredis.Redis.from_url(valkey.url) as raw:
        yield raw


@asynccontextmanager
async def fuzzing(raw: aioredis.Redis, valkey: StoreServer, folder: Path) -> AsyncIterator[Fuzzer]:
    """A fuzzer of a server in this process."""
    server = await start_server(valkey.url, folder, heartbeat=HEARTBEAT)
    fuzzer = Fuzzer(server.address, raw, (server.creator_key, server.operator_key), Random(5))
    await fuzzer.prepare()
    yield fuzzer
    await fuzzer.close()
    await server.stop()


async def test_nonsense_is_refused_and_changes_nothing(
    raw: aioredis.Redis, valkey: StoreServer, tmp_path: Path
) -> None:
    async with fuzzing(raw, valkey, tmp_path) as fuzzer:
        for _ in range(14):
            await fuzzer.run_batch(200)
    outcomes = fuzzer.report.outcomes
    assert fuzzer.report.calls == 2800
    assert fuzzer.report.changes > 0
    for method in REQUESTS:
        assert outcomes[f"{method} INVALID_ARGUMENT MALFORMED_REQUEST"]
        assert outcomes[f"{method} OK"] or method == "SubmitAction"
    for outcome in (
        "CreateGame INVALID_ARGUMENT INVALID_FIELD",
        "GetReplay FAILED_PRECONDITION GAME_NOT_OVER",
        "GetReplay FAILED_PRECONDITION REPLAY_SEALED",
        "GetView PERMISSION_DENIED CREDENTIAL_OF_ANOTHER_GAME",
        "SubmitAction ABORTED STALE_VERSION",
        "SubmitAction INVALID_ARGUMENT BATCH_REVEALS",
        "SubmitAction INVALID_ARGUMENT INVALID_FIELD",
        "SubmitAction RESOURCE_EXHAUSTED MESSAGE_TOO_LARGE",
        "WatchGame ABORTED HISTORY_REWOUND",
        "WatchTurns INVALID_ARGUMENT INVALID_FIELD",
    ):
        assert outcomes[outcome], outcome


def patch_get_catalog(monkeypatch: pytest.MonkeyPatch, call: Callable[..., Awaitable[pb.GetCatalogResponse]]) -> None:
    """Have the next server do something else for GetCatalog."""
    monkeypatch.setitem(METHODS, "GetCatalog", replace(METHODS["GetCatalog"], call=call))


async def test_an_internal_error_is_found(
    raw: aioredis.Redis, valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_down(calls: Calls, request: pb.GetCatalogRequest, caller: Caller) -> pb.GetCatalogResponse:
        raise RuntimeError

    patch_get_catalog(monkeypatch, break_down)
    async with fuzzing(raw, valkey, tmp_path) as fuzzer:
        with pytest.raises(NonsenseAcceptedError, match="INTERNAL"):
            await fuzzer.run_batch(200)


async def test_a_change_by_a_call_that_changes_nothing_is_found(
    raw: aioredis.Redis, valkey: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write(calls: Calls, request: pb.GetCatalogRequest, caller: Caller) -> pb.GetCatalogResponse:
        await raw.hincrby("mv:{0000}:g:nobody", "u", 1)
        return pb.GetCatalogResponse()

    patch_get_catalog(monkeypatch, write)
    async with fuzzing(raw, valkey, tmp_path) as fuzzer:
        with pytest.raises(NonsenseAcceptedError, match="no call has changed"):
            await fuzzer.run_batch(200)


def test_mutations_follow_from_their_seed() -> None:
    request = pb.CreateGameRequest(labels={"a": "b"}, request_id="a request id").SerializeToString()
    first, again = ([mutate(pb.CreateGameRequest, request, Random(seed)) for seed in range(50)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 25
