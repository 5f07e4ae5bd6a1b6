"""Retries: how often, how long and with what pauses a call is made again. It neither sleeps nor calls: clients do."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import grpc

from moonvale_client.errors import MoonvaleError, from_rpc_error


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Durations in seconds.

    timeout: after which a call gives up, all attempts and pauses included; a watch, when it can't be resumed so long.
    attempt_timeout: the deadline of one attempt. first_pause, longest_pause: between attempts, doubling, with jitter.
    """

    timeout: float = 30.0
    attempt_timeout: float = 10.0
    first_pause: float = 0.1
    longest_pause: float = 3.0


class StreamBrokenError(Exception):
    """A stream ended before it told its end, or left something out."""


class Attempts:
    """The attempts at one call: the deadline of each, and the pause after one that failed."""

    def __init__(
        self,
        policy: RetryPolicy,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._jitter = jitter
        self._count = 0
        self._pause = policy.first_pause
        self._deadline = clock() + policy.timeout
        self._renewed = False

    def deadline(self) -> float:
        """Return the seconds that the next attempt may take."""
        return max(0.0, min(self._policy.attempt_timeout, self._deadline - self._clock()))

    def pause(self, failure: grpc.RpcError | StreamBrokenError | MoonvaleError) -> float:
        """Return the seconds to wait before the next attempt.

        Raises the MoonvaleError of the failure if another attempt would not help, or the time is up.
        """
        self._count += 1
        if self._renewed:
            self._renewed = False
            self._deadline = self._clock() + self._policy.timeout
        error = self._error(failure)
        pause = self._pause * (0.5 + self._jitter() / 2) + (error.retry_delay or 0.0)
        self._pause = min(2 * self._pause, self._policy.longest_pause)
        if not error.is_transient or self._clock() + pause >= self._deadline:
            raise error from None if error is failure else failure
        return pause

    def renew(self, *, settled: bool) -> None:
        """Something came: the time runs from the next failure on; if the stream has settled, pauses are short again.

        A peer that vanished is noticed after a silence that can be longer than the time for attempts.
        """
        self._renewed = True
        if settled:
            self._count = 0
            self._pause = self._policy.first_pause

    def _error(self, failure: grpc.RpcError | StreamBrokenError | MoonvaleError) -> MoonvaleError:
        if isinstance(failure, MoonvaleError):
            return failure
        if isinstance(failure, StreamBrokenError):
            return MoonvaleError(grpc.StatusCode.UNAVAILABLE, "", str(failure), attempts=self._count)
        return from_rpc_error(failure, self._count)


def carried_out_before(error: MoonvaleError, reason: str) -> bool:
    """Whether a repeated call failed because an attempt before it, whose answer was lost, had done the thing."""
    return error.reason == reason and error.attempts > 1
