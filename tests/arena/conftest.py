"""Fixtures of the arena's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from moonvale_arena import Services
from tests.service.servers import Service, running_service


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A whole service of one worker, without limits."""
    with running_service(workers="1", log_level="warning", call_rate="0", create_rate="0") as service:
        yield service


@pytest.fixture(scope="session")
def services(service: Service) -> Services:
    """The same, as the arena is told of it."""
    return Services([service.address], (service.folder / "data" / "creator_key").read_text().strip())
