"""Fixtures of the client's tests."""

from collections.abc import Iterator

import pytest

from tests.client.fake import FakeService, serving


@pytest.fixture
def fake() -> FakeService:
    """A service whose faults the test sets."""
    return FakeService()


@pytest.fixture
def address(fake: FakeService) -> Iterator[str]:
    """Where `fake` is served."""
    with serving(fake) as address:
        yield address
