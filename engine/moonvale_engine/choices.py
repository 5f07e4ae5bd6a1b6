"""Lists of choices that several programs offer: by seat clockwise from the one to act, then by spot (DEC-3)."""

from __future__ import annotations

from typing import Final

from moonvale_engine.actions import LEFT, PICK, PLACE_END, RIGHT, VILLAGE, pack, seat_of, spot_of, x_of
from moonvale_engine.events import NOBODY
from moonvale_engine.state import FACEUP, VILLAGES, State, clockwise

ANY_FACING: Final = -1
_SPOT: Final = 1 << 8  # one spot further, in a PICK
_SEAT: Final = 1 << 6


def cards(s: State, facing: int, but: int = NOBODY) -> list[int]:
    """PICK each village card that lies so (FACEUP, 0 for facedown, ANY_FACING), except one handle."""
    result: list[int] = []
    for seat in clockwise(s, s.seat):
        action = PICK + seat * _SEAT
        for h in s.villages[seat]:
            if h != but and (facing == ANY_FACING or s.flags[h] & FACEUP == facing):
                result.append(action)
            action += _SPOT
    return result


def any_card(s: State) -> list[int]:
    """PICK each card of any village."""
    return cards(s, ANY_FACING)


def any_other_card(s: State) -> list[int]:
    """PICK each card of any village but the one whose ability this is."""
    return cards(s, ANY_FACING, s.noted[0])


def faceup_card(s: State) -> list[int]:
    """PICK each faceup card of any village."""
    return cards(s, FACEUP)


def village_with_facedown_card(s: State) -> list[int]:
    """VILLAGE of each seat that has a facedown card."""
    return [pack(VILLAGE, seat) for seat in clockwise(s, s.seat) if has_card(s, seat, 0)]


def own_ends(s: State) -> list[int]:
    """PLACE_END for the frame's own village; an empty village has one end."""
    return ends(s, s.seat)


def ends(s: State, seat: int) -> list[int]:
    """PLACE_END for a village; an empty one has one end. Not to be changed."""
    return _ENDS[seat] if s.villages[seat] else _ONE_END[seat]


#: seat -> the ends of its village
_ENDS: Final = [[pack(PLACE_END, seat << 1 | end) for end in (LEFT, RIGHT)] for seat in range(VILLAGES)]
_ONE_END: Final = [[pack(PLACE_END, seat << 1 | LEFT)] for seat in range(VILLAGES)]


def has_card(s: State, seat: int, facing: int) -> bool:
    """Whether a village has a card that lies so."""
    for h in s.villages[seat]:
        if s.flags[h] & FACEUP == facing:
            return True
    return False


def any_village_has(s: State, facing: int) -> bool:
    """Whether any village has a card that lies so."""
    for seat in range(s.options.players):
        if has_card(s, seat, facing):
            return True
    return False


def picked(s: State, action: int) -> int:
    """Return the handle of the card that a PICK names."""
    return card_at(s, x_of(action))


def card_at(s: State, square: int) -> int:
    """Return the handle of the card at a square."""
    return s.villages[seat_of(square)][spot_of(square)]
