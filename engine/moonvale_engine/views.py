"""Views: what one seat, or a spectator, may see, built up field by field from an allow-list (HID-1 to HID-5)."""

from __future__ import annotations

from typing import Final, NamedTuple

from moonvale_engine import play, programs
from moonvale_engine.decisions import EYE_PICK, REACTION, SET
from moonvale_engine.events import EVERYBODY, NOBODY, OVER_BY_ROUNDS, SPECTATOR, UNKNOWN
from moonvale_engine.hand import drawn_hand
from moonvale_engine.moves import tucked_under
from moonvale_engine.options import Options
from moonvale_engine.outcome import places
from moonvale_engine.round import SCORING_STEP
from moonvale_engine.state import (
    CARDS,
    FACEUP,
    HIDDEN,
    POOL_FACEUP,
    SIDEWAYS,
    SPENT,
    USED,
    State,
    frames_up_to,
)


class CardView(NamedTuple):
    """A card: its opaque handle, how it lies, its face or UNKNOWN, its marks, and who has legally seen it (a mask).

    ``tucked``: the card that is tucked under it (E01-1).
    """

    handle: int
    faceup: bool
    sideways: bool
    face: int
    used: bool
    spent: bool
    seen_by: int
    tucked: CardView | None


def card_view(packed: int) -> CardView:
    """Return what a packed card of a view says."""
    under = packed >> _TUCKED_AT
    return CardView(
        packed & LAST_HANDLE,
        packed >> _FLAGS_AT & FACEUP != 0,
        packed >> _FLAGS_AT & SIDEWAYS != 0,
        packed >> _FACE_AT & 255,
        packed >> _FLAGS_AT & USED != 0,
        packed >> _FLAGS_AT & SPENT != 0,
        packed >> _SEEN_BY_AT & EVERYBODY,
        card_view(under ^ _TUCKED) if under else None,
    )


# A packed card is an int, for those who show many views: from its lowest bits on the handle, the flags that all may
# know, the face, who has seen it, and, if a card is tucked under it, that one, packed, with _TUCKED above it.
HANDLE_BITS: Final = 6
LAST_HANDLE: Final = (1 << HANDLE_BITS) - 1
_FLAGS_AT: Final = HANDLE_BITS
_FACE_AT: Final = 10
_SEEN_BY_AT: Final = 18
_TUCKED_AT: Final = 23
_TUCKED: Final = 1 << 23
_SHOWN: Final = FACEUP | SIDEWAYS | USED | SPENT


class SeatView(NamedTuple):
    """A seat: points of the finished rounds, in all and by round, the village from its owner's left, resignation."""

    total: int
    scores: tuple[int, ...]
    packed_village: tuple[int, ...]
    resigned: bool

    @property
    def village(self) -> tuple[CardView, ...]:
        """The cards of the village."""
        return tuple([card_view(packed) for packed in self.packed_village])


class DecisionView(NamedTuple):
    """The open decision. ``ability``: id of the card type whose ability asks, or -1. ``picked``: handles chosen so far.

    ``value``: of the top card that a reaction window or a Spotter's looks are about. ``declared``: Spotters, in a set.
    ``legal_actions`` is the whole list for the seat that is to act, and empty for everybody else.
    """

    kind: int
    seat: int
    ability: int
    picked: tuple[int, ...]
    value: int | None
    declared: int
    legal_actions: tuple[int, ...]


class View(NamedTuple):
    """What a viewer sees of a game. ``pile`` is top first. Seats are NOBODY where there is none.

    Cards are packed. Of the top of the deck, which is there if it lies faceup, and of the hand there are one or none.

    ``pool``: faces and facings of cards which the viewer knows to be among those that the Eye token's shuffle mixed up.
    """

    viewer: int
    options: Options
    round: int
    turn: int
    active: int
    holder: int
    token_active: bool
    caller: int
    extra_turns: int
    deck_count: int
    packed_deck_top: tuple[int, ...]
    packed_pile: tuple[int, ...]
    packed_hand: tuple[int, ...]
    seats: tuple[SeatView, ...]
    pool: tuple[tuple[int, bool], ...]
    decision: DecisionView | None
    over: int
    places: tuple[int, ...]

    @property
    def deck_top(self) -> CardView | None:
        """The top of the deck, if it lies faceup."""
        return card_view(self.packed_deck_top[0]) if self.packed_deck_top else None

    @property
    def hand(self) -> CardView | None:
        """The card in hand, if there is one."""
        return card_view(self.packed_hand[0]) if self.packed_hand else None

    @property
    def pile(self) -> tuple[CardView, ...]:
        """The cards of the pile, the top first."""
        return tuple([card_view(packed) for packed in self.packed_pile])


