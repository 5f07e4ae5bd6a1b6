"""Features: what the value network is told of a village and of the table around it, as numbers of about one.

Their order and scale belong to the weights: whoever changes one of them has to fit the network anew.
"""

from __future__ import annotations

from math import exp
from typing import Final

from moonvale_engine.options import NUMBERS
from moonvale_engine.scoring import village_sum
from moonvale_engine.state import FACEUP, SIDEWAYS, State

SUMMARY: Final = 14  # numbers that say how a village stands, which the others are told, too
_SUM: Final = 11  # the one of them that is its sum
_TYPES: Final = 28  # card types of all decks
_TABLE: Final = 14
_RACE: Final = 6
FEATURES: Final = 2 * SUMMARY + _TYPES + _TABLE + NUMBERS + 2 * SUMMARY + _RACE

_TEN: Final = 10.0  # points that make one
_FAR: Final = 2.0  # the sum, in tens, that a village counts as whose owner can't call


def summary(s: State, seat: int) -> list[float]:
    """Return how a village stands, by what its owner knows of it and by what its cards are."""
    known = unknown = highest = 0
    unseen = faceup = 0
    sums = [0] * NUMBERS  # of the cards that the owner knows
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
            highest = max(highest, value)
    pairs = paired = 0
    first = second = third = 0  # what the best exchanges would take away: all cards of a number
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
        highest / _TEN,
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

    The state is a whole one at the beginning of a turn. ``summaries``: of all villages.
    """
    players = s.options.players
    away = (seat - s.seat) % players  # turns until it is the seat's
    left = (len(s.deck) - away) / players  # own turns to come
    late = exp(-left / 5.0)
    last = exp(-left / 2.0)
    result = summaries[seat][:]
    result += [number * late for number in result]
    result += _faceup_types(s, seat)
    result += _table(s, seat, away, [left / _TEN, last, late])
    result += [0.0 if card.deck == "coin" else 1.0 for card in s.types.cards]
    mean = [0.0] * SUMMARY
    least = [99.0] * SUMMARY
    for other in range(players):
        if other != seat:
            for i, number in enumerate(summaries[other]):
                mean[i] += number / (players - 1)
                least[i] = min(least[i], number)
    result += mean
    result += least
    result += _race(s, seat, summaries, least[_SUM], last)
    return result


def _faceup_types(s: State, seat: int) -> list[float]:
    """Return how many faceup cards of each type lie in a village."""
    types = [0.0] * _TYPES
    for h in s.villages[seat]:
        if s.flags[h] & FACEUP:
            types[s.types.cards[s.identity[h] & 15].id] += 1.0
    return types


def _table(s: State, seat: int, away: int, turns: list[float]) -> list[float]:
    """Return how the table stands for a seat; ``turns``: the features of the own turns that are left."""
    players = s.options.players
    values = s.types.values
    sideways = sum([values[s.identity[h]] for h in s.villages[seat] if s.flags[h] & SIDEWAYS])
    deck = sum([values[s.identity[h]] for h in s.deck])
    top = values[s.identity[s.pile[-1]]] if s.pile else 10
    return [
        sideways / _TEN,
        *turns,
        1.0 if away == 0 else 0.0,
        away / players,
        1.0 if players == 2 else 0.0,
        1.0 if players == 4 else 0.0,
        deck / (len(s.deck) + 1) / 5.0,
        top / _TEN if away == 0 else 0.6,  # an unknown top is taken for a mean one
        max(0, 4 - top) / 4.0 if away == 0 else 0.0,
        1.0 if s.token_active and s.holder == seat else 0.0,
        1.0 if s.token_active and s.holder != seat else 0.0,
        exp(-s.turn / players / 3.0),
    ]


def _race(s: State, seat: int, summaries: list[list[float]], least: float, last: float) -> list[float]:
    """Return who is how near to a call. ``least``: the lowest sum of the others; ``last``: how near the end is."""
    own = summaries[seat][_SUM]
    mine = _FAR
    rival = _FAR  # the lowest sum of those who may call
    for other, village in enumerate(s.villages):
        if len(village) <= s.rules.call_limit:
            if other == seat:
                mine = own
            else:
                rival = min(rival, summaries[other][_SUM])
    return [
        own * last,
        min(mine, _FAR),
        rival,
        max(0.0, mine - least) if mine < _FAR else 0.0,
        max(0.0, least - mine),
        max(0.0, own - rival),
    ]
