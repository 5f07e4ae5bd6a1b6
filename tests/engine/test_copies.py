"""States, positions and what else leaves the engine can be copied and pickled, so that searches can share work."""

import copy
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from moonvale_engine import (
    NotationError,
    OptionError,
    Options,
    Record,
    State,
    apply,
    encode,
    observe,
    position_text,
    result,
    sample_world,
    seat_to_act,
    view,
    whole,
)
from moonvale_engine.cards.card import Card
from moonvale_engine.catalog import CARDS
from tests.support.playing import choose, positions, random_setup

DUPLICATE = (copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value)))


def some_state(seed: int) -> State:
    states = positions(random_setup(seed))
    s = next(states)
    for _ in range(30):
        s = next(states)
    return s


@pytest.mark.parametrize("duplicate", DUPLICATE)
@pytest.mark.parametrize("seed", range(4))
def test_a_copied_state_goes_on_like_the_first_one_and_by_itself(seed: int, duplicate: Callable[[Any], Any]) -> None:
    s, rng = some_state(seed), Random(seed)
    other, before = duplicate(s), encode(s)
    assert other.choices == s.choices
    log = []
    while other.choices:
        log.append(choose(rng, "restless", other.choices))
        apply(other, log[-1])
    assert encode(s) == before
    for action in log:
        apply(s, action)
    assert encode(s) == encode(other)
    assert result(s) == result(other)


@pytest.mark.parametrize("duplicate", DUPLICATE)
def test_a_copied_position_is_the_same(duplicate: Callable[[Any], Any]) -> None:
    s = some_state(1)
    position = observe(s, seat_to_act(s))
    other = duplicate(position)
    assert position_text(other) == position_text(position)
    assert other.state.choices == position.state.choices
    assert position_text(whole(sample_world(other, Random(1)))) == position_text(
        whole(sample_world(position, Random(1)))
    )


def test_events_stay_with_the_state_that_writes_them() -> None:
    s = some_state(2)
    s.events = []
    other = pickle.loads(pickle.dumps(s))
    apply(other, other.choices[0])
    assert s.events == []
    assert other.events is None


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.key)
def test_card_types_are_never_copied(card: Card) -> None:
    assert copy.copy(card) is card
    assert copy.deepcopy(card) is card
    assert pickle.loads(pickle.dumps(card)) is card


@pytest.mark.parametrize(
    "value",
    [
        Options(players=3),
        OptionError("deck", "is no deck"),
        NotationError("pile", "is missing"),
        Record(Options(), bytes(32)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_options_records_and_errors_can_be_pickled(value: object) -> None:
    again = pickle.loads(pickle.dumps(value))
    assert type(again) is type(value)
    assert repr(again) == repr(value)


def test_views_can_be_pickled() -> None:
    s = some_state(3)
    assert pickle.loads(pickle.dumps(view(s, 0))) == view(s, 0)
