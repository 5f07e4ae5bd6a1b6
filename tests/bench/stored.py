"""Games put straight into a store, through the service's own use cases and store: what is stored is the real thing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from random import Random

from moonvale_engine import Entry, Options, encode, new_game, seat_to_act
from moonvale_service.about import About
from moonvale_service.credentials import Credential, Role
from moonvale_service.store import Commit
from moonvale_service.store.log_codec import MARK_BYTES, content_digest, encode_entry
from moonvale_service.store.redis_store import RedisStore
from tests.support.use_cases import UseCases

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
AT_ONCE = 256  # games that are created at a time
DEALS = 64  # different ones
MOVES_AT_ONCE = 1000  # that one call of a script takes
SECONDS = 30.0  # until the store is given up


def game_id(rng: Random) -> str:
    """Return an id such as the service gives to games."""
    return "".join(rng.choices(ALPHABET, k=20))


async def create_games(store: RedisStore, options: Options, count: int, rng: Random) -> None:
    """Create so many games."""
    states = [encode(new_game(options, rng.randbytes(32))) for _ in range(min(count, DEALS))]
    meta = About().encode()
    for first in range(0, count, AT_ONCE):
        await asyncio.gather(
            *[
                store.create(
                    game_id(rng),
                    digest=content_digest(b""),
                    mark=os.urandom(MARK_BYTES),
                    state=states[i % len(states)],
                    meta=meta,
                    expiry=0,
                )
                for i in range(first, min(first + AT_ONCE, count))
            ]
        )


async def append_moves(store: RedisStore, game: str, moves: Sequence[Entry], state: bytes) -> None:
    """Put moves at the end of a game's log; ``state``: the one after them."""
    for first in range(0, len(moves), MOVES_AT_ONCE):
        record = await store.read(game)
        mark = os.urandom(MARK_BYTES)
        entries = [encode_entry(mark, move) for move in moves[first : first + MOVES_AT_ONCE]]
        change = Commit(
            version=record.version,
            mark=record.mark,
            meta=record.meta,
            new_mark=mark,
            state=state,
            entries=entries,
            slot=None,
            ring=b"",
            expiry=0,
        )
        if (await store.commit(game, change)).refused is not None:
            raise RuntimeError(f"somebody else plays {game}")


async def play_game(cases: UseCases, options: Options, rng: Random) -> tuple[str, list[int]]:
    """Play a game at random to its end; return its id and, for each decision, the bytes of its stored state."""
    game = game_id(rng)
    state = (await cases.seats.create(game, options, rng.randbytes(32), About(), b"")).state
    version = 0
    sizes = []
    while state.choices:
        sizes.append(len(encode(state)))
        seat = Credential(game, Role.SEAT, seat_to_act(state))
        outcome = await cases.games.submit(seat, version, [rng.choice(state.choices)], str(rng.random()))
        state, version = outcome.snapshot.state, outcome.version
    return game, sizes
