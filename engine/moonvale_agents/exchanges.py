"""Exchanges: which own cards to give for a card in hand, how sure a set is, and what that is worth."""

from __future__ import annotations

from typing import Final

from moonvale_agents.estimates import HIDDEN_NUMBER, Slot
from moonvale_agents.reading import Reading
from moonvale_engine.hand import MOST_NAMED
from moonvale_engine.options import NUMBERS

NEVER: Final = -1000.0
_LIKELY: Final = 0.1  # a chance from which on an unknown card is thought of for a set


class Exchange:
    """Own spots, ascending, to give for a card in hand, and what that is worth. No spots: none can be given."""

    def __init__(self, spots: list[int], gain: float) -> None:
        self.spots = spots
        self.gain = gain


def best_exchange(r: Reading, new: Slot, top: int, begun: list[int] | None = None) -> Exchange:
    """Return the best exchange for a card.

    top: the card that the pile will have on top, or NOBODY. begun: spots that have been named already.
    """
    best = Exchange([], NEVER)
    for spots in _sets(r, top):
        if begun is None or spots[: len(begun)] == begun:
            gain = exchange_gain(r, spots, new, top)
            if gain > best.gain:
                best = Exchange(spots, gain)
    return best


def _sets(r: Reading, top: int) -> list[list[int]]:
    """Return the sets worth a thought: each card alone, all known cards of a number, and these with an unknown one."""
    village = r.mine()
    groups: list[list[int]] = [[] for _ in range(NUMBERS)]
    unknown: list[int] = []
    sets: list[list[int]] = []
    for spot, slot in enumerate(village):
        if slot.faceup and r.refusal(slot, top) > 0:
            continue
        sets.append([spot])
        if slot.number == HIDDEN_NUMBER:
            unknown.append(spot)
        else:
            groups[slot.number].append(spot)
    for number, group in enumerate(groups):
        if not group:
            continue
        if len(group) > 1:
            sets.append(group[:MOST_NAMED])
        if len(group) < MOST_NAMED:
            sets += [sorted([*group, spot]) for spot in unknown if village[spot].chances[number] >= _LIKELY]
    return sets


def exchange_gain(r: Reading, spots: list[int], new: Slot, top: int) -> float:
    """Return what it is worth to give these cards for one in hand, as likely as they match (EXC-3 to EXC-5, OBS-3)."""
    village = r.mine()
    cards = [village[spot] for spot in spots]
    match = _match(cards)
    example = min(cards, key=_certainty)
    refused = r.refusal(example, top)
    rest = [slot for spot, slot in enumerate(village) if spot not in spots]
    result = 0.0
    if refused < 1:
        result += match * (1 - refused) * (r.gain(r.me, [*rest, new]) - r.feeding(example))
    if refused > 0:
        result += match * refused * r.gain(r.me, [*village, new])
    if match < 1:
        failed = [slot.lying(False) if spot in spots else slot for spot, slot in enumerate(village)]
        failed.append(new)
        if len(cards) >= r.s.rules.penalty_from:
            failed.append(r.estimates.unknown())
        result += (1 - match) * r.gain(r.me, failed)
    return result


def _certainty(slot: Slot) -> float:
    return slot.variance


def _match(cards: list[Slot]) -> float:
    """Return the chance that cards have one number."""
    if len(cards) == 1:
        return 1.0
    total = 0.0
    for number in range(NUMBERS):
        chance = 1.0
        for slot in cards:
            chance *= slot.chances[number] if slot.number == HIDDEN_NUMBER else float(slot.number == number)
        total += chance
    return total
