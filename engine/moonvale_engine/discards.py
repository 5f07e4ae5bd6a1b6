"""Village cards discarded to the top of the pile: an Obsessor's demand, declared Spotters (OBS-2 to OBS-5, E03-1)."""

from __future__ import annotations

from moonvale_engine import moves, programs
from moonvale_engine.events import NOBODY, SHOWN_REFUSED
from moonvale_engine.state import FACEUP, State, faceup_cards, push, type_of, value_of


def demanded(s: State) -> bool:
    """Whether the card on top of the pile demands something of the card that is put on it (OBS-2)."""
    if not s.types.demands or not s.pile:
        return False
    top = s.pile[-1]
    return s.flags[top] & FACEUP != 0 and type_of(s, top).meets is not None


def fails(s: State, h: int) -> bool:
    """Whether the card on top of the pile refuses a card whose identity the rules may use here (OBS-2)."""
    if not demanded(s):
        return False
    top = s.pile[-1]
    meets = type_of(s, top).meets
    return meets is not None and not meets(s, top, value_of(s, h))


def offered(s: State, h: int) -> bool:
    """Whether a village card may be chosen for a discard: faceup unless it fails, facedown always (OBS-3)."""
    return not s.flags[h] & FACEUP or not fails(s, h)


def refused(s: State, h: int) -> bool:
    """Show a card if the pile refuses it; it stays (OBS-5)."""
    if fails(s, h):
        moves.show(s, [h], SHOWN_REFUSED)
        return True
    return False


def discard(s: State, seat: int, h: int, declared: int = 0, silent: bool = False) -> None:
    """Discard a village card; then the declared Spotters of the seat follow. A refused card is shown and stays (OBS-5).

    ``silent``: nobody may react to it (E02-2).
    """
    if not refused(s, h):
        moves.village_to_pile(s, h)
        follow(s, seat, h, declared, silent=silent)
        if silent:
            s.put = NOBODY


def follow(s: State, seat: int, h: int, declared: int, placed: int = NOBODY, silent: bool = False) -> None:
    """Let declared Spotters look for what was discarded, but not at the card that was placed just now (E03-1)."""
    for card in s.types.spots:
        for _ in range(declared):
            push(s, programs.CARDS + card.id, seat, card=placed, x=value_of(s, h) + 1)
            s.y = 1 if silent else 0


def spotters(s: State, seat: int) -> int:
    """Return how many Spotters a seat can declare (E03-1)."""
    for card in s.types.spots:
        return len(faceup_cards(s, seat, card.number))
    return 0
