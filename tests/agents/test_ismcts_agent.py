"""The search agent: legal and repeatable choices, its budget, that it knows its position alone, plain decisions."""

from collections.abc import Callable
from math import isclose
from random import Random
from statistics import fmean

import pytest

from moonvale_agents import IsmctsAgent
from moonvale_agents.beliefs import likely_world
from moonvale_agents.features import FEATURES, features, summary
from moonvale_agents.network import expected_points
from moonvale_engine import (
    Options,
    State,
    action_text,
    apply,
    legal_actions,
    new_game,
    observe,
    sample_world,
    seat_to_act,
)
from moonvale_engine.decisions import PEEK, PLACE, TURN
from moonvale_engine.play import decision_kind
from tests.agents.duel import Contest, duel, make
from tests.support.playing import choose, positions, random_setup
from tests.support.table import Table, table


def chosen(s: State, seed: int = 1, iterations: int = 40) -> int:
    """What a fresh agent chooses for the seat that is to act."""
    return IsmctsAgent(seed, iterations=iterations).choose(observe(s, seat_to_act(s)))


@pytest.mark.parametrize("seed", range(8))
def test_it_answers_every_decision_of_any_deck_with_a_legal_action(seed: int) -> None:
    setup = random_setup(seed, rounds=1)
    rng = Random(seed)
    agent = IsmctsAgent(seed, iterations=6)
    s = new_game(setup.options, setup.secret)
    while legal_actions(s):
        if rng.random() < 0.3:
            action = agent.choose(observe(s, seat_to_act(s)))
            assert action in legal_actions(s)
        else:
            action = choose(rng, setup.style, legal_actions(s))
        apply(s, action)
    assert s.is_over()


def test_the_same_seed_and_iterations_play_the_same_game_and_another_seed_another() -> None:
    def game(seed: int) -> list[int]:
        agents = [IsmctsAgent(seed + seat, iterations=8) for seat in range(2)]
        s = new_game(Options(players=2, rounds=1), bytes(32))
        log = []
        while legal_actions(s):
            log.append(agents[seat_to_act(s)].choose(observe(s, seat_to_act(s))))
            apply(s, log[-1])
        return log

    assert game(1) == game(1)
    assert game(1) != game(5)


@pytest.mark.parametrize("memory", ["assisted", "table"])
@pytest.mark.parametrize("seed", range(4))
def test_cards_that_it_does_not_know_make_no_difference(seed: int, memory: str) -> None:
    """HID-4: in any world that looks the same to its seat it chooses the same."""
    rng = Random(seed)
    for at, s in enumerate(positions(random_setup(seed, rounds=1, memory=memory))):
        if len(legal_actions(s)) > 1 and at % 11 == 0:
            seat = seat_to_act(s)
            world = sample_world(observe(s, seat), rng)
            assert chosen(world, at, 12) == chosen(s, at, 12)


def searched(seed: int) -> list[State]:
    """Positions of a game in which there is something to search."""
    return [
        s.copy()
        for s in positions(random_setup(seed, rounds=1))
        if len(legal_actions(s)) > 1 and decision_kind(s) not in (PEEK, PLACE)
    ]


def test_it_keeps_its_budget_of_iterations() -> None:
    most = 0
    for s in searched(3)[::4]:
        agent = IsmctsAgent(1, iterations=25)
        agent.choose(observe(s, seat_to_act(s)))
        assert agent.budget.done <= 25
        most = max(most, agent.budget.done)
    assert most > 15


def test_it_stops_when_its_seconds_are_over() -> None:
    """The clock goes on by a second whenever it is read, and it is read before each play-out."""
    for s in searched(4)[::6]:
        now = 0.0

        def clock() -> float:
            nonlocal now
            now += 1.0
            return now

        agent = IsmctsAgent(1, seconds=30.0, clock=clock)
        assert agent.choose(observe(s, seat_to_act(s))) in legal_actions(s)
        assert agent.budget.done < now <= 35


def test_a_single_legal_action_needs_no_search() -> None:
    singles = [s.copy() for s in positions(random_setup(5, rounds=1)) if len(legal_actions(s)) == 1]
    assert singles
    for s in singles:
        agent = IsmctsAgent(1, iterations=50)
        assert agent.choose(observe(s, seat_to_act(s))) == legal_actions(s)[0]
        assert agent.budget.done == 0


