"""Results: how a game ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonvale.v1 import result_pb2 as pb
from moonvale_engine import events

#: By the engine's constants.
REASONS: Final = {
    events.OVER_BY_ROUNDS: pb.GAME_OVER_REASON_ROUNDS,
    events.OVER_BY_RESIGNATION: pb.GAME_OVER_REASON_RESIGNATION,
}


def to_proto(reason: int, places: Sequence[int], totals: Sequence[int]) -> pb.Result:
    """Return a result: why the game is over (an OVER_ constant), the seats by place, the points by seat."""
    return pb.Result(reason=REASONS[reason], places=places, totals=totals)
