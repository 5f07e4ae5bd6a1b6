"""Measures agents against each other on duplicate deals: ``python -m tests.agents.duel greedy random --deck eye``.

Each deal is played once for every rotation of the agents around the table, so that each of them gets every village and
every place in the order of turns. Deals are what the intervals are taken over. An agent is a name, with numbers that
it takes where they differ: ``greedy:horizon=2,feed=0`` of its judgement, ``ismcts:iterations=60`` of its budget.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from math import sqrt
from random import Random
from statistics import fmean, stdev
from time import process_time
from typing import Any

from moonvale_agents import Agent, GreedyAgent, IsmctsAgent, Judgement, RandomAgent
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
    places: list[float]  # from 1, the winner's
    seconds: float = 0.0  # of CPU
    decisions: int = 0


@dataclass(frozen=True, slots=True)
class Game:
    """A game that is over, seat by seat: points in all, place from 1, seconds of CPU, decisions."""

    totals: tuple[int, ...]
    places: tuple[int, ...]
    seconds: tuple[float, ...]
    decisions: tuple[int, ...]


#: What the numbers of an agent are, where they are whole.
WHOLE = ("horizon", "iterations", "width")


def make(text: str) -> Callable[[int], Agent]:
    """Return how an agent is made from a seed. Raises ValueError for a name or a number that isn't known."""
    name, _, numbers = text.partition(":")
    if name == "random":
        return RandomAgent
    parsed = {key: float(value) for key, _, value in (part.partition("=") for part in numbers.split(",") if part)}
    chosen: dict[str, Any] = {key: int(value) if key in WHOLE else value for key, value in parsed.items()}
    if name == "ismcts":
        return partial(IsmctsAgent, **chosen)
    if name != "greedy":
        raise ValueError(f"'{name}' is no agent; choose ismcts, greedy or random")
    return partial(GreedyAgent, judgement=Judgement(**chosen))


def play(options: Options, secret: bytes, agents: Sequence[Agent]) -> Game:
    """Play a game to its end."""
    s = new_game(options, secret)
    seconds = [0.0] * len(agents)
    decisions = [0] * len(agents)
    while legal_actions(s):
        seat = seat_to_act(s)
        position = observe(s, seat)
        began = process_time()
        action = agents[seat].choose(position)
        seconds[seat] += process_time() - began
        decisions[seat] += 1
        apply(s, action)
    outcome = result(s)
    assert outcome is not None
    places = tuple([outcome.places.index(seat) + 1 for seat in range(len(agents))])
    return Game(outcome.totals, places, tuple(seconds), tuple(decisions))


def duel(contest: Contest) -> dict[str, Tally]:
    """Play all deals in all rotations; return the tally of each name."""
    tallies = {name: Tally([], [], [], []) for name in contest.names}
    for deal in range(contest.deals):
        play_deal(contest, deal, tallies)
    return tallies


def play_deal(contest: Contest, deal: int, tallies: dict[str, Tally]) -> None:
    """Play one deal in all rotations, and add to the tally of each name what came of it."""
    names = contest.names
    secret = Random(f"{contest.seed} {deal}").randbytes(32)
    options = contest.options(deal)
    points: dict[str, list[float]] = {name: [] for name in names}
    places: dict[str, list[int]] = {name: [] for name in names}
    for rotation in range(len(names)):
        seated = [names[(seat + rotation) % len(names)] for seat in range(len(names))]
        agents = [make(name)(deal * 16 + rotation * 4 + seat) for seat, name in enumerate(seated)]
        game = play(options, secret, agents)
        for seat, name in enumerate(seated):
            points[name].append(game.totals[seat] / contest.rounds)
            places[name].append(game.places[seat])
            tallies[name].seconds += game.seconds[seat]
            tallies[name].decisions += game.decisions[seat]
    for name, tally in tallies.items():
        others = [point for other in points if other != name for point in points[other]]
        tally.round_points.append(fmean(points[name]))
        tally.behind.append(fmean(points[name]) - fmean(others) if others else 0.0)
        tally.wins.append(places[name].count(1) / len(names))
        tally.places.append(fmean(places[name]))


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
        place, place_half = interval(tally.places)
        share = contest.names.count(name) / seats
        lines.append(
            f"  {name}: {mean:.2f} ± {half:.2f} points a round, {behind:+.2f} ± {behind_half:.2f} to the others;"
            f" wins {wins:.1%} ± {wins_half:.1%} of games with {share:.0%} of the seats,"
            f" place {place:.2f} ± {place_half:.2f}; {1000 * tally.seconds / tally.decisions:.1f} ms of CPU a decision"
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
