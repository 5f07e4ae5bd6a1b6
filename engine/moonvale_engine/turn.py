"""The turn: free abilities, exactly one main action, free abilities, and who is next (TURN-1 to TURN-7)."""

from __future__ import annotations

from moonvale_engine import moves, programs
from moonvale_engine.abilities import activate
from moonvale_engine.actions import CALL, DRAW, END_TURN, TAKE
from moonvale_engine.decisions import TURN, TURN_END
from moonvale_engine.events import (
    CALLED,
    END_BY_CALL,
    END_BY_DECK,
    END_BY_LIMIT,
    EVERYBODY,
    NOBODY,
    ROUND_ENDED,
    TURN_ADDITIONAL,
    TURN_BEGAN,
    TURN_FINAL,
)
from moonvale_engine.free import free_actions
from moonvale_engine.hand import DRAWN, OWED
from moonvale_engine.state import CARDS, FACEUP, SEAT, SPENT, STEP, USED, State, X, push, type_of
from moonvale_engine.steps import AGAIN, NEXT, STOP, ask, do

CALL_LIMIT = 4  # cards that a caller may have (TURN-3)


def _begin(s: State, action: int) -> int:
    seat = s.stack[SEAT]
    used = USED if seat == s.active else USED | SPENT  # C01-2
    for h in range(CARDS):
        s.flags[h] &= ~used
    s.active = seat
    s.turn += 1
    s.ability_used = False
    if s.events is not None:
        kind = (TURN_ADDITIONAL if s.stack[X] else 0) | (TURN_FINAL if s.caller != NOBODY else 0)
        s.events.append((TURN_BEGAN, seat, s.turn, kind, EVERYBODY, ()))
    return NEXT


def _turn_choices(s: State) -> list[int]:
    village = s.villages[s.active]
    choices = [DRAW]
    if s.pile and village:
        choices.append(TAKE)
    if len(village) <= CALL_LIMIT and s.caller == NOBODY and not s.ability_used:
        choices.append(CALL)
    for card in s.cards:
        if card.main is not None:
            n = sum(1 for h in village if s.flags[h] & FACEUP and type_of(s, h) is card)
            if n:
                choices += card.main(s, n)
    return choices + free_actions(s)


def _main_action(s: State, action: int) -> int:
    verb = action & 63
    if verb == DRAW:
        moves.draw_to_hand(s)
        push(s, programs.HAND, s.active, x=DRAWN)
    elif verb == TAKE:
        moves.pile_to_hand(s, 0)
        push(s, programs.HAND, s.active, x=OWED)
    elif verb == CALL:
        s.caller = s.active
        s.extra_turns = 0
        if s.events is not None:
            s.events.append((CALLED, s.active, 0, 0, EVERYBODY, ()))
        s.stack[STEP] += 1  # the turn ends at once, without free abilities
    else:
        activate(s, action)
    return NEXT


def _end_choices(s: State) -> list[int]:
    return [END_TURN, *free_actions(s)]


def _end(s: State, action: int) -> int:
    return NEXT


def _finish(s: State, action: int) -> int:
    seat = s.stack[SEAT]
    additional = False
    if not s.deck:
        return _end_round(s, END_BY_DECK)
    if s.turn >= s.options.turn_limit and s.caller == NOBODY:
        return _end_round(s, END_BY_LIMIT)
    if s.extra_turns:
        s.extra_turns -= 1
        additional = True
    else:
        seat = (seat + 1) % s.options.players
        if seat == s.caller:
            return _end_round(s, END_BY_CALL)
    s.stack[SEAT] = seat
    s.stack[X] = additional
    s.stack[STEP] = 0
    return AGAIN


def _end_round(s: State, why: int) -> int:
    s.extra_turns = 0
    if s.events is not None:
        s.events.append((ROUND_ENDED, NOBODY, why, 0, EVERYBODY, ()))
    return STOP


PROGRAM = (
    do(_begin),
    ask(TURN, _turn_choices, then=_main_action, interruptible=False),
    ask(TURN_END, _end_choices, then=_end, interruptible=False),
    do(_finish),
)
