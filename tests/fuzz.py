"""Plays random games and checks every position: ``make fuzz N=10000``, or ``python -m tests.fuzz 10000 --seed 7``.

A failure prints the seed and the command that repeats it. At the end it reports what came up: steps, verbs, ends.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from random import Random

from moonvale_engine import State, catalog, decode, encode
from moonvale_engine import actions as act
from moonvale_engine.state import PROGRAM, STEP
from tests.support.invariants import LONGEST_LIST, check, check_cards, check_choices
from tests.support.playing import positions, random_setup

CHECKED_IN_FULL = 40  # one position in so many gets the slow checks


class Report:
    """What the games met so far."""

    def __init__(self) -> None:
        self.steps: Counter[str] = Counter()
        self.verbs: Counter[str] = Counter()
        self.longest = 0
        self.decisions = 0

    def see(self, s: State) -> None:
        if s.choices:
            self.decisions += 1
            self.steps[f"{catalog.PROGRAM_NAMES[s.stack[PROGRAM]]}.{s.stack[STEP]}"] += 1
            self.verbs.update({act.FIELDS[act.verb_of(action)][0] for action in s.choices})
            self.longest = max(self.longest, len(s.choices))

    def unseen(self) -> list[str]:
        """Return the asking steps and the verbs that never came up."""
        steps = [
            f"{name}.{i}"
            for name, program in zip(catalog.PROGRAM_NAMES, catalog.PROGRAMS, strict=True)
            for i, step in enumerate(program)
            if step.kind >= 0 and not self.steps[f"{name}.{i}"]
        ]
        return steps + [name for name, _ in act.FIELDS if not self.verbs[name]]


def play_one(seed: int, report: Report) -> None:
    """Play the game of a seed to its end and check it. Raises AssertionError or an error of the engine."""
    setup = random_setup(seed)
    rng = Random(seed)
    for s in positions(setup):
        report.see(s)
        check_cards(s)
        if rng.randrange(CHECKED_IN_FULL) == 0:
            check(s, rng)
            assert encode(decode(encode(s))) == encode(s)
        else:
            check_choices(s)
    assert s.is_over()


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "games", type=int, nargs="?", default=2000, help="how many games to play (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first game's seed; the next ones count up from it")
    arguments = parser.parse_args()
    report = Report()
    shown = time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.games):
        try:
            play_one(seed, report)
        except Exception:  # noqa: BLE001  # whatever it is, it is what the fuzzer looks for
            traceback.print_exc()
            print(f"\nThe game of seed {seed} failed. To repeat it: python -m tests.fuzz 1 --seed {seed}")
            return 1
        if time.monotonic() - shown > 2:
            shown = time.monotonic()
            print(f"{seed - arguments.seed + 1} of {arguments.games} games, {report.decisions} decisions", flush=True)
    print(f"{arguments.games} games, {report.decisions} decisions, no fault.")
    print(f"Longest list of choices: {report.longest} (at most {LONGEST_LIST}).")
    print("Never came up: " + (", ".join(report.unseen()) or "nothing"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
