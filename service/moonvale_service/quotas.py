"""Quotas: how many calls a second, and how many open streams, one caller may have of this process.

They keep one client that runs wild from taking the service away from all others. Nothing is stored: each process
counts for itself, so that a service of several allows a multiple.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Final

from moonvale_service.credentials import Credential, Role
from moonvale_service.errors import RateLimitedError, TooManyWatchesError
from moonvale_service.settings import Settings

BURST_SECONDS: Final = 10.0  # a caller who was silent for so long may catch up at once

_ROUNDING: Final = 1e-6  # seconds
_FORGOTTEN: Final = 2  # entries looked at for each new one, so that they never pile up

Holder = tuple[str, Role, int | None]  # of a credential: its game, role and seat


def holder_of(credential: Credential) -> Holder:
    """Return whom a credential counts for, however often it was replaced."""
    return credential.game, credential.role, credential.seat


class Rate:
    """A token bucket per key: ``per_second`` calls on average (0: any number), and those of BURST_SECONDS at once."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._full_at: OrderedDict[Hashable, float] = OrderedDict()  # when a bucket is full; a full one is not kept

    def __len__(self) -> int:
        return len(self._full_at)

    def take(self, key: Hashable) -> None:
        """Count a call. Raises RateLimitedError if it is one too many; that one is not counted."""
        if not self._per_second:
            return
        now = self._clock()
        self._forget(now)
        full_at = max(now, self._full_at.get(key, now)) + 1 / self._per_second
        if full_at - now > BURST_SECONDS + _ROUNDING:
            raise RateLimitedError(self._per_second, full_at - now - BURST_SECONDS)
        self._full_at[key] = full_at
        self._full_at.move_to_end(key)

    def _forget(self, now: float) -> None:
        for _ in range(_FORGOTTEN):
            oldest = next(iter(self._full_at), None)
            if oldest is None or self._full_at[oldest] > now:
                return
            del self._full_at[oldest]


class Quotas:
    """All quotas of this process, as the settings say."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls = Rate(settings.call_rate, clock)
        self._spectators_calls = Rate(settings.spectator_call_rate, clock)
        self._creations = Rate(settings.create_rate, clock)
        self._watches = settings.watches
        self._spectators_watches = settings.spectator_watches
        self._open: Counter[Holder] = Counter()

    def call(self, holder: Holder) -> None:
        """Count a call with a credential. Raises RateLimitedError."""
        (self._spectators_calls if holder[1] is Role.SPECTATOR else self._calls).take(holder)

    def create(self, *, creator_key: bool) -> None:
        """Count a CreateGame. Raises RateLimitedError."""
        self._creations.take(creator_key)

    def claim(self) -> None:
        """Count a ClaimSeat, which needs no credential: join codes are not to be guessed. Raises RateLimitedError."""
        self._creations.take("claim")

    def hold(self, holder: Holder) -> None:
        """Count a stream of a credential until ``release``. Raises TooManyWatchesError and counts nothing then."""
        limit = self._spectators_watches if holder[1] is Role.SPECTATOR else self._watches
        if limit and self._open[holder] >= limit:
            raise TooManyWatchesError(limit)
        self._open[holder] += 1

    def release(self, holder: Holder) -> None:
        """Count a stream of a credential no more."""
        self._open[holder] -= 1
        if not self._open[holder]:
            del self._open[holder]

    @contextmanager
    def watch(self, holder: Holder) -> Iterator[None]:
        """Count a stream of a credential as long as it is open. Raises TooManyWatchesError."""
        self.hold(holder)
        try:
            yield
        finally:
            self.release(holder)
