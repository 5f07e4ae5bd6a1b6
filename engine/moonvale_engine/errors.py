"""Errors of the engine: one class for each thing a caller can do about it."""

from __future__ import annotations


class EngineError(ValueError):
    """Base of all errors that the engine raises on purpose; the state is unchanged by the call that raised."""


class OptionError(EngineError):
    """An option of a new game is wrong. ``field`` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message

    def __reduce__(self) -> tuple[type[OptionError], tuple[str, str]]:
        return (OptionError, (self.field, self.message))


class IllegalActionError(EngineError):
    """The action is not in the list of the open decision."""


class GameOverError(EngineError):
    """The game is over, so nothing more can be done in it."""


class NotationError(EngineError):
    """A text is not a position, an action or a deck. ``field`` names the part that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message

    def __reduce__(self) -> tuple[type[NotationError], tuple[str, str]]:
        return (NotationError, (self.field, self.message))


class CodecError(EngineError):
    """Stored bytes are damaged: too short, too long, or not a state."""


class UnknownRulesError(EngineError):
    """A game is of a version that this engine does not know: of the rules, or of the codec that has stored it.

    ``what`` has versions, ``rules`` or ``codec``; ``known`` are those that this engine knows.
    """

    def __init__(self, what: str, version: int, known: tuple[int, ...]) -> None:
        super().__init__(f"{what}: version {version} is not known; this engine knows {', '.join(map(str, known))}")
        self.what = what
        self.version = version
        self.known = known

    def __reduce__(self) -> tuple[type[UnknownRulesError], tuple[str, int, tuple[int, ...]]]:
        return (UnknownRulesError, (self.what, self.version, self.known))


class RecordError(EngineError):
    """A game record can't be read or does not replay. The message names the line or the action."""
