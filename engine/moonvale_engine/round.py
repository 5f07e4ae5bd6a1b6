"""The round: the deal, the first looks, the turns, scoring, and on to the next (SET-2 to SET-5, END-1 to END-6)."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves, programs, scoring, shuffle
from moonvale_engine.actions import PEEK, pack
from moonvale_engine.decisions import PEEK as PEEK_KIND
from moonvale_engine.deck import faces_in_play
from moonvale_engine.events import EVERYBODY, NOBODY, ROUND_BEGAN
from moonvale_engine.shuffle import first_start, game_key
from moonvale_engine.state import CARDS, FACEUP, SEAT, VILLAGE_SIZE, VILLAGES, N, State, push
from moonvale_engine.steps import AGAIN, NEXT, Step, ask, do

_PAIRS = [pack(PEEK, first << 3 | second) for first in range(VILLAGE_SIZE) for second in range(first + 1, VILLAGE_SIZE)]
_FIRST_OF_PILE = VILLAGES * VILLAGE_SIZE


def deal(s: State, identity: bytes) -> None:
    """Lay out a round from its shuffled cards: villages, the first card of the pile, the deck (SET-2)."""
    s.identity = identity
    s.flags[:] = bytes(CARDS)
    s.known[:] = bytes(CARDS)
    s.deck = bytes(range(CARDS - 1, _FIRST_OF_PILE, -1))
    s.pile = bytes((_FIRST_OF_PILE,))
    s.aside = b""
    for village in range(VILLAGES):
        cards = bytes(range(village * VILLAGE_SIZE, (village + 1) * VILLAGE_SIZE))
        if village in s.options.villages:
            s.villages[s.options.villages.index(village)] = cards
        else:
            s.aside += cards
    s.flags[_FIRST_OF_PILE] = FACEUP
    s.known[_FIRST_OF_PILE] = EVERYBODY
    s.hand = NOBODY
    s.turn = 0
    s.active = NOBODY
    s.caller = NOBODY
    s.extra_turns = 0
    s.shuffles = 1
    s.ability_used = False
    s.put = NOBODY
    s.tucked = b""
    s.pool = b""
    s.excluded = b""


def _begin(s: State, action: int) -> int:
    key = game_key(s.secret, s.entropy)
    if s.holder == NOBODY:
        in_play = sorted(s.options.villages)
        s.holder = s.options.villages.index(in_play[first_start(key, len(in_play))])
    s.round += 1
    deal(s, shuffle.arrange(key, s.round, 0, faces_in_play(s.cards)))
    s.stack[SEAT] = s.holder
    s.stack[N] = 0
    if s.events is not None:
        first = s.pile[0]
        s.events.append((ROUND_BEGAN, s.holder, s.round, 0, EVERYBODY, (first, s.identity[first])))
    return NEXT


def _peek_choices(s: State) -> list[int]:
    return _PAIRS[:]


def _peek(s: State, action: int) -> int:
    seat = s.stack[SEAT]
    village = s.villages[seat]
    moves.look(s, seat, [village[action >> 9 & 7], village[action >> 6 & 7]])
    s.stack[SEAT] = (seat + 1) % s.options.players
    s.stack[N] += 1
    return AGAIN if s.stack[N] < s.options.players else NEXT


def _turns(s: State, action: int) -> int:
    s.stack[N] = 0
    push(s, programs.TURN, s.holder)
    return NEXT


#: The step from which all villages lie open.
SCORING_STEP: Final = 4

PROGRAM: Final[tuple[Step, ...]] = (
    do(_begin),
    ask(PEEK_KIND, _peek_choices, then=_peek, interruptible=False),
    do(_turns),
    do(scoring.reveal),
    do(scoring.next_scorer),
    do(scoring.finish_round),
)
