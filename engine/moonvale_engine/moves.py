"""Moves: the only place where cards change zone, facing or rotation, and where somebody comes to know them.

Each function does one visible thing and writes its event (ABL-2, EXC-1, HID-1, HID-3).
"""

from __future__ import annotations

from moonvale_engine.actions import LEFT
from moonvale_engine.events import (
    ASIDE,
    DECK,
    DECK_BOTTOM,
    EVERYBODY,
    FLIPPED,
    HAND,
    LOOKED,
    MOVED,
    NOBODY,
    PILE,
    PILE_BOTTOM,
    SHOWN,
    SHOWN_REFUSED,
    TUCKED,
    TURNED,
)
from moonvale_engine.state import FACEUP, HIDDEN, POOL_FACEUP, POOLED, SEAT, SIDEWAYS, State


def _moved(s: State, h: int, start: int, end: int, audience: int = -1) -> None:
    if s.events is not None:
        if audience < 0:
            audience = _audience(s, h)
        s.events.append((MOVED, s.stack[SEAT], start, end, audience, (h, s.identity[h])))


def _audience(s: State, h: int) -> int:
    """Return who sees the face of a card that something happens to; assisted, all who have seen it before (HID-3)."""
    return s.known[h] if s.flags[h] & FACEUP or s.options.memory == "assisted" else 0


def find(s: State, h: int) -> int:
    """Return the square of a card in a village, or -1."""
    for seat, village in enumerate(s.villages):
        spot = village.find(h)
        if spot >= 0:
            return spot << 2 | seat
    return -1


def _take_out(s: State, square: int) -> None:
    """The card at a square leaves; the gap closes."""
    village, spot = s.villages[square & 3], square >> 2
    s.villages[square & 3] = village[:spot] + village[spot + 1 :]


def _put_in(s: State, square: int, h: int) -> None:
    """A card comes to a square, before the one that was there."""
    village, spot = s.villages[square & 3], square >> 2
    s.villages[square & 3] = village[:spot] + bytes((h,)) + village[spot:]


def _replace(s: State, square: int, h: int) -> None:
    """A card takes the place of another one."""
    village, spot = s.villages[square & 3], square >> 2
    s.villages[square & 3] = village[:spot] + bytes((h,)) + village[spot + 1 :]


def _on_top(s: State, h: int) -> None:
    """A card goes faceup and upright on top of the pile."""
    s.flags[h] = s.flags[h] & ~SIDEWAYS | FACEUP
    s.known[h] = EVERYBODY
    s.pile += bytes((h,))
    for card in s.cards:
        if card.reacts:
            s.put = h


def _from_deck(s: State) -> int:
    h = s.deck[-1]
    s.deck = s.deck[:-1]
    surface(s)
    return h


def _from_pile(s: State, depth: int) -> int:
    h = s.pile[-1 - depth]
    at = len(s.pile) - 1 - depth
    s.pile = s.pile[:at] + s.pile[at + 1 :]
    return h


def surface(s: State) -> None:
    """How the top card of the deck lies is public, a face too if faceup, even after a shuffle had hidden it (HID-2)."""
    if s.deck and s.flags[s.deck[-1]] & HIDDEN:
        h = s.deck[-1]
        s.flags[h] &= ~HIDDEN
        if s.flags[h] & FACEUP:
            s.flags[h] &= ~POOLED
            s.known[h] = EVERYBODY
            at = s.pool.find(bytes((s.identity[h] | POOL_FACEUP, EVERYBODY)))
            if at >= 0:
                s.pool = s.pool[:at] + s.pool[at + 2 :]


def draw_to_hand(s: State) -> int:
    """The active player draws the top card of the deck; facedown, nobody else sees it (EXC-1). Return its handle."""
    h = _from_deck(s)
    s.hand = h
    s.known[h] |= EVERYBODY if s.flags[h] & FACEUP else 1 << s.active
    _moved(s, h, DECK, HAND, _audience(s, h) | 1 << s.active)
    return h


