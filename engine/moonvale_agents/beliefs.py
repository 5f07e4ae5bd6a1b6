"""Beliefs: sampled worlds in which the others hold what players keep, as whoever has seen a bad card exchanges it."""

from __future__ import annotations

from math import exp
from random import Random
from typing import Final

from moonvale_engine import Position, sample_world
from moonvale_engine.events import UNKNOWN
from moonvale_engine.state import CARDS, POOLED, VILLAGE_SIZE, VILLAGES, State

_DEALT: Final = VILLAGES * VILLAGE_SIZE  # handles below lay in a village from the deal on
_SWEEPS: Final = 5

# A face is less likely by exp(-tilt) for each point of its value. The tilts give the means that cards had which greedy
# players knew and kept, of 6.4 among all unseen: in Coin at two seats 6.0, 3.8 and 2.6 for dealt ones in the turns 1,
# 5 and 9, for drawn ones 4.0, 3.3 and 2.6.
_TILT_DEALT: Final = 0.02
_TILT_DEALT_A_TURN: Final = 0.045
_TILT_DRAWN: Final = 0.19
_TILT_DRAWN_A_TURN: Final = 0.018
_MOST: Final = 0.4


def likely_world(position: Position, rng: Random) -> State:
    """Return a whole game that looks like the position to its viewer, likely ones more often.

    It is one of ``sample_world``, some of whose hidden cards then change places, as in the method of Metropolis et al.
    (1953). Cards of which more is known than who has seen them stay where they are.
    """
    world = sample_world(position, rng)
    known = position.state
    excluded = known.excluded[::3]
    free = [
        h for h in range(CARDS) if known.identity[h] == UNKNOWN and not known.flags[h] & POOLED and h not in excluded
    ]
    tilts = [0.0] * CARDS
    kept: list[int] = []
    for h, tilt in _kept(position):
        if h in free:
            tilts[h] = tilt
            kept.append(h)
    if kept:
        _exchange(world, free, kept, tilts, rng)
    return world


def _kept(position: Position) -> list[tuple[int, float]]:
    """Return the facedown cards that other players have seen and kept, each with its tilt."""
    s = position.state
    turns = s.turn / s.options.players
    dealt = min(_MOST, _TILT_DEALT + _TILT_DEALT_A_TURN * turns)
    drawn = min(_MOST, _TILT_DRAWN + _TILT_DRAWN_A_TURN * turns)
    return [
        (h, dealt if h < _DEALT else drawn)
        for seat, village in enumerate(s.villages)
        if seat != position.viewer
        for h in village
        if s.known[h] >> seat & 1
    ]


def _exchange(world: State, free: list[int], kept: list[int], tilts: list[float], rng: Random) -> None:
    values = world.types.values
    identity = bytearray(world.identity)
    n = len(free)
    for _ in range(_SWEEPS):
        for h in kept:
            other = free[int(rng.random() * n)]
            gain = (tilts[h] - tilts[other]) * (values[identity[h]] - values[identity[other]])
            if gain >= 0 or rng.random() < exp(gain):
                identity[h], identity[other] = identity[other], identity[h]
    world.identity = bytes(identity)
