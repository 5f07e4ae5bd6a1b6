"""Watches: every entry once and in order, whatever breaks."""

from collections.abc import Iterable
from contextlib import aclosing

import pytest

from moonvale_client import AsyncClient, Client, MoonvaleError, RetryPolicy, Update, View
from tests.client.fake import GAME, SPECTATOR_CREDENTIAL, FakeService, mark

QUICK = RetryPolicy(timeout=20, attempt_timeout=5, first_pause=0.001, longest_pause=0.002)


def played(fake: FakeService) -> int:
    """Play the game to its end; returns the number of actions."""
    while not fake.state.is_over():
        fake.act()
    return len(fake.log) - 1


def versions(updates: Iterable[Update]) -> list[int]:
    """The versions of the entries that followed the view."""
    view, *entries = updates
    assert isinstance(view, View)
    assert not any(isinstance(entry, View) for entry in entries)
    return [entry.version for entry in entries]


@pytest.mark.parametrize("lengths", [[], [0, 0], [1, 1, 2], [2, 5, 1, 0, 7], [30, 3]])
def test_a_watch_passes_on_every_entry_once_wherever_its_streams_break(
    fake: FakeService, address: str, lengths: list[int]
) -> None:
    end = played(fake)
    fake.stream_lengths = lengths[:]
    with Client(address, retry=QUICK) as client:
        updates = list(client.watch(GAME, SPECTATOR_CREDENTIAL, after_version=0, after_mark=mark(0)))
    assert versions(updates) == list(range(1, end + 1))
    assert len(fake.watched_from) == len(lengths) + 1


async def test_the_asyncio_watch_does_so_too_while_the_game_is_played(fake: FakeService, address: str) -> None:
    fake.stream_lengths = [3, 1, 4, 1, 5]
    seen: list[Update] = []
    async with AsyncClient(address, retry=QUICK) as client, aclosing(client.watch(GAME, SPECTATOR_CREDENTIAL)) as watch:
        async for update in watch:
            seen.append(update)
            if not fake.state.is_over():
                fake.act()
    assert versions(seen) == list(range(1, len(fake.log)))
    assert len(fake.watched_from) == 6


def test_a_broken_watch_goes_on_from_the_last_version_and_mark(fake: FakeService, address: str) -> None:
    played(fake)
    fake.stream_lengths = [4, 1]
    with Client(address, retry=QUICK) as client:
        list(client.watch(GAME, SPECTATOR_CREDENTIAL, after_version=0, after_mark=mark(0)))
    assert fake.watched_from == [(0, mark(0)), (3, mark(3)), (3, mark(3))]


def test_a_watch_that_began_with_the_view_goes_on_from_the_views_version(fake: FakeService, address: str) -> None:
    fake.act()
    fake.act()
    fake.stream_lengths = [1]
    with Client(address, retry=QUICK) as client:
        watch = client.watch(GAME, SPECTATOR_CREDENTIAL)
        next(watch)
        played(fake)
        assert next(entry.version for entry in watch if not isinstance(entry, View)) == 3
        watch.close()
    assert fake.watched_from == [(None, ""), (2, mark(2))]


def test_entries_that_a_server_sends_again_are_not_passed_on(fake: FakeService, address: str) -> None:
    end = played(fake)
    fake.repeat_entries = 3
    fake.stream_lengths = [6]
    with Client(address, retry=QUICK) as client:
        updates = list(client.watch(GAME, SPECTATOR_CREDENTIAL, after_version=0))
    assert versions(updates) == list(range(1, end + 1))


def test_a_stream_that_left_an_entry_out_is_given_up_and_resumed_before_the_gap(
    fake: FakeService, address: str
) -> None:
    end = played(fake)
    fake.leave_out = 4
    with Client(address, retry=QUICK) as client:
        updates = list(client.watch(GAME, SPECTATOR_CREDENTIAL, after_version=0))
    assert versions(updates) == list(range(1, end + 1))
    assert fake.watched_from == [(0, ""), (3, mark(3))]


async def test_a_rewound_history_is_raised(fake: FakeService, address: str) -> None:
    fake.rewound = True
    async with AsyncClient(address, retry=QUICK) as client:
        with pytest.raises(MoonvaleError) as caught:
            await anext(client.watch(GAME, SPECTATOR_CREDENTIAL, after_version=3, after_mark="of a lost world"))
    assert caught.value.reason == "HISTORY_REWOUND"
    assert caught.value.metadata == {"version": "1"}


def test_a_watch_gives_up_when_nothing_comes_for_too_long() -> None:
    policy = RetryPolicy(timeout=0.2, attempt_timeout=0.1, first_pause=0.01, longest_pause=0.02)
    with Client("127.0.0.1:1", retry=policy) as client, pytest.raises(MoonvaleError) as caught:
        next(client.watch(GAME, SPECTATOR_CREDENTIAL))
    assert caught.value.is_transient


def test_events_are_listed_page_by_page(fake: FakeService, address: str) -> None:
    for _ in range(6):
        fake.act()
    with Client(address) as client:
        assert [entry.version for entry in client.list_events(GAME, SPECTATOR_CREDENTIAL, page_size=3)] == [*range(7)]


async def test_the_asyncio_client_lists_them_too(fake: FakeService, address: str) -> None:
    for _ in range(4):
        fake.act()
    async with AsyncClient(address) as client:
        entries = [entry async for entry in client.list_events(GAME, SPECTATOR_CREDENTIAL, page_size=2)]
    assert [entry.version for entry in entries] == [*range(5)]
