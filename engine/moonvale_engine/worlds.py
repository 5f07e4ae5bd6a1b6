"""Worlds: whole games that a viewer's position can be, for search bots. No secret is needed, nobody is asked."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from moonvale_engine import play
from moonvale_engine.deck import faces_in_play
from moonvale_engine.events import UNKNOWN
from moonvale_engine.position import Position
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_engine.state import State


class Rng(Protocol):
    """What sampling needs of a source of chance; ``random.Random`` has it."""

    def randrange(self, stop: int, /) -> int: ...


def sample_world(position: Position, rng: Rng) -> State:
    """Return a whole game that looks like the position to its viewer, uniform over the arrangements of unknown faces.

    It can be played to its end; later rounds are shuffled by a secret of its own.
    """
    world = position.state.copy()
    unknown = [h for h, face in enumerate(world.identity) if face == UNKNOWN]
    pool = Counter(faces_in_play(world.cards))
    pool.subtract(face for face in world.identity if face != UNKNOWN)
    faces = sorted(pool.elements())
    for i in range(len(faces) - 1, 0, -1):
        j = rng.randrange(i + 1)
        faces[i], faces[j] = faces[j], faces[i]
    for h, face in zip(unknown, faces, strict=True):
        world.identity[h] = face
    world.secret = bytes([rng.randrange(256) for _ in range(SECRET_BYTES)])
    play.open_decision(world)
    return world
