"""Kinds of decision, as everybody may know them (DEC-2). Append-only."""

from __future__ import annotations

from typing import Final

PEEK: Final = 0  # which two own cards to look at (SET-4)
TURN: Final = 1  # the main action of a turn, or a free ability
HAND: Final = 2  # what happens to the card in hand
SET: Final = 3  # the next card of an exchange, or close it
PLACE: Final = 4  # the spot or end for a card
TARGET: Final = 5  # a card, village, pile card or direction of an ability
LOOK: Final = 6  # a facedown card to look at, or stop
TURN_END: Final = 7  # end the turn, or a free ability
SCORING: Final = 8  # one use of a scoring ability, or done
EYE_PICK: Final = 9  # which card of the deck to draw (EYE-1)
PREDICT: Final = 10  # the value of the top card of the deck (E04-1)
REWARD: Final = 11  # an own card to discard after a right prediction, or decline
REACTION: Final = 12  # an own card to discard on the value that was just put on the pile, or pass (E02-2)
OBSESSOR: Final = 13  # which of the discarded Obsessors lies on top (EXC-6)

KINDS: Final[tuple[str, ...]] = (
    "PEEK",
    "TURN",
    "HAND",
    "SET",
    "PLACE",
    "TARGET",
    "LOOK",
    "TURN_END",
    "SCORING",
    "EYE_PICK",
    "PREDICT",
    "REWARD",
    "REACTION",
    "OBSESSOR",
)