def pile_to_hand(s: State, depth: int) -> int:
    """The active player takes a pile card in the facing that it has; facedown, nobody sees it. Return its handle."""
    h = _from_pile(s, depth)
    s.hand = h
    _moved(s, h, PILE + depth, HAND)
    return h


def hand_to_pile(s: State) -> int:
    """The card in hand goes faceup on top of the pile. Return its handle."""
    h = s.hand
    s.hand = NOBODY
    _on_top(s, h)
    _moved(s, h, HAND, PILE)
    return h


def show_hand(s: State) -> None:
    """The card in hand is turned faceup for all to see, as a card-5 whose ability begins is."""
    s.flags[s.hand] |= FACEUP
    s.known[s.hand] = EVERYBODY


def hand_to_spot(s: State, seat: int, spot: int) -> None:
    """The card in hand goes into a village as it lies, before the card that was at the spot."""
    h = s.hand
    s.hand = NOBODY
    _put_in(s, spot << 2 | seat, h)
    _moved(s, h, HAND, spot << 2 | seat)


def hand_to_end(s: State, seat: int, end: int) -> None:
    """The card in hand goes to an end of a village as it lies."""
    hand_to_spot(s, seat, 0 if end == LEFT else len(s.villages[seat]))


def deck_to_end(s: State, seat: int, end: int) -> None:
    """The top card of the deck joins a village as it lies; facedown, nobody sees it (EXC-5)."""
    h = _from_deck(s)
    spot = 0 if end == LEFT else len(s.villages[seat])
    _put_in(s, spot << 2 | seat, h)
    _moved(s, h, DECK, spot << 2 | seat)


def village_to_pile(s: State, h: int) -> None:
    """A card of a village goes faceup and upright on top of the pile."""
    square = find(s, h)
    _take_out(s, square)
    _on_top(s, h)
    _moved(s, h, square, PILE)


def village_to_pile_bottom(s: State, h: int) -> None:
    """A card of a village goes upright to the bottom of the pile, in its facing."""
    square = find(s, h)
    _take_out(s, square)
    s.flags[h] &= ~SIDEWAYS
    s.pile = bytes((h,)) + s.pile
    _moved(s, h, square, PILE_BOTTOM)


def deck_to_pile(s: State) -> int:
    """The top card of the deck is flipped onto the pile (E04-1). Return its handle."""
    h = _from_deck(s)
    _on_top(s, h)
    _moved(s, h, DECK, PILE)
    return h


def show_deck_top(s: State) -> int:
    """The top card of the deck is turned faceup for all to see, and stays there (OBS-5). Return its handle."""
    h = s.deck[-1]
    s.flags[h] |= FACEUP
    show(s, [h], SHOWN_REFUSED)
    return h


def pile_to_deck_bottom(s: State, depth: int, most: int) -> None:
    """Up to so many pile cards, from a depth down, go below the deck as a block, the former top uppermost (E10-1)."""
    for _ in range(min(most, len(s.pile) - depth)):
        h = _from_pile(s, depth)
        s.deck = bytes((h,)) + s.deck
        _moved(s, h, PILE + depth, DECK_BOTTOM)


def exchange_with_pile(s: State, cards: list[int], others: list[int]) -> None:
    """Village cards and pile cards change places at once, facings kept; those that leave go to the bottom of the pile,
    left above right (E11-1).
    """
    squares = [find(s, h) for h in cards]
    depths = [len(s.pile) - 1 - s.pile.index(h) for h in others]
    for square, other in zip(squares, others, strict=True):
        _from_pile(s, len(s.pile) - 1 - s.pile.index(other))
        _replace(s, square, other)
    for square, h in sorted(zip(squares, cards, strict=True)):
        s.flags[h] &= ~SIDEWAYS
        s.pile = bytes((h,)) + s.pile
        _moved(s, h, square, PILE_BOTTOM)
    for square, depth, other in zip(squares, depths, others, strict=True):
        _moved(s, other, PILE + depth, square)


