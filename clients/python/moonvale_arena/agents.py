"""The agents that take part by name, and classes of others: how each is made from a seed and settings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from moonvale_agents import Agent, GreedyAgent, IsmctsAgent, Judgement, RandomAgent


def _greedy(seed: int | None = None, **settings: Any) -> Agent:  # noqa: ANN401  # of the classes' own signature
    """The greedy agent; settings are numbers of its judgement."""
    return GreedyAgent(seed, Judgement(**settings))


#: Agents by the name that entrants give them; each is made from a seed, or from none, and settings.
AGENTS: Final[Mapping[str, Callable[..., Agent]]] = {
    "random": RandomAgent,
    "greedy": _greedy,
    "ismcts": IsmctsAgent,
}


def maker(kind: str, target: str, settings: Mapping[str, int | float | str]) -> Callable[[int], Agent]:
    """Return what makes an entrant's agent from a seed. Raises ImportError or AttributeError for what isn't there.

    kind: ``agent`` or ``python``. A class gets the seed first, if it takes any argument but its settings.
    """
    if kind == "agent":
        make = AGENTS[target]
    else:
        module, _, name = target.partition(":")
        make = getattr(importlib.import_module(module), name)
    if _takes_seed(make, settings):
        return lambda seed: make(seed, **settings)
    return lambda _: make(**settings)


def _takes_seed(make: Callable[..., Agent], settings: Mapping[str, int | float | str]) -> bool:
    try:
        parameters = inspect.signature(make).parameters.values()
    except ValueError:  # a class in C, or compiled, that tells nothing of its arguments
        return True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any([each.kind in positional and each.name not in settings for each in parameters])
