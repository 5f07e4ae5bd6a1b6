"""Estimates: what each card on the table can be, for all that one seat knows of it."""

from __future__ import annotations

from math import fsum
from typing import Final

from moonvale_agents.judgement import Judgement
from moonvale_engine.deck import copies
from moonvale_engine.events import UNKNOWN
from moonvale_engine.inference import excluded_numbers
from moonvale_engine.options import NUMBERS
from moonvale_engine.state import CARDS, FACEUP, HIDDEN, POOL_FACEUP, POOLED, SIDEWAYS, VILLAGE_SIZE, VILLAGES, State

HIDDEN_NUMBER: Final = -1
_DEALT: Final = VILLAGES * VILLAGE_SIZE  # handles below lay in a village from the deal on


class Slot:
    """A card, or one that there might be: its number, or HIDDEN_NUMBER and the chance of each number."""

    def __init__(
        self,
        handle: int,
        number: int,
        value: float,
        variance: float,
        chances: list[float],
        faceup: bool,
        sideways: bool = False,
    ) -> None:
        self.handle = handle
        self.number = number
        self.value = value  # printed, or the mean of what it can be
        self.variance = variance  # of the value, 0.0 where it is known
        self.chances = chances  # of each number; empty where it is known
        self.faceup = faceup
        self.sideways = sideways

    def lying(self, faceup: bool) -> Slot:
        """Return the card as it is when it lies so."""
        return Slot(self.handle, self.number, self.value, self.variance, self.chances, faceup, self.sideways)

    def shown(self, number: int, value: float, faceup: bool) -> Slot:
        """Return the card as it is if it turns out to have a number."""
        return Slot(self.handle, number, value, 0.0, [], faceup, self.sideways)


class Estimates:
    """What the viewer of a position can say of every handle, once it has counted which of the 52 cards are left."""

    def __init__(self, s: State, viewer: int, judgement: Judgement) -> None:
        self.s = s
        self.viewer = viewer
        self._judgement = judgement
        self.values = [float(card.value) for card in s.cards]
        left = [float(copies(number)) for number in range(NUMBERS)]
        for face in s.identity:
            if face != UNKNOWN:
                left[face & 15] -= 1
        pooled = _pooled(s, left) if s.pool else left
        self._pooled = _shares(pooled)
        self._unpooled = _shares(left)

    def slot(self, h: int, owner: int = -1) -> Slot:
        """Return what can be said of a card. ``owner``: in whose village it lies, if in one."""
        flags = self.s.flags[h]
        faceup = flags & FACEUP != 0
        sideways = flags & SIDEWAYS != 0
        if self.s.identity[h] != UNKNOWN:
            number = self.s.identity[h] & 15
            return Slot(h, number, self.values[number], 0.0, [], faceup, sideways)
        chances = self.chances(h)
        value = self._mean(chances)
        variance = fsum([chance * (self.values[i] - value) ** 2 for i, chance in enumerate(chances)])
        if owner >= 0 and owner != self.viewer and self.s.known[h] >> owner & 1:
            value *= self._part(h)
        return Slot(h, HIDDEN_NUMBER, value, variance, chances, faceup, sideways)

    def _part(self, h: int) -> float:
        """Return what part of the mean a card counts that its owner has seen and kept: the worst go first."""
        judgement = self._judgement
        turns = self.s.turn / self.s.options.players
        if h < _DEALT:
            return max(judgement.least, judgement.kept - judgement.settling * turns)
        return max(judgement.least, judgement.drawn - judgement.settling / 2 * turns)

    def chances(self, h: int) -> list[float]:
        """Return the chance of each number for a card whose face is unknown."""
        chances = self._pooled if self.s.flags[h] & POOLED else self._unpooled
        excluded = excluded_numbers(self.s, h) if self.s.excluded else 0
        if excluded:
            allowed = _shares([0.0 if excluded >> i & 1 else chance for i, chance in enumerate(chances)])
            return allowed if fsum(allowed) > 0 else chances
        return chances

    def known(self, number: int, faceup: bool) -> Slot:
        """Return a card of a number that doesn't lie anywhere yet."""
        return Slot(UNKNOWN, number, self.values[number], 0.0, [], faceup)

    def unknown(self) -> Slot:
        """Return a facedown card of the deck that nobody has seen."""
        chances = self._pooled if self.s.deck and self.s.flags[self.s.deck[-1]] & POOLED else self._unpooled
        return Slot(UNKNOWN, HIDDEN_NUMBER, self._mean(chances), 0.0, chances, False)

    def _mean(self, chances: list[float]) -> float:
        return fsum([chance * self.values[i] for i, chance in enumerate(chances)])


def _pooled(s: State, left: list[float]) -> list[float]:
    """Return how many of each number the shuffled cards that the viewer has not seen since hold, on average (EYE-1).

    What is left afterwards in ``left`` lies elsewhere.
    """
    entries = [0.0] * NUMBERS
    for entry in s.pool[::2]:
        if not entry & POOL_FACEUP:
            entries[entry & 15] += 1
    hidden = 0
    for h in range(CARDS):
        flags = s.flags[h]
        if flags & POOLED:
            if s.identity[h] == UNKNOWN:
                hidden += 1
            elif not flags & HIDDEN and entries[s.identity[h] & 15] > 0:
                entries[s.identity[h] & 15] -= 1
    entries = [min(count, left[i]) for i, count in enumerate(entries)]
    for i, count in enumerate(entries):
        left[i] -= count
    others = max(0.0, hidden - fsum(entries))
    total = fsum(left)
    return [count + (others * left[i] / total if total > 0 else 0.0) for i, count in enumerate(entries)]


def _shares(counts: list[float]) -> list[float]:
    """Return counts as parts of one; of nothing, equal parts."""
    total = fsum([max(0.0, count) for count in counts])
    return [max(0.0, count) / total for count in counts] if total > 0 else [1.0 / NUMBERS] * NUMBERS
