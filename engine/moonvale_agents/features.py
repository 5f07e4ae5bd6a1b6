"""Features: what the value network is told of a village and of the table around it, as numbers of about one."""

from __future__ import annotations

from math import exp
from typing import Final

from moonvale_engine.options import NUMBERS
from moonvale_engine.scoring import village_sum
from moonvale_engine.state import FACEUP, SIDEWAYS, State

_TEN: Final = 10.0
SUMMARY: Final = 14  # numbers that say how a village stands, of which others are told
_TYPES: Final = 28
_TABLE: Final = 14
_RACE: Final = 6
FEATURES: Final = 2 * SUMMARY + _TYPES + _TABLE + NUMBERS + 2 * SUMMARY + _RACE
_SUM: Final = 11  # where a summary has the sum


def summary(s: State, seat: int) -> list[float]:
    """Return how a village stands, for all that its owner knows and for what its cards are."""
    known = unknown = biggest = 0
    unseen = faceup = 0
    sums = [0] * NUMBERS
    counts = [0] * NUMBERS
    values = s.types.values
    for h in s.villages[seat]:
        face = s.identity[h]
        value = values[face]
        up = s.flags[h] & FACEUP != 0
        if up:
            faceup += 1
        if up or s.known[h] >> seat & 1:
            known += value
            sums[face & 15] += value
            counts[face & 15] += 1
        else:
            unseen += 1
            unknown += value
            if value > biggest:
                biggest = value
    pairs = paired = 0
    first = second = third = 0
    for number in range(NUMBERS):
        total = sums[number]
        if counts[number] > 1:
            pairs += counts[number] - 1
            paired += total
        if total > first:
            first, second, third = total, first, second
        elif total > second:
            second, third = total, second
        elif total > third:
            third = total
    size = len(s.villages[seat])
    return [
        size / 5.0,
        max(0, size - s.rules.call_limit) / 2.0,
        known / _TEN,
        unknown / _TEN,
        unseen / 3.0,
        biggest / _TEN,
        first / _TEN,
        second / _TEN,
        third / _TEN,
        pairs / 2.0,
        paired / _TEN,
        village_sum(s, seat) / _TEN,
        faceup / 3.0,
        1.0 if size <= 2 else 0.0,
    ]


def features(s: State, seat: int, summaries: list[list[float]]) -> list[float]:
    """Return what bears upon the points that a seat will score in this round, FEATURES numbers.

    The state is a whole one, at the beginning of a turn. ``summaries``: of all villages.
    """
    players = s.options.players
    result = summaries[seat][:]
    types = [0.0] * _TYPES
    cards = s.types.cards
    flags = s.flags
    sideways = 0.0
    for h in s.villages[seat]:
        if flags[h] & FACEUP:
            types[cards[s.identity[h] & 15].id] += 1.0
        if flags[h] & SIDEWAYS:
            sideways += s.types.values[s.identity[h]] / _TEN
    away = (seat - s.seat) % players
    left = (len(s.deck) - away) / players
    deck = 0
    for h in s.deck:
        deck += s.types.values[s.identity[h]]
    top = s.types.values[s.identity[s.pile[-1]]] if s.pile else 10
    turn = s.turn / players
    late = exp(-left / 5.0)
    last = exp(-left / 2.0)
    result += [number * late for number in result]
    result += types
    result += [
        sideways,
        left / _TEN,
        last,
        late,
        1.0 if away == 0 else 0.0,
        away / players,
        1.0 if players == 2 else 0.0,
        1.0 if players == 4 else 0.0,
        deck / (len(s.deck) + 1) / 5.0,
        top / _TEN if away == 0 else 0.6,
        max(0, 4 - top) / 4.0 if away == 0 else 0.0,
        1.0 if s.token_active and s.holder == seat else 0.0,
        1.0 if s.token_active and s.holder != seat else 0.0,
        exp(-turn / 3.0),
    ]
    result += [0.0 if card.deck == "coin" else 1.0 for card in cards]
    mean = [0.0] * SUMMARY
    least = [99.0] * SUMMARY
    for other in range(players):
        if other != seat:
            row = summaries[other]
            for i in range(SUMMARY):
                mean[i] += row[i] / (players - 1)
                if row[i] < least[i]:
                    least[i] = row[i]
    result += mean
    result += least
    own = summaries[seat][_SUM]
    rival = 2.0  # the sum of the best village whose owner may call
    best = least[_SUM]
    for other in range(players):
        if other != seat and len(s.villages[other]) <= s.rules.call_limit and summaries[other][_SUM] < rival:
            rival = summaries[other][_SUM]
    mine = own if len(s.villages[seat]) <= s.rules.call_limit else 2.0
    result += [
        own * last,
        min(mine, 2.0),
        rival,
        max(0.0, min(mine, 2.0) - best) if mine < 2.0 else 0.0,
        max(0.0, best - mine),
        max(0.0, own - rival),
    ]
    return result
