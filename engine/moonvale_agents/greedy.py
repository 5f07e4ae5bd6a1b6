"""The greedy agent: sound play from one position, without search and without memory. docs/agents.md says how it thinks.

It reads the table once a decision (``reading``), asks what each legal action is worth, and takes the best. What an
action is worth is said by one small function for its verb, in ``turns``, ``targets``, ``calling`` and ``scores``.
"""

from __future__ import annotations

from random import Random
from typing import Final

from moonvale_agents.calling import call_gain
from moonvale_agents.judgement import Judgement
from moonvale_agents.reading import Reading
from moonvale_agents.scores import use_at_scoring
from moonvale_agents.targets import (
    PICKS,
    VILLAGES,
    Scorer,
    activated,
    direction,
    given,
    pile_card_undermined,
    taken_by_nosferatu,
)
from moonvale_agents.turns import (
    choose_of_deck,
    close,
    declare,
    discard,
    discard_resident,
    draw,
    draw_with_token,
    gamble,
    name,
    predict,
    take,
    turn_card,
    use,
    use_resident,
    use_token,
)
from moonvale_engine import Position, legal_actions
from moonvale_engine import actions as act
from moonvale_engine.decisions import REACTION, TURN
from moonvale_engine.play import decision_kind


def _nothing(r: Reading, action: int) -> float:
    """Whatever ends, stops, passes or declines, and what makes no difference: where a card goes in its village."""
    return 0.0


def _call(r: Reading, action: int) -> float:
    """The round is to end."""
    return call_gain(r)


def _take(r: Reading, action: int) -> float:
    """A pile card comes to hand: as the main action the top one, by a Nosferatu a deeper one."""
    return take(r, action) if decision_kind(r.s) == TURN else taken_by_nosferatu(r, action)


def _pick(r: Reading, action: int) -> float:
    """A card of a village, for the ability that asks."""
    return PICKS.get(r.s.rules.program_names[r.s.program], _nothing)(r, action)


def _village(r: Reading, action: int) -> float:
    """A village, for the ability that asks."""
    return VILLAGES.get(r.s.rules.program_names[r.s.program], _nothing)(r, action)


def _place_end(r: Reading, action: int) -> float:
    """An end of a village: whose it is makes a difference for the Drunk alone."""
    return given(r, action) if r.s.rules.program_names[r.s.program] == "drunk" else 0.0


#: What an action is worth, by its verb. Verbs that aren't here are worth nothing.
WORTH: Final[dict[int, Scorer]] = {
    act.DRAW: draw,
    act.DRAW_WITH_TOKEN: draw_with_token,
    act.CHOOSE: choose_of_deck,
    act.TAKE: _take,
    act.CALL: _call,
    act.ACTIVATE: activated,
    act.GAMBLE: gamble,
    act.PREDICT: predict,
    act.DISCARD: discard,
    act.USE: use,
    act.NAME: name,
    act.CLOSE: close,
    act.DECLARE: declare,
    act.PLACE_END: _place_end,
    act.PICK: _pick,
    act.VILLAGE: _village,
    act.TURN_DIRECTION: direction,
    act.UNDERMINE: pile_card_undermined,
    act.USE_RESIDENT: use_resident,
    act.TURN_CARD: turn_card,
    act.DISCARD_RESIDENT: discard_resident,
    act.USE_TOKEN: use_token,
    act.GIVE: use_at_scoring,
    act.TUCK: use_at_scoring,
    act.BOMB: use_at_scoring,
}


class GreedyAgent:
    """Takes the action that is worth most by its estimates. The same seed breaks ties alike for the same positions."""

    def __init__(self, seed: int | None = None, judgement: Judgement | None = None) -> None:
        self._random = Random(seed)  # noqa: S311  # nobody's secret hangs on it
        self._judgement = judgement or Judgement()

    def choose(self, position: Position) -> int:
        """Return the legal action that is worth most."""
        actions = legal_actions(position.state)
        if len(actions) == 1:
            return actions[0]
        worths = self.worths(position)
        free = self._free(position, actions)
        if free:
            best = max([worths[i] for i in free])
            calls = [worths[i] - best for i, action in enumerate(actions) if action == act.CALL]
            others = [worths[i] for i, action in enumerate(actions) if i not in free and action != act.CALL]
            if best > 0 and not (calls and calls[0] > max(others)):
                return self._any_best(actions, worths, free)
        return self._any_best(actions, worths, [i for i in range(len(actions)) if i not in free])

    def worths(self, position: Position) -> list[float]:
        """Return what each legal action is worth, in points of the round; only those of one decision compare."""
        r = Reading(position, self._judgement)
        return [WORTH.get(act.verb_of(action), _nothing)(r, action) for action in legal_actions(position.state)]

    def _free(self, position: Position, actions: list[int]) -> list[int]:
        """Return the places of free abilities: what they are worth comes on top of whatever is chosen next."""
        if decision_kind(position.state) == REACTION:
            return []
        return [i for i, action in enumerate(actions) if act.is_free(action)]

    def _any_best(self, actions: list[int], worths: list[float], places: list[int]) -> int:
        best = max([worths[i] for i in places])
        return self._random.choice([actions[i] for i in places if worths[i] == best])
