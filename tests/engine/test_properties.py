"""Properties of every position of every game."""

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from moonvale_engine import RESIGNATION, Entry, encode, enter, new_game, replay, result, seat_to_act, whole
from moonvale_engine.position_text import position_text
from tests.fuzz import Report, play_one
from tests.support.invariants import check
from tests.support.playing import choose, positions, random_setup

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
@settings(max_examples=25)
def test_invariants_hold_at_every_decision(seed: int) -> None:
    rng = Random(seed)
    for s in positions(random_setup(seed, rounds=1)):
        if rng.randrange(8) == 0:
            check(s, rng)
    check(s, rng)


def test_the_fuzzer_finds_no_fault_and_meets_every_step_and_verb() -> None:
    report = Report()
    for seed in range(400):
        play_one(seed, report)
    rare = {f"refused at {step}" for step in ("curator", "ghost.0", "gambler.1", "spotter.2")}  # in the rules' tests
    assert set(report.unseen()) <= rare


@given(SEEDS, st.integers(1, 400))
@settings(max_examples=25)
def test_going_on_from_stored_bytes_is_going_on(seed: int, stop: int) -> None:
    """What follows from a decoded state is what follows from the state itself."""
    from moonvale_engine import apply, decode

    setup = random_setup(seed, rounds=1)
    for count, s in enumerate(positions(setup)):
        if count == stop or not s.choices:
            break
    again = decode(encode(s))
    s, rng = s.copy(), Random(seed)
    s.events, again.events = [], []
    while s.choices:
        action = choose(rng, setup.style, s.choices)
        apply(s, action)
        apply(again, action)
        assert again.choices == s.choices
        assert again.events == s.events
    assert encode(again) == encode(s)


@given(SEEDS)
@settings(max_examples=25)
def test_a_log_replays_to_the_same_state_resignations_included(seed: int) -> None:
    setup = random_setup(seed)
    rng = Random(seed)
    s = new_game(setup.options, setup.secret)
    log: list[Entry] = []
    while s.choices:
        if rng.randrange(60) == 0:
            staying = [seat for seat in range(setup.options.players) if seat not in s.resigned]
            log.append(Entry(rng.choice(staying), RESIGNATION))
        else:
            log.append(Entry(seat_to_act(s), choose(rng, setup.style, s.choices)))
        enter(s, log[-1])
    assert encode(replay(setup.options, setup.secret, (), log)) == encode(s)
    outcome = result(s)
    assert outcome is not None
    assert sorted(outcome.places) == list(range(setup.options.players))


def test_copies_are_independent() -> None:
    states = positions(random_setup(3, rounds=1))
    s = next(states)
    copy, text = s.copy(), position_text(whole(s))
    for _ in zip(range(40), states, strict=False):
        pass
    assert position_text(whole(copy)) == text
    assert position_text(whole(s)) != text


def test_shuffles_are_fair_to_every_card_and_place() -> None:
    """Each number is as frequent in each dealt place as chance has it (chi-squared, 0.1 % two-sided, Bonferroni)."""
    games = 3000
    counts: Counter[tuple[int, int]] = Counter()
    from moonvale_engine.deck import faces_in_play
    from moonvale_engine.shuffle import game_key, shuffled

    faces = faces_in_play(new_game(random_setup(1).options, bytes(32)).cards)
    for game in range(games):
        key = game_key(game.to_bytes(32, "big"), ())
        counts.update((place, face & 15) for place, face in enumerate(shuffled(key, 1, 0, faces)))
    for place in range(52):
        squares = 0.0
        for number in range(14):
            expected = games * (2 if number in (0, 13) else 4) / 52
            squares += (counts[place, number] - expected) ** 2 / expected
        assert squares < 45  # 13 degrees of freedom: p is about 2e-5 at 45
