"""The turn: what main actions, free abilities and the card in hand are worth."""

from __future__ import annotations

from math import fsum
from typing import Final

from moonvale_agents.abilities import flips, worth_in_hand, worth_of_use
from moonvale_agents.estimates import Slot
from moonvale_agents.exchanges import NEVER, best_exchange, exchange_gain
from moonvale_agents.reading import Reading, pile_top
from moonvale_agents.targets import spotting
from moonvale_engine import actions as act
from moonvale_engine import programs
from moonvale_engine.decisions import TURN_END
from moonvale_engine.events import NOBODY
from moonvale_engine.hand import named
from moonvale_engine.play import decision_kind

_SECOND_STEP: Final = 0.6  # what part of a Curator's discard is worth, when its card has only been turned

_WEARINESS: Final = 0.3  # points that a pile card is worth less with each turn that the round drags on


def draw(r: Reading, action: int) -> float:
    """The top card of the deck comes to hand."""
    top, pile = pile_top(r.s), r.pile()
    return fsum([chance * worth_in_hand(r, card, top, pile) for chance, card in r.drawn()])


def take(r: Reading, action: int) -> float:
    """The top card of the pile comes to hand, to be exchanged; in a round that drags on rather a card of the deck."""
    second = r.s.pile[-2] if len(r.s.pile) > 1 else NOBODY
    gain = best_exchange(r, r.estimates.slot(r.s.pile[-1]), second).gain
    return gain - _WEARINESS * max(0.0, r.s.turn / r.players - r.judgement.patience)


def draw_with_token(r: Reading, action: int) -> float:
    """The best card that the deck probably still holds comes to hand."""
    top, pile = pile_top(r.s), r.pile()
    worths = sorted([(worth_in_hand(r, card, top, pile), chance) for chance, card in r.drawn()], reverse=True)
    total, none_better = 0.0, 1.0
    for worth, chance in worths:
        here = 1 - (1 - chance) ** len(r.s.deck)
        total += none_better * here * worth
        none_better *= 1 - here
    return total


def choose_of_deck(r: Reading, action: int) -> float:
    """A card of the deck comes to hand."""
    card = r.estimates.known(act.x_of(action) & 15, act.y_of(action) == 1)
    return worth_in_hand(r, card, pile_top(r.s), r.pile())


def gamble(r: Reading, action: int) -> float:
    """The likeliest value is predicted: right, an own card goes; wrong, one comes."""
    right = max([chance for chance, _ in r.drawn()])
    prize = max([0.0, *[r.removal(r.me, spot) for spot in range(len(r.mine()))]])
    return right * prize + (1 - right) * r.addition(r.me, r.estimates.unknown())


def predict(r: Reading, action: int) -> float:
    """A value is predicted."""
    value = act.x_of(action) - 1
    return fsum([chance for chance, card in r.drawn() if card.value == value])


def discard(r: Reading, action: int) -> float:
    """The card in hand goes to the pile."""
    return -r.feeding(_hand(r))


def use(r: Reading, action: int) -> float:
    """The card in hand goes where it belongs, and its ability is used."""
    card = _hand(r)
    return worth_of_use(r, card.number, r.pile()) - (0.0 if r.s.cards[card.number].stays else r.feeding(card))


def name(r: Reading, action: int) -> float:
    """An own card is named for the exchange: the best set that goes on so."""
    return best_exchange(r, _hand(r), pile_top(r.s), [*_named(r), act.x_of(action)]).gain


def close(r: Reading, action: int) -> float:
    """The set is complete."""
    return exchange_gain(r, _named(r), _hand(r), pile_top(r.s))


def declare(r: Reading, action: int) -> float:
    """Spotters are declared for the set, which is then complete."""
    return close(r, action) + spotting(r.mine()[_named(r)[0]], act.x_of(action))


def _hand(r: Reading) -> Slot:
    return r.estimates.slot(r.s.hand)


def _named(r: Reading) -> list[int]:
    if r.s.program != programs.EXCHANGE:
        return []
    village = r.s.villages[r.me]
    return [village.index(h) for h in named(r.s)]


def use_resident(r: Reading, action: int) -> float:
    """A Con Artist or a Pixie is turned facedown, for one more turn or to flip another card."""
    spot = act.x_of(action)
    loss = r.flip(r.me, spot)
    if r.s.cards[r.mine()[spot].number].key == "con_artist":
        return loss + r.judgement.turn
    return loss + flips(r, None, but=(r.me, spot))[0]


def turn_card(r: Reading, action: int) -> float:
    """A Curator turns a card sideways, so that a later use can discard it: at the end of a turn, if it still lies."""
    slot = r.mine()[act.y_of(action)]
    if r.turns == 0 or slot.sideways or decision_kind(r.s) != TURN_END:
        return NEVER
    return _SECOND_STEP * r.removal(r.me, act.y_of(action))


def discard_resident(r: Reading, action: int) -> float:
    """By a Curator or a Simon an own card goes to the pile; Spotters may be declared."""
    spot = act.y_of(action)
    slot = r.mine()[spot]
    met = 1 - r.refusal(slot, pile_top(r.s))
    return met * (r.removal(r.me, spot) - r.feeding(slot)) + spotting(slot, act.z_of(action))


def use_token(r: Reading, action: int) -> float:
    """The Coin token flips any card; saved, it is worth something as long as there are turns."""
    return flips(r)[0] - (r.judgement.token if r.turns else 0.0)
