"""Games for the command's tests, seen as a client sees them: views and entries as messages, without a service."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from moonvale.v1.event_pb2 import LogEntry
from moonvale.v1.view_pb2 import View
from moonvale_engine import (
    Entry,
    State,
    apply,
    legal_actions,
    new_game,
    observe,
    parse_position,
    position_text,
    seat_to_act,
    seen_by,
    view,
)
from moonvale_engine.events import SPECTATOR, Event
from moonvale_service.about import About, SeatAbout
from moonvale_service.convert.events import log_entry
from moonvale_service.convert.views import GameHeader, to_proto
from tests.support.playing import choose, random_setup

NAMES = ("Ann", "Ben", "Cleo", "Dan")


class Moment(NamedTuple):
    """A game at one version, for as long as it has not moved on: its state, and what one viewer sees of it."""

    state: State
    viewer: int
    entry: LogEntry

    @property
    def view(self) -> View:
        """The viewer's view."""
        return view_of(self.state, self.viewer, self.entry.version)


def view_of(state: State, viewer: int, version: int = 0) -> View:
    """The view of a state."""
    about = About(seats=tuple([SeatAbout(name=name) for name in NAMES[: state.options.players]]))
    header = GameHeader("games/test", version, "", bytes(32), 0, 0, about)
    return to_proto(view(state, viewer), position_text(observe(state, viewer)), header)


def view_of_text(text: str) -> View:
    """The view that a viewer's position as text stands for."""
    position = parse_position(text)
    return view_of(position.state, position.viewer)


def played(seed: int, viewer: int | None = SPECTATOR, **options: object) -> Iterator[Moment]:
    """A random game, seen by one viewer; None: by whichever seat is to act."""
    setup = random_setup(seed, **options)
    rng = Random(setup.seed)
    happened: list[Event] = []
    state = new_game(setup.options, setup.secret, (), happened)
    entry: Entry | None = None
    version = 0
    while True:
        over = not legal_actions(state)
        eyes = viewer if viewer is not None else (SPECTATOR if over else seat_to_act(state))
        seen = [seen_by(event, eyes) for event in happened]
        message = log_entry(state.options, version, "", entry, 0, seat_to_act(state), seen)
        yield Moment(state, eyes, message)
        if over:
            return
        action = choose(rng, setup.style, legal_actions(state))
        entry = Entry(seat_to_act(state), action)
        happened = state.events = []
        apply(state, action)
        version += 1
