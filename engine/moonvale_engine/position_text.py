"""Positions as text, as FEN is for chess: one line that round-trips, specified in docs/notation.md."""

from __future__ import annotations

from typing import Final

from moonvale_engine import catalog
from moonvale_engine.events import EVERYBODY, NOBODY, SPECTATOR, UNKNOWN
from moonvale_engine.notation import SEATS
from moonvale_engine.options import NUMBERS, Options, deck_text
from moonvale_engine.position import Position
from moonvale_engine.rules import FIRST_VERSION
from moonvale_engine.state import (
    CARDS,
    FACEUP,
    FLIPPED,
    FRAME,
    HIDDEN,
    POOL_FACEUP,
    POOLED,
    SIDEWAYS,
    SPENT,
    SPOTTED,
    USED,
    State,
)

_DEFAULTS = Options()


def position_text(position: Position) -> str:
    """Return the text of a position; ``parse_position`` reads it back to an equal one."""
    s = position.state
    cards = _Cards(s)
    fields = [_options_text(s)]
    if s.options.rules != FIRST_VERSION:
        fields.append(f"rules {s.options.rules}")
    if position.viewer != NOBODY:
        fields.append(f"as {viewer_text(position.viewer)}")
    fields.append(f"round {s.round} turn {s.turn} {_seat(s.active)}")
    fields.append(f"token {_seat(s.holder)}{'+' if s.token_active else ''}")
    if s.caller != NOBODY:
        fields.append(f"caller {_seat(s.caller)}")
    if s.extra_turns:
        fields.append(f"extra {s.extra_turns}")
    if s.ability_used:
        fields.append("ability used")
    if s.shuffles != 1:
        fields.append(f"shuffles {s.shuffles}")
    for seat, village in enumerate(s.villages):
        fields.append(f"{SEATS[seat]} {cards.row(village)}")
    fields.append(f"pile {cards.row(s.pile[::-1])}")
    fields.append(f"deck {cards.row(s.deck[::-1])}")
    fields.append(f"aside {cards.row(s.aside)}")
    if s.hand != NOBODY:
        fields.append(f"hand {cards.row(s.hand_cards())}")
    if s.put != NOBODY:
        fields.append(f"put {_place(s, s.put)}")
    if s.tucked:
        pairs = zip(s.tucked[::2], s.tucked[1::2], strict=True)
        fields.append("tucked " + " ".join(f"{cards.card(h)}={_place(s, host)}" for host, h in pairs))
    if s.pool:
        fields.append("pool " + " ".join(_pooled(s, s.pool[i], s.pool[i + 1]) for i in range(0, len(s.pool), 2)))
    if s.excluded:
        fields.append("excluded " + " ".join(_excluded(s, s.excluded[i : i + 3]) for i in range(0, len(s.excluded), 3)))
    if s.scores:
        fields.append("scores " + " / ".join(_numbers(s, i) for i in range(0, len(s.scores), s.options.players)))
    if s.resigned:
        fields.append("resigned " + " ".join(_seat(seat) for seat in s.resigned))
    if s.is_over():
        fields.append(f"over {catalog.OVER_NAMES[s.over]}")
    else:
        stack = s.stack
        words = [_frame(s, stack[at : at + FRAME]) for at in range(0, len(stack), FRAME)]
        fields.append(f"frames {' '.join(words)}")
    order = reading_order(s)
    if order != _IN_ORDER[: len(order)]:
        fields.append(f"handles {_ranges(order)}")
    if s.secret:
        fields.append(f"secret {s.secret.hex()}")
    if s.entropy:
        fields.append("entropy " + " ".join(part.hex() or "-" for part in s.entropy))
    return "; ".join(fields)


def viewer_text(viewer: int) -> str:
    """Return how a viewer is written: a seat's letter, or ``spectator``."""
    return "spectator" if viewer == SPECTATOR else SEATS[viewer]


def reading_order(s: State) -> bytes:
    """Return all handles in the order in which a text lists the cards."""
    return b"".join([*s.villages, s.pile[::-1], s.deck[::-1], s.aside, s.hand_cards(), s.tucked[1::2]])


_IN_ORDER: Final = bytes(range(CARDS))


def _options_text(s: State) -> str:
    types = s.types
    if types.options is not s.options:
        return game_text(s.options)
    if not types.options_text:
        types.options_text = game_text(s.options)
    return types.options_text


def game_text(options: Options) -> str:
    """Return the options of a game, such as ``coin 4p rounds=2``; ``parse_game`` reads them back to equal ones.

    The version of the rules isn't among them: it has a field of positions and a line of records to itself.
    """
    words = [deck_text(options.deck), f"{options.players}p"]
    if options.token != _DEFAULTS.token:
        words.append(f"token={options.token}")
    if options.rounds != _DEFAULTS.rounds:
        words.append(f"rounds={options.rounds}")
    if options.turn_limit != _DEFAULTS.turn_limit:
        words.append(f"turn_limit={options.turn_limit}")
    if options.memory != _DEFAULTS.memory:
        words.append(f"memory={options.memory}")
    if options.successful_call != _DEFAULTS.successful_call:
        words.append(f"successful_call={options.successful_call}")
    if options.demands != _DEFAULTS.demands:
        words.append("demands=" + ",".join(demand.replace(" ", "-") for demand in options.demands))
    if options.villages != tuple(range(options.players)):
        words.append(f"villages={','.join(map(str, options.villages))}")
    if options.deal_supplied:
        words.append("deal_supplied")
    return " ".join(words)


