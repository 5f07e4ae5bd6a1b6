"""The card in hand: discarded, used, or exchanged for own cards, one or a set (EXC-1 to EXC-8)."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves, programs
from moonvale_engine.abilities import has_draw_ability, use_hand
from moonvale_engine.actions import CLOSE, DECLARE, DISCARD, KEEP, NAME, PICK, PLACE, USE, pack, square, x_of
from moonvale_engine.choices import own_ends, picked
from moonvale_engine.decisions import HAND, OBSESSOR, SET
from moonvale_engine.decisions import PLACE as PLACE_KIND
from moonvale_engine.discards import demanded, fails, follow, offered, spotters
from moonvale_engine.effects import deck_to_chosen_end, hand_to_chosen_end
from moonvale_engine.events import EVERYBODY, KEPT, NOBODY, SHOWN_FAILED_SET, SHOWN_REFUSED
from moonvale_engine.inference import exclude_what_would_fit
from moonvale_engine.state import CARDS, FACEUP, State, frames_up_to, note, push, spot_of, type_of, value_of
from moonvale_engine.steps import AGAIN, NEXT, NO_CHOICES, Step, ask, do

# How the card came to hand (X of the HAND frame).
DRAWN: Final = 0  # from the deck: it may also be discarded
OWED: Final = 1  # from the pile: it must be exchanged (EXC-2, C10-1)

MOST_NAMED: Final = 4  # no value has more copies (EXC-3)
_SPOT: Final = 1 << 6


def exchange_owed(s: State) -> bool:
    """Whether a card in hand must still be exchanged, so that the village may not become empty (C02-2)."""
    return s.program == programs.HAND and s.x == OWED


def drawn_hand(s: State) -> int:
    """Return the card in hand if it was drawn from the deck, else NOBODY."""
    if s.program == programs.HAND:
        return s.hand if s.x == DRAWN else NOBODY
    for frame in reversed(frames_up_to(s.below)):
        if frame.program == programs.HAND:
            return s.hand if frame.x == DRAWN else NOBODY
    return NOBODY


#: NAME of each spot of a village.
_NAMES: Final = [NAME + spot * _SPOT for spot in range(CARDS)]
# Most lists of choices are tables, by the size of the village, that all games share.
_OWED: Final = [_NAMES[:size] for size in range(CARDS + 1)]
_DISCARD: Final = [[DISCARD, *_NAMES[:size]] for size in range(CARDS + 1)]
_DISCARD_OR_USE: Final = [[DISCARD, USE, *_NAMES[:size]] for size in range(CARDS + 1)]


def _hand_choices(s: State) -> list[int]:
    village = s.villages[s.seat]
    if demanded(s):
        return _hand_choices_on_demand(s, village)
    if s.x == DRAWN:
        return (_DISCARD_OR_USE if has_draw_ability(s, s.hand) else _DISCARD)[len(village)]
    return _OWED[len(village)] if village else [KEEP]


def _hand_choices_on_demand(s: State, village: bytes) -> list[int]:
    choices: list[int] = []
    if s.x == DRAWN:
        may_be_discarded = not fails(s, s.hand)
        if may_be_discarded:
            choices.append(DISCARD)
        if (may_be_discarded or type_of(s, s.hand).stays) and has_draw_ability(s, s.hand):
            choices.append(USE)
    choices += [_NAMES[spot] for spot, h in enumerate(village) if offered(s, h)]
    if not choices or choices == [USE]:
        choices.append(KEEP)
    return choices


def _hand(s: State, action: int) -> int:
    verb = action & 63
    if verb == DISCARD:
        moves.hand_to_pile(s)
    elif verb == USE:
        h = s.hand
        if type_of(s, h).stays:
            moves.show_hand(s)
        else:
            moves.hand_to_pile(s)
        use_hand(s, h)
    elif verb == KEEP:
        if s.x == DRAWN:
            exclude_what_would_fit(s, s.hand, s.seat in s.resigned)
        if s.events is not None:
            s.events.append((KEPT, s.seat, 0, 0, EVERYBODY, ()))
        push(s, programs.FAILED_SET, s.seat)
    else:
        seat = s.seat
        if seat in s.resigned and s.x == DRAWN:
            exclude_what_would_fit(s, s.hand, by_policy=True)  # which discards whatever it can
        push(s, programs.EXCHANGE, seat, card=s.villages[seat][action >> 6 & 255])
        s.n = 1
    return NEXT


HAND_PROGRAM: Final[tuple[Step, ...]] = (ask(HAND, _hand_choices, then=_hand),)


def named(s: State) -> bytes:
    """Return the handles named so far for the set of the top frame, from the left."""
    return s.noted[: s.n]


#: Up to so many cards in a village, the choices of a set are tables too: its size, the first spot that may be named.
_SMALL: Final = 24
_SETS: Final = [[[CLOSE, *_NAMES[spot:size]] for spot in range(size + 1)] for size in range(_SMALL + 1)]
_FULL_SET: Final = [CLOSE]


def _set_choices(s: State) -> list[int]:
    choices = _FULL_SET
    if s.n < MOST_NAMED:
        village = s.villages[s.seat]
        size, spot = len(village), spot_of(village, s.noted[s.n - 1]) + 1
        if _is_any_faceup(s) or demanded(s):
            faceup = [h for h in named(s) if s.flags[h] & FACEUP]
            choices = [CLOSE, *[_NAMES[i] for i in range(spot, size) if _fits(s, village[i], faceup)]]
        else:
            choices = _SETS[size][spot] if size <= _SMALL else [CLOSE, *_NAMES[spot:size]]
    if s.types.spots and not s.x:
        declared = spotters(s, s.seat)
        if declared:
            choices = [*choices, *[pack(DECLARE, n + 1) for n in range(declared)]]
    return choices


def _is_any_faceup(s: State) -> bool:
    """Whether a card of the set lies faceup."""
    for i in range(s.n):
        if s.flags[s.noted[i]] & FACEUP:
            return True
    return False


def _fits(s: State, h: int, faceup: list[int]) -> bool:
    """Whether a card may be named, beside these faceup ones of the set, as far as can be seen (EXC-3, EXC-8, OBS-3)."""
    if not s.flags[h] & FACEUP:
        return True
    return offered(s, h) and (not faceup or any([value_of(s, h) == value_of(s, other) for other in faceup]))


def _name(s: State, action: int) -> int:
    if action == CLOSE:
        return NEXT
    if action & 63 == DECLARE:
        s.x = x_of(action)
        return AGAIN
    note(s, s.n, s.villages[s.seat][action >> 6 & 255])
    s.n += 1
    return AGAIN


def _judge(s: State, action: int) -> int:
    """Compare the values of the set; what matches is turned faceup, what doesn't goes back facedown (EXC-3, EXC-4).

    What matches but fails an Obsessor's demand is shown and goes back as it lay (OBS-3).
    """
    cards = named(s)
    if not _all_equal(s, cards):
        moves.show(s, cards, SHOWN_FAILED_SET)
        for h in cards:
            if s.flags[h] & FACEUP:
                moves.flip(s, h)
        push(s, programs.FAILED_SET, s.seat, x=1 if len(cards) >= s.rules.penalty_from else 0)
        return NEXT
    if fails(s, cards[0]):
        moves.show(s, cards, SHOWN_REFUSED)
        push(s, programs.FAILED_SET, s.seat)
        return NEXT
    if len(cards) == 1:
        _exchange(s, spot_of(s.villages[s.seat], cards[0]))
        return NEXT
    for h in cards:
        if not s.flags[h] & FACEUP:
            moves.flip(s, h)
    return NEXT


def _all_equal(s: State, cards: bytes) -> bool:
    """Whether cards have one value."""
    value = value_of(s, cards[0])
    for h in cards:
        if value_of(s, h) != value:
            return False
    return True


def _top_choices(s: State) -> list[int]:
    if s.hand == NOBODY or s.n == 1 or type_of(s, s.noted[0]).meets is None:
        return NO_CHOICES
    seat, cards = s.seat, named(s)
    return [pack(PICK, square(seat, s.villages[seat].index(h))) for h in cards]


def _choose_top(s: State, action: int) -> int:
    """Put the chosen card last among those named; it will lie on top."""
    top = picked(s, action)
    others = [h for h in named(s) if h != top]
    s.noted = bytes([*others, top]) + s.noted[s.n :]
    return NEXT


def _place_choices(s: State) -> list[int]:
    if s.hand == NOBODY:
        return NO_CHOICES
    village = s.villages[s.seat]
    return [pack(PLACE, spot) for spot in sorted([village.index(h) for h in named(s)])]


def _place(s: State, action: int) -> int:
    _exchange(s, action >> 6 & 255)
    return NEXT


def _exchange(s: State, spot: int) -> None:
    """Discard the set, the last named ending on top (EXC-6), and put the card in hand into the spot; the gaps close."""
    seat = s.seat
    cards = named(s)
    new = s.hand
    if len(cards) > 1:
        spot -= sum([1 for h in cards if spot_of(s.villages[seat], h) < spot])
    for h in cards:
        moves.village_to_pile(s, h)
    moves.hand_to_spot(s, seat, spot)
    follow(s, seat, cards[0], s.x, placed=new)


EXCHANGE_PROGRAM: Final[tuple[Step, ...]] = (
    ask(SET, _set_choices, then=_name, interruptible=False),
    do(_judge),
    ask(OBSESSOR, _top_choices, then=_choose_top, interruptible=False),
    ask(PLACE_KIND, _place_choices, then=_place, interruptible=False),
)


def _penalty_choices(s: State) -> list[int]:
    return own_ends(s) if s.x and s.deck else NO_CHOICES


FAILED_SET_PROGRAM: Final[tuple[Step, ...]] = (
    ask(PLACE_KIND, own_ends, then=hand_to_chosen_end, interruptible=False),
    ask(PLACE_KIND, _penalty_choices, then=deck_to_chosen_end, interruptible=False),
)
