"""Fixtures and settings that all tests share."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.ci import UNDER_CI, do_without
from tests.support.servers import StoreServer, redis_program, running, valkey_program

# What a shell starts in the background ignores Ctrl-C, and so would the commands that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests share two cores, so time says nothing: no deadline. Under CI every run draws the same examples.
settings.register_profile("moonvale", deadline=None, print_blob=True)
settings.register_profile("moonvale-ci", settings.get_profile("moonvale"), derandomize=True, database=None)
settings.load_profile("moonvale-ci" if UNDER_CI else "moonvale")


@pytest.fixture
def valkey() -> Iterator[StoreServer]:
    """An empty Valkey of the test's own, the one that the service embeds; the test may kill or restart it."""
    with running(valkey_program()) as server:
        yield server


@pytest.fixture
def redis_server() -> Iterator[StoreServer]:
    """An empty Redis of the test's own; skips where none is installed, which under CI is a failure."""
    program = redis_program()
    if program is None:
        do_without("no Redis 7.0 or newer on PATH (Debian and Ubuntu: apt-get install redis-tools)")
    with running(program) as server:
        yield server


@pytest.fixture(params=["valkey", "redis_server"])
def store_server(request: pytest.FixtureRequest) -> StoreServer:
    """An empty server of the test's own; the test runs once on Valkey and once on Redis."""
    server = request.getfixturevalue(request.param)
    assert isinstance(server, StoreServer)
    return server


@pytest.fixture
def store_url(store_server: StoreServer) -> str:
    """The URL of `store_server`."""
    return store_server.url
