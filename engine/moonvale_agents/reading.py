"""The table as one seat reads it: what each village will cost its owner, and what a change is worth to the reader."""

from __future__ import annotations

from math import erf, fsum, sqrt
from typing import Final

from moonvale_agents.estimates import HIDDEN_NUMBER, Estimates, Slot
from moonvale_agents.judgement import RESIDENTS, Judgement
from moonvale_engine.events import NOBODY
from moonvale_engine.options import NUMBERS
from moonvale_engine.position import Position
from moonvale_engine.state import FACEUP, State

# What a card does when it lies faceup at scoring.
_PLAIN: Final = 0
_NELLY: Final = 1
_ILLUSIONIST: Final = 2
_REGIFTER: Final = 3
_BOMBER: Final = 4
_WOLFMAN: Final = 5
_AT_SCORING: Final[dict[str, int]] = {
    "nelly": _NELLY,
    "illusionist": _ILLUSIONIST,
    "regifter": _REGIFTER,
    "mad_bomber": _BOMBER,
    "wolfman": _WOLFMAN,
}
_WOLFMAN_BELOW: Final = 13.0


class Reading:
    """A position, read. Villages are lists of slots; costs and gains are points of this round, gains the reader's.

    A village costs what it will count at scoring, once its owner has made the best of the turns that are left.
    """

    def __init__(self, position: Position, judgement: Judgement) -> None:
        s = position.state
        self.s = s
        self.judgement = judgement
        self.me: int = s.seat
        self.estimates = Estimates(s, position.viewer, judgement)
        self.players = s.options.players
        self.villages: list[list[Slot]] = [
            [self.estimates.slot(h, seat) for h in village] for seat, village in enumerate(s.villages)
        ]
        self.turns = 0 if s.caller != NOBODY else min(judgement.horizon, len(s.deck) // self.players)
        self._rules = [_AT_SCORING.get(card.key, _PLAIN) for card in s.cards]
        self._residents = [judgement.residents * RESIDENTS.get(card.key, 0.0) for card in s.cards]
        self.shares = self._weighed()
        self.costs = [self.cost(village, self.turns) for village in self.villages]
        self.variances = [fsum([slot.variance for slot in village]) for village in self.villages]
        self._standing = self._stands(self.costs)
        self._flips: dict[int, float] = {}
        self._looks: dict[int, float] = {}

    def _weighed(self) -> list[float]:
        """Return what a point of each seat is worth to the reader: its own one, the others' less one in all.

        Who has fewer points of the rounds before is the greater rival; who has resigned is none (END-7).
        """
        totals, resigned = self.s.totals, self.s.resigned
        least = min([totals[seat] for seat in range(self.players) if seat not in resigned])
        weights = [
            0.0 if seat == self.me or seat in resigned else 1.0 / (1.0 + self.judgement.leader * (totals[seat] - least))
            for seat in range(self.players)
        ]
        total = fsum(weights)
        return [1.0 if seat == self.me else -weight / total for seat, weight in enumerate(weights)]

    def mine(self) -> list[Slot]:
        """Return the reader's village."""
        return self.villages[self.me]

    # What a village costs.

    def cost(self, village: list[Slot], turns: int, may_call: bool = True) -> float:
        """Return what a village will cost after so many more turns of its owner, who may still call or not."""
        judgement = self.judgement
        total = 0.0
        nellys = bombers = regifters = wolves = 0
        rest: list[Slot] = []
        for slot in village:
            if slot.faceup and slot.number >= 0:
                rule = self._rules[slot.number]
                total -= self._residents[slot.number] * turns
                if rule == _ILLUSIONIST:
                    total -= max(0, len(self.s.deck) - turns * self.players)
                    continue
                if rule == _NELLY:
                    nellys += 1
                    continue
                if rule == _BOMBER:
                    bombers += 1
                    continue
                if rule == _REGIFTER:
                    regifters += 1
                    continue
                if rule == _WOLFMAN:
                    wolves += 1
            rest.append(slot)
        over = len(village) - self.s.rules.call_limit if turns > 0 and may_call else 0
        if over > 0:
            total += judgement.call_option * over
        rest.sort(key=_by_value)
        for _ in range(nellys):
            total -= rest.pop().value if rest and rest[-1].value > 0 else 1.0
        for _ in range(bombers + regifters):
            if rest and rest[-1].value > 0:
                rest.pop()
        counted = fsum([slot.value for slot in rest])
        if wolves and counted - _WOLFMAN_BELOW < _WOLFMAN_BELOW:
            return total + min(0.0, counted)
        total += counted
        return total - self._improvement(rest, over, turns) if turns > 0 else total

    def _improvement(self, cards: list[Slot], over: int, turns: int) -> float:
        """Return what the best exchanges of the turns to come take off, each for a typical card."""
        judgement = self.judgement
        gains: list[float] = []
        groups = [0] * NUMBERS
        for slot in cards:
            if slot.number == HIDDEN_NUMBER:
                gains.append(slot.value - judgement.typical)
            else:
                groups[slot.number] += 1
        for number, count in enumerate(groups):
            if count:
                gain = count * self.estimates.values[number] - judgement.typical
                if count > 1 and over > 0:
                    gain += judgement.call_option * min(over, count - 1)
                gains.append(gain)
        gains.sort(reverse=True)
        total = 0.0
        part = judgement.soon
        for gain in gains[:turns]:
            if gain <= 0:
                break
            total += part * gain
            part *= judgement.fading
        return total

    # What a change of a village is worth to the reader.

    def gain(self, seat: int, village: list[Slot]) -> float:
        """Return what it is worth that a seat's village becomes this one."""
        cost = self.cost(village, self.turns)
        if self.s.caller == NOBODY:
            return self.shares[seat] * (self.costs[seat] - cost)
        costs = self.costs[:]
        costs[seat] = cost
        return self._stands(costs) - self._standing

    def _stands(self, costs: list[float]) -> float:
        """Return how well the reader comes off if villages cost so much, a call that was made included (END-4)."""
        total = -fsum([share * cost for share, cost in zip(self.shares, costs, strict=True)])
        caller = self.s.caller
        if caller == NOBODY:
            return total
        own = costs[caller]
        success = 1.0
        for seat in range(self.players):
            if seat != caller:
                to_come = 0 < (seat - self.me) % self.players < (caller - self.me) % self.players
                success *= self.success(own, costs[seat], caller, seat, self.judgement.luck if to_come else 0.0)
        return total - self.shares[caller] * (self.called(own, success) - own)

    # A call.

    def success(self, own: float, other: float, caller: int, seat: int, luck: float) -> float:
        """Return the chance that a village counts no less than the caller's; a tie is enough."""
        variance = self.variances[caller] + self.variances[seat] + luck**2
        return 0.5 + 0.5 * erf((other - own + 0.5) / sqrt(2 * variance + 0.01))

    def called(self, own: float, success: float) -> float:
        """Return what a caller scores on average."""
        best = 0.0 if self.s.options.successful_call == "zero" else min(0.0, own)
        return success * best + (1 - success) * (own + self.s.rules.failed_call)

    def removal(self, seat: int, at: int) -> float:
        """Return what it is worth that a village card goes away."""
        village = self.villages[seat]
        return self.gain(seat, village[:at] + village[at + 1 :])

    def replacement(self, seat: int, at: int, new: Slot) -> float:
        """Return what it is worth that another card takes the place of a village card."""
        village = self.villages[seat]
        return self.gain(seat, [*village[:at], new, *village[at + 1 :]])

    def addition(self, seat: int, new: Slot) -> float:
        """Return what it is worth that a card joins a village."""
        if new.number == HIDDEN_NUMBER and new.faceup:
            return self._on_average(seat, len(self.villages[seat]), [*self.villages[seat], new], True)
        return self.gain(seat, [*self.villages[seat], new])

    def flip(self, seat: int, at: int) -> float:
        """Return what it is worth that a village card is turned over."""
        village = self.villages[seat]
        slot = village[at]
        if slot.number != HIDDEN_NUMBER:
            return self.replacement(seat, at, slot.lying(not slot.faceup))
        if seat not in self._flips:
            self._flips[seat] = self._on_average(seat, at, village, True)
        return self._flips[seat]

    def look(self, seat: int, at: int) -> float:
        """Return what it is worth to see a facedown card."""
        village = self.villages[seat]
        if village[at].number != HIDDEN_NUMBER:
            return 0.0
        if seat != self.me:
            return self.judgement.look
        if seat not in self._looks:
            self._looks[seat] = self._on_average(seat, at, village, False)
        return self._looks[seat]

    def _on_average(self, seat: int, at: int, village: list[Slot], faceup: bool) -> float:
        """Return what it is worth that the unknown card of a village turns out to be what it is."""
        slot = village[at]
        total = 0.0
        for number, chance in enumerate(slot.chances):
            if chance > 0:
                shown = slot.shown(number, self.estimates.values[number], faceup)
                total += chance * self.gain(seat, [*village[:at], shown, *village[at + 1 :]])
        return total

    # The deck and the pile.

    def drawn(self) -> list[tuple[float, Slot]]:
        """Return what the top card of the deck can be: each chance with the card."""
        if not self.s.deck:
            return []
        top = self.estimates.slot(self.s.deck[-1])
        if top.number != HIDDEN_NUMBER:
            return [(1.0, top)]
        return [
            (chance, self.estimates.known(number, top.faceup))
            for number, chance in enumerate(top.chances)
            if chance > 0
        ]

    def pile(self) -> list[Slot]:
        """Return the pile, its top first."""
        return [self.estimates.slot(h) for h in reversed(self.s.pile)]

    def refusal(self, slot: Slot, top: int) -> float:
        """Return the chance that a card may not be put on a pile with this top, or NOBODY (OBS-2)."""
        s = self.s
        if top == NOBODY or not s.flags[top] & FACEUP:
            return 0.0
        meets = s.cards[s.identity[top] & 15].meets
        if meets is None:
            return 0.0
        if slot.number != HIDDEN_NUMBER:
            return 0.0 if meets(s, top, s.cards[slot.number].value) else 1.0
        return fsum([chance for number, chance in enumerate(slot.chances) if not meets(s, top, s.cards[number].value)])

    def feeding(self, slot: Slot) -> float:
        """Return what it costs to put a card on the pile, where the next player may take it."""
        if self.s.caller == (self.me + 1) % self.players:
            return 0.0
        return self.judgement.feed * max(0.0, self.judgement.typical - slot.value)


def _by_value(slot: Slot) -> float:
    return slot.value


def pile_top(s: State) -> int:
    """Return the top card of the pile, or NOBODY."""
    return s.pile[-1] if s.pile else NOBODY
