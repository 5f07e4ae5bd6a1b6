"""The random agent, and how the command seats an agent at a table of the service."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from moonvale_agents import Agent, IsmctsAgent, RandomAgent
from moonvale_agents.ismcts import ITERATIONS
from moonvale_cli.bots import AGENTS, chooser, searching
from moonvale_engine import Options, apply, legal_actions, new_game, observe, parse_position, seat_to_act
from moonvale_engine.decisions import PEEK
from moonvale_engine.play import decision_kind
from moonvale_service.convert.actions import to_proto
from tests.cli.game import played


def game_of(agent: Agent, players: int = 3) -> list[int]:
    """The actions of a game that an agent plays against itself."""
    state = new_game(Options(players=players, rounds=2), bytes(32))
    actions = []
    while legal_actions(state):
        actions.append(agent.choose(observe(state, seat_to_act(state))))
        apply(state, actions[-1])
    return actions


def test_it_plays_games_to_their_end_and_the_same_seed_makes_the_same_choices() -> None:
    assert game_of(RandomAgent(1)) == game_of(RandomAgent(1))
    assert game_of(RandomAgent(1)) != game_of(RandomAgent(2))


def test_it_chooses_each_legal_action_about_as_often() -> None:
    state = new_game(Options(), bytes(32))
    position = observe(state, seat_to_act(state))
    agent = RandomAgent(3)
    chosen = [agent.choose(position) for _ in range(2000)]
    assert set(chosen) == set(legal_actions(state))
    assert all(120 < chosen.count(action) < 280 for action in legal_actions(state))


#: The agents of the command, the searching one in a hurry.
HURRIED: dict[str, Callable[[int | None], Agent]] = {**AGENTS, "ismcts": partial(IsmctsAgent, iterations=2)}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", HURRIED.values(), ids=HURRIED)
async def test_an_agents_choice_becomes_the_same_action_of_the_view(
    make: Callable[[int | None], Agent], seed: int
) -> None:
    for moment in played(seed, None):
        if moment.view.decision.legal_actions:
            expected = make(seed).choose(parse_position(moment.view.position))
            assert await chooser(make(seed))(moment.view) == to_proto(expected)


def test_the_command_seats_a_search_agent_that_has_a_time_or_chooses_the_same_again() -> None:
    state = new_game(Options(), bytes(32))
    while len(legal_actions(state)) < 2 or decision_kind(state) == PEEK:
        apply(state, legal_actions(state)[0])
    position = observe(state, seat_to_act(state))
    seeded = [searching(7) for _ in range(2)]
    assert seeded[0].choose(position) == seeded[1].choose(position)
    assert seeded[0].budget.done == seeded[1].budget.done <= ITERATIONS
    hurried = searching(None)
    assert hurried.choose(position) in legal_actions(state)
    assert hurried.budget.spent() > 0


def test_the_agent_of_the_page_plays() -> None:
    page = Path("docs/agents.md").read_text(encoding="utf-8")
    names: dict[str, type[Agent]] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], names)
    assert len(game_of(names["FirstAgent"]())) > 100