@pytest.mark.parametrize("numbers", [{"iterations": 0}, {"seconds": 0.0}, {"seconds": float("nan")}, {"width": 0}])
def test_a_budget_of_nothing_is_refused(numbers: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(numbers))):
        IsmctsAgent(1, **numbers)  # type: ignore[arg-type]


#: What anybody would do: the table, and the move.
EXAMPLES: dict[str, tuple[Callable[[], Table], str]] = {
    "calls when everybody else has far more": (
        lambda: table("coin", ann="1 0", bob="12 12 11 10 9", pile="8"),
        "call",
    ),
    "does not call when somebody has far less": (
        lambda: table("coin", ann="12 11 10 9", bob="1 0", pile="3"),
        "take p0",
    ),
    "takes a low card": (lambda: table("coin", ann="12 5 7 6 4", bob="2 3 3 4 5", pile="1"), "take p0"),
    "takes another turn with the Con Artist": (
        lambda: discarded(table("coin", ann="1 5 6 8 9", bob="5 6 7 9 8", deck="?12", pile="8")),
        "use 0",
    ),
}


def discarded(t: Table) -> Table:
    """The table when ann has drawn and discarded."""
    t.ann.draws().discards()
    return t


@pytest.mark.parametrize("example", EXAMPLES)
def test_it(example: str) -> None:
    make_table, expected = EXAMPLES[example]
    assert action_text(chosen(make_table().state, iterations=120)).startswith(expected)


def test_a_search_finds_what_the_greedy_agent_does_not() -> None:
    """Of the choices in which it differs from the greedy agent, some must come from the search."""
    differing = 0
    for s in searched(6)[::3]:
        position = observe(s, seat_to_act(s))
        differing += IsmctsAgent(1, iterations=60, width=1).choose(position) != IsmctsAgent(
            1, iterations=60, width=4
        ).choose(position)
    assert differing > 0


def test_in_likely_worlds_the_others_have_kept_low_cards() -> None:
    """A card that bob has looked at and kept for six turns is lower than one that nobody has seen."""
    s = new_game(Options(players=2, rounds=1), bytes(32))
    while decision_kind(s) == PEEK:
        apply(s, legal_actions(s)[0])
    s.turn = 12
    ann = seat_to_act(s)
    bob = 1 - ann
    position = observe(s, ann)
    seen = [h for h in s.villages[bob] if s.known[h] >> bob & 1]
    unseen = [h for h in s.villages[bob] if s.known[h] == 0]
    rng = Random(1)
    worlds = [likely_world(position, rng) for _ in range(400)]
    for world in worlds:
        assert observe(world, ann).state.identity == position.state.identity
        assert sorted(world.identity) == sorted(s.identity)

    def mean(handles: list[int]) -> float:
        return fmean(world.types.values[world.identity[h]] for world in worlds for h in handles)

    assert mean(seen) < 4.5
    assert 5.8 < mean(unseen) < 7.4


def test_a_world_goes_on_as_its_secret_decides_and_the_deck_lies_anew_in_each() -> None:
    s = new_game(Options(players=2, rounds=1), bytes(32))
    position = observe(s, seat_to_act(s))
    rng = Random(1)
    worlds = [likely_world(position, rng) for _ in range(20)]
    assert len({bytes([world.identity[h] for h in world.deck]) for world in worlds}) == 20
    assert len({world.secret for world in worlds}) == 20


def test_the_network_prefers_lower_villages_and_knows_all_features() -> None:
    low = table("coin", ann="1 0 2 1", bob="5 6 7 8 9", pile="8").state
    high = table("coin", ann="12 11 10 9", bob="5 6 7 8 9", pile="8").state
    assert expected_points(low)[0] + 5 < expected_points(high)[0]
    for s in positions(random_setup(7, rounds=1)):
        if decision_kind(s) == TURN:
            summaries = [summary(s, seat) for seat in range(s.options.players)]
            assert {len(features(s, seat, summaries)) for seat in range(s.options.players)} == {FEATURES}


def test_a_duel_counts_every_game_once() -> None:
    tallies = duel(Contest(("ismcts:iterations=4", "greedy"), "eye", deals=2, rounds=1))
    assert isclose(sum(sum(tally.wins) for tally in tallies.values()), 2)
    assert isclose(sum(sum(tally.places) for tally in tallies.values()), 6)
    with pytest.raises(ValueError, match="no agent"):
        make("nobody")
