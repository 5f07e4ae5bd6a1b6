"""Perft: how many sequences of actions there are from a position; ``python -m tests.support.perft`` counts all anew.

The file has one line for each position: its name, the counts for one action, two, three, ..., and the whole position.
"""

from pathlib import Path
from random import Random

from moonvale_engine import Options, State, apply, decision_kind, new_game, whole
from moonvale_engine.decisions import PEEK
from moonvale_engine.options import parse_deck
from moonvale_engine.position_text import position_text
from tests.support.playing import choose

PERFT = Path(__file__).parent.parent / "engine" / "perft.txt"
MIX = "coin,2=eye,3=eye,7=eye,9=eye"
OTHER_MIX = "eye,0=coin,2=coin,3=coin,10=coin,13=coin"
#: Players, deck, token, the byte that the secret is made of, and how many actions a restless player makes before. With
#: none it is the first turn.
POSITIONS = {
    "coin-2 first turn": (2, "coin", "coin", 1, 0),
    "coin-4 first turn": (4, "coin", "coin", 2, 0),
    "coin-3 psychic": (3, "coin", "coin", 4, 27),
    "eye-2 first turn": (2, "eye", "eye", 3, 0),
    "eye-3 first turn": (3, "eye", "eye", 4, 0),
    "eye-3 spotter": (3, "eye", "eye", 1, 77),
    "eye-3 reaction": (3, "eye", "eye", 2, 89),
    "eye-3 reward": (3, "eye", "eye", 2, 95),
    "eye-3 twister": (3, "eye", "eye", 2, 120),
    "mix-3 first turn": (3, MIX, "eye", 5, 0),
    "mix-3 search": (3, MIX, "eye", 3, 43),
    "mix-3 obsessor": (3, MIX, "eye", 4, 81),
    "mix-3 scoring": (3, MIX, "eye", 0, 86),
    "mix-2 first turn": (2, OTHER_MIX, "coin", 6, 0),
    "mix-2 nosferatu": (2, OTHER_MIX, "coin", 4, 76),
}
ENOUGH = 4000  # a position is counted one action deeper until there are so many
DEEPEST = 8


def position(players: int, deck: str, token: str, seed: int, actions: int) -> State:
    """Return a position of the list."""
    rng = Random(seed)
    s = new_game(Options(players=players, deck=parse_deck(deck), token=token), bytes((seed,)) * 32)
    for _ in range(actions):
        apply(s, choose(rng, "restless", s.choices))
    while not actions and decision_kind(s) == PEEK:
        apply(s, s.choices[0])
    return s


def perft(s: State, depth: int) -> int:
    """Return how many sequences of so many actions there are."""
    if depth == 1:
        return len(s.choices)
    total = 0
    for action in s.choices:
        after = s.copy()
        apply(after, action)
        total += perft(after, depth - 1)
    return total


def counts(s: State) -> list[int]:
    """Return the counts for one action, two, three, ... until there are enough."""
    result: list[int] = []
    while len(result) < DEEPEST and (not result or result[-1] < ENOUGH):
        result.append(perft(s, len(result) + 1))
    return result


def line(name: str) -> str:
    """Return the line of a position."""
    s = position(*POSITIONS[name])
    return f"{name}: {' '.join(map(str, counts(s)))} | {position_text(whole(s))}"


if __name__ == "__main__":
    PERFT.write_text("".join([f"{line(name)}\n" for name in POSITIONS]), encoding="utf-8")
