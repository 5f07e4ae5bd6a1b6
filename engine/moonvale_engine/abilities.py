"""Draw abilities: when they can be used, and how they begin, from the hand or in the pile (ABL-1, ABL-3, ABL-4)."""

from __future__ import annotations

from moonvale_engine import programs
from moonvale_engine.events import ABILITY_BEGAN, EVERYBODY, HAND, PILE
from moonvale_engine.state import FACEUP, State, push, type_of


def has_draw_ability(s: State, h: int) -> bool:
    """Whether a card has a draw ability that would have an effect, judged as if it already lay on the pile (ABL-1)."""
    usable = type_of(s, h).usable
    return usable is not None and usable(s, h)


def judged_pile(s: State) -> bytes:
    """Return the pile, its top last, as it is when the card in hand, if any, has been discarded (ABL-1)."""
    return s.pile + s.hand_cards()


def can_activate(s: State, h: int) -> bool:
    """Whether a pile card can be activated: it lies faceup and has a draw ability with effect (C04-1, C10-1)."""
    return s.flags[h] & FACEUP != 0 and has_draw_ability(s, h)


def use_hand(s: State, h: int) -> None:
    """Begin the draw ability of a card that was drawn and, but for a card-5, discarded at once (ABL-3)."""
    _begin(s, h, HAND if s.hand == h else PILE, 0)


def activate(s: State, action: int) -> None:
    """Begin the draw ability of the pile card that an ACTIVATE names; it keeps its place (ABL-4)."""
    depth = action >> 6 & 255
    h = s.pile[-1 - depth]
    _begin(s, h, PILE + depth, type_of(s, h).activated_step)


def _begin(s: State, h: int, place: int, step: int) -> None:
    s.ability_used = True
    if s.events is not None:
        s.events.append((ABILITY_BEGAN, s.active, place, 0, EVERYBODY, (h, s.identity[h])))
    push(s, programs.CARDS + type_of(s, h).id, s.active, card=h, step=step)
