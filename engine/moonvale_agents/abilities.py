"""What abilities are worth when they are begun, one small function for each card, in the words of the card.

A function gets the reading and the pile below the card, its top first. It looks for the best targets there are now;
``targets`` chooses among them, one by one, once the ability has begun.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Final

from moonvale_agents.estimates import HIDDEN_NUMBER, Slot
from moonvale_agents.exchanges import NEVER, best_exchange
from moonvale_agents.reading import Reading
from moonvale_engine.cards.coin.nosferatu import REACH
from moonvale_engine.cards.coin.psychic import LOOKS
from moonvale_engine.events import NOBODY

Worth = Callable[[Reading, list[Slot]], float]


def worth_of_use(r: Reading, number: int, below: list[Slot]) -> float:
    """Return what it is worth to use the draw ability of a card of a number; NEVER where it has none."""
    worth = DRAWN.get(r.s.cards[number].key)
    return NEVER if worth is None else worth(r, below)


def worth_in_hand(r: Reading, card: Slot, top: int, below: list[Slot]) -> float:
    """Return the best that a card drawn from the deck is worth: discarded, used or exchanged."""
    if card.number == HIDDEN_NUMBER:
        return best_exchange(r, card, top).gain
    best = best_exchange(r, card, top).gain
    refused = r.refusal(card, top) > 0
    if not refused:
        best = max(best, -r.feeding(card))
    if not refused or r.s.cards[card.number].stays:
        best = max(best, worth_of_use(r, card.number, below) - r.feeding(card))
    if best == NEVER:  # it fits nowhere and is kept (OBS-4)
        return r.addition(r.me, card)
    return best


def every_card(r: Reading) -> list[tuple[int, int]]:
    """Return the seat and the spot of every village card."""
    return [(seat, spot) for seat in range(r.players) for spot in range(len(r.villages[seat]))]


def flips(r: Reading, faceup: bool | None = None, but: tuple[int, int] | None = None) -> list[float]:
    """Return what each flip is worth, the best first. ``faceup``: of cards that lie so. ``but``: not of this one."""
    gains = [
        r.flip(seat, spot)
        for seat, spot in every_card(r)
        if (faceup is None or r.villages[seat][spot].faceup == faceup) and (seat, spot) != but
    ]
    return sorted(gains, reverse=True)


def looks(r: Reading, seat: int) -> list[float]:
    """Return what each look into a village is worth, the best first."""
    return sorted([r.look(seat, i) for i, slot in enumerate(r.villages[seat]) if not slot.faceup], reverse=True)


def _best(gains: list[float]) -> float:
    return max(gains) if gains else NEVER


def apprentice_tanner(r: Reading, below: list[Slot]) -> float:
    """It stays faceup in the own village; then another card is flipped."""
    return r.addition(r.me, r.estimates.known(5, True)) + max(0.0, _best(flips(r)))


def huntress(r: Reading, below: list[Slot]) -> float:
    """A faceup card is turned facedown, then a facedown one faceup."""
    down, up = flips(r, True), flips(r, False)
    return _best(down) + (up[0] if up else 0.0)


def nostro(r: Reading, below: list[Slot]) -> float:
    """All facedown cards of one village are seen."""
    return _best([fsum(looks(r, seat)) for seat in range(r.players)])


def assassin(r: Reading, below: list[Slot]) -> float:
    """A faceup card of any village goes to the bottom of the pile."""
    return _best([r.removal(seat, i) for seat, i in every_card(r) if r.villages[seat][i].faceup])


def psychic(r: Reading, below: list[Slot]) -> float:
    """Up to three facedown cards are seen, one after the other."""
    gains = sorted([gain for seat in range(r.players) for gain in looks(r, seat)], reverse=True)
    return fsum([max(0.0, gain) for gain in gains[:LOOKS]])


def nosferatu(r: Reading, below: list[Slot]) -> float:
    """One of the three pile cards below is taken or activated."""
    gains: list[float] = []
    for i, slot in enumerate(below[:REACH]):
        gains.append(best_exchange(r, slot, NOBODY).gain)
        if slot.faceup and slot.number != HIDDEN_NUMBER:
            gains.append(worth_of_use(r, slot.number, below[i + 1 :]))
    return _best(gains)


def golem(r: Reading, below: list[Slot]) -> float:
    """The next pile card takes the place of a village card."""
    if not below:
        return NEVER
    return _best([r.replacement(seat, i, below[0]) for seat, i in every_card(r)])


def village_idiot(r: Reading, below: list[Slot]) -> float:
    """One card of every village moves on to the next one, in either direction."""
    return max(rotation(r, 1), rotation(r, -1))


def rotation(r: Reading, step: int) -> float:
    """Return what it is worth that chosen cards, of each village what ``leaves``, move ``step`` villages on."""
    seats = [seat for seat in range(r.players) if r.villages[seat]]
    if len(seats) < 2:
        return NEVER
    leaving = [leaves(r, seat) for seat in seats]
    total = 0.0
    for i, seat in enumerate(seats):
        source = (i - step) % len(seats)
        total += r.replacement(seat, leaving[i], r.villages[seats[source]][leaving[source]])
    return total


def leaves(r: Reading, seat: int) -> int:
    """Return the spot of the card that the reader would have leave a village: whose loss is worth most to it."""
    village = r.villages[seat]
    gains = [r.removal(seat, i) for i in range(len(village))]
    return gains.index(max(gains))


def twister(r: Reading, below: list[Slot]) -> float:
    """As many different cards are flipped as lie in the own village."""
    return fsum(flips(r)[: len(r.mine())])


def ghost(r: Reading, below: list[Slot]) -> float:
    """One card of any village is discarded."""
    return _best([r.removal(seat, i) for seat, i in every_card(r)])


def split_seer(r: Reading, below: list[Slot]) -> float:
    """One facedown card of each village is seen."""
    return fsum([looks(r, seat)[0] for seat in range(r.players) if looks(r, seat)])


def dracula(r: Reading, below: list[Slot]) -> float:
    """The five pile cards below go below the deck."""
    return r.feeding(below[0]) if below else NEVER


def underminer(r: Reading, below: list[Slot]) -> float:
    """Exactly two cards of one village are exchanged with two pile cards."""
    if len(below) < 2:
        return NEVER
    return _best([undermining(r, seat, spot, below) for seat, spot in every_card(r) if len(r.villages[seat]) > 1])


def undermining(r: Reading, seat: int, spot: int, pile: list[Slot]) -> float:
    """Return what it is worth to exchange this card and the best second one, each for the best pile card."""
    village = r.villages[seat]
    order = pile_order(r, seat, pile)
    best = NEVER
    for other in range(len(village)):
        if other != spot:
            changed = village[:]
            changed[spot] = pile[order[0]]
            changed[other] = pile[order[1]]
            best = max(best, r.gain(seat, changed))
    return best


def pile_order(r: Reading, seat: int, pile: list[Slot]) -> list[int]:
    """Return the places of pile cards, first those that the reader would like best in a village."""
    order = sorted(range(len(pile)), key=lambda i: pile[i].value)
    return order if seat == r.me else order[::-1]


def drunk(r: Reading, below: list[Slot]) -> float:
    """The top card of the deck joins any village."""
    if not r.s.deck:
        return NEVER
    top = r.estimates.slot(r.s.deck[-1])
    return _best([r.addition(seat, top) for seat in range(r.players)])


def tanner(r: Reading, below: list[Slot]) -> float:
    """It stays faceup in the own village; all own facedown cards are turned faceup."""
    return r.addition(r.me, r.estimates.known(5, True)) + turned_faceup(r)


def turned_faceup(r: Reading) -> float:
    """Return what it is worth that all own facedown cards turn up."""
    return fsum([r.flip(r.me, spot) for spot, slot in enumerate(r.mine()) if not slot.faceup])


#: What the ability of each card is worth when it was drawn or is activated, by the key of its card type.
DRAWN: Final[dict[str, Worth]] = {
    "apprentice_tanner": apprentice_tanner,
    "huntress": huntress,
    "nostro": nostro,
    "assassin": assassin,
    "psychic": psychic,
    "nosferatu": nosferatu,
    "golem": golem,
    "village_idiot": village_idiot,
    "tanner": tanner,
    "twister": twister,
    "ghost": ghost,
    "split_seer": split_seer,
    "dracula": dracula,
    "underminer": underminer,
    "drunk": drunk,
}
