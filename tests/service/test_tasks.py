"""Tasks that are ended have ended, whatever becomes of cancellations and of whoever waits."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress

from moonvale_service import tasks


async def stubborn(times: int, began: asyncio.Event) -> None:
    """Swallow so many cancellations."""
    began.set()
    for _ in range(times):
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
    await asyncio.Event().wait()


async def test_a_task_that_swallows_cancellations_is_ended() -> None:
    began = asyncio.Event()
    task = asyncio.create_task(stubborn(3, began))
    await began.wait()
    await tasks.end(task, None)
    assert task.cancelled()


async def test_the_error_of_a_task_that_is_ended_is_no_matter() -> None:
    """Not even when the task is forgotten, and asyncio would say that nobody has asked for it."""

    async def fail() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError

    said: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
    failing = asyncio.create_task(fail())
    await asyncio.sleep(0)
    await tasks.end(failing)
    del failing
    gc.collect()
    assert not said


async def test_what_a_task_ends_when_it_is_ended_goes_first() -> None:
    """Ended tasks are cancelled again and again: that must not cut short how one of them ends its own."""
    began = asyncio.Event()
    inner = asyncio.create_task(stubborn(4, began))

    async def run() -> None:
        try:
            await asyncio.wait([inner])
        finally:
            await tasks.end(inner)

    outer = asyncio.create_task(run())
    await began.wait()
    await tasks.end(outer)
    assert inner.cancelled()
    assert outer.cancelled()


async def test_whoever_ends_tasks_can_be_cancelled_once_they_are_gone() -> None:
    began = asyncio.Event()
    task = asyncio.create_task(stubborn(2, began))
    await began.wait()
    ending = asyncio.create_task(tasks.end(task))
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait([ending])
    assert ending.cancelled()
    assert task.cancelled()
