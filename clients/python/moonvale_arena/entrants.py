"""Entrants: who takes part in an event, as people write it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from moonvale_arena.agents import AGENTS
from moonvale_arena.errors import ArenaError

AGENT: Final = "agent"
PYTHON: Final = "python"
SERVER: Final = "grpc"
COMMAND: Final = "cmd"

_NAMED = re.compile(r"([A-Za-z0-9][\w.+-]*)=(.+)", re.DOTALL)
_CLASS = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)(?::(.*))?")
_LONGEST_NAME: Final = 40
_MOST: Final = 64


@dataclass(frozen=True, slots=True)
class Entrant:
    """One entrant. name: how tables call it. text: what it is, as it was given.

    kind: AGENT of this distribution, PYTHON class, SERVER that is called, or COMMAND that is started for each game.
    target: the agent's name; ``module:Class``; an address; a command line. settings: what an agent is made with.
    """

    name: str
    text: str
    kind: str
    target: str
    settings: tuple[tuple[str, int | float | str], ...] = ()

    @property
    def command(self) -> list[str]:
        """The words of a COMMAND."""
        return shlex.split(self.target)


def parse_entrant(text: str) -> Entrant:
    """Read ``[NAME=]WHAT``. Raises ArenaError.

    WHAT is ``greedy`` or another agent by name, ``python:module:Class``, ``grpc://HOST:PORT`` or ``cmd:COMMAND``. An
    agent or a class may be followed by settings: ``greedy:horizon=2,feed=0``.
    """
    named = _NAMED.fullmatch(text)
    name, what = (named[1], named[2]) if named else ("", text)
    entrant = _parse(name, what)
    if len(entrant.name) > _LONGEST_NAME or not entrant.name.isprintable():
        raise ArenaError(f"entrant '{text[:60]}': give it a name of at most {_LONGEST_NAME} characters, as NAME=...")
    return entrant


def parse_entrants(texts: Sequence[str]) -> tuple[Entrant, ...]:
    """Read all entrants of an event. Raises ArenaError, too, if two have the same name, or if there are too few."""
    entrants = tuple([parse_entrant(text) for text in texts])
    if not 2 <= len(entrants) <= _MOST:
        raise ArenaError(f"an event needs 2 to {_MOST} entrants, and {len(entrants)} were named")
    names = [entrant.name for entrant in entrants]
    for name in names:
        if names.count(name) > 1:
            raise ArenaError(f"two entrants are called '{name}': give them different names, as in one={name}")
    return entrants


def _parse(name: str, what: str) -> Entrant:
    kind, colon, rest = what.partition(":")
    if kind == COMMAND and colon:
        try:
            words = shlex.split(rest)
        except ValueError as error:
            raise ArenaError(f"entrant '{what}': {error}") from error
        if not words:
            raise ArenaError(f"entrant '{what}': needs a command, as in cmd:node bot.js")
        return Entrant(name or PurePath(words[-1]).stem or words[0], what, COMMAND, rest)
    if kind == SERVER and rest.startswith("//"):
        address = rest.removeprefix("//").rstrip("/")
        if not re.fullmatch(r"(unix:.+|[^\s/]+:\d{1,5})", address):
            raise ArenaError(f"entrant '{what}': needs an address, as in grpc://127.0.0.1:7360")
        return Entrant(name or address, what, SERVER, address)
    if kind == PYTHON and colon:
        named = _CLASS.fullmatch(rest)
        if named is None:
            raise ArenaError(f"entrant '{what}': needs a module and a class, as in python:my_bots:Cautious")
        return Entrant(name or named[2], what, PYTHON, f"{named[1]}:{named[2]}", _settings(what, named[3]))
    if kind not in AGENTS:
        known = ", ".join(AGENTS)
        raise ArenaError(
            f"entrant '{what}' is not known: choose {known}, python:MODULE:CLASS, grpc://HOST:PORT or cmd:COMMAND"
        )
    return Entrant(name or what, what, AGENT, kind, _settings(what, rest if colon else None))


def _settings(what: str, text: str | None) -> tuple[tuple[str, int | float | str], ...]:
    if text is None:
        return ()
    settings: list[tuple[str, int | float | str]] = []
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise ArenaError(f"entrant '{what}': '{part}' is no setting, as in horizon=2")
        settings.append((key, _value(value)))
    return tuple(settings)


def _value(text: str) -> int | float | str:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
