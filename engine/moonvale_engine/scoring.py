"""Round end: the cards' marks, scoring abilities in their order, scores, and the token's award (END-1 to END-6)."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves, programs
from moonvale_engine.actions import DONE
from moonvale_engine.decisions import SCORING
from moonvale_engine.events import (
    EVERYBODY,
    GAME_OVER,
    NOBODY,
    OVER_BY_ROUNDS,
    SCORED,
    SHOWN_ROUND_END,
    TOKEN_AWARDED,
)
from moonvale_engine.outcome import places
from moonvale_engine.state import CARDS, FACEUP, USED, State, clockwise, faceup_cards, push, type_of, value_of
from moonvale_engine.steps import AGAIN, NEXT, STOP, Step, ask

ORDER: Final = (1, 0, 13)  # numbers whose scoring abilities are chosen, in the order of END-2
NEXT_ROUND: Final = 0  # the step of the round's program that deals


def reveal(s: State, action: int) -> int:
    """All villages are shown to all; every card keeps the mark of how it lay, which is its facing (END-1)."""
    for h in range(CARDS):
        s.flags[h] &= ~USED
    moves.show(s, [h for village in s.villages for h in village], SHOWN_ROUND_END)
    return NEXT


def next_scorer(s: State, action: int) -> int:
    """Let the next player of the next stage resolve all of theirs, once clockwise from the holder in each (END-2)."""
    turn = s.n
    players = s.options.players
    if turn == len(ORDER) * players:
        return NEXT
    s.n += 1
    push(s, programs.SCORER, (s.holder + turn) % players, x=ORDER[turn // players])
    return AGAIN


def _uses(s: State) -> list[int]:
    uses = _DONE
    scoring = s.types.cards[s.x].scoring
    if scoring is not None:
        for h in faceup_cards(s, s.seat, s.x, unless=USED):
            uses = uses + scoring(s, s.seat, h)
    return uses


_DONE: Final = [DONE]


def _use(s: State, action: int) -> int:
    if action == DONE:
        return NEXT
    h = s.villages[s.seat][action >> 6 & 255]
    s.flags[h] |= USED
    score = type_of(s, h).score
    assert score is not None
    score(s, h, action)
    return AGAIN


SCORER_PROGRAM: Final[tuple[Step, ...]] = (ask(SCORING, _uses, then=_use, interruptible=False),)


def counted(s: State, h: int) -> int:
    """Return what a village card counts by itself: its value, as a host the negative value, or by its own rule."""
    if s.tucked and moves.tucked_under(s, h) != NOBODY:
        return -value_of(s, h)
    rule = type_of(s, h).counts
    return value_of(s, h) if rule is None or not s.flags[h] & FACEUP else rule(s, h)


def village_sum(s: State, seat: int) -> int:
    """Return what a village counts, its marked cards' own rules included (END-3, C13-1)."""
    total = sum([counted(s, h) for h in s.villages[seat]])
    result = total
    for h in s.villages[seat]:
        rule = type_of(s, h).village_sum
        if rule is not None and s.flags[h] & FACEUP:
            result = min(result, rule(s, h, total))
    return result


def _scores(s: State, sums: list[int]) -> tuple[list[int], bool]:
    """Return each seat's score, and whether the call, if any, succeeded (END-4)."""
    scores = sums[:]
    caller = s.caller
    if caller == NOBODY:
        return scores, False
    if sums[caller] == min(sums):
        scores[caller] = min(0, sums[caller]) if s.options.successful_call == "lower" else 0
        return scores, True
    if s.villages[caller]:
        scores[caller] += s.rules.failed_call
    return scores, False


def finish_round(s: State, action: int) -> int:
    """Score the round, award the token, and go on to the next round or end the game (END-3 to END-6)."""
    sums = [village_sum(s, seat) for seat in range(s.options.players)]
    scores, call_succeeded = _scores(s, sums)
    lowest = min(scores)
    tied = [seat for seat in clockwise(s, s.holder) if scores[seat] == lowest]
    winner = s.caller if call_succeeded and s.caller in tied else tied[0]
    s.holder = winner
    s.token_active = call_succeeded and winner == s.caller
    s.scores += tuple(scores)
    s.totals = tuple([total + score for total, score in zip(s.totals, scores, strict=True)])
    for seat, score in enumerate(scores):
        if s.events is not None:
            s.events.append((SCORED, seat, sums[seat], score, EVERYBODY, ()))
    if s.events is not None:
        s.events.append((TOKEN_AWARDED, winner, 1 if s.token_active else 0, 0, EVERYBODY, ()))
    if s.round < s.options.rounds:
        return NEXT_ROUND
    s.over = OVER_BY_ROUNDS
    if s.events is not None:
        s.events.append((GAME_OVER, NOBODY, s.over, 0, EVERYBODY, tuple(places(s))))
    return STOP
