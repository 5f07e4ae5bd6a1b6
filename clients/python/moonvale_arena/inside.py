"""Agents that play in the arena's own process: those that come along, and answer at once."""

from __future__ import annotations

from typing import Final

from moonvale_agents import Agent
from moonvale_arena.agents import maker
from moonvale_arena.entrants import AGENT, Entrant
from moonvale_arena.errors import ArenaError
from moonvale_arena.starter import words_of
from moonvale_client import BotError, View
from moonvale_engine import EngineError, legal_actions, parse_position

_QUICK: Final = frozenset({"random", "greedy"})


def is_quick(entrant: Entrant) -> bool:
    """Whether an entrant needs no process: it takes less time than talking to one, and can be trusted to end."""
    return entrant.kind == AGENT and entrant.target in _QUICK


class InsideSource:
    """An agent that plays in this process."""

    def __init__(self, entrant: Entrant) -> None:
        self._entrant = entrant
        self._make = maker(entrant.kind, entrant.target, dict(entrant.settings))

    async def load(self) -> None:
        """Make one. Raises ArenaError."""
        try:
            self._make(0)
        except Exception as error:
            raise ArenaError(f"entrant '{self._entrant.name}': {words_of(error)}") from error

    async def sit_down(self, seed: int) -> InsidePlayer:
        """Make one for a seat."""
        return InsidePlayer(self._make(seed))

    async def close(self) -> None:
        """Nothing is left of it."""


class InsidePlayer:
    """An agent in one seat."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def choose(self, view: View, seconds: float) -> int:
        """Ask it. Raises BotError if it fails, as it may with settings that make no sense, and ArenaError."""
        try:
            position = parse_position(view.position)
        except EngineError as error:
            raise ArenaError(f"a position of the service can't be read: {error}: {view.position}") from error
        try:
            return legal_actions(position.state).index(self._agent.choose(position))
        except Exception as error:
            raise BotError("crash", words_of(error)) from error

    async def close(self) -> None:
        """Nothing is left of it."""
