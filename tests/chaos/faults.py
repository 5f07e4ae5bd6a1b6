"""The faults of a chaos run, and the schedule that they come by: every kind once, in a random order, then anew."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

from tests.chaos.cluster import Cluster, Worker
from tests.chaos.progress import Progress
from tests.chaos.proxy import Link

_COMMIT: Final = b"EVALSHA"  # what a worker's request to the store holds that may change something

_REPLIES: Final = 8  # that are lost at most by one fault


class Fault(NamedTuple):
    """What is done, to which worker if to one, and for how many seconds if it lasts."""

    kind: str
    worker: int
    seconds: float


class UncleanStopError(Exception):
    """A worker that was told to stop did not end in good order."""


def schedule(rng: Random, kinds: Sequence[str], workers: int) -> Iterator[Fault]:
    """Yield faults without end."""
    while True:
        for kind in rng.sample(kinds, len(kinds)):
            yield Fault(kind, rng.randrange(workers), rng.uniform(0.1, 2.5))


async def disturb(
    cluster: Cluster, faults: Iterator[Fault], progress: Progress, calm: Callable[[], int], note: Callable[[str], None]
) -> None:
    """Apply faults one after the other until the run ends. Raises UncleanStopError.

    calm: how many changes are to be acknowledged before the next fault. note: gets what happens.
    """
    while not progress.ending.is_set():
        fault = next(faults)
        note(f"begins: {fault}")
        await KINDS[fault.kind](cluster, fault)
        note(f"is over: {fault}")
        progress.add(fault.kind)
        await progress.calm(calm())


_Apply = Callable[[Cluster, Fault], Awaitable[None]]
_Pick = Callable[[Cluster, Fault], Worker]


def _worker(cluster: Cluster, fault: Fault) -> Worker:
    return cluster.workers[fault.worker]


def _steward(cluster: Cluster, fault: Fault) -> Worker:
    return cluster.stewards[fault.worker % len(cluster.stewards)]


def _kill(pick: _Pick) -> _Apply:
    """Return the death of a process, which is started anew."""

    async def apply(cluster: Cluster, fault: Fault) -> None:
        process = pick(cluster, fault)
        async with process.lock:
            await process.stop(signal.SIGKILL)
            await process.start()

    return apply


async def _stop_worker(cluster: Cluster, fault: Fault) -> None:
    worker = cluster.workers[fault.worker]
    async with worker.lock:
        code = await worker.stop()
        if code:
            raise UncleanStopError(f"worker {worker.number} ended with code {code} after SIGTERM")
        await worker.start()


def _pause(pick: _Pick) -> _Apply:
    """Return the pause of a process, as if its machine stood still."""

    async def apply(cluster: Cluster, fault: Fault) -> None:
        process = pick(cluster, fault)
        async with process.lock:
            process.process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(fault.seconds)
            process.process.send_signal(signal.SIGCONT)

    return apply


async def _kill_store(cluster: Cluster, fault: Fault) -> None:
    async with cluster.store_lock:
        await asyncio.to_thread(cluster.store.kill)
        await asyncio.sleep(fault.seconds / 4)
        await asyncio.to_thread(cluster.store.start)


async def _pause_store(cluster: Cluster, fault: Fault) -> None:
    async with cluster.store_lock:
        await asyncio.to_thread(cluster.store.pause)
        await asyncio.sleep(fault.seconds)
        cluster.store.resume()


def _delay(link: Link, marker: bytes) -> None:
    link.delay = 0.05


def _stall(link: Link, marker: bytes) -> None:
    link.stalled = True


def _cut(link: Link, marker: bytes) -> None:
    link.cut()


def _refuse(link: Link, marker: bytes) -> None:
    link.refusing = True
    link.cut()


def _lose_replies(link: Link, marker: bytes) -> None:
    link.lose_replies(_REPLIES, to=marker)


def _tear_replies(link: Link, marker: bytes) -> None:
    link.lose_replies(_REPLIES, to=marker, torn=True)


def _before_worker(harm: Callable[[Link, bytes], None]) -> _Apply:
    """Return a fault of the network between the clients and a worker."""

    async def apply(cluster: Cluster, fault: Fault) -> None:
        await _harm(cluster.workers[fault.worker].link, harm, b"", fault.seconds)

    return apply


def _before_store(harm: Callable[[Link, bytes], None], pick: _Pick = _worker) -> _Apply:
    """Return a fault of the network between a process and the store."""

    async def apply(cluster: Cluster, fault: Fault) -> None:
        await _harm(pick(cluster, fault).store_link, harm, _COMMIT, fault.seconds)

    return apply


async def _harm(link: Link, harm: Callable[[Link, bytes], None], marker: bytes, seconds: float) -> None:
    async with link.lock:
        harm(link, marker)
        if harm is not _cut:
            await asyncio.sleep(seconds)
        link.heal()


KINDS: Final[dict[str, _Apply]] = {
    "workers killed": _kill(_worker),
    "workers stopped in good order": _stop_worker,
    "workers paused": _pause(_worker),
    "stewards killed": _kill(_steward),
    "stewards paused": _pause(_steward),
    "stores killed": _kill_store,
    "stores paused": _pause_store,
    "delays before a worker": _before_worker(_delay),
    "stalls before a worker": _before_worker(_stall),
    "cuts before a worker": _before_worker(_cut),
    "refusals before a worker": _before_worker(_refuse),
    "lost replies of a worker": _before_worker(_lose_replies),
    "torn replies of a worker": _before_worker(_tear_replies),
    "delays before the store": _before_store(_delay),
    "stalls before the store": _before_store(_stall),
    "cuts before the store": _before_store(_cut),
    "refusals before the store": _before_store(_refuse),
    "lost replies of the store": _before_store(_lose_replies),
    "torn replies of the store": _before_store(_tear_replies),
    "cuts behind a steward": _before_store(_cut, _steward),
    "lost replies behind a steward": _before_store(_lose_replies, _steward),
}
"""Every kind of fault, by the name that it is counted as."""
