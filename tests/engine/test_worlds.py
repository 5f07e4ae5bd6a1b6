"""Sampled worlds: each could be the game, all are as likely as they should be, the truth no more than others."""

from collections import Counter
from collections.abc import Callable
from math import sqrt
from random import Random

import pytest

from moonvale_engine import (
    RESIGNATION,
    SPECTATOR,
    Entry,
    State,
    apply,
    encode,
    enter,
    new_game,
    observe,
    position_text,
    sample_world,
    seat_to_act,
    view,
)
from moonvale_engine.deck import faces_in_play
from moonvale_engine.events import EVERYBODY, UNKNOWN
from moonvale_engine.position import Position
from moonvale_engine.state import FACEUP
from tests.support.invariants import check_cards, check_choices, viewers
from tests.support.playing import Setup, choose, positions, random_setup
from tests.support.table import Table, table
from tests.support.twins import twin_of
from tests.support.worlds import Arrangement, all_worlds, arrangement, handles_in_question, retell, same_game, told_of

Case = Callable[[], Table]


def tiny(cards: str, /, **where: str) -> Table:
    """Set a table where everything but the villages, the pile and the deck lies out of the round, seen by all."""
    deck = where["deck"]
    t = table(cards, **where, deck_count=len(deck.split()), token="eye", token_active=True)  # type: ignore[arg-type]
    for h in t.state.aside:
        t.state.known[h] = EVERYBODY
    return t


def knows(t: Table, seats: int, *handles: int) -> None:
    for h in handles:
        t.state.known[h] |= seats


def a_plain_position() -> Table:
    return tiny("coin", ann="?7 ?3 8", bob="?7 4", deck="?5 ?5 ?7")


def a_spotter_has_missed_twice() -> Table:
    t = tiny("eye", ann="3 7 3", bob="?8 ?7 ?11", deck="?5 ?8", pile="12")
    t.ann.draws().exchanges(1, spotters=2).searches(t.bob).looks(t.bob, 0).stops()
    t.ann.searches(t.bob).looks(t.bob, 2).stops()
    return t


def a_card_was_kept_that_fits_nowhere() -> Table:
    t = tiny("eye", ann="7", bob="?8 ?7", deck="?5 ?6 ?12", pile="9.1")
    t.ann.draws().keeps("left")
    return t


def the_deck_was_searched() -> Table:
    t = tiny("coin", ann="?3 8", bob="?7 ?8", deck="?7 ?3 ?7 ?12", pile="12")
    t.ann.draws_with_token("?7").exchanges(1)
    return t


def the_card_found_was_shown_and_others_knew_one_like_it() -> Table:
    t = tiny("coin", ann="?7 8", bob="?8", deck="?7 ?3 ?7 ?12", pile="12")
    knows(t, 0b10, t.state.deck[1], t.state.deck[3])  # bob has seen a 7 and the other 7 or a 3 in the deck
    t.ann.draws_with_token("?7").discards()
    return t


def cards_of_the_searched_deck_have_come_to_light() -> Table:
    t = tiny("coin", ann="?7 8 ?12", bob="?3 11", deck="?7 ?3 ?7 ?12 ?3", pile="12")
    knows(t, 0b10, *list(t.state.deck)[1:4])
    t.ann.draws_with_token("?3").exchanges(1)
    t.bob.draws().exchanges(1)
    return t


def several_cards_alike_have_come_to_light() -> Table:
    t = tiny("coin", ann="?7 ?12 8", bob="?3", deck="?7 ?7 ?7", pile="12")
    knows(t, 0b10, t.bob.handle(0), t.state.deck[0])  # of the deck bob has seen one of the three
    t.ann.draws_with_token("?7").discards()
    t.bob.draws().discards()
    assert t.pile == "7 7 12"
    return t


def faceup_cards_lie_somewhere_in_the_searched_deck() -> Table:
    t = tiny("coin", ann="?7 8", bob="?8", deck="?7 4 ?12 11 ?3", pile="12")
    knows(t, 0b10, t.state.deck[0])
    t.ann.draws_with_token("?7").exchanges(1)
    return t


def a_spotter_missed_a_card_from_the_searched_deck() -> Table:
    t = tiny("eye", ann="3 7 3", bob="?11", deck="?8 ?7 ?8 2", pile="12")
    knows(t, 0b10, t.state.deck[1], t.state.deck[2])
    t.ann.draws_with_token("?8").exchanges(1)
    t.bob.draws().exchanges(0) if t.bob.sees_deck_top != "2" else t.bob.draws().discards()
    t.ann.draws().exchanges(0, spotters=2).searches(t.bob).looks(t.bob, 0)
    return t


