"""The search agent: tries each promising action in many sampled worlds. docs/agents.md says how it thinks.

Each world is drawn from all that look alike to the seat, and the statistics belong to the actions of that information
set: information-set Monte-Carlo search (Cowling, Powley and Whitehouse 2012, IEEE TCIAIG 4(2)) with a tree of one
level. The budget is shared out by sequential halving (Karnin, Koren and Somekh 2013, ICML; in game trees Pepels,
Cazenave, Winands and Lanctot 2014). All actions meet the same worlds, so that differences within a world are averaged.
Play-outs are the greedy agent's, to the end of the turn, or of the round once somebody has called; what the villages
will score from there is told by a network that was fitted to games of greedy agents (``network``).
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, fsum, sqrt
from random import Random
from time import monotonic
from typing import Final

from moonvale_agents.beliefs import likely_world
from moonvale_agents.greedy import GreedyAgent
from moonvale_agents.network import expected_points
from moonvale_engine import Position, apply, legal_actions, observe
from moonvale_engine import actions as act
from moonvale_engine.decisions import PEEK, PLACE, TURN
from moonvale_engine.events import NOBODY
from moonvale_engine.play import decision_kind
from moonvale_engine.state import State

ITERATIONS: Final = 200  # play-outs for a decision, unless something else is said

_UNSEARCHED: Final = (PEEK, PLACE)  # choices that are all alike, or nearly
_HOPELESS: Final = -500.0  # what no sensible action is worth less than
_CLEAR: Final = 2.0  # standard errors by which an action is given up before the budget is used

_SPREAD: Final = 8.3  # points: the scale of the logistic distribution by which two seats differ in a round
_OPEN_TURNS: Final = 8.0  # own turns to come from which on a round is as open as at its beginning
_SURE: Final = 0.5  # points: the scale when nothing is open any more
_PER_POINT: Final = 0.002  # what a point is worth beside the chance to win the game


class Budget:
    """How long to think about a decision: play-outs, seconds, or whichever comes first."""

    def __init__(self, iterations: int | None, seconds: float | None, clock: Callable[[], float]) -> None:
        self._iterations = iterations
        self._seconds = seconds
        self._clock = clock
        self._began = 0.0
        self.done = 0  # play-outs

    def begin(self) -> None:
        """Begin to count anew."""
        self.done = 0
        if self._seconds is not None:
            self._began = self._clock()

    def spent(self) -> float:
        """Return which part is used up, 1.0 or more if all is."""
        part = 0.0
        if self._iterations is not None:
            part = self.done / self._iterations
        if self._seconds is not None:
            part = max(part, (self._clock() - self._began) / self._seconds)
        return part


class IsmctsAgent:
    """Takes the action that wins most in sampled worlds, if it is clearly better than the greedy agent's choice.

    - iterations: play-outs for a decision. The same seed then makes the same choices from the same positions,
      everywhere.
    - seconds: how long to think about a decision. A play-out that has begun is finished, so that it may take a few
      milliseconds more. With both, whichever comes first counts; with neither, ITERATIONS.
    - width: how many actions are compared, the most promising by the greedy agent's judgement; a call always is.
    - doubt: by how many standard errors an action must be better than the greedy agent's.
    - trust: how much of what the greedy agent thinks of an action is added to what the search has found.
    - clock: seconds that go by; read between play-outs, if there is a budget of seconds.

    Raises ValueError for a budget or a width of nothing.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        width: int = 6,
        doubt: float = 0.5,
        trust: float = 0.5,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if iterations is not None and iterations < 1:
            raise ValueError(f"iterations: {iterations} is no budget; 1 or more would be")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds: {seconds} is no budget; more than 0 would be")
        if width < 1:
            raise ValueError(f"width: {width} actions can't be compared; 1 or more can")
        if iterations is None and seconds is None:
            iterations = ITERATIONS
        self._random = Random(seed)  # noqa: S311  # nobody's secret hangs on it
        self._greedy = GreedyAgent(self._random.randrange(1 << 32))
        self._width = width
        self._doubt = doubt
        self._trust = trust
        self.budget = Budget(iterations, seconds, clock)  # as far as the last decision has used it

    def choose(self, position: Position) -> int:
        """Return the legal action that does best."""
        self.budget.begin()
        actions = legal_actions(position.state)
        if len(actions) == 1:
            return actions[0]
        favourite = self._greedy.choose(position)
        if decision_kind(position.state) in _UNSEARCHED:
            return favourite
        worths = self._greedy.worths(position)
        candidates = self._promising(actions, worths, favourite)
        if len(candidates) == 1:
            return favourite
        search = Search(position, candidates, self.budget, self._greedy, self._random, self._doubt)
        if not any([act.is_free(action) for action in candidates]):  # whose worths come on top of other actions'
            best = worths[actions.index(favourite)]
            search.prior = [self._trust * (worths[actions.index(action)] - best) for action in candidates]
        return search.best()

    def _promising(self, actions: list[int], worths: list[float], favourite: int) -> list[int]:
        """Return the actions to compare, the greedy agent's first."""
        order = sorted(range(len(actions)), key=lambda i: -worths[i])
        others = [actions[i] for i in order if actions[i] != favourite and worths[i] > _HOPELESS]
        result = [favourite, *others[: self._width - 1]]
        if act.CALL in others and act.CALL not in result:
            result.append(act.CALL)
        return result


