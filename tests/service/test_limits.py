"""Limits: who asks too much of a process is refused with a reason, and nobody else is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager, suppress
from pathlib import Path

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonvale.v1 import game_service_pb2 as pb
from moonvale_service import limits
from moonvale_service.credentials import Role
from moonvale_service.errors import RateLimitedError, TooManyWatchesError
from moonvale_service.quotas import BURST_SECONDS, Holder, Quotas, Rate
from moonvale_service.settings import Settings
from tests.service.client import Client, Failure
from tests.service.servers import RunningServer, start_server
from tests.support.servers import StoreServer

SEAT: Holder = ("q7xw3m6d4c2h5r2tk5w2", Role.SEAT, 0)
OTHER: Holder = ("q7xw3m6d4c2h5r2tk5w2", Role.SEAT, 1)
SPECTATOR: Holder = ("q7xw3m6d4c2h5r2tk5w2", Role.SPECTATOR, None)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(per_second=st.integers(1, 20), gaps=st.lists(st.floats(0, 30), max_size=80))
def test_a_rate_lets_no_more_through_than_its_average_and_a_burst(per_second: int, gaps: list[float]) -> None:
    clock = Clock()
    rate = Rate(per_second, clock)
    admitted: list[float] = []
    for gap in gaps:
        clock.now += gap
        for _ in range(round(per_second * BURST_SECONDS) + 1):
            with suppress(RateLimitedError):
                rate.take("key")
                admitted.append(clock.now)
    for i, first in enumerate(admitted):
        for j in range(i, len(admitted), 50):
            assert j - i + 1 <= per_second * (admitted[j] - first + BURST_SECONDS) + 1e-6


def test_the_delay_of_a_refusal_is_what_it_takes() -> None:
    clock = Clock()
    rate = Rate(2, clock)
    for _ in range(20):
        rate.take("key")
    with pytest.raises(RateLimitedError) as raised:
        rate.take("key")
    clock.now += raised.value.delay - 0.001
    with pytest.raises(RateLimitedError):
        rate.take("key")
    clock.now += 0.002
    rate.take("key")
    rate.take("another key")


def test_callers_who_are_silent_are_forgotten() -> None:
    clock = Clock()
    rate = Rate(5, clock)
    for number in range(1000):
        rate.take(number)
    assert len(rate) == 1000
    clock.now += 1
    for number in range(500):
        rate.take(f"later {number}")
    assert len(rate) == 500


def quotas(clock: Clock, **chosen: str) -> Quotas:
    return Quotas(Settings.from_environment({f"MOONVALE_{key.upper()}": text for key, text in chosen.items()}), clock)


def test_each_credential_has_a_rate_of_its_own_and_spectators_share_a_larger_one() -> None:
    mine = quotas(Clock(), call_rate="1", spectator_call_rate="3")
    for holder, most in ((SEAT, 10), (OTHER, 10), (SPECTATOR, 30)):
        for _ in range(most):
            mine.call(holder)
        with pytest.raises(RateLimitedError):
            mine.call(holder)


def test_who_has_the_creator_key_does_not_wait_for_who_has_not() -> None:
    mine = quotas(Clock(), create_rate="1")
    for creator_key in (False, True):
        for _ in range(10):
            mine.create(creator_key=creator_key)
        with pytest.raises(RateLimitedError):
            mine.create(creator_key=creator_key)


def test_watches_count_as_long_as_they_are_open() -> None:
    mine = quotas(Clock(), watches="2", spectator_watches="3")
    for holder, most in ((SEAT, 2), (OTHER, 2), (SPECTATOR, 3)):
        with ExitStack() as stack:
            for _ in range(most):
                stack.enter_context(mine.watch(holder))
            with pytest.raises(TooManyWatchesError), mine.watch(holder):
                pass
        with mine.watch(holder):
            pass


def test_zero_takes_a_limit_away() -> None:
    mine = quotas(Clock(), call_rate="0", spectator_call_rate="0", create_rate="0", watches="0", spectator_watches="0")
    for holder in (SEAT, SPECTATOR):
        with ExitStack() as stack:
            for _ in range(12_000):
                mine.call(holder)
                mine.create(creator_key=False)
                stack.enter_context(mine.watch(holder))


@asynccontextmanager
async def serving(valkey: StoreServer, folder: Path, **chosen: str) -> AsyncIterator[tuple[RunningServer, Client]]:
    """A server with some limits, and a client of it."""
    server = await start_server(valkey.url, folder, **chosen)
    async with Client(server.address) as client:
        yield server, client
    await server.stop()


async def refused(call: Callable[[], Awaitable[object]]) -> Failure:
    """Make a call over and over, until it fails."""
    while True:
        try:
            await call()
        except Failure as failure:
            return failure


async def test_a_caller_who_asks_too_often_is_told_when_to_ask_again(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, call_rate="1") as (_, client):
        game = await client.create()
        for _ in range(9):
            await client.view(game.name, game.seats[0])
        async with aclosing(client.watch(game.name, game.seats[0])) as messages:
            await anext(messages)  # which is the tenth
        error = await refused(lambda: client.view(game.name, game.seats[0]))
        assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
        assert error.metadata == {"per_second": "1"}
        assert error.retry_delay is not None
        assert 0 < error.retry_delay <= 1
        for credential in (game.seats[1], game.creator, game.spectator):
            assert (await client.view(game.name, credential)).name == game.name
        with pytest.raises(Failure) as raised:  # nor does it help to ask for another game, or as nobody
            await client.view(game.name, None)
        assert raised.value.reason == "CREDENTIAL_MISSING"


async def test_games_that_are_created_too_fast_are_refused(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, create_rate="1") as (server, client):
        error = await refused(client.create)
        assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
        assert error.retry_delay is not None
        assert (await client.create(credential=server.creator_key)).view.version == 0


async def test_streams_beyond_the_limit_are_refused_until_one_is_closed(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, watches="2", spectator_watches="3") as (_, client):
        game = await client.create()
        for credential, most in ((game.seats[0], 2), (game.creator, 2), (game.spectator, 3)):
            async with AsyncExitStack() as stack:
                for _ in range(most):
                    messages = await stack.enter_async_context(aclosing(client.watch(game.name, credential)))
                    assert (await anext(messages)).HasField("view")
                with pytest.raises(Failure) as raised:
                    await anext(client.watch(game.name, credential))
                error = raised.value
                assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WATCHES")
                assert error.metadata == {"limit": str(most)}
                assert error.retry_delay is None
        async with AsyncExitStack() as stack:
            opened = 0
            while opened < 2:  # as soon as the server has noticed that those are closed
                try:
                    messages = await stack.enter_async_context(aclosing(client.watch(game.name, game.seats[0])))
                    await anext(messages)
                    opened += 1
                except Failure as error_:
                    assert error_.reason == "TOO_MANY_WATCHES"  # noqa: PT017


async def test_the_limits_are_told(valkey: StoreServer, tmp_path: Path) -> None:
    async with serving(valkey, tmp_path, watches="7") as (_, client):
        told = pb.GetServerInfoResponse.FromString(await client.raw("GetServerInfo", b"")).limits
    assert (told.max_watches, told.max_spectator_watches) == (7, 10_000)
    assert (told.max_calls_per_second, told.max_spectator_calls_per_second) == (100, 1000)
    assert told.max_games_per_second == 50
    assert (told.max_watched_seats, told.max_watch_age.seconds) == (limits.MAX_WATCHED_SEATS, 1800)
    off = dict.fromkeys(("call_rate", "spectator_call_rate", "create_rate", "watches", "spectator_watches"), "0")
    async with serving(valkey, tmp_path, **off) as (_, client):
        told = pb.GetServerInfoResponse.FromString(await client.raw("GetServerInfo", b"")).limits
    assert {field.name for field, _ in told.ListFields() if field.has_presence} == {
        *("finished_game_ttl", "idle_game_ttl", "heartbeat_interval", "max_watch_age"),
    }


def test_the_limits_of_the_contracts_page_are_the_defaults() -> None:
    """Each row's default and setting, or the constant of a fixed one."""
    page = (Path(__file__).parents[2] / "docs/contract.md").read_text()
    section = page.split("## Limits")[1].split("## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:2] == "| "]
    defaults = Settings.from_environment({})
    texts = (limits.MAX_TEXT_BYTES, limits.MAX_LABELS)
    fixed = iter((*texts, limits.MAX_ACTIONS, limits.MAX_WATCHED_SEATS, limits.MAX_PAGE_SIZE))
    for _, default, setting, *_ in rows[1:]:
        number = int(default.split()[0])
        if setting == "fixed":
            assert number == next(fixed)
        else:
            value = getattr(defaults, setting.removeprefix("MOONVALE_").lower())
            unit = {"KiB": 1024, "min": 60}.get(default.split()[-1], 1)
            assert value == number * unit, setting
    assert next(fixed, None) is None
    assert len(rows) == 14
