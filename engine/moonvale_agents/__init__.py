"""Policies that choose an action from a view; they import the engine and nothing else.

>>> from moonvale_agents import GreedyAgent, RandomAgent
>>> from moonvale_engine import Options, apply, legal_actions, new_game, observe, seat_to_act
>>> game = new_game(Options(players=2), secret=bytes(32))
>>> agents = [GreedyAgent(seed=1), RandomAgent(seed=2)]
>>> while legal_actions(game):
...     seat = seat_to_act(game)
...     apply(game, agents[seat].choose(observe(game, seat)))
"""

from moonvale_agents.agent import Agent
from moonvale_agents.greedy import GreedyAgent
from moonvale_agents.ismcts import IsmctsAgent
from moonvale_agents.judgement import Judgement
from moonvale_agents.random import RandomAgent

__all__ = ["Agent", "GreedyAgent", "IsmctsAgent", "Judgement", "RandomAgent"]
