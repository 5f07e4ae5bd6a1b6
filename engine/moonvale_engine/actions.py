"""Actions as ints: what a seat may do, packed without reference to any position.

An action is ``verb | x << 6 | y << 14 | z << 22``. Which of x, y, z a verb uses is in ``FIELDS``. Frequent actions stay
below 2**14, two bytes of a varint. Verbs are append-only. The text of an action is in ``notation``.
"""

from __future__ import annotations

from typing import Final

# Fields: what an argument of an action means.
SPOT: Final = "spot"  # a spot of the own village, 0 at the owner's left
SQUARE: Final = "square"  # spot << 2 | seat: a card of any village
DEPTH: Final = "depth"  # a card of the pile, 0 on top
SEAT: Final = "seat"
END: Final = "end"  # seat << 1 | 0 left, 1 right: an end of a village
PAIR: Final = "pair"  # first spot << 3 | second spot: the two cards of a peek
DIRECTION: Final = "direction"  # 0 clockwise, 1 counterclockwise
SPOTTERS: Final = "spotters"  # how many Spotters are declared (E03-1)
VALUE: Final = "value"  # a printed value + 1
FACE: Final = "face"  # number | variant << 4
FACEUP: Final = "faceup"  # 1 faceup, 0 facedown

LEFT: Final = 0
RIGHT: Final = 1
CLOCKWISE: Final = 0
COUNTERCLOCKWISE: Final = 1

# Verbs.
PEEK: Final = 0  # look at two own cards at the start of a round (SET-4)
DRAW: Final = 1  # the top card of the deck comes to hand
TAKE: Final = 2  # a pile card comes to hand: the top one as main action, a deeper one by an ability
CALL: Final = 3  # call for the vote (TURN-3)
ACTIVATE: Final = 4  # use the draw ability of a pile card
USE_RESIDENT: Final = 5  # a free ability of a faceup own card that needs no more to begin
TURN_CARD: Final = 6  # by the free ability of the own card at x, turn the own card at y by 90 degrees
DISCARD_RESIDENT: Final = 7  # by the free ability of the own card at x, discard the own card at y
USE_TOKEN: Final = 8  # the token's free ability
DISCARD: Final = 9  # the card in hand goes to the pile, its ability unused
USE: Final = 10  # the card in hand goes where it belongs and its ability is used
NAME: Final = 11  # an own card for the exchange (EXC-8)
CLOSE: Final = 12  # the set is complete
PLACE: Final = 13  # into a spot
PLACE_END: Final = 14  # at an end of a village
PICK: Final = 15  # a card of a village, for whatever the open decision is about
VILLAGE: Final = 16
TURN_DIRECTION: Final = 17  # the direction of a rotation
STOP: Final = 18  # no more looks
END_TURN: Final = 19
DONE: Final = 20  # no more scoring abilities in this stage
GIVE: Final = 21  # by the scoring ability of the own card at x, give the own card at y to seat z
DRAW_WITH_TOKEN: Final = 22  # look through the deck and draw one of its cards (EYE-1)
CHOOSE: Final = 23  # a card of the deck, of a face and facing (EYE-1)
GAMBLE: Final = 24  # predict the top card of the deck (E04-1)
PREDICT: Final = 25
DECLINE: Final = 26  # no reward
KEEP: Final = 27  # the card in hand, which fits nowhere, joins the village (OBS-4)
DECLARE: Final = 28  # Spotters for the set (E03-1)
UNDERMINE: Final = 29  # a pile card to exchange (E11-1)
PASS: Final = 30  # no reaction
TUCK: Final = 31  # by the scoring ability of the own card at x, tuck it under the card at y (E01-1)
BOMB: Final = 32  # by the scoring ability of the own card at x, take it and the card at y out of the round (E13-1)

#: verb -> (name, fields of x, y, z)
FIELDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("PEEK", (PAIR,)),
    ("DRAW", ()),
    ("TAKE", (DEPTH,)),
    ("CALL", ()),
    ("ACTIVATE", (DEPTH,)),
    ("USE_RESIDENT", (SPOT,)),
    ("TURN_CARD", (SPOT, SPOT)),
    ("DISCARD_RESIDENT", (SPOT, SPOT, SPOTTERS)),
    ("USE_TOKEN", ()),
    ("DISCARD", ()),
    ("USE", ()),
    ("NAME", (SPOT,)),
    ("CLOSE", ()),
    ("PLACE", (SPOT,)),
    ("PLACE_END", (END,)),
    ("PICK", (SQUARE, SPOTTERS)),
    ("VILLAGE", (SEAT,)),
    ("TURN_DIRECTION", (DIRECTION,)),
    ("STOP", ()),
    ("END_TURN", ()),
    ("DONE", ()),
    ("GIVE", (SPOT, SPOT, SEAT)),
    ("DRAW_WITH_TOKEN", ()),
    ("CHOOSE", (FACE, FACEUP)),
    ("GAMBLE", ()),
    ("PREDICT", (VALUE,)),
    ("DECLINE", ()),
    ("KEEP", ()),
    ("DECLARE", (SPOTTERS,)),
    ("UNDERMINE", (DEPTH,)),
    ("PASS", ()),
    ("TUCK", (SPOT, SQUARE)),
    ("BOMB", (SPOT, SQUARE)),
)

#: Verbs that end, stop, pass or decline: a list that holds nothing else is not put to anybody (DEC-1).
PASSING: Final = frozenset({STOP, END_TURN, DONE, DECLINE, PASS})
#: Verbs of a set that reveal nothing, so that a client may send several of them at once (EXC-8).
SILENT: Final = frozenset({NAME, DECLARE})


def pack(verb: int, x: int = 0, y: int = 0, z: int = 0) -> int:
    """Return the action of a verb with its arguments."""
    return verb | x << 6 | y << 14 | z << 22


def is_free(action: int) -> bool:
    """Whether it uses a free ability, so that whatever decision was open is put again afterwards (TURN-2)."""
    return USE_RESIDENT <= action & 63 <= USE_TOKEN


def verb_of(action: int) -> int:
    return action & 63


def x_of(action: int) -> int:
    return action >> 6 & 255


def y_of(action: int) -> int:
    return action >> 14 & 255


def z_of(action: int) -> int:
    return action >> 22


def square(seat: int, spot: int) -> int:
    """Return the square of a spot in a seat's village."""
    return spot << 2 | seat


def seat_of(square: int) -> int:
    return square & 3


def spot_of(square: int) -> int:
    return square >> 2