def the_deck_is_being_searched() -> Table:
    t = tiny("coin", ann="?7 8", bob="?8", deck="?7 4 ?12 ?4 ?3", pile="12")
    knows(t, 0b10, t.state.deck[1])
    t.ann.draws_with_token()
    return t


CASES: list[Case] = [
    a_plain_position,
    a_spotter_has_missed_twice,
    a_card_was_kept_that_fits_nowhere,
    the_deck_was_searched,
    the_card_found_was_shown_and_others_knew_one_like_it,
    cards_of_the_searched_deck_have_come_to_light,
    several_cards_alike_have_come_to_light,
    faceup_cards_lie_somewhere_in_the_searched_deck,
    a_spotter_missed_a_card_from_the_searched_deck,
    the_deck_is_being_searched,
]


def sampled(position: Position, count: int, seed: int) -> Counter[Arrangement]:
    rng = Random(seed)
    handles = handles_in_question(position)
    return Counter([arrangement(sample_world(position, rng), handles) for _ in range(count)])


def deviates(squares: float, degrees: int) -> float:
    """Return by how many standard deviations a chi-squared sum is too large (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * degrees)
    return float(((squares / degrees) ** (1 / 3) - (1 - spread)) / sqrt(spread))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("viewer", [0, 1, SPECTATOR])
def test_worlds_are_as_frequent_as_brute_force_has_them(case: Case, viewer: int) -> None:
    position = observe(case().state, viewer)
    possible = all_worlds(position)
    ways = possible.total()
    count = 4000
    found = sampled(position, count, seed=viewer)
    assert set(found) <= set(possible)
    if len(possible) == 1:
        return
    # Cells are filled up with their neighbours until each expects 5, as the test needs it.
    cells: list[tuple[float, int]] = []
    expected, seen = 0.0, 0
    for key in sorted(possible, key=lambda key: (possible[key], key)):
        expected += count * possible[key] / ways
        seen += found[key]
        if expected >= 5:
            cells.append((expected, seen))
            expected, seen = 0.0, 0
    cells[-1] = (cells[-1][0] + expected, cells[-1][1] + seen)
    squares = sum([(seen - expected) ** 2 / expected for expected, seen in cells])
    if len(cells) > 1:
        assert deviates(squares, len(cells) - 1) < 4


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("viewer", [0, 1, SPECTATOR])
def test_the_true_arrangement_is_no_more_frequent_than_chance(case: Case, viewer: int) -> None:
    s = case().state
    position = observe(s, viewer)
    possible = all_worlds(position)
    truth = arrangement(s, handles_in_question(position))
    assert truth in possible
    count = 2000
    chance = possible[truth] / possible.total()
    found = sampled(position, count, seed=99 + viewer)[truth]
    assert abs(found - count * chance) <= 4.5 * sqrt(count * chance * (1 - chance)) + 1e-9


def game_at(setup: Setup, stop: int) -> tuple[State, list[Entry]]:
    """Return a random game, and its log, after so many actions, or before its end."""
    log: list[Entry] = []
    states = positions(setup, log)
    s = next(states)
    while len(log) < stop:
        before, length = s.copy(), len(log)
        s = next(states)
        if not s.choices:
            return before, log[:length]
    return s, log


@pytest.mark.parametrize("seed", range(16))
def test_in_whole_games_no_card_is_guessed_right_more_often_than_chance(seed: int) -> None:
    """The number of cards that a sampled world has right, against its exact expectation, two-sided."""
    rng = Random(seed)
    s, _ = game_at(random_setup(seed, rounds=1, memory="assisted"), rng.randrange(20, 160))
    for viewer in viewers(s):
        position = observe(s, viewer)
        if position.state.excluded or position.state.pool:
            continue  # the tiny cases above count those exactly
        hidden = [h for h in range(52) if position.state.identity[h] == UNKNOWN]
        left = Counter(faces_in_play(s.cards))
        left.subtract([face for face in position.state.identity if face != UNKNOWN])
        expected = sum([left[s.identity[h]] / len(hidden) for h in hidden])
        right = []
        for _ in range(250):
            world = sample_world(position, rng)
            right.append(sum([1 for h in hidden if world.identity[h] == s.identity[h]]))
        mean = sum(right) / len(right)
        variance = sum([(one - mean) ** 2 for one in right]) / (len(right) - 1)
        assert abs(mean - expected) <= 4.5 * sqrt(max(variance, 0.25) / len(right))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_sampled_depends_on_nothing_that_the_viewer_may_not_know(seed: int) -> None:
    """From a game and from its hidden twin the same chance makes the same worlds, byte for byte."""
    rng = Random(seed)
    s, _ = game_at(random_setup(seed, rounds=2, token="eye"), rng.randrange(20, 250))
    for viewer in viewers(s):
        twin = twin_of(s, viewer, rng)
        for chance in range(3):
            one = sample_world(observe(s, viewer), Random(chance))
            other = sample_world(observe(twin, viewer), Random(chance))
            assert encode(one) == encode(other)
            assert one.choices == other.choices


def assert_could_be_the_game(s: State, log: list[Entry], viewer: int, rng: Random) -> None:
    """A world gives its viewer the same view and position, and the same log leads to it by the same told events."""
    world = sample_world(observe(s, viewer), rng)
    assert view(world, viewer) == view(s, viewer)
    assert position_text(observe(world, viewer)) == position_text(observe(s, viewer))
    told, again = retell(log, s, world, viewer)
    assert told == told_of(log, s, viewer)
    assert same_game(again, world, viewer)


@pytest.mark.parametrize("seed", range(60))
def test_a_world_could_have_had_the_same_history(seed: int) -> None:
    rng = Random(seed)
    s, log = game_at(random_setup(seed, rounds=2, memory="assisted"), rng.randrange(10, 300))
    for viewer in viewers(s):
        assert_could_be_the_game(s, log, viewer, rng)


@pytest.mark.parametrize("seed", [19, 54, 88, 91, 100, 101, 141, 151, 167, 242])  # their decks are searched
def test_a_world_could_have_had_the_same_history_with_a_search_in_it(seed: int) -> None:
    rng = Random(seed)
    log: list[Entry] = []
    met = 0
    for s in positions(random_setup(seed, rounds=3, memory="assisted", token="eye"), log):
        met += len(s.pool) > 0 and len(s.choices) > 0
        if s.pool and s.choices and (met <= 4 or met % 40 == 0):
            for viewer in viewers(s):
                assert_could_be_the_game(s, log, viewer, rng)
        if met > 120:
            break
    assert met > 0


@pytest.mark.parametrize("seed", range(20))
def test_a_world_could_have_had_the_same_history_with_a_resigned_seat_in_it(seed: int) -> None:
    """What the policy of a resigned seat does tells of its cards, in a game with demands that it must meet (END-7)."""
    rng = Random(seed)
    setup = random_setup(seed, rounds=2, turn_limit=200, memory="assisted", players=3, deck=("eye",) * 14, villages=())
    s = new_game(setup.options, setup.secret)
    log = [Entry(seed % 3, RESIGNATION)]
    enter(s, log[0])
    for _ in range(rng.randrange(10, 60)):
        log.append(Entry(seat_to_act(s), choose(rng, setup.style, s.choices)))
        enter(s, log[-1])
    assert s.choices
    for viewer in viewers(s):
        assert_could_be_the_game(s, log, viewer, rng)


@pytest.mark.parametrize("seed", range(10))
def test_a_world_can_be_played_to_its_end(seed: int) -> None:
    rng = Random(seed)
    setup = random_setup(seed, rounds=1)
    s, _ = game_at(setup, rng.randrange(10, 150))
    for viewer in viewers(s):
        world = sample_world(observe(s, viewer), rng)
        while world.choices:
            apply(world, choose(rng, setup.style, world.choices))
            check_cards(world)
        check_choices(world)


def test_a_searched_deck_is_searched_by_its_user_in_every_world() -> None:
    """Whoever samples while the deck is being searched gets a world to go on with, faceup cards included."""
    t = the_deck_is_being_searched()
    for viewer in (0, 1, SPECTATOR):
        for chance in range(20):
            world = sample_world(observe(t.state, viewer), Random(chance))
            kinds = {(world.identity[h], world.flags[h] & FACEUP) for h in world.deck}
            assert len(world.choices) == len(kinds)
            for action in world.choices:
                again = world.copy()
                apply(again, action)
                assert again.hand == min(world.deck)
