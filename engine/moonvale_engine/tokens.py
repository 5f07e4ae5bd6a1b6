"""The tokens: entries of a literal table, like card types."""

from __future__ import annotations

from collections.abc import Callable

from moonvale_engine import search
from moonvale_engine.choices import any_card
from moonvale_engine.decisions import TARGET
from moonvale_engine.effects import flip_picked
from moonvale_engine.state import State
from moonvale_engine.steps import Step, ask


class Token:
    """A token, which its holder may use once per round on its active side."""

    def __init__(
        self, key: str, id: int, program: tuple[Step, ...], usable: Callable[[State], bool], draws: bool = False
    ) -> None:
        self.key = key
        self.id = id  # append-only; its program is number TOKENS + id
        self.program = program
        self.usable = usable
        self.draws = draws  # it is used in place of a plain draw, not as a free ability


def _any_village_has_a_card(s: State) -> bool:
    return any(s.villages)


def _always(s: State) -> bool:
    return True


#: The Coin token flips any one card of any village (COIN-1).
COIN_TOKEN = Token("coin", 0, program=(ask(TARGET, any_card, then=flip_picked),), usable=_any_village_has_a_card)

#: The Eye token looks through the deck (EYE-1).
EYE_TOKEN = Token("eye", 1, program=search.PROGRAM, usable=_always, draws=True)

TOKENS: dict[str, Token] = {"coin": COIN_TOKEN, "eye": EYE_TOKEN}
