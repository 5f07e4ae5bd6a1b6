"""No difference that depends on cards which a viewer has not legally seen (HID-4), in whole histories of twin games."""

from collections.abc import Callable
from random import Random

import pytest

from moonvale_engine import (
    RULES_VERSION,
    SPECTATOR,
    Entry,
    State,
    View,
    apply,
    catalog,
    history,
    observe,
    position_text,
    seat_to_act,
    seen_by,
    view,
)
from moonvale_engine.events import EVERYBODY
from moonvale_engine.state import FACEUP
from tests.support.playing import Setup, choose, positions, random_setup
from tests.support.twins import dealt, same_to, twin_deal, twin_of, unseen


def differences(s: State, twin: State, viewer: int, look: Callable[[State, int], View] = view) -> list[str]:
    """Return in what the viewer's answers of two states differ."""
    found = []
    if look(s, viewer) != look(twin, viewer):
        found.append("view")
    if position_text(observe(s, viewer)) != position_text(observe(twin, viewer)):
        found.append("position")
    return found


def twin_history(setup: Setup, log: list[Entry], s: State, viewer: int, rng: Random) -> tuple[list, list]:  # type: ignore[type-arg]
    """Return what the viewer was told of a game, and of a twin in which the same was done."""
    told = [[seen_by(event, viewer) for event in events] for events in history(setup.options, setup.secret, (), log)]
    with dealt(twin_deal(s, viewer, rng)):
        twin = [
            [seen_by(event, viewer) for event in events] for events in history(setup.options, setup.secret, (), log)
        ]
    return told, twin


@pytest.mark.parametrize("seed", range(12))
def test_twins_give_their_viewer_the_same_view_choices_and_position(seed: int) -> None:
    rng = Random(seed)
    for s in positions(random_setup(seed, rounds=1)):
        if s.is_over():
            break
        for viewer in [*range(s.options.players), SPECTATOR]:
            assert differences(s, twin_of(s, viewer, rng), viewer) == []


@pytest.mark.parametrize("seed", range(60))
def test_twins_stay_the_same_to_their_viewer_while_the_same_is_done(seed: int) -> None:
    """The same actions in both for as long as the rules allow it, and until the viewer legally sees a difference."""
    rng = Random(seed)
    setup = random_setup(seed, rounds=2)
    states = positions(setup)
    s = next(states)
    for _ in range(rng.randrange(200)):
        s = next(states) if s.choices else s
    for viewer in [*range(s.options.players), SPECTATOR]:
        one, other = s.copy(), twin_of(s, viewer, rng) if s.choices else s.copy()
        while one.choices:
            action = choose(rng, setup.style, one.choices)
            if action not in other.choices:
                assert seat_to_act(one) != viewer
                break
            one.events, other.events = [], []
            apply(one, action)
            apply(other, action)
            if one.round != s.round or one.is_over() or not same_to(one, other, viewer):
                break
            assert [seen_by(event, viewer) for event in one.events] == [
                seen_by(event, viewer) for event in other.events
            ]
            assert differences(one, other, viewer) == []


@pytest.mark.parametrize("seed", range(60))
def test_twins_give_their_viewer_the_same_history(seed: int) -> None:
    rng = Random(seed)
    setup = random_setup(seed, rounds=2)
    log: list[Entry] = []
    stop = rng.randrange(20, 300)
    states = positions(setup, log)
    s = next(states)
    while s.choices and len(log) < stop:
        s = next(states)
    for viewer in [*range(s.options.players), SPECTATOR]:
        told, twin = twin_history(setup, log, s, viewer, rng)
        assert told == twin


def test_twins_come_from_every_kind_of_frame() -> None:
    """The twins above mean something only if they cover each decision, with cards left to permute."""
    met: set[tuple[int, int]] = set()
    for seed in range(250):
        for s in positions(random_setup(seed)):
            if s.stack and len(unseen(s, SPECTATOR)) > 1:
                met.add((s.program, s.step))
    asking = {
        (program, step)
        for program, steps in enumerate(catalog.rules_of(RULES_VERSION).programs)
        for step, one in enumerate(steps)
        if one.kind >= 0
    }
    assert met == asking


def test_a_leak_would_be_found() -> None:
    """A test of the test: a view that lets one facedown card through, or one number that depends on it, is noticed."""
    rng = Random(1)
    states = positions(random_setup(5, rounds=1, players=3, memory="assisted"))
    s = next(states)
    hidden = s.villages[0][0]

    def leaky(s: State, viewer: int) -> View:
        seen = s.copy()
        seen.flags[hidden] |= FACEUP
        seen.known[hidden] = EVERYBODY
        return view(seen, viewer)

    assert any(differences(s, twin_of(s, 1, rng), 1, leaky) for _ in range(20))
