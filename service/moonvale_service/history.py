"""History: a game's entries with what came of each, by folding its log, and a game as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from moonvale_engine import codec, log, play
from moonvale_engine.events import Event
from moonvale_engine.log import Entry
from moonvale_engine.state import State
from moonvale_service.about import About
from moonvale_service.store import Record
from moonvale_service.store.log_codec import MarkedEntry


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A game at a version. The state is whole: what leaves the service are views of it. Times are milliseconds."""

    game: str
    version: int
    mark: str
    state: State
    about: About
    created: int
    updated: int


@dataclass(frozen=True, slots=True)
class Happened:
    """An entry of the log (None: the creation) and its events, whole: each viewer gets ``seen_by`` of them.

    ``mark`` is empty if the game never rested at the version; ``seat_to_act`` is NOBODY when the game is over.
    ``rendered`` keeps the message for each viewer.
    """

    version: int
    mark: str
    entry: Entry | None
    time: int
    seat_to_act: int
    events: list[Event]
    rendered: dict[int, bytes] = field(default_factory=dict, compare=False)


class Place(NamedTuple):
    """A place in a log: after the entry that made a version, which a commit with this mark has brought."""

    version: int
    mark: bytes


def mark_text(mark: bytes) -> str:
    """Return how clients see a mark."""
    return mark.hex()


def snapshot(game: str, record: Record) -> Snapshot:
    """Return a stored game. Raises the codec's errors."""
    return Snapshot(
        game,
        record.version,
        mark_text(record.mark),
        codec.decode(record.state),
        About.decode(record.meta),
        record.created,
        record.updated,
    )


def fold(record: Record, entries: Sequence[MarkedEntry], after: int, limit: int | None = None) -> list[Happened]:
    """Return what happened from the version after ``after`` (-1: from the creation on), by folding the whole log."""
    end = len(entries) if limit is None else min(len(entries), after + limit)
    state = codec.decode(record.state)
    happened = []
    events: list[Event] = []
    state = play.new_game(state.options, state.secret, state.entropy, events)
    if after < 0:
        mark = mark_at(record, entries, 0)
        happened.append(Happened(0, mark, None, record.created, play.seat_to_act(state), events))
    for version, (_, entry) in enumerate(entries[:end], 1):
        events = enter(state, entry)
        if version > after:
            mark = mark_at(record, entries, version)
            happened.append(Happened(version, mark, entry, entry.time, play.seat_to_act(state), events))
    return happened


def enter(state: State, entry: Entry) -> list[Event]:
    """Carry out an entry and return its events. Raises what ``log.enter`` raises."""
    events: list[Event] = []
    state.events = events
    try:
        log.enter(state, entry)
    finally:
        state.events = None
    return events


def place_at(record: Record, entries: Sequence[MarkedEntry], version: int) -> Place:
    """Return the place after a version that the log has. ``entries``: the whole log."""
    return Place(version, record.first_mark if version == 0 else entries[version - 1].mark)


def mark_at(record: Record, entries: Sequence[MarkedEntry], version: int) -> str:
    """Return the mark of a version, or nothing where the game did not rest. ``entries``: the whole log."""
    if version == 0:
        return mark_text(record.first_mark)
    mark = entries[version - 1].mark
    if version < len(entries) and entries[version].mark == mark:
        return ""
    return mark_text(mark)
