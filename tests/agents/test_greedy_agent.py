"""The greedy agent: that it always finds a legal action, what it does where that is plain, and that it beats random."""

from collections.abc import Callable
from random import Random

import pytest

from moonvale_agents import GreedyAgent
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
from tests.agents.duel import Contest, duel
from tests.support.playing import choose, positions, random_setup
from tests.support.table import Table, table


def chosen(s: State, seed: int = 1) -> int:
    """What a fresh agent chooses for the seat that is to act."""
    return GreedyAgent(seed).choose(observe(s, seat_to_act(s)))


def plays(t: Table, moves: int) -> list[str]:
    """What the agent does next at a table, move by move."""
    texts = []
    for _ in range(moves):
        action = chosen(t.state)
        texts.append(action_text(action))
        apply(t.state, action)
    return texts


def drawn(t: Table) -> Table:
    """The table when its active player, ann, has drawn."""
    t.ann.draws()
    return t


def discarded(t: Table) -> Table:
    """The table when ann has drawn and discarded."""
    t.ann.draws().discards()
    return t


@pytest.mark.parametrize("seed", range(16))
def test_it_answers_every_decision_of_any_deck_with_a_legal_action(seed: int) -> None:
    setup = random_setup(seed)
    rng = Random(seed)
    agent = GreedyAgent(seed)
    s = new_game(setup.options, setup.secret)
    while legal_actions(s):
        action = agent.choose(observe(s, seat_to_act(s)))
        assert action in legal_actions(s)
        # Now and then somebody else plays on, so that it meets what it would never bring about itself.
        apply(s, action if rng.random() < 0.7 else choose(rng, setup.style, legal_actions(s)))
    assert s.is_over()


def test_the_same_seed_plays_the_same_game() -> None:
    def game() -> list[int]:
        agents = [GreedyAgent(seat) for seat in range(3)]
        s = new_game(Options(players=3, rounds=2), bytes(32))
        log = []
        while legal_actions(s):
            log.append(agents[seat_to_act(s)].choose(observe(s, seat_to_act(s))))
            apply(s, log[-1])
        return log

    assert game() == game()


@pytest.mark.parametrize("seed", range(12))
def test_cards_that_it_does_not_know_make_no_difference(seed: int) -> None:
    """HID-4: in any world that looks the same to its seat it chooses the same."""
    rng = Random(seed)
    for at, s in enumerate(positions(random_setup(seed, rounds=1))):
        if legal_actions(s) and at % 5 == 0:
            seat = seat_to_act(s)
            world = sample_world(observe(s, seat), rng)
            assert GreedyAgent(at).choose(observe(world, seat)) == GreedyAgent(at).choose(observe(s, seat))


#: What anybody would do: the table, and the moves.
EXAMPLES: dict[str, tuple[Callable[[], Table], list[str]]] = {
    "takes a low card for its worst": (
        lambda: table("coin", ann="12 5 7 6 4", bob="2 3 3 4 5", pile="1"),
        ["take p0", "name 0", "close"],
    ),
    "gives a pair for one card": (
        lambda: drawn(table("coin", ann="9 9 3 1 4", deck="?4", pile="8")),
        ["name 0", "name 1", "close"],
    ),
    "keeps cards of different value apart": (
        lambda: drawn(table("eye", ann="11 ?7 ?3 4 5", deck="?0", pile="8")),
        ["name 0", "close"],
    ),
    "calls when everybody else has far more": (
        lambda: table("coin", ann="1 0", bob="12 12 11 10 9", pile="8"),
        ["call"],
    ),
    "does not call when somebody has far less": (
        lambda: table("coin", ann="12 11 10 9", bob="1 0", pile="3"),
        ["take p0"],
    ),
    "sends its own worst card away with the Assassin": (
        lambda: drawn(table("coin", ann="12 3 4 5 5", bob="6 6 7 7 8", deck="?8", pile="10")),
        ["use", "pick a0"],
    ),
    "discards its own worst card with the Ghost": (
        lambda: drawn(table("eye", ann="12 5 5 6 6", bob="12 11 10", deck="?7", pile="6")),
        ["use", "pick a0"],
    ),
    "discards a sideways card with the Curator": (
        lambda: table("coin", ann="2 12~ 11", bob="5 5 6 6 7", pile="9"),
        ["discard 1 by 0"],
    ),
    "looks at its own cards with the Nostro": (
        lambda: drawn(table("coin", ann="?1 ?2 ?3 ?5 ?6", deck="?7", pile="9")),
        ["use", "village a"],
    ),
    "gambles on a card that lies faceup": (
        lambda: table("eye", ann="4 12 5 6 6", deck="11 ?3", pile="8"),
        ["gamble", "predict 11", "pick a1"],
    ),
    "gives the Drunk's card to another village": (
        lambda: drawn(table("eye", ann="3 2 5", bob="4 4 4", deck="?12", pile="8")),
        ["use", "end b"],
    ),
    "undermines its own two worst cards": (
        lambda: drawn(table("eye", ann="12 5 13 6", bob="5 6 8 10", deck="?11", pile="8 2 3 7")),
        ["use", "pick a", "undermine p2", "pick a", "undermine p3"],
    ),
    "takes another turn with the Con Artist": (
        lambda: discarded(table("coin", ann="1 5 6 8 9", bob="5 6 7 9 8", deck="?12", pile="8")),
        ["use 0"],
    ),
    "answers a 7 with its own by Simon": (
        lambda: discarded(table("eye", ann="3 4 5", bob="2 7 5 6 8", deck="?7", pile="8")),
        ["discard 1 by 0"],
    ),
    "looks for a low card with the Eye token": (
        lambda: table("coin", ann="?12 ?9 ?11 ?5 ?6", bob="8 8 9 9 10", pile="10", token="eye", token_active=True),
        ["draw with token", "choose 0"],
    ),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_it(example: str) -> None:
    make, expected = EXAMPLES[example]
    texts = plays(make(), len(expected))
    assert all(text.startswith(start) for text, start in zip(texts, expected, strict=True)), texts


#: Scoring abilities: deck, village, the first choice.
SCORING: dict[str, tuple[str, str, str]] = {
    "tucks Nelly under its own highest card": ("eye", "-1 12 3", "tuck 0 under a1"),
    "takes its own highest card out with the Mad Bomber": ("eye", "13 12 3", "bomb a1 by 0"),
    "gives its highest card away with the Regifter": ("coin", "0 12 5", "give 1 by 0 to"),
}


@pytest.mark.parametrize("example", SCORING)
def test_at_scoring_it(example: str) -> None:
    cards, village, expected = SCORING[example]
    t = drawn(table(cards, ann=village, bob="8 2", deck="?6", deck_count=1, pile="10"))
    t.ann.discards()
    assert plays(t, 1)[0].startswith(expected)


@pytest.mark.parametrize("deck", ["coin", "eye", "mix"])
@pytest.mark.parametrize("players", [2, 4])
def test_it_beats_random(deck: str, players: int) -> None:
    tallies = duel(Contest(("greedy", "random") * (players // 2), deck, deals=2, rounds=2))
    assert sum(tallies["greedy"].wins) == 2
    assert max(tallies["greedy"].behind) < -30
