"""Hidden twins: two games that look the same to one viewer, for finding leaks (HID-4).

A twin holds other cards where its viewer has legally seen none; everything that the viewer gets must be the same to the
letter. Which cards it has legally seen is read off the knowledge masks here, independently of how views are made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from unittest import mock

from moonvale_engine import State, shuffle
from moonvale_engine import round as round_module
from moonvale_engine.play import open_decision


def unseen(s: State, viewer: int) -> list[int]:
    """Return the handles of this round whose cards a viewer has never legally seen."""
    return [h for h in range(52) if not s.known[h] >> viewer & 1]


def permuted(s: State, viewer: int, rng: Random) -> bytearray:
    """Return the identity of a twin: what the viewer has not seen is permuted, all that it can be."""
    handles = unseen(s, viewer)
    faces = [s.identity[h] for h in handles]
    rng.shuffle(faces)
    identity = s.identity[:]
    for h, face in zip(handles, faces, strict=True):
        identity[h] = face
    return identity


def twin_of(s: State, viewer: int, rng: Random) -> State:
    """Return a twin of a state at an open decision; its past rounds are the same."""
    twin = s.copy()
    twin.identity = permuted(s, viewer, rng)
    open_decision(twin)
    return twin


@contextmanager
def dealt(deals: dict[tuple[bytes, int], bytearray]) -> Iterator[None]:
    """Deal these identities, by game key and round, in place of the shuffle's; what is not listed is shuffled."""
    shuffled = shuffle.shuffled

    def deal(key: bytes, number: int, n: int, cards: bytes) -> bytearray:
        identity = deals.get((key, number))
        return shuffled(key, number, n, cards) if identity is None else identity[:]

    with mock.patch.object(round_module, "shuffled", deal):
        yield
