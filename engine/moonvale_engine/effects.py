"""Effects and conditions that several abilities share, as their programs and tables use them."""

from __future__ import annotations

from moonvale_engine import moves
from moonvale_engine.choices import any_village_has, picked
from moonvale_engine.state import FACEUP, State
from moonvale_engine.steps import NEXT


def flip_picked(s: State, action: int) -> int:
    """Flip the card that a PICK names."""
    moves.flip(s, picked(s, action))
    return NEXT


def hand_to_chosen_end(s: State, action: int) -> int:
    """Put the card in hand at the end of the own village that a PLACE_END names."""
    moves.hand_to_end(s, s.seat, action >> 6 & 1)
    return NEXT


def deck_to_chosen_end(s: State, action: int) -> int:
    """Put the top card of the deck at the end of the own village that a PLACE_END names."""
    moves.deck_to_end(s, s.seat, action >> 6 & 1)
    return NEXT


def if_a_card_lies_faceup(s: State, h: int) -> bool:
    """Whether any village has a faceup card."""
    return any_village_has(s, FACEUP)


def if_a_card_lies_facedown(s: State, h: int) -> bool:
    """Whether any village has a facedown card."""
    return any_village_has(s, 0)
