"""Play: new games, the open decision, and what an action does to it.

``settle`` runs programs until a seat must choose; ``apply`` checks the choice against that same list and runs on.
There is no second judge of what is legal.
"""

from __future__ import annotations

from moonvale_engine import catalog
from moonvale_engine.actions import FREE, PASSING, USE_TOKEN
from moonvale_engine.decisions import REACTION, TURN, TURN_END
from moonvale_engine.errors import GameOverError, IllegalActionError, OptionError
from moonvale_engine.events import (
    ACTED,
    BY_PLAYER,
    BY_POLICY,
    EVERYBODY,
    GAME_OVER,
    NOBODY,
    OVER_BY_RESIGNATION,
    RESIGNED,
    Event,
)
from moonvale_engine.free import anytime_actions, use_resident, use_token
from moonvale_engine.options import Options
from moonvale_engine.outcome import places
from moonvale_engine.programs import ROUND
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_engine.state import CARDS, FRAME, PROGRAM, SEAT, STEP, State, push
from moonvale_engine.steps import NEXT, STOP, Step


def new_game(
    options: Options, secret: bytes, entropy: tuple[bytes, ...] = (), events: list[Event] | None = None
) -> State:
    """Deal the first round. ``secret``: 32 bytes that decide every shuffle; whoever knows them knows all cards (HID-5).

    ``events``: where the first events go; the state keeps writing there. Raises OptionError for ``secret``.
    """
    if len(secret) != SECRET_BYTES:
        raise OptionError("secret", f"needs {SECRET_BYTES} bytes, has {len(secret)}")
    players = options.players
    s = State(
        options,
        catalog.cards_in_play(options),
        secret,
        entropy,
        bytes(CARDS),
        bytearray(CARDS),
        bytearray(CARDS),
        b"",
        b"",
        b"",
        [b""] * players,
        bytearray(),
        b"",
        (0,) * players,
        (),
        NOBODY,
        0,
        0,
        NOBODY,
        NOBODY,
        False,
        NOBODY,
        0,
        0,
        False,
        NOBODY,
    )
    s.events = events
    push(s, ROUND, 0)
    settle(s)
    return s


def seat_to_act(s: State) -> int:
    """Return the one seat that is to act (DEC-1), or NOBODY when the game is over."""
    return s.stack[SEAT] if s.stack else NOBODY


def open_step(s: State) -> Step | None:
    """Return the step of the open decision, or None when there is none."""
    if not s.stack:
        return None
    program = catalog.PROGRAMS[s.stack[PROGRAM]]
    return program[s.stack[STEP]] if s.stack[STEP] < len(program) else None


def decision_kind(s: State) -> int:
    """Return the kind of the open decision (see ``decisions``), or -1 when the game is over."""
    step = open_step(s)
    return -1 if step is None else step.kind


def legal_actions(s: State) -> list[int]:
    """Return the choices of the open decision in the order of DEC-3, none when the game is over. Not to be changed."""
    return s.choices


def apply(s: State, action: int) -> None:
    """Carry out a choice of the open decision, and run on until a seat must choose again or the game is over.

    Raises IllegalActionError (the action is not in ``legal_actions``) or GameOverError, and changes nothing then.
    """
    if action not in s.choices:
        if not s.stack:
            raise GameOverError("the game is over")
        raise IllegalActionError("the action is not a choice of the open decision; choose one of its legal actions")
    _carry_out(s, action, BY_PLAYER)
    settle(s)


def resign(s: State, seat: int) -> None:
    """A seat gives up, at any time: it is placed last and played on by a fixed policy (END-7).

    Raises GameOverError, or IllegalActionError if the seat is not there or has resigned already.
    """
    if not s.stack:
        raise GameOverError("the game is over")
    if not 0 <= seat < s.options.players:
        raise IllegalActionError(f"there is no seat {seat}")
    if seat in s.resigned:
        raise IllegalActionError(f"seat {seat} has resigned already")
    s.resigned += bytes((seat,))
    if s.events is not None:
        s.events.append((RESIGNED, seat, 0, 0, EVERYBODY, ()))
    if len(s.resigned) == s.options.players - 1:
        s.over = OVER_BY_RESIGNATION
        s.stack.clear()
        s.choices = []
        if s.events is not None:
            s.events.append((GAME_OVER, NOBODY, s.over, 0, EVERYBODY, tuple(places(s))))
    elif s.stack[SEAT] == seat:
        settle(s)


def settle(s: State) -> None:
    """Run the programs until a seat that is still played must choose, or until the game is over; list its choices."""
    while open_decision(s):
        if s.stack[SEAT] not in s.resigned:
            return
        _carry_out(s, s.choices[0], BY_POLICY)  # what the policy would take stands first in every list (DEC-3)


def open_decision(s: State) -> bool:
    """Run the programs up to the next decision, whoever's it is, and list its choices. False: the game is over."""
    stack = s.stack
    while stack:
        program = catalog.PROGRAMS[stack[PROGRAM]]
        if stack[STEP] >= len(program):
            del stack[-FRAME:]
            continue
        step = program[stack[STEP]]
        if step.kind < 0:
            _advance(s, len(stack), step.effect(s, -1))
            continue
        choices = step.choices(s)
        if not choices or (len(choices) == 1 and choices[0] & 63 in PASSING):
            stack[STEP] += 1
            continue
        if step.interruptible and stack[SEAT] == s.active:
            choices += anytime_actions(s)
        s.choices = choices
        return True
    s.choices = []
    return False


def _carry_out(s: State, action: int, cause: int) -> None:
    stack = s.stack
    step = catalog.PROGRAMS[stack[PROGRAM]][stack[STEP]]
    seat = stack[SEAT]
    if s.events is not None:
        s.events.append((ACTED, seat, action, cause, 1 << seat if step.private else EVERYBODY, ()))
    verb = action & 63
    if verb in FREE and step.kind != REACTION:
        if verb == USE_TOKEN:
            use_token(s)
        else:
            use_resident(s, action, opens=step.kind in (TURN, TURN_END))
        return
    _advance(s, len(stack), step.effect(s, action))


def _advance(s: State, end: int, result: int) -> None:
    """Move the frame that ended at ``end`` of the stack on; other frames may lie on it by now."""
    if result == NEXT:
        s.stack[end + STEP] += 1
    elif result == STOP:
        s.stack[end + STEP] = len(catalog.PROGRAMS[s.stack[end + PROGRAM]])
