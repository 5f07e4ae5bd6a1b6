"""Ending background tasks."""

from __future__ import annotations

import asyncio
from typing import Any, Final

_PAUSE: Final = 0.05


async def end(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait for their end; their results and errors count no more.

    Cancels again while a task lives: asyncio.wait_for of Python 3.11, which redis-py uses, can swallow a cancellation.
    Where this is itself cancelled, as it is within a task that is being ended, the tasks still end first.
    """
    given = [task for task in tasks if task is not None]
    cancelled: asyncio.CancelledError | None = None
    while living := [task for task in given if not task.done()]:
        for task in living:
            task.cancel()
        try:
            await asyncio.wait(living, timeout=_PAUSE)
        except asyncio.CancelledError as error:
            cancelled = error
    for task in given:
        if not task.cancelled():
            task.exception()  # else asyncio says that nobody has asked for it
    if cancelled is not None:
        raise cancelled