def visible_faces(s: State, viewer: int) -> bytes:
    """Return the face of each handle as the viewer may know it, UNKNOWN elsewhere (HID-1, HID-3).

    This is the one function that decides what identities leave the engine in views and positions.
    """
    if s.options.memory == "assisted":
        unseen = s.known.translate(_UNSEEN_BY[viewer])
        if s.numbered is not s.identity:  # which a shuffle replaces
            s.number, s.numbered = _number(s.identity, "little"), s.identity
        return (s.number | _number(unseen, "little")).to_bytes(CARDS, "little")
    faces = bytearray(s.identity)
    lying_open = b"".join(s.villages) if villages_open(s) else b""
    own_drawn = drawn_hand(s) if viewer == s.active else NOBODY
    covered = unlooked_deck(s, viewer)
    for h in range(CARDS):
        if (s.flags[h] & (FACEUP | HIDDEN) != FACEUP or h in covered) and h not in lying_open and h != own_drawn:
            faces[h] = UNKNOWN
    return bytes(faces)


#: Faces are masked all at once, as one number: UNKNOWN has all bits.
_number: Final = int.from_bytes
#: viewer -> table of ``translate``: UNKNOWN for the masks of knowledge that lack the viewer, else 0
_UNSEEN_BY: Final = [
    bytes([0 if mask >> viewer & 1 else UNKNOWN for mask in range(256)]) for viewer in range(SPECTATOR + 1)
]


def is_searching(s: State, viewer: int) -> bool:
    """Whether a viewer is looking through the deck (EYE-1)."""
    return s.seat == viewer and play.decision_kind(s) == EYE_PICK


def unlooked_deck(s: State, viewer: int) -> bytes:
    """Return the cards below the top of the deck, which nobody sees at the table, unless the viewer is searching it."""
    return b"" if is_searching(s, viewer) else s.deck[:-1]


def visible_pool(s: State, viewer: int) -> bytes:
    """Return the entries of the pool that the viewer knows, without who else does (EYE-1, HID-3)."""
    if not s.pool or (s.options.memory == "table" and not is_searching(s, viewer)):
        return b""
    result = b""
    for i in range(0, len(s.pool), 2):
        entry, seen_by = s.pool[i], s.pool[i + 1]
        if seen_by >> viewer & 1:
            result += bytes((entry, EVERYBODY if entry & POOL_FACEUP and seen_by == EVERYBODY else 1 << viewer))
    return result


def visible_knowledge(s: State, viewer: int) -> bytearray:
    """Return who has legally seen each handle, as far as the viewer is reminded of it (HID-3)."""
    if s.options.memory == "assisted":
        return s.known[:]
    faces = visible_faces(s, viewer)
    known = bytearray(CARDS)
    for h in range(CARDS):
        if faces[h] != UNKNOWN:
            known[h] = s.known[h] if s.known[h] == EVERYBODY else 1 << viewer
    return known


def villages_open(s: State) -> bool:
    """Whether all villages are shown, since the round is being scored or the last one was (END-1)."""
    if s.is_over():
        return s.over == OVER_BY_ROUNDS
    below = frames_up_to(s.below)
    return (below[0].step if below else s.step) >= SCORING_STEP


def view(s: State, viewer: int) -> View:
    """Return what a viewer, a seat or SPECTATOR, sees."""
    faces = visible_faces(s, viewer)
    known = visible_knowledge(s, viewer)
    players = s.options.players
    seats = tuple(
        [
            SeatView(
                s.totals[seat],
                tuple(s.scores[seat::players]),
                tuple([_pack(s, h, faces, known) for h in s.villages[seat]]),
                seat in s.resigned,
            )
            for seat in range(players)
        ]
    )
    top = s.deck[-1] if s.deck else NOBODY
    return View(
        viewer,
        s.options,
        s.round,
        s.turn,
        s.active,
        s.holder,
        s.token_active,
        s.caller,
        s.extra_turns,
        len(s.deck),
        (_pack(s, top, faces, known),) if top != NOBODY and s.flags[top] & FACEUP else (),
        tuple([_pack(s, h, faces, known) for h in reversed(s.pile)]),
        () if s.hand == NOBODY else (_pack(s, s.hand, faces, known),),
        seats,
        tuple([(entry & ~POOL_FACEUP, entry & POOL_FACEUP != 0) for entry in visible_pool(s, viewer)[::2]]),
        _decision(s, viewer),
        s.over,
        tuple(places(s)) if s.is_over() else (),
    )


def _pack(s: State, h: int, faces: bytes, known: bytes | bytearray) -> int:
    packed = h | (s.flags[h] & _SHOWN) << _FLAGS_AT | faces[h] << _FACE_AT | known[h] << _SEEN_BY_AT
    under = tucked_under(s, h) if s.tucked else NOBODY
    return packed if under == NOBODY else packed | (_pack(s, under, faces, known) | _TUCKED) << _TUCKED_AT


def _decision(s: State, viewer: int) -> DecisionView | None:
    seat = s.seat
    if seat == NOBODY:  # it is over, or not dealt
        return None
    program = s.program
    ability = program - programs.CARDS if program >= programs.CARDS else -1
    picked = tuple([h for h in s.noted if h != NOBODY])
    legal = tuple(s.choices) if viewer == seat else ()
    kind = play.decision_kind(s)
    value = s.x - 1 if kind == REACTION or (ability >= 0 and s.rules.cards[ability].spots) else None
    declared = s.x if kind == SET else 0
    return DecisionView(kind, seat, ability, picked, value, declared, legal)
