"""The random agent: any legal action, each as likely as the others. The yardstick that every other agent must beat."""

from __future__ import annotations

from random import Random

from moonvale_engine import Position, legal_actions


class RandomAgent:
    """Chooses uniformly. The same seed makes the same choices from the same positions."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = Random(seed)  # noqa: S311  # nobody's secret hangs on it

    def choose(self, position: Position) -> int:
        """Return any of the legal actions."""
        return self._random.choice(legal_actions(position.state))
