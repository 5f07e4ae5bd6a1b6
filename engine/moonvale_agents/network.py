"""The value network: what each seat will score in the round, expected from how its village and the table stand.

One hidden layer of rectified linear units beside a direct, linear path. ``tests.agents.fit`` fits it to games of greedy
agents and writes its weights (``weights``).
"""

from __future__ import annotations

from typing import Final

from moonvale_agents.features import FEATURES, features, summary
from moonvale_agents.weights import WEIGHTS
from moonvale_engine.state import State

_POINTS: Final = 10.0  # that one unit of the network's output stands for


class Unit:
    """A hidden unit: the weights of its inputs, its bias, and its weight in the output."""

    def __init__(self, numbers: list[float]) -> None:
        self.weights = numbers[:FEATURES]
        self.bias = numbers[FEATURES]
        self.out = numbers[FEATURES + 1]


_NUMBERS: Final = [float(number) for number in WEIGHTS.split()]
_UNIT: Final = FEATURES + 2
_HIDDEN: Final = [Unit(_NUMBERS[at : at + _UNIT]) for at in range(0, len(_NUMBERS) - _UNIT, _UNIT)]
_DIRECT: Final = _NUMBERS[len(_HIDDEN) * _UNIT : -1]


def expected_points(s: State) -> list[float]:
    """Return the points that each seat will score in this round, on average.

    The state is a whole one at the beginning of a turn, before anybody has called.
    """
    summaries = [summary(s, seat) for seat in range(s.options.players)]
    return [_points(features(s, seat, summaries)) for seat in range(s.options.players)]


def _points(inputs: list[float]) -> float:
    at = [i for i, value in enumerate(inputs) if value != 0.0]
    total = _NUMBERS[-1]
    for i in at:
        total += _DIRECT[i] * inputs[i]
    for unit in _HIDDEN:
        excitement = unit.bias
        weights = unit.weights
        for i in at:
            excitement += weights[i] * inputs[i]
        if excitement > 0.0:
            total += unit.out * excitement
    return _POINTS * total
