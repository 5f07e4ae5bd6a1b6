"""RLCard's uno, random play driven from Python."""

from __future__ import annotations

from importlib.metadata import version
from random import random

import rlcard  # type: ignore[import-not-found, unused-ignore]
from rlcard.games.uno.game import UnoGame  # type: ignore[import-not-found, unused-ignore]

from tests.bench.peers.obey import Run, obey, repeated

DECISIONS = 50  # of a batch


def moves() -> Run:
    """The game alone: legal actions, choice, step."""
    game = UnoGame(num_players=4)
    game.init_game()

    def batch() -> int:
        for _ in range(DECISIONS):
            if game.is_over():
                game.init_game()
            legal = game.get_legal_actions()
            game.step(legal[int(random() * len(legal))])
        return DECISIONS

    return repeated(batch)


def observe() -> Run:
    """The environment: each step comes with what the next player sees, as numpy."""
    env = rlcard.make("uno", config={"game_num_players": 4})
    state, _ = env.reset()

    def batch() -> int:
        nonlocal state
        for _ in range(DECISIONS):
            if env.is_over():
                state, _ = env.reset()
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(random() * len(legal))])
        return DECISIONS

    return repeated(batch)


if __name__ == "__main__":
    obey({"uno moves": moves, "uno observe": observe}, {"name": "RLCard", "version": version("rlcard")})
