"""The number of action sequences from given positions is pinned, so that a change of the rules shows at once."""

import pytest

from moonvale_engine import parse_position
from tests.support.perft import ENOUGH, PERFT, POSITIONS, perft

LINES = PERFT.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", LINES, ids=[line.partition(":")[0].replace(" ", "-") for line in LINES])
def test_sequences_are_as_many_as_ever(line: str) -> None:
    head, text = line.split(" | ")
    expected = [int(word) for word in head.partition(": ")[2].split()]
    s = parse_position(text).state
    assert [perft(s, depth) for depth in range(1, len(expected) + 1)] == expected, (
        "the rules have changed; if that is meant: python -m tests.support.perft"
    )


def test_all_positions_are_counted_deep_enough() -> None:
    assert [line.partition(":")[0] for line in LINES] == list(POSITIONS)
    for line in LINES:
        numbers = line.partition(" | ")[0].split(": ")[1].split()
        assert len(numbers) >= 3
        assert int(numbers[-1]) >= ENOUGH or len(numbers) == 8
