"""Tables: whatever befalls a game, its players are ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from moonvale_arena.players import Source
from moonvale_arena.schedule import Schedule
from moonvale_arena.table import Table
from moonvale_client import AsyncClient
from tests.arena.playing import event


class RefusedError(Exception):
    """No game is created."""


class Refusing:
    """A client of a service that creates no game."""

    async def create_game(self, *_: object, **__: object) -> None:
        raise RefusedError


class Seated:
    """A player who says when it is being ended, and may be given up meanwhile."""

    def __init__(self, ending: asyncio.Event) -> None:
        self.ending = ending
        self.ended = False

    async def close(self) -> None:
        self.ending.set()
        self.ended = True
        await asyncio.sleep(0)  # as long as a connection takes to close


class Bench:
    """A source of players."""

    def __init__(self) -> None:
        self.ending = asyncio.Event()
        self.players: list[Seated] = []

    async def sit_down(self, seed: int) -> Seated:
        self.players.append(Seated(self.ending))
        return self.players[-1]


async def test_an_event_that_is_given_up_while_a_player_is_ended_ends_the_others_too() -> None:
    chosen = event("greedy", "random", seats=4)
    bench = Bench()
    sources = cast("Sequence[Source]", [bench, bench])
    game = Schedule(chosen).next_look()[0]
    table = Table(cast("AsyncClient", Refusing()), "", chosen, game, sources)
    playing: asyncio.Task[Any] = asyncio.create_task(table.play())
    await bench.ending.wait()
    playing.cancel()
    with pytest.raises((asyncio.CancelledError, RefusedError)):
        await playing
    assert [player.ended for player in bench.players] == [True] * 4
