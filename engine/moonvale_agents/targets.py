"""Choices of an ability that has begun: its cards, villages, pile cards and directions, one small function for each."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Final

from moonvale_agents.abilities import leaves, looks, pile_order, rotation, undermining, worth_of_use
from moonvale_agents.estimates import Slot
from moonvale_agents.exchanges import best_exchange
from moonvale_agents.reading import Reading, pile_top
from moonvale_engine import actions as act
from moonvale_engine.state import find_seat

Scorer = Callable[[Reading, int], float]

#: What it adds to a discard that a Spotter is declared for it, if what it finds is worth discarding.
_SPOTTING: Final = 0.1


def target(r: Reading, action: int) -> tuple[int, int]:
    """Return the seat and the spot that a PICK names."""
    square = act.x_of(action)
    return act.seat_of(square), act.spot_of(square)


def flipped(r: Reading, action: int) -> float:
    """A card is turned over."""
    seat, spot = target(r, action)
    return r.flip(seat, spot)


def looked_at(r: Reading, action: int) -> float:
    """A facedown card is seen; to stop is worth nothing."""
    seat, spot = target(r, action)
    return r.look(seat, spot)


def village_seen(r: Reading, action: int) -> float:
    """All facedown cards of a village are seen."""
    return fsum(looks(r, act.x_of(action)))


def taken_away(r: Reading, action: int) -> float:
    """A card leaves a village; Spotters may be declared."""
    seat, spot = target(r, action)
    slot = r.villages[seat][spot]
    return (1 - r.refusal(slot, pile_top(r.s))) * r.removal(seat, spot) + spotting(slot, act.y_of(action))


def buried(r: Reading, action: int) -> float:
    """A card goes to the bottom of the pile, which demands nothing."""
    seat, spot = target(r, action)
    return r.removal(seat, spot)


def spotting(slot: Slot, declared: int) -> float:
    """Return what Spotters add to the discard of a card: they should not find a low one."""
    return declared * (_SPOTTING if slot.value > 1 else -_SPOTTING)


def replaced_from_pile(r: Reading, action: int) -> float:
    """The topmost other pile card takes the place of a village card."""
    seat, spot = target(r, action)
    others = [h for h in r.s.pile if h != r.s.noted[0]]
    return r.replacement(seat, spot, r.estimates.slot(others[-1]))


def direction(r: Reading, action: int) -> float:
    """Cards move on, clockwise or counterclockwise."""
    return rotation(r, 1 if act.x_of(action) == act.CLOCKWISE else -1)


def moved_on(r: Reading, action: int) -> float:
    """A card of each village moves on: the one that the reader would have leave."""
    seat, spot = target(r, action)
    return 1.0 if spot == leaves(r, seat) else 0.0


def taken_by_nosferatu(r: Reading, action: int) -> float:
    """A card below the top of the pile comes to hand, to be exchanged."""
    return best_exchange(r, r.estimates.slot(r.s.pile[-1 - act.x_of(action)]), pile_top(r.s)).gain


def activated(r: Reading, action: int) -> float:
    """The draw ability of a pile card is used."""
    pile = r.pile()
    depth = act.x_of(action)
    return worth_of_use(r, pile[depth].number, pile[depth + 1 :])


def village_card_undermined(r: Reading, action: int) -> float:
    """The first or the second card of a village to be exchanged with a pile card."""
    seat, spot = target(r, action)
    if r.s.step == 0:
        pile = [r.estimates.slot(h) for h in reversed(r.s.pile) if h != r.s.noted[0]]
        return undermining(r, seat, spot, pile)
    pile = [r.estimates.slot(h) for h in reversed(r.s.pile)]
    return r.replacement(seat, spot, pile[pile_order(r, seat, pile)[0]])


def pile_card_undermined(r: Reading, action: int) -> float:
    """The pile card for it: the reader's own village gets the best, another the worst."""
    seat = find_seat(r.s, r.s.noted[0])
    return -float(pile_order(r, seat, r.pile()).index(act.x_of(action)))


def given(r: Reading, action: int) -> float:
    """The top card of the deck joins a village."""
    return r.addition(act.x_of(action) >> 1, r.estimates.slot(r.s.deck[-1]))


def searched(r: Reading, action: int) -> float:
    """A Spotter looks into a village for a card of the discarded value."""
    seat = act.x_of(action)
    return fsum([_found(r, seat, i) for i, slot in enumerate(r.villages[seat]) if not slot.faceup])


def spotted(r: Reading, action: int) -> float:
    """It looks at a card, which is discarded if it has the value; to stop is worth nothing."""
    seat, spot = target(r, action)
    return _found(r, seat, spot)


def _found(r: Reading, seat: int, spot: int) -> float:
    """Return what it is worth that a Spotter looks at a card."""
    slot = r.villages[seat][spot]
    number = r.estimates.values.index(float(r.s.x - 1))
    chance = float(slot.number == number) if slot.number >= 0 else slot.chances[number]
    return chance * r.removal(seat, spot) + r.look(seat, spot)


#: What a PICK is worth, by the key of the card type, or the name of the program, whose ability asks.
PICKS: Final[dict[str, Scorer]] = {
    "coin_token": flipped,
    "pixie": flipped,
    "apprentice_tanner": flipped,
    "huntress": flipped,
    "twister": flipped,
    "psychic": looked_at,
    "split_seer": looked_at,
    "assassin": buried,
    "ghost": taken_away,
    "gambler": taken_away,
    "golem": replaced_from_pile,
    "village_idiot": moved_on,
    "underminer": village_card_undermined,
    "spotter": spotted,
}

#: What a VILLAGE is worth, likewise.
VILLAGES: Final[dict[str, Scorer]] = {
    "nostro": village_seen,
    "spotter": searched,
}
