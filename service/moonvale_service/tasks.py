"""Ending background tasks."""

from __future__ import annotations

import asyncio
from typing import Any, Final

_PAUSE: Final = 0.05


async def end(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait for their end; their results and errors count no more.

    Cancels again while a task lives: asyncio.wait_for of Python 3.11, which redis-py uses, can swallow a cancellation.
    """
    living = {task for task in tasks if task is not None}
    while living:
        for task in living:
            task.cancel()
        _, living = await asyncio.wait(living, timeout=_PAUSE)
