"""Calls that are given up leave nothing behind: all share the same connection, and no reply goes to somebody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from moonvale.v1 import view_pb2
from tests.chaos.cancel import MixedUpError, Storm, check, prepared
from tests.service.client import Game
from tests.support.servers import StoreServer


@pytest.fixture
async def storm(valkey: StoreServer, tmp_path: Path) -> AsyncIterator[Storm]:
    """A storm of calls to a server in this process."""
    async with prepared(valkey, tmp_path, Random(3)) as storm:
        yield storm


async def test_calls_and_watches_that_are_given_up_leave_nothing_behind(storm: Storm) -> None:
    await storm.run(250)
    assert storm.counts["SubmitActions cancelled"] + storm.counts["watches cancelled"] > 30


async def test_a_connection_that_is_opened_anew_is_found(storm: Storm) -> None:
    await storm.run(0)
    connections = storm.link.accepted
    storm.check_connections(connections)
    storm.link.cut()
    await storm.run(0)
    with pytest.raises(MixedUpError, match="more connections to the store were opened"):
        storm.check_connections(connections)


@pytest.mark.parametrize("field", ["name", "external_id", "commitment"])
def test_a_view_of_another_game_is_found(field: str) -> None:
    game = Game("games/a", "", [], "", view_pb2.View(name="games/a", external_id="a", commitment=b"a"))
    check(game, game.view)
    other = view_pb2.View(name="games/b", external_id="b", commitment=b"b")
    mixed = view_pb2.View()
    mixed.CopyFrom(game.view)
    setattr(mixed, field, getattr(other, field))
    with pytest.raises(MixedUpError, match=f"the {field} in a view of games/a"):
        check(game, mixed)
