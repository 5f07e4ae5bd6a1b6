"""Fits the value network of the search agent: ``python -m tests.agents.fit --games 20000`` writes its weights anew.

Greedy agents play single rounds, now and then with one of their three best actions at random, at 2 to 4 seats, with
Coin, Eye and mixed decks. At half of the turns each seat is an example: its features, and what it scored. Points of a
round are mostly chance, so the network is not fitted to them alone but to lambda-returns (Sutton 1988): part of what
follows from the next position by the network of the step before, the rest from the result. A linear fit comes first;
the hidden units then learn what is left (Adam: Kingma and Ba 2015).
"""

import argparse
import sys
from array import array
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import Any

import numpy as np

from moonvale_agents import GreedyAgent
from moonvale_agents.features import FEATURES, features, summary
from moonvale_engine import Options, State, apply, legal_actions, new_game, observe
from moonvale_engine import actions as act
from moonvale_engine.decisions import TURN
from moonvale_engine.events import NOBODY
from moonvale_engine.options import DECKS, NUMBERS, parse_deck
from moonvale_engine.play import decision_kind

Array = np.ndarray[Any, np.dtype[np.float32]]
Example = tuple[int, list[float]]  # a seat and its features

WEIGHTS = Path(__file__).parents[2] / "engine" / "moonvale_agents" / "weights.py"
UNIT = 10.0  # points that one unit of the network's output stands for
LAMBDAS = (1.0, 0.9, 0.8)  # of the linear fits, one after the other; the last one also of the network
PRIOR = 300.0  # examples that a linear weight of nothing counts for
BATCH = 2048
RATE = 3e-3
DECAY = 3e-4  # of the hidden units' weights in a step, in parts of the rate


def options(rng: Random) -> Options:
    """Return what a round is played with."""
    kind = rng.random()
    mixed = tuple([rng.choice(DECKS) for _ in range(NUMBERS)])
    deck = parse_deck("coin") if kind < 0.3 else parse_deck("eye") if kind < 0.6 else mixed
    return Options(
        players=rng.choice((2, 2, 2, 3, 4, 4)), deck=deck, token=rng.choice(DECKS) if kind > 0.6 else deck[0], rounds=1
    )


def wander(agent: GreedyAgent, s: State, rng: Random) -> int:
    """Return one of the three best actions, but seldom a call that isn't the best."""
    actions = legal_actions(s)
    worths = agent.worths(observe(s, s.seat))
    order = sorted(range(len(actions)), key=lambda i: -worths[i])
    action = actions[rng.choice(order[:3])]
    return actions[order[0]] if action == act.CALL and rng.random() < 0.7 else action


def play_round(rng: Random) -> tuple[list[Example], tuple[int, ...]]:
    """Play a round; return its examples in their order, and the points that each seat scored."""
    s = new_game(options(rng), rng.randbytes(32))
    s.token_active = rng.random() < 0.2
    agents = [GreedyAgent(rng.randrange(1 << 30)) for _ in range(s.options.players)]
    wandering = rng.choice((0.0, 0.05, 0.15, 0.3))
    examples: list[Example] = []
    turn = -1
    while legal_actions(s):
        if decision_kind(s) == TURN and s.turn != turn and s.caller == NOBODY:
            turn = s.turn
            if rng.random() < 0.5:
                summaries = [summary(s, seat) for seat in range(s.options.players)]
                examples += [(seat, features(s, seat, summaries)) for seat in range(s.options.players)]
        if len(legal_actions(s)) > 1 and rng.random() < wandering:
            apply(s, wander(agents[s.seat], s, rng))
        else:
            apply(s, agents[s.seat].choose(observe(s, s.seat)))
    return examples, s.scores


class Examples:
    """All examples, those of one seat in one round in a row.

    - inputs: an example a line, scaled to a mean of 0 and a deviation of 1; mean, deviation: of the features before
    - results: what the seat scored, in units
    - following: the line of the seat's next example in the round, or -1
    - held_out: whether it is kept from the fit, to judge it by; whole rounds are
    """

    def __init__(self, games: int, seed: int) -> None:
        rng = Random(seed)
        inputs = array("f")
        results: list[float] = []
        following: list[int] = []
        held_out: list[bool] = []
        for game in range(games):
            examples, scores = play_round(rng)
            for seat, points in enumerate(scores):
                rows = [row for of, row in examples if of == seat]
                for i, row in enumerate(rows):
                    inputs.extend(row)
                    following.append(len(results) + 1 if i + 1 < len(rows) else -1)
                    results.append(points / UNIT)
                    held_out.append(game % 12 == 0)
        raw = np.frombuffer(inputs, np.float32).reshape(-1, FEATURES)
        self.mean: Array = raw.mean(0)
        spread = raw.std(0)
        # What never changes must not count, and what hardly does not for much.
        self.deviation: Array = np.where(spread < 1e-6, 1e9, np.maximum(spread, 1e-2)).astype(np.float32)
        self.inputs: Array = (raw - self.mean) / self.deviation
        self.results: Array = np.array(results, np.float32)
        self.following = following
        self.held_out = np.array(held_out)

    def targets(self, values: Array, part: float) -> Array:
        """Return the lambda-returns of all examples, if they are worth these values now."""
        result = self.results.copy()
        for i in range(len(result) - 1, -1, -1):
            after = self.following[i]
            if after >= 0:
                result[i] = (1 - part) * values[after] + part * result[after]
        return result

    def error(self, values: Array) -> float:
        """Return the mean squared error of the examples held out, in points."""
        return float(((values - self.results)[self.held_out] ** 2).mean()) * UNIT**2


