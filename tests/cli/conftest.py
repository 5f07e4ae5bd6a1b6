"""Fixtures of the command's tests."""

from collections.abc import Iterator

import pytest

from tests.service.servers import running_service


@pytest.fixture(scope="session")
def service_address() -> Iterator[str]:
    """Where a service of the tests' own runs: one worker process, an embedded store."""
    with running_service(workers="1") as service:
        yield service.address
