"""Giving up at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

_MOMENTS = 20
_AT_ONCE = 64


async def give_up_at_any_moment(step: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Take many steps at once, give up those that are not over after each number of turns of the loop: they must end.

    Python 3.11's asyncio.wait_for swallows a cancellation that comes when what it waits for is done.
    """
    for moment in range(_MOMENTS):
        steps = [asyncio.create_task(step()) for _ in range(_AT_ONCE)]
        for _ in range(moment):
            await asyncio.sleep(0)
        given_up = [each for each in steps if each.cancel()]
        await asyncio.wait(steps)
        assert all(each.cancelled() for each in given_up), f"after {moment} turns of the loop"
