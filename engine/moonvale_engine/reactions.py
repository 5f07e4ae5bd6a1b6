"""The reaction window: after an action, each player may answer the card that it put on the pile (E02-1 to E02-3)."""

from __future__ import annotations

from typing import Final

from moonvale_engine import programs
from moonvale_engine.actions import DISCARD_RESIDENT, PASS, pack, y_of, z_of
from moonvale_engine.decisions import REACTION
from moonvale_engine.discards import discard, offered, spotters
from moonvale_engine.events import ABILITY_BEGAN, EVERYBODY, NOBODY
from moonvale_engine.state import FACEUP, USED, State, push, type_of, value_of
from moonvale_engine.steps import AGAIN, NEXT, STOP, Step, ask, do

# Steps of the program.
OPEN: Final = 0
ASK: Final = 1


def begin_action(s: State) -> None:
    """An action begins: once all that follows from it is done, its window opens."""
    s.put = NOBODY
    if s.types.reacts:
        push(s, programs.REACTIONS, s.active)


def answers(s: State, seat: int, resident: int) -> list[int]:
    """DISCARD_RESIDENT of each own faceup card that equals the faceup top card of the pile (E02-1)."""
    if not s.pile or not s.flags[s.pile[-1]] & FACEUP:
        return []
    value = value_of(s, s.pile[-1])
    return [
        pack(DISCARD_RESIDENT, resident, spot, declared)
        for spot, other in enumerate(s.villages[seat])
        if s.flags[other] & FACEUP and value_of(s, other) == value and offered(s, other)
        for declared in range(spotters(s, seat) + 1)
    ]


def answer(s: State, seat: int, action: int) -> None:
    """Discard in answer; that opens no window (E02-2)."""
    discard(s, seat, s.villages[seat][y_of(action)], z_of(action), silent=True)


def _open(s: State, action: int) -> int:
    """Open the window if the top card of the pile is the one that the action put there."""
    if s.put == NOBODY or not s.pile or s.pile[-1] != s.put:
        s.put = NOBODY
        return STOP
    s.x = value_of(s, s.put) + 1
    s.seat = s.active
    s.n = 0
    s.put = NOBODY
    return NEXT


def _choices(s: State) -> list[int]:
    seat = s.seat
    choices: list[int] = [PASS]
    top = s.pile[-1] if s.pile else NOBODY
    if top != NOBODY and s.flags[top] & FACEUP and value_of(s, top) + 1 == s.x:
        for spot, h in enumerate(s.villages[seat]):
            if s.flags[h] & (FACEUP | USED) == FACEUP and type_of(s, h).reacts:
                choices += answers(s, seat, spot)
    return choices


def _react(s: State, action: int) -> int:
    if action == PASS:
        return NEXT
    seat = s.seat
    spot = action >> 6 & 255
    h = s.villages[seat][spot]
    s.flags[h] |= USED
    if s.events is not None:
        s.events.append((ABILITY_BEGAN, seat, spot << 2 | seat, 0, EVERYBODY, (h, s.identity[h])))
    answer(s, seat, action)
    return AGAIN


def _next(s: State, action: int) -> int:
    """Ask the next player, once around; a discard by the active player in between has a window of its own."""
    s.n += 1
    if s.n < s.options.players:
        s.seat = (s.seat + 1) % s.options.players
        return ASK
    return OPEN


PROGRAM: Final[tuple[Step, ...]] = (
    do(_open),
    ask(REACTION, _choices, then=_react),
    do(_next),
)
