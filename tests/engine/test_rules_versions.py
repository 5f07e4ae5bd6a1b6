"""Versions of the rules live side by side: each game is played, kept and read by its own, or refused as unknown.

The second version is that of ``tests.support.second_rules``, which no software outside the tests knows.
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from moonvale_agents.greedy import GreedyAgent
from moonvale_engine import (
    RULES_VERSION,
    Entry,
    OptionError,
    Options,
    Record,
    State,
    UnknownRulesError,
    apply,
    catalog,
    commitment,
    decode,
    encode,
    history,
    known_versions,
    legal_actions,
    new_game,
    observe,
    parse_position,
    position_text,
    read_record,
    replay_record,
    result,
    sample_world,
    seat_to_act,
    view,
    whole,
    write_record,
)
from moonvale_engine.codec import rules_of_stored
from moonvale_engine.events import GAME_OVER
from tests import same
from tests.engine.test_hashes import HASHES
from tests.support.playing import Setup, positions, random_setup
from tests.support.second_rules import RULES, SECOND, TWICE, second_known
from tests.support.table import Table, table

GAMES = 24
LOOKED_AT = 16  # one decision in so many is looked at from all sides


@pytest.fixture
def second() -> Iterator[None]:
    """The second version is known."""
    with second_known():
        yield


def second_setup(seed: int, **fixed: object) -> Setup:
    """A random game of the second version, with Assassins that strike twice."""
    setup = random_setup(seed, **fixed)
    deck = (*setup.options.deck[:8], "coin", *setup.options.deck[9:])
    return replace(setup, options=replace(setup.options, deck=deck, rules=SECOND))


def played(setup: Setup) -> tuple[Record, bytes]:
    """A whole random game, as record and as it is stored at the end."""
    log: list[Entry] = []
    *_, s = positions(setup, log)
    names = tuple(f"Seat {seat}" for seat in range(s.options.players))
    opened = commitment(setup.secret)
    return Record(setup.options, opened, setup.secret, names=names, entries=tuple(log), result=result(s)), encode(s)


def look(s: State) -> None:
    """Check that a game of the second version stays one however it is kept, shown or guessed at."""
    stored = encode(s)
    assert (stored[:2], stored[3], rules_of_stored(stored)) == (b"MV", SECOND, RULES)
    assert s.rules is RULES
    for again in (decode(stored), copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert again.rules is RULES
        assert again.types.cards[8] is TWICE
        assert encode(again) == stored
        assert again.choices == s.choices
    text = position_text(whole(s))
    assert text.split("; ")[1] == f"rules {SECOND}"
    assert encode(parse_position(text).state) == stored
    viewer = seat_to_act(s)
    seen = observe(s, viewer)
    assert view(s, viewer).options.rules == SECOND
    again_seen = parse_position(position_text(seen))
    assert again_seen.state.rules is RULES
    assert position_text(again_seen) == position_text(seen)
    world = sample_world(seen, Random(1))
    assert world.rules is RULES
    assert legal_actions(world) == legal_actions(s)


# What the versions differ in.


def failed_call(rules: int) -> Table:
    """A round that ends with a call that fails."""
    t = table(ann="?5", bob="?1", caller="ann", active="bob", deck="12", deck_count=1, rules=rules)
    t.bob.draws().discards()
    return t


def assassination(rules: int) -> Table:
    """An Assassin that has struck once."""
    t = table(ann="?5 ?5", bob="3 7", deck="8", rules=rules)
    t.ann.draws().uses().picks(t.bob, 0)
    return t


def test_a_failed_call_costs_what_the_version_says(second: None) -> None:
    assert failed_call(RULES_VERSION).scores == (15, 1)
    assert failed_call(SECOND).scores == (30, 1)


def test_an_ability_is_that_of_the_version(second: None) -> None:
    one, two = assassination(RULES_VERSION), assassination(SECOND)
    assert (one.to_act, one.decision, one.bob.village) == ("bob", "turn", "7")
    assert (two.to_act, two.decision, two.bob.village) == ("ann", "target", "7")
    two.ann.picks(two.bob, 0)
    assert (two.to_act, two.decision, two.bob.village) == ("bob", "turn", "")


# Whole games.


@pytest.mark.parametrize("seed", range(GAMES))
def test_games_of_a_second_version_are_kept_shown_and_replayed_by_it(second: None, seed: int) -> None:
    setup = second_setup(seed)
    rng = Random(seed)
    for s in positions(setup):
        if s.choices and rng.randrange(LOOKED_AT) == 0:
            look(s)
    record, stored = played(setup)
    text = write_record(record)
    assert text.splitlines()[1] == f"rules: {SECOND}"
    again = read_record(text)
    assert again == record
    assert encode(replay_record(again)) == stored
    *_, last = history(record.options, setup.secret, (), record.entries)
    assert GAME_OVER in [event[0] for event in last]


def test_games_of_the_second_version_come_to_what_only_it_has(second: None) -> None:
    """A test of the tests above: their games stand at its own step, and end otherwise than under the first version."""
    at_own_step = fails_otherwise = 0
    for seed in range(GAMES):
        setup = second_setup(seed)
        for s in positions(setup):
            if s.choices and s.rules.program_names[s.program] == "assassin" and s.step == 1:
                at_own_step += 1
        record, _ = played(setup)
        first = replace(record, options=replace(record.options, rules=RULES_VERSION))
        try:
            replay_record(first)
        except ValueError:
            fails_otherwise += 1
    assert at_own_step > 5
    assert fails_otherwise > 5


def test_the_first_version_is_what_it_ever_was_with_a_second_one_beside_it(second: None) -> None:
    """Games of both take turns in one process, decision by decision."""
    pinned = HASHES.read_text(encoding="utf-8").split()
    for seed in range(6):
        firsts, seconds = positions(random_setup(seed)), positions(second_setup(seed))
        logs: list[list[bytes]] = [[], []]
        for one, two in zip(firsts, seconds, strict=False):
            logs[0].append(encode(one))
            logs[1].append(encode(two))
        assert {stored[3] for stored in logs[0]} == {RULES_VERSION}
        assert {stored[3] for stored in logs[1]} == {SECOND}
        alone = [encode(s) for s in positions(random_setup(seed))]
        assert alone[: len(logs[0])] == logs[0]
        assert same.hash_of(seed) == pinned[seed]


# Where the version is unknown.


def second_game(decisions: int = 40) -> tuple[bytes, str, str, bytes]:
    """A game of the second version from a process that knows it: stored, as texts, and pickled."""
    with second_known():
        setup = second_setup(3, rounds=2)
        states = positions(setup)
        for _ in range(decisions):
            s = next(states)
        record, _ = played(setup)
        return encode(s), position_text(observe(s, seat_to_act(s))), write_record(record), pickle.dumps(s)


READERS: list[tuple[Callable[[Any], object], int]] = [
    (decode, 0),
    (rules_of_stored, 0),
    (parse_position, 1),
    (read_record, 2),
    (pickle.loads, 3),
]


@pytest.mark.parametrize(("read", "form"), READERS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_game_of_an_unknown_version_is_refused_and_the_known_ones_named(
    read: Callable[[Any], object], form: int
) -> None:
    kept = second_game()[form]
    with pytest.raises(UnknownRulesError, match=r"rules: version 2 is not known; this engine knows 1$") as refused:
        read(kept)
    assert (refused.value.what, refused.value.version, refused.value.known) == ("rules", SECOND, (1,))
    with second_known():
        read(kept)


def test_no_game_begins_by_an_unknown_version() -> None:
    options = Options(players=2, rules=SECOND)
    with pytest.raises(UnknownRulesError):
        new_game(options, bytes(32))
    with second_known():
        assert new_game(options, bytes(32)).rules is RULES


@pytest.mark.parametrize("version", [0, -1, 256])
def test_a_version_fits_a_byte(version: int) -> None:
    with pytest.raises(OptionError, match=r"rules: must be 1\.\.255"):
        Options(rules=version)


def test_a_text_without_a_version_is_of_the_first(second: None) -> None:
    s = new_game(Options(players=2, rules=1), bytes(32))
    assert "rules" not in position_text(whole(s))
    assert parse_position(position_text(whole(s))).state.rules.version == 1
    assert "rules" not in repr(s.options)
    assert repr(replace(s.options, rules=SECOND)).endswith(", rules=2)")


# The versions of this software.


def test_each_version_is_the_entry_of_its_number() -> None:
    assert known_versions() == tuple(sorted(catalog.VERSIONS))
    assert known_versions()[-1] == RULES_VERSION
    for version in known_versions():
        rules = catalog.rules_of(version)
        assert rules.version == version
        assert copy.deepcopy(rules) is rules
        for id, card in enumerate(rules.cards):
            assert card.id == id
            assert card.since <= version
            assert catalog.rules_of(card.since).cards[id] is card


def test_a_card_type_of_a_second_version_is_never_copied(second: None) -> None:
    assert copy.deepcopy(TWICE) is TWICE
    assert pickle.loads(pickle.dumps(TWICE)) is TWICE


def test_actions_are_chosen_by_the_rules_of_the_game(second: None) -> None:
    """The greedy agent, which weighs what calls cost, plays either version, each position by its own."""
    for rules in (RULES_VERSION, SECOND):
        s = new_game(Options(players=2, rounds=1, rules=rules), bytes(32))
        agents = [GreedyAgent(seat) for seat in range(2)]
        while legal_actions(s):
            apply(s, agents[seat_to_act(s)].choose(observe(s, seat_to_act(s))))
        assert s.is_over()