class Search:
    """The search for one decision: what its candidates, the first of which is the greedy agent's, do in each world."""

    def __init__(
        self,
        position: Position,
        candidates: list[int],
        budget: Budget,
        greedy: GreedyAgent,
        random: Random,
        doubt: float,
    ) -> None:
        self._position = position
        self._candidates = candidates
        self._budget = budget
        self._greedy = greedy
        self._random = random
        self._doubt = doubt
        self._payoffs: list[list[float]] = [[] for _ in candidates]  # world by world
        self.prior = [0.0] * len(candidates)  # points by which each is thought to be better than the first

    def best(self) -> int:
        """Search until the budget is used or one candidate is left; return the action to take."""
        alive = list(range(len(self._candidates)))
        phases = (len(alive) - 1).bit_length()
        for phase in range(1, phases + 1):
            while self._budget.spent() < phase / phases:
                self._try_in_one_world(alive)
            if phase < phases:
                alive = self._better_half(alive)
                if len(alive) == 1:
                    break
        best, most = 0, 0.0
        for i in alive:
            gain, error = self._gain(i)
            if gain - self._doubt * error > most:
                best, most = i, gain - self._doubt * error
        return self._candidates[best]

    def _try_in_one_world(self, alive: list[int]) -> None:
        """Play all candidates that are left out in one more world; if the budget ends amid it, it doesn't count."""
        world = likely_world(self._position, self._random)
        world.round = world.options.rounds  # so that nothing is dealt after this round
        payoffs: list[float] = []
        for i in alive:
            if self._budget.spent() >= 1.0:
                return
            payoffs.append(self._play_out(world, self._candidates[i]))
            self._budget.done += 1
        for i, payoff in zip(alive, payoffs, strict=True):
            self._payoffs[i].append(payoff)

    def _play_out(self, world: State, action: int) -> float:
        """Return what comes of an action in a world."""
        s = world.copy()
        turn = s.turn
        apply(s, action)
        while s.seat != NOBODY:
            if s.turn > turn and s.caller == NOBODY and decision_kind(s) == TURN:
                still_open = min(1.0, len(s.deck) / s.options.players / _OPEN_TURNS)
                return self._payoff(expected_points(s), still_open)
            apply(s, self._greedy.choose(observe(s, s.seat)))
        return self._payoff([float(points) for points in s.scores[-s.options.players :]], 0.0)

    def _payoff(self, points: list[float], still_open: float) -> float:
        """Return the seat's chance to win the game, and a little for its points, if this round brings so many.

        ``still_open``: which part of the round is. What the seats will differ by is taken to be logistic.
        """
        s = self._position.state
        seat = self._position.viewer
        others = [other for other in range(s.options.players) if other != seat and other not in s.resigned]
        scale = _SURE + _SPREAD * sqrt(s.options.rounds - s.round + still_open)
        total = s.totals[seat] + points[seat]
        rivals = fsum([exp(min(50.0, (total - s.totals[other] - points[other]) / scale)) for other in others])
        behind = points[seat] - fsum([points[other] for other in others]) / len(others)
        return 1.0 / (1.0 + rivals) - _PER_POINT * behind

    def _slope(self) -> float:
        """Return what a point is worth to a seat that is as likely to win as the others."""
        s = self._position.state
        chance = 1.0 / s.options.players
        return chance * (1 - chance) / (_SURE + _SPREAD * sqrt(s.options.rounds - s.round + 1.0)) + _PER_POINT

    def _better_half(self, alive: list[int]) -> list[int]:
        """Return the greedy agent's candidate and of the better half those that aren't clearly worse than it."""
        gains = {i: self._gain(i) for i in alive}
        order = sorted(alive, key=lambda i: -gains[i][0])
        half = order[: (len(order) + 1) // 2]
        return [0, *[i for i in half if i != 0 and gains[i][0] + _CLEAR * gains[i][1] >= 0]]

    def _gain(self, i: int) -> tuple[float, float]:
        """Return what a candidate gains on the first one, and the standard error of that; no gain from one world."""
        gains = [a - b for a, b in zip(self._payoffs[i], self._payoffs[0], strict=True)]
        worlds = len(gains)
        if worlds < 2:
            return 0.0, 0.0
        mean = fsum(gains) / worlds
        variance = fsum([(gain - mean) ** 2 for gain in gains]) / (worlds - 1)
        return mean + self.prior[i] * self._slope(), sqrt(variance / worlds)
