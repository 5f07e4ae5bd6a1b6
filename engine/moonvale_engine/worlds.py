"""Worlds: whole games that a viewer's position can be, for search bots. No secret is needed, nobody is asked."""

from __future__ import annotations

from collections import Counter
from math import comb, factorial, perm
from typing import Protocol

from moonvale_engine import play, search
from moonvale_engine.decisions import EYE_PICK
from moonvale_engine.deck import faces_in_play
from moonvale_engine.events import UNKNOWN
from moonvale_engine.inference import allowed
from moonvale_engine.position import Position
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_engine.state import CARDS, FACEUP, HIDDEN, POOL_FACEUP, POOLED, SEAT, State


class Rng(Protocol):
    """What sampling needs of a source of chance; ``random.Random`` has it."""

    def randrange(self, stop: int, /) -> int: ...


def sample_world(position: Position, rng: Rng) -> State:
    """Return a whole game that looks like the position to its viewer, uniform over all that can be.

    It can be played to its end; later shuffles follow from a secret of its own.
    """
    world = position.state.copy()
    while not _deal_unknown(world, position.state, rng):
        pass
    world.secret = bytes([rng.randrange(256) for _ in range(SECRET_BYTES)])
    if play.decision_kind(world) == EYE_PICK and position.viewer != world.stack[SEAT]:
        search.fill_pool(world, world.stack[SEAT])
    play.open_decision(world)
    return world


def _deal_unknown(world: State, known: State, rng: Rng) -> bool:
    """Give every unknown handle a face; False if a face is one that the card was seen not to have."""
    world.identity = known.identity
    world.flags[:] = known.flags
    pool = Counter(faces_in_play(known.cards))
    pool.subtract([face for face in known.identity if face != UNKNOWN])
    _deal_faceup(world, pool, rng)
    _deal_pooled(world, pool, rng)
    unknown = [h for h in range(CARDS) if world.identity[h] == UNKNOWN]
    _assign(world, unknown, sorted(pool.elements()), rng)
    return not known.excluded or all(
        [allowed(world, h, world.identity[h]) for h in known.excluded[::3] if known.identity[h] == UNKNOWN]
    )


def _assign(world: State, handles: list[int], faces: list[int], rng: Rng) -> None:
    _shuffle(faces, rng)
    identity = bytearray(world.identity)
    for h, face in zip(handles, faces, strict=True):
        identity[h] = face
    world.identity = bytes(identity)


def _deal_faceup(world: State, pool: Counter[int], rng: Rng) -> None:
    """Faceup cards in a shuffled deck are where nobody knows how the cards lie (EYE-1).

    While its user still looks through the deck there are no such handles: faceup cards lie where all have seen them.
    """
    faces = [entry & ~POOL_FACEUP for entry in world.pool[::2] if entry & POOL_FACEUP]
    handles = [h for h in range(len(world.flags)) if world.flags[h] & HIDDEN]
    if faces and handles:
        _shuffle(handles, rng)
        del handles[len(faces) :]
        _assign(world, handles, faces, rng)
        for h in handles:
            world.flags[h] |= FACEUP
        pool.subtract(faces)


def _deal_pooled(world: State, pool: Counter[int], rng: Rng) -> None:
    """Facedown cards that the viewer knows to be among the shuffled ones lie on some of their handles (EYE-1).

    A shuffled handle whose face is known may hold such a card or another of the same face; how many do is drawn by the
    number of ways.
    """
    special = Counter([entry for entry in world.pool[::2] if not entry & POOL_FACEUP])
    if not special:
        return
    grouped = [h for h in range(len(world.flags)) if world.flags[h] & POOLED]
    open_handles = [h for h in grouped if world.identity[h] == UNKNOWN]
    seen = Counter(
        [world.identity[h] for h in grouped if world.flags[h] & HIDDEN == 0 and world.identity[h] != UNKNOWN]
    )
    unknown = sum([1 for face in world.identity if face == UNKNOWN])
    still_hidden = _still_hidden(special, seen, pool, len(open_handles), unknown, rng)
    faces = sorted(still_hidden.elements())
    _shuffle(open_handles, rng)
    del open_handles[len(faces) :]
    _assign(world, open_handles, faces, rng)
    pool.subtract(faces)


def _still_hidden(
    special: Counter[int], seen: Counter[int], pool: Counter[int], open_handles: int, unknown: int, rng: Rng
) -> Counter[int]:
    """Draw how many of each special face lie on handles that the viewer has not seen, by the number of ways.

    special: cards known to be among the shuffled ones; seen: faces of shuffled handles that are known; pool: faces of
    unknown handles, shuffled or not.
    """
    faces = sorted(special)
    ways: list[dict[int, dict[int, int]]] = []  # face by face: hidden in all -> hidden of this face -> ways up to here
    totals = {0: 1}
    for face in faces:
        k, a = special[face], seen[face]
        others = pool[face] + a - k  # copies of the face that are not special, wherever they are
        table: dict[int, dict[int, int]] = {}
        for before, count in totals.items():
            for on_seen in range(min(k, a) + 1):
                hidden = k - on_seen
                choices = comb(a, on_seen) * comb(k, on_seen) * factorial(on_seen) * _falling(others, a - on_seen)
                if choices:
                    entry = table.setdefault(before + hidden, {})
                    entry[hidden] = entry.get(hidden, 0) + count * choices
        ways.append(table)
        totals = {hidden: sum(table[hidden].values()) for hidden in table}
    weights = {
        n: count * _falling(open_handles, n) * factorial(unknown - n) for n, count in totals.items() if n <= unknown
    }
    result: Counter[int] = Counter()
    left = _draw(weights, rng)
    for face, table in zip(reversed(faces), reversed(ways), strict=True):
        result[face] = _draw(table[left], rng)
        left -= result[face]
    return result


def _falling(n: int, k: int) -> int:
    return perm(n, k) if 0 <= k <= n else 0


def _draw(weights: dict[int, int], rng: Rng) -> int:
    at = rng.randrange(sum(weights.values()))
    for value, weight in weights.items():
        at -= weight
        if at < 0:
            return value
    raise AssertionError("the weights are used up")


def _shuffle(items: list[int], rng: Rng) -> None:
    for i in range(len(items) - 1, 0, -1):
        j = rng.randrange(i + 1)
        items[i], items[j] = items[j], items[i]
