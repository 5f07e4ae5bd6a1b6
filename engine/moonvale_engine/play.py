"""Play: new games, the open decision, and what an action does to it.

``settle`` runs programs until a seat must choose; ``apply`` checks the choice against that same list and runs on.
There is no second judge of what is legal.
"""

from __future__ import annotations

from moonvale_engine import catalog
from moonvale_engine.actions import PASSING, USE_TOKEN, is_free
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
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_engine.state import BYTES, Frame, State, drop_frames, new_state, pop
from moonvale_engine.steps import AGAIN, NEXT, STOP, Step


def new_game(
    options: Options, secret: bytes, entropy: tuple[bytes, ...] = (), events: list[Event] | None = None
) -> State:
    """Deal the first round. ``secret``: 32 bytes that decide every shuffle; whoever knows them knows all cards (HID-5).

    ``events``: where the first events go; the state keeps writing there. Raises OptionError for ``secret``, and
    UnknownRulesError for options that name rules that are not known.
    """
    if len(secret) != SECRET_BYTES:
        raise OptionError("secret", f"needs {SECRET_BYTES} bytes, has {len(secret)}")
    s = new_state(options, catalog.rules_of(options.rules), secret, entropy)
    s.events = events
    settle(s)
    return s


def seat_to_act(s: State) -> int:
    """Return the one seat that is to act (DEC-1), or NOBODY when the game is over."""
    return s.seat


def open_step(s: State) -> Step | None:
    """Return the step of the open decision, or None when there is none."""
    if s.seat == NOBODY:
        return None
    program = s.rules.programs[s.program]
    return program[s.step] if s.step < len(program) else None


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
        if s.seat == NOBODY:
            raise GameOverError("the game is over")
        raise IllegalActionError("the action is not a choice of the open decision; choose one of its legal actions")
    _carry_out(s, action, BY_PLAYER)
    settle(s)


def resign(s: State, seat: int) -> None:
    """A seat gives up, at any time: it is placed last and played on by a fixed policy (END-7).

    Raises GameOverError, or IllegalActionError if the seat is not there or has resigned already.
    """
    if s.seat == NOBODY:
        raise GameOverError("the game is over")
    if not 0 <= seat < s.options.players:
        raise IllegalActionError(f"there is no seat {seat}")
    if seat in s.resigned:
        raise IllegalActionError(f"seat {seat} has resigned already")
    s.resigned += BYTES[seat]
    if s.events is not None:
        s.events.append((RESIGNED, seat, 0, 0, EVERYBODY, ()))
    if len(s.resigned) == s.options.players - 1:
        s.over = OVER_BY_RESIGNATION
        drop_frames(s)
        s.choices = []
        if s.events is not None:
            s.events.append((GAME_OVER, NOBODY, s.over, 0, EVERYBODY, tuple(places(s))))
    elif s.seat == seat:
        settle(s)


def settle(s: State) -> None:
    """Run the programs until a seat that is still played must choose, or until the game is over; list its choices."""
    while open_decision(s) and s.resigned and s.seat in s.resigned:
        _carry_out(s, s.choices[0], BY_POLICY)  # what the policy would take stands first in every list (DEC-3)


def open_decision(s: State) -> bool:
    """Run the programs up to the next decision, whoever's it is, and list its choices. False: the game is over."""
    tables = s.rules.programs
    while s.seat != NOBODY:
        program = tables[s.program]
        at = s.step
        if at >= len(program):
            pop(s)
            continue
        step = program[at]
        if step.kind < 0:
            _run(s, step, -1)
            continue
        choices = step.choices(s)
        if not choices or (len(choices) == 1 and choices[0] & 63 in PASSING):
            s.step = at + 1
            continue
        if step.interruptible and s.seat == s.active:
            choices = choices + anytime_actions(s)  # not in place: lists of choices may be tables that games share
        s.choices = choices
        return True
    s.choices = []
    return False


def _carry_out(s: State, action: int, cause: int) -> None:
    step = s.rules.programs[s.program][s.step]
    if s.events is not None:
        s.events.append((ACTED, s.seat, action, cause, 1 << s.seat if step.private else EVERYBODY, ()))
    if step.kind != REACTION and is_free(action):
        if action == USE_TOKEN:
            use_token(s)
        else:
            use_resident(s, action, opens=step.kind in (TURN, TURN_END))
    else:
        _run(s, step, action)


def _run(s: State, step: Step, action: int) -> None:
    """Let a step of the top frame act, and move that frame on; other frames may lie on it by then."""
    at, below = s.step, s.below
    s.step = at + 1
    to = step.effect(s, action)
    if to == NEXT:
        return
    if to == AGAIN:
        to = at
    elif to == STOP:
        to = len(s.rules.programs[s.program])
    if s.below is below:
        s.step = to
    else:
        assert s.below is not None
        s.below = _moved(s.below, below, to)


def _moved(frame: Frame, below: Frame | None, to: int) -> Frame:
    """Return a frame in which, or below which, the one that lies on ``below`` is at another step."""
    f = frame
    if f.below is below:
        return Frame(f.program, to, f.seat, f.n, f.x, f.y, f.noted, below)
    assert f.below is not None
    return Frame(f.program, f.step, f.seat, f.n, f.x, f.y, f.noted, _moved(f.below, below, to))
