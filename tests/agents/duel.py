"""Measures agents against each other on duplicate deals: ``python -m tests.agents.duel greedy random --deck eye``.

Each deal is played once for every rotation of the agents around the table, so that each of them gets every village and
every place in the order of turns. Deals are what the intervals are taken over. An agent is a name, with numbers of the
greedy agent's judgement where they differ: ``greedy:horizon=2,feed=0``.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from math import sqrt
from random import Random
from statistics import fmean, stdev

from moonvale_agents import Agent, GreedyAgent, Judgement, RandomAgent
from moonvale_engine import Options, apply, legal_actions, new_game, observe, result, seat_to_act
from moonvale_engine.options import DECKS, NUMBERS, parse_deck

CONFIDENCE = 1.96  # standard errors on each side of a mean: 95 %
MIX = "mix"  # a deck whose numbers come from either deck, drawn anew for each deal


@dataclass(frozen=True, slots=True)
class Contest:
    """What is played: the agents in the order of the seats, by name, and on which deals."""

    names: tuple[str, ...]
    deck: str = "coin"
    deals: int = 100
    seed: int = 0
    rounds: int = 4
    successful_call: str = "zero"
    memory: str = "assisted"

    def options(self, deal: int) -> Options:
        """Return the options of a deal."""
        rng = Random(f"{self.seed} {deal} deck")
        deck = tuple([rng.choice(DECKS) for _ in range(NUMBERS)]) if self.deck == MIX else parse_deck(self.deck)
        return Options(
            players=len(self.names),
            deck=deck,
            token=deck[0],
            rounds=self.rounds,
            successful_call=self.successful_call,
            memory=self.memory,
        )


@dataclass(slots=True)
class Tally:
    """What the agents of one name made of the deals: for each deal the mean of their seats in all rotations."""

    round_points: list[float]
    behind: list[float]  # points of a round more than the seats of other names
    wins: list[float]  # the part of games won by a seat of the name


def make(text: str) -> Callable[[int], Agent]:
    """Return how an agent is made from a seed. Raises ValueError for a name or a number that isn't known."""
    name, _, numbers = text.partition(":")
    if name == "random":
        return RandomAgent
    if name != "greedy":
        raise ValueError(f"'{name}' is no agent; choose greedy or random")
    parsed = {key: float(value) for key, _, value in (part.partition("=") for part in numbers.split(",") if part)}
    if "horizon" in parsed:
        parsed["horizon"] = int(parsed["horizon"])
    judgement = Judgement(**parsed)  # type: ignore[arg-type]  # the horizon is an int by now
    return lambda seed: GreedyAgent(seed, judgement)


def play(options: Options, secret: bytes, agents: Sequence[Agent]) -> tuple[tuple[int, ...], int]:
    """Play a game; return each seat's points and the winner."""
    s = new_game(options, secret)
    while legal_actions(s):
        seat = seat_to_act(s)
        apply(s, agents[seat].choose(observe(s, seat)))
    outcome = result(s)
    assert outcome is not None
    return outcome.totals, outcome.places[0]


def duel(contest: Contest) -> dict[str, Tally]:
    """Play all deals in all rotations; return the tally of each name."""
    names = contest.names
    makers = {name: make(name) for name in names}
    tallies = {name: Tally([], [], []) for name in names}
    for deal in range(contest.deals):
        secret = Random(f"{contest.seed} {deal}").randbytes(32)
        options = contest.options(deal)
        points: dict[str, list[float]] = {name: [] for name in names}
        won = dict.fromkeys(names, 0)
        for rotation in range(len(names)):
            seated = [names[(seat + rotation) % len(names)] for seat in range(len(names))]
            agents = [makers[name](deal * 16 + rotation * 4 + seat) for seat, name in enumerate(seated)]
            totals, winner = play(options, secret, agents)
            won[seated[winner]] += 1
            for name, total in zip(seated, totals, strict=True):
                points[name].append(total / contest.rounds)
        for name, tally in tallies.items():
            others = [point for other in points if other != name for point in points[other]]
            tally.round_points.append(fmean(points[name]))
            tally.behind.append(fmean(points[name]) - fmean(others) if others else 0.0)
            tally.wins.append(won[name] / len(names))
    return tallies


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean over deals and half the width of its 95 % interval."""
    return fmean(values), CONFIDENCE * stdev(values) / sqrt(len(values)) if len(values) > 1 else float("inf")


def report(contest: Contest, tallies: dict[str, Tally]) -> str:
    """Return the tallies as lines of text."""
    seats = len(contest.names)
    lines = [f"{contest.deck}, {contest.deals} deals x {seats} rotations of {contest.rounds} rounds, 95 % intervals:"]
    for name, tally in tallies.items():
        mean, half = interval(tally.round_points)
        behind, behind_half = interval(tally.behind)
        wins, wins_half = interval(tally.wins)
        share = contest.names.count(name) / seats
        lines.append(
            f"  {name}: {mean:.2f} ± {half:.2f} points a round, {behind:+.2f} ± {behind_half:.2f} to the others;"
            f" wins {wins:.1%} ± {wins_half:.1%} of games with {share:.0%} of the seats"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.agents.duel", description=__doc__)
    parser.add_argument("agents", nargs="+", help="agents in the order of the seats, repeated until all are taken")
    parser.add_argument("--deck", default="coin", help="coin, eye, coin,2=eye ... or mix (default: %(default)s)")
    parser.add_argument("--players", type=int, help="how many seats (default: as many as agents)")
    parser.add_argument("--deals", type=int, default=100, help="how many deals (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which deals (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of a game (default: %(default)s)")
    parser.add_argument("--successful-call", default="zero", help="zero or lower (default: %(default)s)")
    parser.add_argument("--memory", default="assisted", help="assisted or table (default: %(default)s)")
    arguments = parser.parse_args()
    contest = Contest(
        names=tuple(islice(cycle(arguments.agents), arguments.players or len(arguments.agents))),
        deck=arguments.deck,
        deals=arguments.deals,
        seed=arguments.seed,
        rounds=arguments.rounds,
        successful_call=arguments.successful_call,
        memory=arguments.memory,
    )
    print(report(contest, duel(contest)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
