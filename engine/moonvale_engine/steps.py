"""The vocabulary of steps: what programs (the flow of a round, abilities) are written in.

A program is a literal tuple of steps. ``ask`` puts a decision to the seat of the frame; ``do`` lets the rules act. Both
hand over to a plain function, the effect, whose result says where the program goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moonvale_engine.state import State

# What an effect returns: where the program goes on, once what the effect pushed on top of it is done. One of these, or
# the place of a step.
NEXT: Final = -1  # at the next step
AGAIN: Final = -2  # at the same step once more
STOP: Final = -3  # nowhere: the program is over

NO_DECISION: Final = -1
#: Shared by all that offer nothing. Not to be changed.
NO_CHOICES: Final[list[int]] = []

Choices = Callable[["State"], list[int]]
Effect = Callable[["State", int], int]


class Step:
    """One step of a program. ``kind`` is NO_DECISION, or the kind of the decision that ``choices`` lists."""

    def __init__(self, kind: int, choices: Choices, effect: Effect, interruptible: bool, private: bool) -> None:
        self.kind = kind
        self.choices = choices
        self.effect = effect
        self.interruptible = interruptible
        self.private = private


def ask(kind: int, choices: Choices, then: Effect, interruptible: bool = True, private: bool = False) -> Step:
    """Let the frame's seat choose; ``then`` gets the action. Skipped if there is nothing to choose (DEC-1).

    ``interruptible``: whether abilities that may be used at any time may be used here (TURN-2, EXC-8).
    ``private``: nobody else is told the choice (EYE-1).
    """
    return Step(kind, choices, then, interruptible, private)


def do(effect: Effect) -> Step:
    """Let the rules act, without a decision; the effect's action is -1."""
    return Step(NO_DECISION, _nothing, effect, False, False)


def _nothing(state: State) -> list[int]:
    return NO_CHOICES
