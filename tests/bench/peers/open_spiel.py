"""OpenSpiel's card games in C++, random play driven from Python.

Deals and draws are chance nodes there. ``fair`` draws them as OpenSpiel's own examples do, from ``chance_outcomes``;
without it they are drawn from ``legal_actions`` like anything else, which is the fastest way there is (all outcomes of
these games are equally likely). Only the decisions of players are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from random import choices, random

import pyspiel  # type: ignore[import-not-found, unused-ignore]
from open_spiel.python.observation import make_observation  # type: ignore[import-not-found, unused-ignore]

from tests.bench.peers.obey import Run, obey, repeated

DECISIONS = 100  # of a batch


def play(name: str, *, observed: bool = False, fair: bool = False) -> Callable[[], Run]:
    """A game at random, over and over; ``observed``: before each decision a tensor of its seat, written into numpy."""

    def make() -> Run:
        game = pyspiel.load_game(name)
        observation = make_observation(game) if observed else None
        state = game.new_initial_state()

        def batch() -> int:
            nonlocal state
            left = DECISIONS
            while left:
                if state.is_terminal():
                    state = game.new_initial_state()
                elif state.is_chance_node():
                    if fair:
                        outcomes = state.chance_outcomes()
                        state.apply_action(choices([o[0] for o in outcomes], [o[1] for o in outcomes])[0])
                    else:
                        legal = state.legal_actions()
                        state.apply_action(legal[int(random() * len(legal))])
                else:
                    legal = state.legal_actions()
                    if observation is not None:
                        observation.set_from(state, state.current_player())
                    state.apply_action(legal[int(random() * len(legal))])
                    left -= 1
            return DECISIONS

        return repeated(batch)

    return make


if __name__ == "__main__":
    obey(
        {
            "crazy_eights moves": play("crazy_eights(players=4)"),
            "crazy_eights observe": play("crazy_eights(players=4)", observed=True),
            "crazy_eights moves, chance_outcomes": play("crazy_eights(players=4)", fair=True),
            "crazy_eights observe, chance_outcomes": play("crazy_eights(players=4)", observed=True, fair=True),
            "hearts moves": play("hearts"),
            "hanabi moves": play("hanabi(players=4)"),
            "hanabi observe": play("hanabi(players=4)", observed=True),
        },
        {"name": "OpenSpiel", "version": version("open_spiel")},
    )
