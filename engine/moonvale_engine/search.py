"""The Eye token's search: its user looks through the deck, draws one of its cards, and the rest is shuffled (EYE-1)."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves, programs, shuffle
from moonvale_engine.actions import CHOOSE, pack, x_of, y_of
from moonvale_engine.decisions import EYE_PICK
from moonvale_engine.events import EVERYBODY, NOBODY, SEARCHED, SHUFFLED
from moonvale_engine.hand import DRAWN
from moonvale_engine.shuffle import game_key
from moonvale_engine.state import FACEUP, HIDDEN, POOL_FACEUP, POOLED, SEAT, State, push, set_face
from moonvale_engine.steps import NEXT, Step, ask, do


def _look_through(s: State, action: int) -> int:
    """The user comes to know which cards the deck holds, not where they lie."""
    seat = s.stack[SEAT]
    fill_pool(s, seat)
    for h in s.deck:
        if not s.flags[h] & FACEUP:  # what lies faceup is known by its place until the deck is shuffled
            s.flags[h] |= POOLED
    if s.events is not None:
        faces = [byte for entry in s.pool[::2] for byte in (NOBODY, entry & ~POOL_FACEUP)]
        s.events.append((SEARCHED, seat, 0, 0, 1 << seat, tuple(faces)))
    return NEXT


def fill_pool(s: State, seat: int) -> None:
    """The pool is what a seat that looks through the deck sees, by number."""
    entries = sorted([_entry(s, h) for h in s.deck])
    s.pool = bytes([byte for entry in entries for byte in (entry, 1 << seat)])


def _entry(s: State, h: int) -> int:
    return s.identity[h] | (POOL_FACEUP if s.flags[h] & FACEUP else 0)


def _choices(s: State) -> list[int]:
    """CHOOSE each number, demand and facing once, in that order. Only the user's knowledge of the deck is read."""
    bit = 1 << s.stack[SEAT]
    kinds = {_kind(s, s.pool[i]) for i in range(0, len(s.pool), 2) if s.pool[i + 1] & bit}
    return [pack(CHOOSE, number | variant << 4, faceup) for number, variant, faceup in sorted(kinds)]


def _kind(s: State, entry: int) -> tuple[int, int, int]:
    """Number, first variant with the same demand, facing: what the user can tell apart."""
    number, variant = entry & 15, entry >> 4 & 3
    if s.cards[number].variants > 1:
        variant = s.options.demands.index(s.options.demands[variant])
    return number, variant, 1 if entry & POOL_FACEUP else 0


def _draw(s: State, action: int) -> int:
    """Shuffle the deck; the first card of the chosen kind comes to hand, the others keep their order.

    All handles are renewed. The drawn card gets the lowest one, so that its handle says nothing of the others.
    """
    seat = s.stack[SEAT]
    chosen = (x_of(action) & 15, x_of(action) >> 4, y_of(action))
    old = list(reversed(s.deck))
    cards = [(_entry(s, h), s.known[h]) for h in old]
    order = list(shuffle.arrange(game_key(s.secret, s.entropy), s.round, s.shuffles, bytes(range(len(old)))))
    drawn = next(i for i in order if _kind(s, cards[i][0]) == chosen)
    order.remove(drawn)
    s.shuffles += 1
    _pool(s, seat, cards, drawn)
    handles = sorted(old)
    for h, i in zip(handles, [drawn, *order], strict=True):
        entry, _ = cards[i]
        set_face(s, h, entry & ~POOL_FACEUP)
        s.flags[h] = POOLED | HIDDEN | (FACEUP if entry & POOL_FACEUP else 0)
        s.known[h] = 0
    s.deck = bytes(reversed(handles))
    _forget(s, old)
    _show_drawn(s, seat, handles[0])
    if s.events is not None:
        s.events.append((SHUFFLED, seat, len(s.deck) - 1, 0, EVERYBODY, ()))
    moves.draw_to_hand(s)
    return NEXT


def _pool(s: State, seat: int, cards: list[tuple[int, int]], drawn: int) -> None:
    """Keep what each seat knew of the cards that nobody can tell apart by place any more."""
    entries = [
        (entry, EVERYBODY if entry & POOL_FACEUP else known | 1 << seat)
        for i, (entry, known) in enumerate(cards)
        if i != drawn or not entry & POOL_FACEUP
    ]
    s.pool = bytes([byte for pair in sorted(entries) for byte in pair])


def _forget(s: State, handles: list[int]) -> None:
    """What was concluded of a card ends when it is shuffled (HID-3)."""
    triples = [s.excluded[i : i + 3] for i in range(0, len(s.excluded), 3)]
    s.excluded = b"".join([triple for triple in triples if triple[0] not in handles])


def _show_drawn(s: State, seat: int, h: int) -> None:
    """The drawn card's facing is public, its face too if faceup; facedown, its user alone knows it."""
    s.flags[h] &= ~HIDDEN
    if s.flags[h] & FACEUP:
        s.flags[h] &= ~POOLED
        s.known[h] = EVERYBODY
    else:
        s.known[h] = 1 << seat


def _use(s: State, action: int) -> int:
    push(s, programs.HAND, s.stack[SEAT], x=DRAWN)
    return NEXT


PROGRAM: Final[tuple[Step, ...]] = (
    do(_look_through),
    ask(EYE_PICK, _choices, then=_draw, private=True),
    do(_use),
)
