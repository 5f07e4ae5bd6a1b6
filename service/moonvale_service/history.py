"""History: a game's entries with what came of each, by folding its log, and a game as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from moonvale_engine import catalog, codec, log, play
from moonvale_engine.events import Event
from moonvale_engine.log import RETURN, TAKEOVER, Entry
from moonvale_engine.options import Options
from moonvale_engine.state import State, drop_frames, new_state
from moonvale_service.about import About, Lobby
from moonvale_service.store import WAITING, Record, Ticking
from moonvale_service.store.log_codec import MARK_BYTES, MarkedEntry

_LOST: Final = bytes(MARK_BYTES)  # in place of a mark that nobody knows


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A game at a version. The state is whole: what leaves the service are views of it. Times are milliseconds.

    While the game waits for its players, the version is WAITING and nothing lies on the table. ``ticking``: its clock.
    ``rendered`` keeps each viewer's view.
    """

    game: str
    version: int
    mark: str
    state: State
    about: About
    created: int
    updated: int
    ticking: Ticking | None = None
    rendered: dict[int, bytes] = field(init=False, default_factory=dict, repr=False, compare=False)

    @property
    def waits(self) -> bool:
        """Whether the game has not begun."""
        return self.version == WAITING


@dataclass(frozen=True, slots=True)
class Happened:
    """An entry of the log (None: the deal) and its events, whole: each viewer gets ``seen_by`` of them.

    ``mark`` is empty if the game never rested at the version; ``seat_to_act`` is NOBODY when the game is over.
    ``deadline``: when that seat's time is out, in milliseconds; 0: never. ``rendered`` keeps each viewer's message.
    """

    version: int
    mark: str
    entry: Entry | None
    time: int
    seat_to_act: int
    events: list[Event]
    options: Options
    deadline: int = 0
    rendered: dict[int, bytes] = field(init=False, default_factory=dict, repr=False, compare=False)


class Place(NamedTuple):
    """A place in a log: after the entry that made a version, which a commit with this mark has brought."""

    version: int
    mark: bytes


def mark_text(mark: bytes) -> str:
    """Return how clients see a mark."""
    return mark.hex()


def snapshot(game: str, record: Record) -> Snapshot:
    """Return a stored game. Raises the codec's errors."""
    about = About.decode(record.meta)
    return Snapshot(
        game,
        record.version,
        mark_text(record.mark),
        codec.decode(record.state) if about.lobby is None else _empty_table(about.lobby),
        about,
        record.created,
        record.updated,
        record.ticking,
    )


def check_rules(record: Record) -> None:
    """Raise UnknownRulesError if a stored game is of rules that this process doesn't know."""
    if record.version == WAITING:
        snapshot("", record)
    else:
        codec.rules_of_stored(record.state)


def _empty_table(lobby: Lobby) -> State:
    """Return what lies on the table before a game begins: nothing."""
    options = lobby.chosen_options
    state = new_state(options, catalog.rules_of(options.rules), lobby.secret, ())
    drop_frames(state)
    return state


def fold(record: Record, entries: Sequence[MarkedEntry], after: int, limit: int | None = None) -> list[Happened]:
    """Return what happened from the version after ``after`` (-1: from the deal on), by folding the whole log."""
    if record.version == WAITING:
        return []
    end = len(entries) if limit is None else min(len(entries), after + limit)
    about = About.decode(record.meta)
    state = codec.decode(record.state)
    happened = []
    events: list[Event] = []
    state = play.new_game(state.options, state.secret, state.entropy, events)
    following = Following.begin(about, state, record.began)
    if after < 0:
        mark = mark_at(record, entries, 0)
        happened.append(following.happened(0, mark, None, record.began, events))
    for version, (_, entry) in enumerate(entries[:end], 1):
        events = following.enter(entry)
        if version > after:
            mark = mark_at(record, entries, version)
            happened.append(following.happened(version, mark, entry, entry.time, events))
    return happened


class Following:
    """A game that is followed entry by entry, with its clock. ``about``: with the seats that are away at that time."""

    def __init__(self, about: About, state: State, ticking: Ticking | None) -> None:
        self.state = state
        self.ticking = ticking
        self._clock = about.clock
        self._free = set(about.free)

    @classmethod
    def begin(cls, about: About, state: State, time: int) -> Following:
        """Return a game that has just been dealt, at a time in milliseconds. ``about``: as of any later time."""
        seats = tuple([replace(seat, away=False) for seat in about.seats])
        about = replace(about, seats=seats)
        ticking = None
        if about.clock is not None:
            ticking = about.clock.begun(state.options.players, play.seat_to_act(state), about.free, time)
        return cls(about, state, ticking)

    def enter(self, entry: Entry) -> list[Event]:
        """Carry out an entry and return its events. Raises what ``log.enter`` raises."""
        was = play.seat_to_act(self.state)
        events = enter(self.state, entry)
        if entry.action == TAKEOVER:
            self._free.add(entry.seat)
        elif entry.action == RETURN:
            self._free.discard(entry.seat)
        if self._clock is not None and self.ticking is not None:
            self.ticking = self._clock.after(self.ticking, entry, was, play.seat_to_act(self.state), self._free)
        return events

    def happened(self, version: int, mark: str, entry: Entry | None, time: int, events: list[Event]) -> Happened:
        """Return what was entered last, for those who watch."""
        deadline = 0 if self.ticking is None else self.ticking.deadline
        seat = play.seat_to_act(self.state)
        return Happened(version, mark, entry, time, seat, events, self.state.options, deadline)


def enter(state: State, entry: Entry) -> list[Event]:
    """Carry out an entry and return its events. Raises what ``log.enter`` raises."""
    events: list[Event] = []
    state.events = events
    try:
        log.enter(state, entry)
    finally:
        state.events = None
    return events


def is_lost(record: Record, entries: Sequence[MarkedEntry], version: int) -> bool:
    """Whether nobody knows the mark of a version any more, since the log is packed. ``entries``: the whole log."""
    return 0 < version < record.version and not entries[version - 1].mark


def place_at(record: Record, entries: Sequence[MarkedEntry], version: int) -> Place:
    """Return the place after a version that the log has. ``entries``: the whole log."""
    if version == record.version:
        return Place(version, record.mark)
    return Place(version, record.first_mark if version == 0 else entries[version - 1].mark or _LOST)


def mark_at(record: Record, entries: Sequence[MarkedEntry], version: int) -> str:
    """Return the mark of a version, or nothing where the game did not rest, or where it is lost. ``entries``: all."""
    if version == record.version:
        return mark_text(record.mark)
    if version == 0:
        return mark_text(record.first_mark)
    mark = entries[version - 1].mark
    if version < len(entries) and entries[version].mark == mark:
        return ""
    return mark_text(mark)
