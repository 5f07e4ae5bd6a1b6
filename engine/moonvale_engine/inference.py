"""What everybody can conclude about a facedown card from what was not done with it: numbers that it can't have.

Sampled worlds keep to it, so that each could have had the same history (HID-4).
"""

from __future__ import annotations

from moonvale_engine.events import UNKNOWN
from moonvale_engine.state import FACEUP, State, type_of


def exclude(s: State, h: int, numbers: int) -> None:
    """A card has none of the numbers of a mask; an empty one says nothing."""
    if numbers:
        s.excluded += bytes((h, numbers & 255, numbers >> 8))


def exclude_value(s: State, h: int, value: int) -> None:
    """A card that was looked at in search of a value does not have it (E03-1)."""
    exclude(s, h, sum([1 << card.number for card in s.cards if card.value == value]))


def exclude_what_would_fit(s: State, h: int, by_policy: bool) -> None:
    """A drawn card that can't be discarded has no value that meets the demand on the pile (OBS-4).

    ``by_policy``: nor is it a card-5, whose ability the policy of a resigned seat would have used (END-7).
    """
    if s.flags[h] & FACEUP:
        return
    top = s.pile[-1]
    meets = type_of(s, top).meets
    assert meets is not None
    exclude(
        s, h, sum([1 << card.number for card in s.cards if meets(s, top, card.value) or (by_policy and card.stays)])
    )


def excluded_numbers(s: State, h: int) -> int:
    """Return the mask of numbers that a card can't have."""
    mask = 0
    for i in range(0, len(s.excluded), 3):
        if s.excluded[i] == h:
            mask |= s.excluded[i + 1] | s.excluded[i + 2] << 8
    return mask


def allowed(s: State, h: int, face: int) -> bool:
    """Whether a card can have a face, for all that was seen of it."""
    return face == UNKNOWN or not excluded_numbers(s, h) >> (face & 15) & 1
