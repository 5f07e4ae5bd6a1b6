"""Hidden twins: two games that look the same to one viewer, for finding leaks (HID-4).

A twin holds other cards where its viewer has legally seen none; everything that the viewer gets must be the same to the
letter. Which cards it has legally seen is read off the knowledge masks here, independently of how views are made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from unittest import mock

from moonvale_engine import State, decision_kind, seat_to_act, shuffle
from moonvale_engine.decisions import EYE_PICK
from moonvale_engine.deck import faces_in_play
from moonvale_engine.inference import allowed
from moonvale_engine.play import open_decision
from moonvale_engine.search import fill_pool
from moonvale_engine.shuffle import game_key
from moonvale_engine.state import FACEUP, HIDDEN, POOLED, set_face

_TRIES = 50


def unseen(s: State, viewer: int) -> list[int]:
    """Return the handles of this round whose cards a viewer has never legally seen."""
    return [h for h in range(52) if not s.known[h] >> viewer & 1]


def twin_of(s: State, viewer: int, rng: Random) -> State:
    """Return a twin of a state at an open decision; its past rounds are the same."""
    searching = decision_kind(s) == EYE_PICK
    hidden = unseen(s, viewer)
    if searching and seat_to_act(s) != viewer:
        groups = [hidden]  # only the searcher knows what the deck holds
    else:
        pooled = [h for h in hidden if s.flags[h] & POOLED]
        groups = [
            [h for h in hidden if not s.flags[h] & POOLED],
            [h for h in pooled if s.flags[h] & HIDDEN or searching],
            [h for h in pooled if not s.flags[h] & HIDDEN and not searching],
        ]
    for _ in range(_TRIES):
        twin = s.copy()
        for group in groups:
            _permute(twin, s, group, rng)
        if all(allowed(twin, h, twin.identity[h]) for h in hidden):
            break
    else:
        twin = s.copy()
    if searching and seat_to_act(s) != viewer:
        fill_pool(twin, seat_to_act(s))
    open_decision(twin)
    return twin


def _permute(twin: State, s: State, group: list[int], rng: Random) -> None:
    """Permute faces, and where nobody knows the facing, that with them."""
    order = group[:]
    rng.shuffle(order)
    for h, other in zip(group, order, strict=True):
        set_face(twin, h, s.identity[other])
        if s.flags[h] & HIDDEN:
            twin.flags[h] = s.flags[h] & ~FACEUP | s.flags[other] & FACEUP


def same_to(s: State, twin: State, viewer: int) -> bool:
    """Whether two states still hold the same wherever the viewer has seen it, so that they are twins to it."""
    return all(s.identity[h] == twin.identity[h] for h in range(52) if s.known[h] >> viewer & 1)


def twin_deal(s: State, viewer: int, rng: Random) -> dict[tuple[bytes, int], bytes]:
    """Return another deal of the present round that leads a viewer, by the same log, to the same history.

    Cards that the Eye token's search has shown to its user stay, since what that user chose follows from them.
    """
    key = game_key(s.secret, s.entropy)
    dealt_identity = shuffle.shuffled(key, s.round, 0, faces_in_play(s.cards))
    hidden = [h for h in unseen(s, viewer) if not s.flags[h] & POOLED]
    for _ in range(_TRIES):
        order = hidden[:]
        rng.shuffle(order)
        identity = bytearray(dealt_identity)
        for h, other in zip(hidden, order, strict=True):
            identity[h] = dealt_identity[other]
        if all(allowed(s, h, identity[h]) for h in hidden):
            return {(key, s.round): bytes(identity)}
    return {}


@contextmanager
def dealt(deals: dict[tuple[bytes, int], bytes]) -> Iterator[None]:
    """Deal these identities, by game key and round, in place of the shuffle's; what is not listed is shuffled."""
    arrange = shuffle.arrange

    def deal(key: bytes, number: int, n: int, cards: bytes) -> bytes:
        identity = deals.get((key, number)) if n == 0 else None
        return arrange(key, number, n, cards) if identity is None else identity

    with mock.patch.object(shuffle, "arrange", deal):
        yield
