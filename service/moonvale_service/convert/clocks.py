"""Clocks: those of a request to the service's, with errors that name the field of the request; and back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from google.protobuf.duration_pb2 import Duration

from moonvale.v1 import clock_pb2 as pb
from moonvale_service.clocks import LONGEST_MS, SHORTEST_MS, Clock, TimeOut
from moonvale_service.errors import FieldError

DEFAULT_AGENT: Final = "greedy"

_TIME_OUTS: Final = {
    pb.TIME_OUT_UNSPECIFIED: TimeOut.FORFEIT,
    pb.TIME_OUT_FORFEIT: TimeOut.FORFEIT,
    pb.TIME_OUT_AGENT_DECIDES: TimeOut.AGENT_DECIDES,
    pb.TIME_OUT_AGENT_TAKES_OVER: TimeOut.AGENT_TAKES_OVER,
}
_TIME_OUT_OF: Final = {meaning: number for number, meaning in _TIME_OUTS.items() if number}


def from_proto(message: pb.Clock, agents: Collection[str]) -> Clock:
    """Return the clock of a new game. ``agents``: the names of those that may play for seats.

    Raises FieldError with a path of CreateGameRequest, such as ``clock.bank``.
    """
    if message.HasField("per_decision") == message.HasField("bank"):
        raise FieldError("clock", "needs either per_decision or bank")
    if message.HasField("increment") and not message.HasField("bank"):
        raise FieldError("clock.increment", "goes with a bank")
    if message.on_time_out not in _TIME_OUTS:
        known = ", ".join([pb.TimeOut.Name(number) for number in _TIME_OUTS if number])
        raise FieldError("clock.on_time_out", f"must be one of {known}")
    agent = message.agent or DEFAULT_AGENT
    if agent not in agents:
        raise FieldError("clock.agent", f"must be one of {', '.join(agents)}")
    return Clock(
        per_decision=_milliseconds("clock.per_decision", message.per_decision, SHORTEST_MS, message.HasField("bank")),
        bank=_milliseconds("clock.bank", message.bank, SHORTEST_MS, message.HasField("per_decision")),
        increment=_milliseconds("clock.increment", message.increment, 0, not message.HasField("increment")),
        on_time_out=_TIME_OUTS[message.on_time_out],
        agent=agent,
    )


def _milliseconds(field: str, duration: Duration, least: int, absent: bool) -> int:
    """Return a duration; one that is absent is 0. Raises FieldError."""
    if absent:
        return 0
    milliseconds = duration.seconds * 1000 + duration.nanos // 1_000_000
    if not least <= milliseconds <= LONGEST_MS or not 0 <= duration.nanos < 1_000_000_000:
        raise FieldError(field, f"must be {least / 1000:g} to {LONGEST_MS // 1000} seconds")
    return milliseconds


def to_proto(clock: Clock) -> pb.Clock:
    """Return the clock of a game."""
    return pb.Clock(
        per_decision=duration(clock.per_decision) if clock.per_decision else None,
        bank=duration(clock.bank) if clock.bank else None,
        increment=duration(clock.increment) if clock.bank else None,
        on_time_out=_TIME_OUT_OF[clock.on_time_out],
        agent=clock.agent,
    )


def duration(milliseconds: int) -> Duration:
    """Return a duration given in milliseconds."""
    return Duration(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)
