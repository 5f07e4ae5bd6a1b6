"""The turn: free abilities, exactly one main action, free abilities, and who is next (TURN-1 to TURN-7)."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves, programs
from moonvale_engine.abilities import activate
from moonvale_engine.actions import ACTIVATE, CALL, DRAW, DRAW_WITH_TOKEN, END_TURN, GAMBLE, TAKE
from moonvale_engine.cards.card import Card
from moonvale_engine.decisions import TURN, TURN_END
from moonvale_engine.events import (
    ABILITY_BEGAN,
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
from moonvale_engine.free import can_use_token, free_actions, use_token
from moonvale_engine.hand import DRAWN, OWED
from moonvale_engine.reactions import begin_action
from moonvale_engine.state import SPENT, USED, State, faceup_cards, push
from moonvale_engine.steps import AGAIN, NEXT, NO_CHOICES, STOP, Step, ask, do

# Steps of the program.
BEGIN: Final = 0
FINISH: Final = 3


#: Tables of ``translate``: flags without the marks that end with a turn.
_UNUSED: Final = bytes([flags & ~USED for flags in range(256)])
_UNUSED_UNSPENT: Final = bytes([flags & ~(USED | SPENT) for flags in range(256)])


def _begin(s: State, action: int) -> int:
    seat = s.seat
    s.flags = s.flags.translate(_UNUSED if seat == s.active else _UNUSED_UNSPENT)  # C01-2
    s.active = seat
    s.turn += 1
    s.ability_used = False
    if s.events is not None:
        kind = (TURN_ADDITIONAL if s.x else 0) | (TURN_FINAL if s.caller != NOBODY else 0)
        s.events.append((TURN_BEGAN, seat, s.turn, kind, EVERYBODY, ()))
    return NEXT


#: The choices of nearly every turn, which all games share: whether TAKE is one, and CALL.
_PLAIN: Final = [[[DRAW], [DRAW, CALL]], [[DRAW, TAKE], [DRAW, TAKE, CALL]]]


def _turn_choices(s: State) -> list[int]:
    size = len(s.villages[s.active])
    takes = 1 if s.pile and size else 0
    calls = 1 if size <= s.rules.call_limit and s.caller == NOBODY and not s.ability_used else 0
    choices = _PLAIN[takes][calls]
    if s.token_active and can_use_token(s) and not s.ability_used and s.rules.tokens[s.options.token].draws:
        choices = [DRAW, DRAW_WITH_TOKEN, *choices[1:]]
    for card in s.types.main:
        actions = _main_actions(s, card)
        if actions:
            choices = [*choices, *actions]
    free = free_actions(s)
    return [*choices, *free] if free else choices


def _main_actions(s: State, card: Card) -> list[int]:
    """Return the main actions that the active player's cards of a type offer."""
    assert card.main is not None
    cards = len(faceup_cards(s, s.active, card.number, unless=USED))
    return card.main(s, cards) if cards else NO_CHOICES


def _main_action(s: State, action: int) -> int:
    verb = action & 63
    s.y = 1 if verb == GAMBLE else 0
    if verb != CALL:
        begin_action(s)
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
        return FINISH  # at once, without free abilities
    elif verb == DRAW_WITH_TOKEN:
        use_token(s)
    elif verb == ACTIVATE:
        activate(s, action)
    else:
        _gamble(s)
    return NEXT


def _gamble(s: State) -> None:
    """Use the leftmost faceup card whose main action can be repeated and that was not used this turn."""
    for card in s.types.main:
        if card.repeats:
            h = faceup_cards(s, s.active, card.number, unless=USED)[0]
            s.flags[h] |= USED
            s.ability_used = True
            if s.events is not None:
                s.events.append((ABILITY_BEGAN, s.active, moves.find(s, h), 0, EVERYBODY, (h, s.identity[h])))
            push(s, programs.CARDS + card.id, s.active, card=h)


_END: Final = [END_TURN]


def _end_choices(s: State) -> list[int]:
    choices = _END
    if s.y:
        for card in s.types.main:
            if card.repeats:
                choices = [*choices, *_main_actions(s, card)]
    free = free_actions(s)
    return [*choices, *free] if free else choices


def _end(s: State, action: int) -> int:
    if action == END_TURN:
        return NEXT
    begin_action(s)
    _gamble(s)
    return AGAIN


def _finish(s: State, action: int) -> int:
    seat = s.seat
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
    s.seat = seat
    s.x = 1 if additional else 0
    s.y = 0
    return BEGIN


def _end_round(s: State, why: int) -> int:
    s.extra_turns = 0
    if s.events is not None:
        s.events.append((ROUND_ENDED, NOBODY, why, 0, EVERYBODY, ()))
    return STOP


PROGRAM: Final[tuple[Step, ...]] = (
    do(_begin),
    ask(TURN, _turn_choices, then=_main_action, interruptible=False),
    ask(TURN_END, _end_choices, then=_end, interruptible=False),
    do(_finish),
)
