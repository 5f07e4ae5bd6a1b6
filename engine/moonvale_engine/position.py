"""Positions: a game as somebody knows it, whole or with the faces that a viewer may not know left open."""

from __future__ import annotations

from moonvale_engine import play, programs
from moonvale_engine.events import NOBODY
from moonvale_engine.hand import MOST_NAMED
from moonvale_engine.state import FACEUP, HIDDEN, State, frames_up_to
from moonvale_engine.views import unlooked_deck, visible_faces, visible_knowledge, visible_pool


class Position:
    """A state together with who knows it so: a seat, SPECTATOR, or NOBODY for the whole truth.

    In a viewer's position the faces that it may not know are UNKNOWN, there is no secret, and there are choices only
    where the viewer is to act. That is all that a bot needs: ``worlds.sample_world`` makes whole games of it.
    """

    def __init__(self, state: State, viewer: int) -> None:
        self.state = state
        self.viewer = viewer

    def __reduce__(self) -> tuple[type[Position], tuple[State, int]]:
        return Position, (self.state, self.viewer)

    def list_choices(self) -> None:
        """List the choices of the open decision as far as this position knows them."""
        s = self.state
        s.choices = []
        if not s.is_over() and self.viewer in (s.seat, NOBODY):
            play.open_decision(s)

    def check_frames(self) -> None:
        """Raise ValueError unless the open decision and the card in hand fit each other and the cards on the table."""
        s = self.state
        step = play.open_step(s)
        if step is None or step.kind < 0:
            raise ValueError("the last frame asks nothing")
        if s.seat in s.resigned:
            raise ValueError("the seat to act has resigned")
        if holds_hand(s) != (s.hand != NOBODY):
            raise ValueError("there is a card in hand if, and only if, a decision about one is open or interrupted")
        if s.program == programs.EXCHANGE and not 1 <= s.n <= MOST_NAMED:
            raise ValueError("a set has one to four cards")


def holds_hand(s: State) -> bool:
    """Whether there is a card in hand, by the frames: the open decision is about one, or has interrupted one that is.

    The latter is a Curator's discard, at any time, for which a Spotter was declared (C02-1, E03-1).
    """
    program, step = s.program, s.step
    if program >= programs.CARDS:
        if s.rules.cards[program - programs.CARDS].stays and step == 0:
            return True
    elif program in (programs.HAND, programs.EXCHANGE) or (program == programs.FAILED_SET and step == 0):
        return True
    for frame in frames_up_to(s.below):
        if frame.program == programs.HAND and frame.step == 0:
            return True
    return False


def observe(s: State, viewer: int) -> Position:
    """Return what a viewer knows of a game: a masked copy."""
    masked = s.copy()
    masked.identity = visible_faces(s, viewer)
    masked.secret = b""
    masked.entropy = ()
    if s.pool:
        masked.pool = visible_pool(s, viewer)
    if s.options.memory == "table":
        masked.known = visible_knowledge(s, viewer)
        masked.excluded = b""
        _hide_facings(masked, unlooked_deck(s, viewer))
    if not s.flags.isascii():  # HIDDEN is the one flag that is no ASCII
        _hide_facings(masked, bytes([h for h in s.deck if s.flags[h] & HIDDEN]))
    if viewer != s.seat:
        masked.choices = []
    return Position(masked, viewer)


def _hide_facings(s: State, handles: bytes) -> None:
    for h in handles:
        s.flags[h] &= ~FACEUP


def whole(s: State) -> Position:
    """Return the whole truth as a position."""
    return Position(s, NOBODY)
