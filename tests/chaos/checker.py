"""The checker: replays a game from what its clients wrote down, and says in a line each what should not have happened.

It imports neither service nor store. The engine is the only code that it shares with them, and the contract's messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from moonvale.v1 import event_pb2
from moonvale.v1.clock_pb2 import TIME_OUT_AGENT_TAKES_OVER, TIME_OUT_FORFEIT
from moonvale.v1.event_pb2 import LogEntry
from moonvale.v1.replay_pb2 import Replay
from moonvale_engine.errors import EngineError
from moonvale_engine.events import NOBODY, SPECTATOR, Event
from moonvale_engine.log import (
    BY_AGENT,
    BY_BOT,
    BY_CALLER,
    BY_TIME_OUT,
    CAUSES,
    FOR_FAILED_BOT,
    RESIGNATION,
    RETURN,
    TABLE_ENTRIES,
    TAKEOVER,
    Entry,
    enter,
)
from moonvale_engine.notation import action_text
from moonvale_engine.options import Options
from moonvale_engine.outcome import result
from moonvale_engine.play import new_game, seat_to_act
from moonvale_engine.position import observe
from moonvale_engine.position_text import position_text
from moonvale_engine.record import read_record, replay_record
from moonvale_engine.shuffle import commitment
from moonvale_engine.state import State
from tests.chaos import reading
from tests.chaos.record import Agreement, Answer, Change, Game, digest

REMEMBERED: Final = 8  # of a seat's requests, the newest so many are recognized when they are repeated

_STALE: Final = "STALE_VERSION"
_OVER: Final = "GAME_OVER"


class Violation(NamedTuple):
    """What should not have happened, in which game and at which of its versions."""

    game: str
    version: int
    what: str

    def __str__(self) -> str:
        return f"{self.game} version {self.version}: {self.what}"


def check(game: Game) -> list[Violation]:
    """Compare everything that is known of a game with its replay, and return what is wrong.

    Where there is no replay, the changes that were acknowledged take its place, as far as they go without a hole.
    """
    check = _Check(game, game.replay)
    check.run()
    return check.violations


@dataclass(slots=True)
class _Step:
    """What the engine says of a version: the entry that made it, its events, and what those see who looked then."""

    entry: Entry | None
    events: list[Event]
    seat_to_act: int
    positions: dict[int, bytes]


@dataclass(slots=True)
class _Check:
    game: Game
    replay: Replay | None
    violations: list[Violation] = field(default_factory=list)
    marks: dict[int, str] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)

    def run(self) -> None:
        if self.replay is None:
            self._wrong(self.game.newest, "there is no replay")
            log = self._log_of_answers()
            secret = self.game.secret
        else:
            log = self._log_of_replay(self.replay)
            secret = self.replay.secret
            self._check_secret(self.replay)
        self._match_changes(log)
        if secret is None:
            return
        options = reading.options(self.game.options)
        steps = self._fold(options, secret, log)
        if steps is None:
            return
        self._mark(0, self.game.mark)
        self._check_answers(options, steps)
        self._check_sights(steps)
        self._check_watches(options, steps)
        self._check_marks()
        self._check_causes(steps)

    def _wrong(self, version: int, what: str) -> None:
        self.violations.append(Violation(self.game.name, version, what))

    def _beyond(self, version: int, what: str) -> None:
        """Something is beyond the log: wrong, unless the log is known only in part."""
        if self.replay is not None:
            self._wrong(version, f"{what} that is not in the replay")

    def _log_of_replay(self, replay: Replay) -> list[Entry]:
        log = []
        for number, message in enumerate(replay.entries, 1):
            if message.version != number:
                self._wrong(number, f"the replay's entry {number} says that it made version {message.version}")
            log.append(reading.entry(message))
            self.times[number] = log[-1].time
        return log

    def _log_of_answers(self) -> list[Entry]:
        made: dict[int, Entry] = {}
        log: list[Entry] = []
        for change in self.game.changes:
            for answer in change.answers:
                for version, entry in enumerate(_entries(change), answer.version - _count(change) + 1):
                    made.setdefault(version, entry)
        while len(log) + 1 in made:
            log.append(made[len(log) + 1])
        return log

    def _check_secret(self, replay: Replay) -> None:
        if self.game.secret not in (None, replay.secret):
            self._wrong(0, "the game was not dealt from the secret that was supplied")
        if not commitment(replay.secret) == self.game.commitment == replay.commitment:
            self._wrong(0, "the secret does not open the commitment that was published")
        if replay.options != self.game.options:
            self._wrong(0, "the options in the replay are not those of the game")

    def _match_changes(self, log: list[Entry]) -> None:
        """Find for each entry of the log the one request that it comes from, and for each request its entries."""
        owners: dict[int, Change] = {}
        for change in self.game.changes:
            if not change.answers:
                continue
            version = _agreed(change.answers)
            if version is None:
                told = sorted({(answer.version, answer.mark) for answer in change.answers})
                self._wrong(change.version, f"repeats of one request of seat {change.seat} got other answers: {told}")
                continue
            self._claim(owners, log, change, version)
        for version, entry in enumerate(log, 1):
            if version in owners or self.replay is None or entry.cause != BY_CALLER or entry.action == RETURN:
                continue  # what the service did by itself, or was asked to without a version, is checked below
            # Of several, the one with most actions: the others may never have been carried out.
            makers = filter(self._explains(log, version, owners), self.game.changes)
            maker = max(makers, key=_count, default=None)
            if maker is None:
                self._wrong(version, f"nobody has sent this for that version: {_text(entry)}")
            else:
                self._claim(owners, log, maker, version + _count(maker) - 1)

    def _claim(self, owners: dict[int, Change], log: list[Entry], change: Change, version: int) -> None:
        """Note that a change made a version, and the ones before it if it has several actions."""
        if change.actions and version != change.version + len(change.actions):
            self._wrong(
                version, f"what seat {change.seat} chose on version {change.version} was carried out on another"
            )
        for at, expected in enumerate(_entries(change), version - _count(change) + 1):
            owner = owners.setdefault(at, change)
            if owner is not change and (change.actions or owner.actions):
                self._wrong(at, f"two requests of seat {change.seat} were both acknowledged: {_text(expected)}")
            elif at <= len(log) and log[at - 1][:2] != expected[:2]:
                self._wrong(at, f"acknowledged was {_text(expected)}, but the log has {_text(log[at - 1])}")
            elif at > len(log) and self.replay is not None:
                self._wrong(at, f"acknowledged, but lost: {_text(expected)}")

    def _explains(self, log: list[Entry], version: int, owners: dict[int, Change]) -> Callable[[Change], bool]:
        """Return a test of whether a request that was never acknowledged may have made a version."""

        def explains(change: Change) -> bool:
            if change.answers or (change.actions and change.version != version - 1):
                return False
            entries = _entries(change)
            if [entry[:2] for entry in log[version - 1 : version - 1 + len(entries)]] != [e[:2] for e in entries]:
                return False
            if any(later in owners for later in range(version, version + len(entries))):
                return False
            return change.given_up or self._outrun(log, change, version)

        return explains

    def _outrun(self, log: list[Entry], change: Change, version: int) -> bool:
        """Whether a request may have been carried out and then refused, since its seat has made so many others."""
        for refusal in change.refusals:
            # A refusal that names no version came when the game was over, after all entries of the log.
            until = len(log) if refusal.reason == _OVER else refusal.version
            if refusal.reason in (_STALE, _OVER) and until is not None:
                later = [entry for entry in log[version:until] if entry.seat == change.seat]
                if len(later) >= REMEMBERED:
                    return True
        return False

    def _fold(self, options: Options, secret: bytes, log: list[Entry]) -> list[_Step] | None:
        """Play the log, and return what happened at each version, or None if the engine refuses it."""
        lookers: dict[int, set[int]] = {}
        for sight in self.game.sights:
            lookers.setdefault(sight.version, set()).add(_viewer(sight.viewer))
        happened: list[Event] = []
        entropy = () if self.replay is None else tuple(self.replay.entropy)
        state = new_game(options, secret, entropy, happened)
        steps = [_step(state, None, happened, lookers.get(0, set()))]
        for version, entry in enumerate(log, 1):
            happened = state.events = []
            try:
                enter(state, entry)
            except EngineError as error:
                self._wrong(version, f"the log can't be played: {_text(entry)}: {error}")
                return None
            steps.append(_step(state, entry, happened, lookers.get(version, set())))
        if self.replay is not None:
            self._check_result(self.replay, state, log)
        return steps

    def _check_result(self, replay: Replay, state: State, log: list[Entry]) -> None:
        expected = result(state)
        if expected is None:
            self._wrong(len(log), "the game is not over after all entries of its replay")
            return
        record = read_record(replay.record)
        results = [("the replay", replay.result)]
        results += [("a view", sight.result) for sight in self.game.sights if sight.result is not None]
        for where, message in results:
            if reading.outcome(message) != reading.outcome_of(expected):
                self._wrong(len(log), f"the result in {where} is not the one that the log leads to")
        if list(record.entries) != log or record.result != expected:
            self._wrong(len(log), "the record file is another game than the replay")
        try:
            replay_record(record)
        except EngineError as error:
            self._wrong(len(log), f"the record file can't be replayed: {error}")

    def _check_answers(self, options: Options, steps: list[_Step]) -> None:
        for change in self.game.changes:
            for answer in change.answers:
                self._mark(answer.version, answer.mark)
                first = answer.version - _count(change) + 1
                self._check_entries(
                    f"the answer to seat {change.seat}", change.seat, first, answer.entries, options, steps
                )
                if answer.entries and answer.entries[-1].version != answer.version:
                    self._wrong(answer.version, f"the answer to seat {change.seat} ends with another entry")

    def _check_sights(self, steps: list[_Step]) -> None:
        for sight in self.game.sights:
            who = _name(sight.viewer)
            self._mark(sight.version, sight.mark)
            if sight.name != self.game.name:
                self._wrong(sight.version, f"{who} got a view of {sight.name}")
            elif sight.version < sight.floor:
                self._wrong(sight.version, f"{who} got a view older than version {sight.floor}, which was known before")
            elif sight.version >= len(steps):
                self._beyond(sight.version, f"{who} got a view of a version")
            elif sight.position != steps[sight.version].positions[_viewer(sight.viewer)]:
                self._wrong(sight.version, f"{who} got a view that is not the position that the log leads to")

    def _check_watches(self, options: Options, steps: list[_Step]) -> None:
        for watch in self.game.watches:
            who = f"the watch of {_name(watch.viewer)}"
            self._check_entries(who, _viewer(watch.viewer), watch.after + 1, watch.entries, options, steps)
            if self.replay is not None and (not watch.entries or watch.entries[-1].version < len(steps) - 1):
                last = watch.entries[-1].version if watch.entries else watch.after
                self._wrong(last, f"{who} ended here, before version {len(steps) - 1}")

    def _check_entries(
        self,
        who: str,
        viewer: int,
        first: int,
        entries: Sequence[LogEntry],
        options: Options,
        steps: list[_Step],
    ) -> None:
        """Compare entries that somebody was told, the first of which must be that of version ``first``."""
        due = first
        for message in entries:
            version = message.version
            if version != due:
                self._wrong(
                    version, f"{who} has this entry {'twice' if version < due else 'after a gap'}: due was {due}"
                )
            due = version + 1
            if version >= len(steps):
                self._beyond(version, f"{who} has an entry")
                continue
            wrong = self._difference(message, steps[version], viewer, options)
            if wrong:
                self._wrong(version, f"{who} was told {wrong} that does not follow from the replay")
            self._mark(version, message.mark)

    def _difference(self, message: LogEntry, step: _Step, viewer: int, options: Options) -> str:
        """Return what of an entry is not as the engine says, or nothing."""
        seat = message.seat if message.HasField("seat") else None
        expected: tuple[int | None, event_pb2.Cause.ValueType] = (None, event_pb2.CAUSE_CREATION)
        if step.entry is not None:
            expected = (step.entry.seat, reading.cause(step.entry))
        if (seat, message.cause) != expected:
            return "a seat or cause"
        if (message.seat_to_act if message.HasField("seat_to_act") else NOBODY) != step.seat_to_act:
            return "a seat to act"
        if self.times.setdefault(message.version, _milliseconds(message.create_time)) != _milliseconds(
            message.create_time
        ):
            return "a time"
        try:
            told = reading.told(options, message.events)
        except (AssertionError, KeyError) as error:
            return f"an event ({error!r})"
        return "" if told == reading.told_of(step.events, viewer) else "events"

    def _check_causes(self, steps: list[_Step]) -> None:
        """Look whether the service did by itself what the table has agreed on, at the time that was agreed, no more."""
        agreed = self.game.agreement
        away: set[int] = set()
        returns: Counter[int] = Counter()
        opened = self.times.get(0)
        for version, step in enumerate(steps[1:], 1):
            entry, was = step.entry, steps[version - 1].seat_to_act
            assert entry is not None
            if agreed is None:
                if entry.cause != BY_CALLER or entry.action < RESIGNATION:
                    self._wrong(version, f"the service did this by itself: {_text(entry)}")
                continue
            late = opened is not None and entry.time >= opened + agreed.limit + agreed.grace
            clocked = entry.seat not in agreed.bots and entry.seat not in away
            wrong = _cause_is_wrong(agreed, entry, clocked=clocked, late=late, known=opened is not None, away=away)
            if wrong:
                self._wrong(version, f"{_text(entry)}, {CAUSES[entry.cause]}: {wrong}")
            if entry.action == TAKEOVER:
                away.add(entry.seat)
            elif entry.action == RETURN:
                away.discard(entry.seat)
                returns[entry.seat] += 1
            if entry.seat == was and entry.action != TAKEOVER:
                opened = entry.time
        if any(count > self.game.reclaims[seat] for seat, count in returns.items()):
            self._wrong(len(steps) - 1, f"seats came back {returns}, and were asked for {self.game.reclaims}")

    def _mark(self, version: int, mark: str) -> None:
        """Note the mark of a version; one at which the game never rested has none."""
        if mark and self.marks.setdefault(version, mark) != mark:
            self._wrong(version, "the version has two marks, so there were two histories")

    def _check_marks(self) -> None:
        if len(set(self.marks.values())) < len(self.marks):
            self._wrong(0, "two versions have the same mark")


def _cause_is_wrong(agreed: Agreement, entry: Entry, *, clocked: bool, late: bool, known: bool, away: set[int]) -> str:
    """Say what is wrong with the cause of an entry, or nothing. ``known``: whether one knows if it was ``late``."""
    if entry.cause in (BY_BOT, FOR_FAILED_BOT):
        return "" if entry.seat in agreed.bots and entry.cause == BY_BOT else "no bot plays that seat, or none fails"
    if entry.cause == BY_AGENT:
        return "" if entry.seat in away else "that seat is not away"
    if entry.cause == BY_TIME_OUT:
        if not clocked and entry.action >= 0:
            return "" if agreed.on_time_out == TIME_OUT_AGENT_TAKES_OVER else "that seat has no clock"
        if known and not late:
            return "there was time left"
        expected = {TIME_OUT_FORFEIT: RESIGNATION, TIME_OUT_AGENT_TAKES_OVER: TAKEOVER}.get(agreed.on_time_out)
        if (entry.action >= 0) != (expected is None) or (expected is not None and entry.action != expected):
            return "that is not what the clock says"
        return ""
    if entry.seat in agreed.bots:
        return "a bot plays that seat"
    if entry.seat == agreed.silent and entry.action >= 0:
        return "its player never answers"
    return "its time was out" if clocked and late and known and entry.action >= 0 else ""


def _step(state: State, entry: Entry | None, events: list[Event], viewers: set[int]) -> _Step:
    positions = {viewer: digest(position_text(observe(state, viewer))) for viewer in viewers}
    return _Step(entry, events, seat_to_act(state), positions)


def _agreed(answers: list[Answer]) -> int | None:
    """Return the version that all answers to one request name, or None if they differ."""
    first = answers[0]
    return (
        first.version
        if all((answer.version, answer.mark) == (first.version, first.mark) for answer in answers)
        else None
    )


def _count(change: Change) -> int:
    """Return how many entries a request makes."""
    return max(len(change.actions), 1)


def _entries(change: Change) -> list[Entry]:
    if not change.actions:
        return [Entry(change.seat, RESIGNATION)]
    return [Entry(change.seat, reading.action(action)) for action in change.actions]


def _viewer(seat: int | None) -> int:
    return SPECTATOR if seat is None else seat


def _name(seat: int | None) -> str:
    return "a spectator" if seat is None else f"seat {seat}"


def _text(entry: Entry) -> str:
    return f"seat {entry.seat} {TABLE_ENTRIES[entry.action] if entry.action < 0 else action_text(entry.action)}"


def _milliseconds(time: Timestamp) -> int:
    return time.seconds * 1000 + time.nanos // 1_000_000
