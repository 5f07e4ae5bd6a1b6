"""Plays random games of all decks and checks every position: ``make fuzz N=10000``, or ``python -m tests.fuzz 10000``.

It prefers what it has not seen yet. A failing game is kept as a record, with the command that plays it once more.
At the end it says what came up and what never did: steps, actions, refusals, endings.
"""

import argparse
import os
import sys
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from random import Random

from moonvale_engine import (
    RULES_VERSION,
    Entry,
    Event,
    Record,
    State,
    apply,
    catalog,
    commitment,
    new_game,
    read_record,
    seat_to_act,
    write_record,
)
from moonvale_engine import actions as act
from moonvale_engine.events import ABILITY_BEGAN, END_BY_LIMIT, ROUND_ENDED, SHOWN, SHOWN_REFUSED
from tests.support.invariants import check, check_cards, check_choices
from tests.support.playing import choose, random_setup

CHECKED = 10  # one position in so many gets the quick checks,
CHECKED_IN_FULL = 400  # one in so many the slow ones; the properties among the tests check more of fewer games
CHUNK = 100  # games that a process plays before it reports
CURIOSITY = 0.3  # how often what came up least is chosen

#: Where an Obsessor can refuse a card (OBS-3, OBS-5): the step that asked, or the card used in between.
REFUSALS = ("exchange.0", "curator", "ghost.0", "gambler.0", "gambler.1", "spotter.2")


class Report:
    """What the games met so far, as words, with how often."""

    def __init__(self) -> None:
        self.met: Counter[str] = Counter()
        self.longest = 0
        self.decisions = 0

    def see(self, s: State) -> None:
        """Count an open decision and the verbs that it offers."""
        if s.choices:
            self.decisions += 1
            self.met.update({step_name(s), *{verb_name(action) for action in s.choices}})
            self.longest = max(self.longest, len(s.choices))

    def see_events(self, s: State, step: str, events: list[Event]) -> None:
        """Count what came of an action that answered a step."""
        for kind, _, a, _, _, cards in events:
            if kind == ROUND_ENDED:
                self.met[f"round end {a}"] += 1
            elif kind == ABILITY_BEGAN and s.cards[cards[1] & 15].anytime:
                step = s.cards[cards[1] & 15].key
            elif kind == SHOWN and a == SHOWN_REFUSED:
                self.met[f"refused at {step}"] += 1

    def add(self, other: "Report") -> None:
        """Count what another report has counted."""
        self.met.update(other.met)
        self.longest = max(self.longest, other.longest)
        self.decisions += other.decisions

    def unseen(self) -> list[str]:
        """Return what never came up though it can."""
        rules = catalog.rules_of(RULES_VERSION)
        possible = [
            f"{name}.{i}"
            for name, program in zip(rules.program_names, rules.programs, strict=True)
            for i, step in enumerate(program)
            if step.kind >= 0
        ]
        possible += [name for name, _ in act.FIELDS]
        possible += [f"refused at {step}" for step in REFUSALS]
        possible += [f"round end {why}" for why in range(END_BY_LIMIT + 1)]
        return [name for name in possible if not self.met[name]]

    def rarest(self, s: State) -> int:
        """Return the choice whose verb, at this step, was chosen least."""
        step = step_name(s)
        return min(s.choices, key=lambda action: self.met[f"{step} {verb_name(action)}"])


def step_name(s: State) -> str:
    return f"{s.rules.program_names[s.program]}.{s.step}"


def verb_name(action: int) -> str:
    return act.FIELDS[act.verb_of(action)][0]


class Game:
    """One game: a seed's, or one that failed before."""

    def __init__(self, seed: int) -> None:
        self.setup = random_setup(seed)
        self.rng = Random(seed)
        self.log: list[Entry] = []

    def record(self) -> Record:
        """Return the game so far."""
        setup = self.setup
        return Record(setup.options, commitment(setup.secret), setup.secret, entries=tuple(self.log))

    def play(self, report: Report) -> None:
        """Play to the end and check. Raises AssertionError or an error of the engine."""
        s = new_game(self.setup.options, self.setup.secret)
        while s.choices:
            report.see(s)
            if self.rng.randrange(CHECKED) == 0:
                self._check(s, in_full=self.rng.randrange(CHECKED_IN_FULL) < CHECKED)
            curious = self.rng.random() < CURIOSITY
            action = report.rarest(s) if curious else choose(self.rng, self.setup.style, s.choices)
            report.met[f"{step_name(s)} {verb_name(action)}"] += 1
            self._act(s, action, report)
        self._check(s, in_full=True)
        assert s.is_over()

    def repeat(self, record: Record, report: Report) -> None:
        """Play a kept game again, every position checked in full."""
        assert record.secret is not None
        self.setup = replace(self.setup, options=record.options, secret=record.secret)
        s = new_game(record.options, record.secret)
        for entry in record.entries:
            report.see(s)
            self._check(s, in_full=True)
            self._act(s, entry.action, report)
        self._check(s, in_full=True)

    def _check(self, s: State, in_full: bool) -> None:
        check_cards(s)
        if in_full:
            check(s, self.rng)
        else:
            check_choices(s)

    def _act(self, s: State, action: int, report: Report) -> None:
        step = step_name(s)
        self.log.append(Entry(seat_to_act(s), action))
        s.events = []
        apply(s, action)
        report.see_events(s, step, s.events)
        s.events = None


def play_one(seed: int, report: Report) -> None:
    """Play and check the game of a seed. Raises AssertionError or an error of the engine."""
    Game(seed).play(report)


def play_many(seeds: range) -> tuple[Report, str]:
    """Play the games of some seeds; return what they met, and of the first that failed what happened."""
    report = Report()
    for seed in seeds:
        game = Game(seed)
        try:
            game.play(report)
        except Exception:  # noqa: BLE001  # whatever it is, it is what the fuzzer looks for
            path = Path(f"fuzz-{seed}.record")
            path.write_text(write_record(game.record()), encoding="utf-8")
            again = f"The game of seed {seed} failed. To repeat it: python -m tests.fuzz --repeat {path}"
            return report, f"{traceback.format_exc()}\n{again}"
    return report, ""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "games", type=int, nargs="?", default=2000, help="how many games to play (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first game's seed; the next ones count up from it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one for each core)")
    parser.add_argument("--repeat", type=Path, metavar="RECORD", help="play and check a game that failed once more")
    arguments = parser.parse_args()
    report = Report()
    if arguments.repeat:
        Game(0).repeat(read_record(arguments.repeat.read_text(encoding="utf-8")), report)
        print(f"{report.decisions} decisions, no fault.")
        return 0
    end = arguments.seed + arguments.games
    chunks = [range(first, min(first + CHUNK, end)) for first in range(arguments.seed, end, CHUNK)]
    done = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(play_many, chunk): len(chunk) for chunk in chunks}
        for run in as_completed(runs):
            met, failure = run.result()
            if failure:
                pool.shutdown(cancel_futures=True)
                print(failure, file=sys.stderr)
                return 1
            report.add(met)
            done += runs[run]
            print(f"{done} of {arguments.games} games, {report.decisions} decisions", flush=True)
    print(f"{arguments.games} games, {report.decisions} decisions, no fault.")
    print(f"Longest list of choices: {report.longest}.")
    print(f"{len(report.met)} things came up. Never came up: " + (", ".join(report.unseen()) or "nothing"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