def _seat(seat: int) -> str:
    return "-" if seat == NOBODY else SEATS[seat]


class _Cards:
    """Writes the cards of a position."""

    def __init__(self, s: State) -> None:
        self.flags = bytes(s.flags)
        self.known = bytes(s.known)
        self.identity = s.identity
        self.face_texts = s.types.face_texts

    def row(self, handles: bytes) -> str:
        """Write cards that lie in a row: those alike once, and how many there are."""
        words: list[str] = []
        last, count, alike = "", 0, -1
        flags, known, identity = self.flags, self.known, self.identity
        for h in handles:
            key = flags[h] << 16 | known[h] << 8 | identity[h]
            if key == alike:  # which most cards are that nobody knows
                count += 1
                continue
            alike = key
            text = self.card(h)
            if text == last:
                count += 1
                continue
            if count == 1:
                words.append(last)
            elif count:
                words.append(_repeated(last, count))
            last, count = text, 1
        if not count:
            return "-"
        words.append(_repeated(last, count))
        return " ".join(words)

    def card(self, h: int) -> str:
        """Write a card: how it lies, its face if that is known, and its marks."""
        flags, identity = self.flags[h], self.identity[h]
        text = _marks(flags, self.known[h])
        if identity != UNKNOWN:
            text = self.face_texts[identity] + text
        return text if flags & FACEUP else "?" + text


def _repeated(text: str, count: int) -> str:
    """Return a card that stands so many times in a row."""
    if count == 1:
        return text
    return f"{text} {text}" if count == 2 else f"{text}x{count}"


def _marks(flags: int, known: int) -> str:
    """Return what follows the face of a card; the same few recur in all texts."""
    key = flags << 8 | known
    text = _WRITTEN.get(key)
    if text is None:
        text = "".join([mark for flag, mark in MARKS if flags & flag])
        if known != (EVERYBODY if flags & FACEUP else 0):
            text += ":" + seen_by_text(known)
        _WRITTEN[key] = text
    return text


#: Marks of a card: turned by 90 degrees, its ability used, spent; flipped by the Twister in progress, looked at by the
#: Spotter in progress; shuffled by the Eye token, and since then where nobody knows how it lies.
MARKS = (
    (SIDEWAYS, "~"),
    (USED, "!"),
    (SPENT, "^"),
    (FLIPPED, "%"),
    (SPOTTED, "&"),
    (POOLED, "="),
    (HIDDEN, "#"),
)


_WRITTEN: dict[int, str] = {}  # by flags and knowledge: at most 2**16


def _pooled(s: State, entry: int, seen_by: int) -> str:
    facing = "" if entry & POOL_FACEUP else "?"
    return f"{facing}{s.types.face_texts[entry & ~POOL_FACEUP]}:{seen_by_text(seen_by)}"


def _excluded(s: State, triple: bytes) -> str:
    h, low, high = triple
    numbers = low | high << 8
    return f"{_place(s, h)}={','.join(str(number) for number in range(NUMBERS) if numbers >> number & 1)}"


def seen_by_text(mask: int) -> str:
    """Return who has seen a card: letters of seats, or ``*`` for everybody."""
    if mask == EVERYBODY:
        return "*"
    return "-" if not mask else "".join([SEATS[seat] for seat in range(len(SEATS)) if mask >> seat & 1])


def _numbers(s: State, start: int) -> str:
    return " ".join(map(str, s.scores[start : start + s.options.players]))


def _frame(s: State, frame: bytes) -> str:
    text = f"{s.rules.program_names[frame[0]]}.{frame[1]}/{SEATS[frame[2]]}"
    cards = frame[6:]
    if cards == _NOWHERE and frame[3:6] == _NOTHING:
        return text
    text = f"{text}/{frame[3]},{frame[4]},{frame[5]}"
    return text if cards == _NOWHERE else f"{text}/{','.join([_place(s, h) for h in cards])}"


_NOWHERE: Final = bytes([NOBODY]) * (FRAME - 6)
_NOTHING: Final = bytes(3)


def _place(s: State, h: int) -> str:
    if h == NOBODY:
        return "-"
    if h == s.hand:
        return "hand"
    for seat, village in enumerate(s.villages):
        spot = village.find(h)
        if spot >= 0:
            return f"{SEATS[seat]}{spot}"
    for name, zone in (
        ("pile", s.pile[::-1]),
        ("deck", s.deck[::-1]),
        ("aside", s.aside),
        ("tucked", s.tucked[1::2]),
    ):
        spot = zone.find(h)
        if spot >= 0:
            return f"{name}{spot}"
    raise AssertionError("every card is somewhere")


def _ranges(handles: bytes) -> str:
    """Write 0 1 2 7 as ``0-2 7``."""
    words: list[str] = []
    start = previous = handles[0]
    for h in handles[1:] + _BEYOND:
        if h != previous + 1:
            words.append(f"{_DIGITS[start]}-{_DIGITS[previous]}" if previous > start else _DIGITS[start])
            start = h
        previous = h
    return " ".join(words)


_BEYOND: Final = bytes([NOBODY])  # which follows no handle
_DIGITS: Final = [str(h) for h in range(CARDS)]
