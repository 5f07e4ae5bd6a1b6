"""What the clients of a chaos run write down of one game: what they sent, what was answered, what they saw."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

from moonvale.v1.action_pb2 import Action
from moonvale.v1.clock_pb2 import TimeOut
from moonvale.v1.event_pb2 import LogEntry
from moonvale.v1.options_pb2 import Options
from moonvale.v1.replay_pb2 import Replay
from moonvale.v1.result_pb2 import Result
from moonvale.v1.view_pb2 import View


@dataclass(frozen=True, slots=True)
class Answer:
    """A change was acknowledged: it made this version. ``entries`` are told to the seat that made it."""

    version: int
    mark: str
    entries: tuple[LogEntry, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change was refused; ``version``: the present one, if the refusal names it."""

    reason: str
    version: int | None = None


@dataclass(slots=True)
class Change:
    """One request to change a game, with whatever came back for it and its repeats.

    Without actions it is a resignation. ``given_up``: the client never waited for an answer, so it may be carried out
    or not, but never twice.
    """

    seat: int
    request_id: str
    version: int
    actions: tuple[Action, ...]
    answers: list[Answer] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """A view that somebody got, who knew before asking that the game had come to ``floor``. No seat: a spectator."""

    viewer: int | None
    floor: int
    name: str
    version: int
    mark: str
    position: bytes
    result: Result | None


@dataclass(slots=True)
class Watch:
    """Every entry that came to one watcher, over however many streams, in the order it came. No seat: a spectator."""

    viewer: int | None
    after: int
    entries: list[LogEntry] = field(default_factory=list)
    streams: int = 0


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a table with bots and a clock has agreed on. Durations are milliseconds.

    ``silent``: a seat whose player never answers. ``grace``: by how much an answer may be late.
    """

    bots: frozenset[int]
    silent: int | None
    limit: int
    grace: int
    on_time_out: TimeOut.ValueType


@dataclass(slots=True)
class Game:
    """All that its clients know of a game. ``newest``: the newest version that they have got to know of.

    ``reclaims``: how often a seat's client has asked to have it back.
    """

    name: str
    options: Options
    commitment: bytes
    mark: str
    secret: bytes | None
    changes: list[Change] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)
    replay: Replay | None = None
    newest: int = 0
    agreement: Agreement | None = None
    reclaims: Counter[int] = field(default_factory=Counter)

    def acknowledge(self, change: Change, answer: Answer) -> None:
        """Write down that a change was acknowledged."""
        change.answers.append(answer)
        self.newest = max(self.newest, answer.version)

    def see(self, view: View, floor: int) -> None:
        """Write down a view of a game that has begun. ``floor``: the value of ``newest`` when it was asked for."""
        if not view.HasField("version"):
            return
        self.newest = max(self.newest, view.version)
        self.sights.append(
            Sight(
                view.viewer_seat if view.HasField("viewer_seat") else None,
                floor,
                view.name,
                view.version,
                view.mark,
                digest(view.position),
                view.result if view.HasField("result") else None,
            )
        )


def digest(text: str) -> bytes:
    """Return what is kept of a position's text."""
    return blake2b(text.encode(), digest_size=8).digest()