def tuck(s: State, h: int, host: int) -> None:
    """A card leaves its village and lies under another card (E01-1)."""
    square = find(s, h)
    _take_out(s, square)
    s.flags[h] &= ~SIDEWAYS
    s.tucked += bytes((host, h))
    if s.events is not None:
        s.events.append((TUCKED, s.stack[SEAT], square, find(s, host), EVERYBODY, (h, s.identity[h])))


def village_to_aside(s: State, h: int) -> None:
    """A card leaves the round, and what is tucked under it (E13-1)."""
    square = find(s, h)
    _take_out(s, square)
    s.flags[h] &= ~SIDEWAYS
    s.aside += bytes((h,))
    _moved(s, h, square, ASIDE, EVERYBODY)
    under = tucked_under(s, h)
    if under != NOBODY:
        at = s.tucked.index(h)
        s.tucked = s.tucked[:at] + s.tucked[at + 2 :]
        s.aside += bytes((under,))
        _moved(s, under, square, ASIDE, EVERYBODY)


def tucked_under(s: State, host: int) -> int:
    """Return the handle that is tucked under a card, or NOBODY."""
    hosts = s.tucked[::2]
    at = hosts.find(host)
    return NOBODY if at < 0 else s.tucked[2 * at + 1]


def swap_with_pile(s: State, h: int, depth: int) -> None:
    """A village card goes to the bottom of the pile, a pile card comes to its spot; both keep their facing (C11-1)."""
    square = find(s, h)
    village_to_pile_bottom(s, h)
    new = _from_pile(s, depth)
    _put_in(s, square, new)
    _moved(s, new, PILE + depth, square)


def village_to_village(s: State, h: int, seat: int) -> None:
    """A card goes to the right end of another village, as it lies, while all villages are shown (C00-1, END-1)."""
    square = find(s, h)
    _take_out(s, square)
    target = len(s.villages[seat]) << 2 | seat
    _put_in(s, target, h)
    _moved(s, h, square, target, EVERYBODY)


def rotate(s: State, ring: list[int]) -> None:
    """Each card of the ring takes the spot of the next one, the last the spot of the first, all at once (C12-1)."""
    squares = [find(s, h) for h in ring]
    for i, h in enumerate(ring):
        target = squares[(i + 1) % len(ring)]
        _replace(s, target, h)
    for i, h in enumerate(ring):
        _moved(s, h, squares[i], squares[(i + 1) % len(ring)])


def flip(s: State, h: int) -> None:
    """Turn a card of a village over; what comes to lie faceup is seen by all."""
    s.flags[h] ^= FACEUP
    faceup = s.flags[h] & FACEUP
    if faceup:
        s.known[h] = EVERYBODY
    if s.events is not None:
        s.events.append((FLIPPED, s.stack[SEAT], find(s, h), faceup, s.known[h], (h, s.identity[h])))


def turn_sideways(s: State, h: int) -> None:
    """Turn a card of a village by 90 degrees, or back (C02-1)."""
    s.flags[h] ^= SIDEWAYS
    if s.events is not None:
        sideways = 1 if s.flags[h] & SIDEWAYS else 0
        s.events.append((TURNED, s.stack[SEAT], find(s, h), sideways, _audience(s, h), (h, s.identity[h])))


def look(s: State, seat: int, handles: list[int]) -> None:
    """A seat sees facedown cards; everybody sees which."""
    seen: list[int] = []
    for h in handles:
        s.known[h] |= 1 << seat
        seen += (h, s.identity[h])
    if s.events is not None:
        s.events.append((LOOKED, seat, 0, 0, 1 << seat, tuple(seen)))


def show(s: State, handles: list[int], why: int) -> None:
    """Everybody sees cards, which keep their facing."""
    seen: list[int] = []
    for h in handles:
        s.known[h] = EVERYBODY
        seen += (h, s.identity[h])
    if s.events is not None:
        s.events.append((SHOWN, s.stack[SEAT], why, 0, EVERYBODY, tuple(seen)))