def fit_line(examples: Examples, targets: Array) -> tuple[Array, float]:
    """Return the weights of the inputs, and the bias, by ridge regression."""
    known = examples.inputs[~examples.held_out]
    mean = float(targets[~examples.held_out].mean())
    square = known.T @ known + PRIOR * np.eye(FEATURES, dtype=np.float32)
    return np.linalg.solve(square, known.T @ (targets[~examples.held_out] - mean)).astype(np.float32), mean


class Fit:
    """The network while it is fitted; it begins as a line beside hidden units that say little."""

    def __init__(self, units: int, direct: Array, last: float, rng: np.random.Generator) -> None:
        self.parts: dict[str, Array] = {
            "hidden": (rng.normal(size=(FEATURES, units)) / FEATURES**0.5).astype(np.float32),
            "biases": np.zeros(units, np.float32),
            "out": (rng.normal(size=units) / units**0.5 * 0.1).astype(np.float32),
            "direct": direct.copy(),
            "last": np.array([last], np.float32),
        }
        self._rng = rng

    def values(self, inputs: Array) -> Array:
        """Return the network's output."""
        excited = np.maximum(inputs @ self.parts["hidden"] + self.parts["biases"], 0)
        output: Array = excited @ self.parts["out"] + inputs @ self.parts["direct"] + self.parts["last"]
        return output

    def learn(self, inputs: Array, targets: Array, passes: int) -> None:
        """Take all examples so many times, in a random order, at a rate that falls to nothing."""
        slopes = {name: np.zeros_like(part) for name, part in self.parts.items()}
        squares = {name: np.zeros_like(part) for name, part in self.parts.items()}
        batches = -(-len(inputs) // BATCH)
        steps = passes * batches
        order = np.arange(len(inputs))
        for step in range(1, steps + 1):
            batch = (step - 1) % batches
            if batch == 0:
                order = self._rng.permutation(len(inputs))
            at = order[batch * BATCH :][:BATCH]
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for name, slope in self._slopes(inputs[at], targets[at]).items():
                part = self.parts[name]
                slopes[name] = 0.9 * slopes[name] + 0.1 * slope
                squares[name] = 0.999 * squares[name] + 0.001 * slope**2
                change = slopes[name] / (1 - 0.9**step) / (np.sqrt(squares[name] / (1 - 0.999**step)) + 1e-8)
                decay = DECAY * part if name in ("hidden", "out") else 0.0
                self.parts[name] = (part - rate * (change + decay)).astype(np.float32)

    def _slopes(self, inputs: Array, targets: Array) -> dict[str, Array]:
        excited = np.maximum(inputs @ self.parts["hidden"] + self.parts["biases"], 0)
        output = excited @ self.parts["out"] + inputs @ self.parts["direct"] + self.parts["last"]
        error = ((output - targets) * 2 / len(inputs)).astype(np.float32)
        back = np.outer(error, self.parts["out"]) * (excited > 0)
        return {
            "hidden": inputs.T @ back,
            "biases": back.sum(0),
            "out": excited.T @ error,
            "direct": inputs.T @ error,
            "last": error.sum(keepdims=True),
        }

    def text(self, mean: Array, deviation: Array) -> str:
        """Return the weights for inputs that aren't scaled, as ``moonvale_agents.weights`` has them."""
        hidden = self.parts["hidden"] / deviation[:, None]
        biases = self.parts["biases"] - mean @ hidden
        direct = self.parts["direct"] / deviation
        rows = [[*hidden[:, i], biases[i], self.parts["out"][i]] for i in range(len(biases))]
        rows.append([*direct, float(self.parts["last"][0]) - float(mean @ direct)])
        return "\n".join([line for row in rows for line in wrap(" ".join([_short(x) for x in row]), 120)])


def _short(number: float) -> str:
    return f"{number:.3g}".replace("e-0", "e-").replace("0.", ".", 1) if abs(number) < 1 else f"{number:.4g}"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.agents.fit", description=__doc__)
    parser.add_argument("--games", type=int, default=20000, help="rounds to play (default: %(default)s)")
    parser.add_argument("--units", type=int, default=16, help="hidden units (default: %(default)s)")
    parser.add_argument("--passes", type=int, default=6, help="over all examples (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which rounds (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=WEIGHTS, help="where to (default: %(default)s)")
    arguments = parser.parse_args()
    examples = Examples(arguments.games, arguments.seed)
    known = ~examples.held_out
    targets = examples.results
    print(f"{len(targets)} examples; nothing: {examples.error(np.full_like(targets, targets.mean())):.1f}")
    values = targets
    for part in LAMBDAS:
        direct, last = fit_line(examples, examples.targets(values, part))
        values = examples.inputs @ direct + np.float32(last)
        print(f"line, lambda {part}: {examples.error(values):.1f}")
    for _ in range(2):
        fit = Fit(arguments.units, direct, last, np.random.default_rng(arguments.seed))
        fit.learn(examples.inputs[known], examples.targets(values, LAMBDAS[-1])[known], arguments.passes)
        values = fit.values(examples.inputs)
        print(f"network: {examples.error(values):.1f}")
    head, _, _ = WEIGHTS.read_text(encoding="utf-8").partition('= """\n')
    arguments.to.write_text(f'{head}= """\n{fit.text(examples.mean, examples.deviation)}\n"""\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
