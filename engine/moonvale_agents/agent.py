"""What an agent is: whatever chooses from a position. Arenas, the command and training loops drive all agents alike."""

from __future__ import annotations

from typing import Protocol

from moonvale_engine import Position


class Agent(Protocol):
    """A policy. It is given only what its seat knows, and may keep a memory of its own from decision to decision."""

    def choose(self, position: Position) -> int:
        """Return one of ``legal_actions(position.state)``. ``position.viewer`` is the seat that is to act."""
