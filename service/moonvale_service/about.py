"""What is kept of a game beside its play, and its stored form.

That is what its creator says of it (names, labels, an id, a clock, how long the replay stays sealed), who plays its
seats, which of its credentials were replaced, and, until it begins, what it will be.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from moonvale_engine.options import DECKS, Options
from moonvale_engine.position_parse import parse_game
from moonvale_engine.position_text import game_text
from moonvale_service.clocks import Clock, TimeOut
from moonvale_service.credentials import Credential


class Rotation(NamedTuple):
    """How often a credential was replaced, and a digest of the request that did it last."""

    epoch: int = 0
    request: str = ""


@dataclass(frozen=True, slots=True)
class SeatAbout:
    """Who plays a seat. ``bot``: the name of the bot that does; ``away``: an agent does since the time was out.

    ``entropy_commitment``: what the seat has committed to adding to all shuffles; ``withheld``: it did not reveal that.
    """

    name: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    bot: str = ""
    away: bool = False
    entropy_commitment: bytes = b""
    withheld: bool = False


NOBODY_YET: Final = SeatAbout()


@dataclass(frozen=True, slots=True)
class Lobby:
    """A game that waits for its players: what it will be played by, and what it still waits for.

    - secret: what decides every shuffle.
    - open: seats that anybody may claim; kept: seats of the game before, for those who had them.
    - entropy: what seats have revealed, by seat.
    - numbers: whose cards come from the other deck than in the options, by the seat that chose so; losers: who may.
    - join_code: what whoever claims a seat has to know; empty: nothing.
    """

    options: Options
    secret: bytes = field(repr=False)
    open: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    entropy: dict[int, bytes] = field(default_factory=dict, repr=False)
    numbers: dict[int, int] = field(default_factory=dict)
    losers: frozenset[int] = frozenset()
    join_code: str = field(default="", repr=False)

    @property
    def is_full(self) -> bool:
        """Whether every seat is taken."""
        return not self.open and not self.kept

    @property
    def chosen_options(self) -> Options:
        """What it will be played by, the numbers that seats have chosen so far considered."""
        deck = list(self.options.deck)
        for number in self.numbers.values():
            deck[number] = DECKS[1 - DECKS.index(deck[number])]
        return replace(self.options, deck=tuple(deck))


@dataclass(frozen=True)
class About:
    """Given when a game is created, or changed by whoever takes a seat or loses it; ``rotations`` grow.

    seats: one for each, or none at all of a game that was never changed. sealed_until: milliseconds since the epoch.
    lobby: until the game begins. rematch_of: the game that this one is the rematch of.
    """

    external_id: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    seats: tuple[SeatAbout, ...] = ()
    sealed_until: int | None = None
    rotations: dict[str, Rotation] = field(default_factory=dict)
    clock: Clock | None = None
    lobby: Lobby | None = None
    rematch_of: str = ""

    def seat(self, number: int) -> SeatAbout:
        """Return who plays a seat."""
        return self.seats[number] if self.seats else NOBODY_YET

    def with_seat(self, number: int, seat: SeatAbout) -> About:
        """Return the same with somebody else at a seat."""
        return replace(self, seats=(*self.seats[:number], seat, *self.seats[number + 1 :]))

    @cached_property
    def free(self) -> frozenset[int]:
        """The seats that play without a limit of time: bots, and those whose player is away."""
        return frozenset([number for number, seat in enumerate(self.seats) if seat.bot or seat.away])

    @cached_property
    def derived(self) -> dict[str, Any]:
        """What others have worked out of it, and want to find again when they need it next."""
        return {}

    def rotation(self, credential: Credential) -> Rotation:
        """Return how the credential of the same holder was replaced last."""
        return self.rotations.get(_holder(credential), Rotation())

    def rotated(self, credential: Credential, request: str) -> About:
        """Return the same with the credential of the same holder replaced once more."""
        rotation = Rotation(self.rotation(credential).epoch + 1, request)
        return replace(self, rotations={**self.rotations, _holder(credential): rotation})

    def encode(self) -> bytes:
        """Return the stored form: JSON without what is as it would be anyway."""
        return json.dumps(_stored(self), ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes) -> About:
        """Return what ``encode`` has stored."""
        stored: dict[str, Any] = json.loads(data)
        for name, read in _READERS.items():
            if name in stored:
                stored[name] = read(stored[name])
        return cls(**stored)


def _holder(credential: Credential) -> str:
    return credential.role.name.lower() if credential.seat is None else str(credential.seat)


def _stored(value: Any) -> Any:  # noqa: ANN401
    """Return a value as JSON has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Options):
        return game_text(value)
    if isinstance(value, TimeOut):
        return value.value
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, dict):
        return {str(key): _stored(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_stored(each) for each in value]
    if isinstance(value, About | SeatAbout | Lobby | Clock):
        said = {each.name: getattr(value, each.name) for each in fields(value)}
        if isinstance(value, Lobby):
            said["options_rules"] = value.options.rules  # which the text of the options leaves out
        return {name: _stored(each) for name, each in said.items() if each or (each == 0 and each is not False)}
    return value


def _rotations(stored: dict[str, list[Any]]) -> dict[str, Rotation]:
    return {holder: Rotation(*rotation) for holder, rotation in stored.items()}


def _seat(stored: dict[str, Any]) -> SeatAbout:
    stored["entropy_commitment"] = bytes.fromhex(stored.get("entropy_commitment", ""))
    return SeatAbout(**stored)


def _clock(stored: dict[str, Any]) -> Clock:
    return Clock(**{**stored, "on_time_out": TimeOut(stored["on_time_out"])})


def _lobby(stored: dict[str, Any]) -> Lobby:
    return Lobby(
        options=parse_game(stored["options"], stored["options_rules"]),
        secret=bytes.fromhex(stored["secret"]),
        open=frozenset(stored.get("open", ())),
        kept=frozenset(stored.get("kept", ())),
        entropy={int(seat): bytes.fromhex(part) for seat, part in stored.get("entropy", {}).items()},
        numbers={int(seat): number for seat, number in stored.get("numbers", {}).items()},
        losers=frozenset(stored.get("losers", ())),
        join_code=stored.get("join_code", ""),
    )


def _seats(stored: list[dict[str, Any]]) -> tuple[SeatAbout, ...]:
    return tuple([_seat(seat) for seat in stored])


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "seats": _seats,
    "rotations": _rotations,
    "clock": _clock,
    "lobby": _lobby,
}
