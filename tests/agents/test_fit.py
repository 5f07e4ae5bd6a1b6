"""The fit of the value network: that it learns, and that the weights it writes are the network that was fitted."""

import numpy as np
import pytest

from moonvale_agents.network import Unit
from moonvale_agents.weights import WEIGHTS
from tests.agents.fit import LAMBDAS, UNIT, Array, Examples, Fit, fit_line


@pytest.fixture(scope="module")
def examples() -> Examples:
    return Examples(games=24, seed=1)


def test_an_example_is_followed_by_the_same_seats_next_one_until_the_result(examples: Examples) -> None:
    following = examples.following
    assert all(after in (-1, i + 1) for i, after in enumerate(following))
    assert following.count(-1) >= 24  # seats of all rounds
    all_of_it = examples.targets(np.zeros_like(examples.results), 1.0)
    assert np.array_equal(all_of_it, examples.results)
    of_the_next = examples.targets(np.arange(len(following), dtype=np.float32), 0.0)
    assert all(of_the_next[i] == (examples.results[i] if after < 0 else after) for i, after in enumerate(following))


def test_it_learns_what_it_is_shown(examples: Examples) -> None:
    known = ~examples.held_out
    direct, last = fit_line(examples, examples.targets(examples.results, LAMBDAS[0]))
    fit = Fit(8, direct, last, np.random.default_rng(1))

    def error() -> float:
        return float(((fit.values(examples.inputs) - examples.results)[known] ** 2).mean())

    line = float(((examples.inputs @ direct + np.float32(last) - examples.results)[known] ** 2).mean())
    assert line < 0.8 * float(examples.results[known].var())
    fit.learn(examples.inputs[known], examples.results[known], passes=60)
    assert error() < line


def test_the_weights_written_are_those_fitted(examples: Examples) -> None:
    direct, last = fit_line(examples, examples.results)
    fit = Fit(3, direct, last, np.random.default_rng(1))
    numbers = [float(number) for number in fit.text(examples.mean, examples.deviation).split()]
    raw: Array = examples.inputs * examples.deviation + examples.mean
    size = raw.shape[1] + 2
    units = [Unit(numbers[at : at + size]) for at in range(0, 3 * size, size)]
    for row, expected in zip(raw[::50], fit.values(examples.inputs)[::50], strict=True):
        value = numbers[-1] + float(row @ np.array(numbers[3 * size : -1]))
        value += sum(unit.out * max(0.0, unit.bias + float(row @ np.array(unit.weights))) for unit in units)
        assert abs(value - expected) * UNIT < 0.2, "points, of three digits"
    assert len(numbers) == 3 * size + size - 1


def test_the_weights_that_come_along_fit_the_features(examples: Examples) -> None:
    size = examples.inputs.shape[1] + 2
    assert len(WEIGHTS.split()) % size == size - 1
