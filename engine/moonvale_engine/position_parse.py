"""Reading positions: the inverse of ``position_text``, and the invariants that every position must keep."""

from __future__ import annotations

import re
from collections import Counter

from moonvale_engine import catalog, programs
from moonvale_engine.deck import face_text, faces_in_play
from moonvale_engine.errors import NotationError, OptionError
from moonvale_engine.events import EVERYBODY, NOBODY, SPECTATOR, UNKNOWN
from moonvale_engine.notation import SEATS
from moonvale_engine.options import NUMBERS, Options, parse_deck
from moonvale_engine.position import Position
from moonvale_engine.position_text import MARKS
from moonvale_engine.rules import FIRST_VERSION
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_engine.state import (
    CARDS,
    FACEUP,
    FRAME,
    POOL_FACEUP,
    State,
    drop_frames,
    new_state,
    set_face,
    set_stack,
)

_CARD = re.compile(r"(\?)?(-?\d+(?:\.\d)?)?([~!^%&=#]*)(?::(\*|-|[a-d]+))?(?:x(\d+))?", re.ASCII)
_FRAME = re.compile(r"(\w+)\.(\d+)/([a-d])(?:/(\d+),(\d+),(\d+))?(?:/([\w,-]+))?", re.ASCII)
_PLACE = re.compile(r"(hand|([a-d]|pile|deck|aside|tucked)(\d+))", re.ASCII)
_REQUIRED = ("round", "token", "pile", "deck", "aside")
_OPTIONAL = (
    "rules",
    "as",
    "caller",
    "extra",
    "ability",
    "shuffles",
    "hand",
    "put",
    "tucked",
    "pool",
    "excluded",
    "scores",
    "resigned",
    "over",
    "frames",
    "handles",
    "secret",
    "entropy",
)
_INT_OPTIONS = ("rounds", "turn_limit")
_NAME_OPTIONS = ("token", "memory", "successful_call")


def parse_position(text: str) -> Position:
    """Read a position and list its open choices.

    Raises NotationError, whose ``field`` names the part that is wrong: a field of the text, ``cards`` (not 52, or not
    those of the deck), ``frames``, or an option. Raises UnknownRulesError if it is of rules that are not known.
    """
    fields = _fields(text)
    rules = catalog.rules_of(_number("rules", fields.get("rules", str(FIRST_VERSION))))
    options = parse_game(fields.pop("game"), rules.version)
    seats = SEATS[: options.players]
    for name in (*_REQUIRED, *seats):
        if name not in fields:
            raise NotationError(name, "is missing")
    for name in fields:
        if name not in _REQUIRED and name not in _OPTIONAL and name not in seats:
            raise NotationError(name, f"is not a field of a position for {options.players} players")
    s = _state(options, fields)
    reader = _CardReader(s)
    for seat, letter in enumerate(seats):
        s.villages[seat] = bytes(reader.cards(letter, fields[letter]))
    s.pile = bytes(reversed(reader.cards("pile", fields["pile"])))
    s.deck = bytes(reversed(reader.cards("deck", fields["deck"])))
    s.aside = bytes(reader.cards("aside", fields["aside"]))
    hand = reader.cards("hand", fields.get("hand", "-"))
    if len(hand) > 1:
        raise NotationError("hand", "holds one card or none")
    s.hand = hand[0] if hand else NOBODY
    _tucked(s, reader, fields.get("tucked", ""))
    reader.check()
    s.put = _handle_at(s, "put", fields.get("put", "-"))
    _pool(s, reader, fields.get("pool", ""))
    _excluded(s, fields.get("excluded", ""))
    viewer = _viewer(fields.get("as", ""), seats)
    _check_faces(s, viewer)
    _frames(s, fields)
    _renumber(s, _handles(fields.get("handles", "")))
    return _with_choices(s, viewer)


def _fields(text: str) -> dict[str, str]:
    first, *rest = [part.strip() for part in text.strip().split(";")]
    fields = {"game": first}
    for part in rest:
        name, _, value = part.partition(" ")
        if name in fields:
            raise NotationError(name, "stands twice")
        fields[name] = value.strip()
    return fields


def parse_game(text: str, rules: int = FIRST_VERSION) -> Options:
    """Read the options of a game that is played by a version of the rules.

    Raises NotationError, whose ``field`` names the option, or ``game``.
    """
    words = text.split()
    if len(words) < 2 or not re.fullmatch(r"\dp", words[1], re.ASCII):
        raise NotationError("game", "begins with the deck and the number of players, such as 'coin 4p'")
    given: dict[str, object] = {"players": int(words[1][0]), "rules": rules}
    for word in words[2:]:
        name, _, value = word.partition("=")
        if word == "deal_supplied":
            given[word] = True
        elif name in _INT_OPTIONS:
            given[name] = _number(name, value)
        elif name in _NAME_OPTIONS:
            given[name] = value
        elif name == "demands":
            given[name] = tuple([demand.replace("-", " ", 2) for demand in value.split(",")])
        elif name == "villages":
            given[name] = tuple([_number(name, part) for part in value.split(",")])
        else:
            raise NotationError("game", f"'{word}' is not an option")
    try:
        return Options(deck=parse_deck(words[0]), **given)  # type: ignore[arg-type]  # validated by Options itself
    except OptionError as error:
        raise NotationError(error.field, error.message) from error


def _state(options: Options, fields: dict[str, str]) -> State:
    players = options.players
    seats = SEATS[:players]
    round_match = re.fullmatch(r"(\d+) turn (\d+) ([a-d-])", fields["round"], re.ASCII)
    if not round_match:
        raise NotationError("round", "looks like 'round 1 turn 5 a'")
    token = fields["token"]
    scores = [_number("scores", word) for word in fields.get("scores", "").replace("/", " ").split()]
    round = int(round_match[1])
    over = _over(fields)
    if len(scores) != players * (round if over == 0 else round - 1) or not 1 <= round <= options.rounds:
        raise NotationError(
            "scores", f"needs the points of {players} seats for each finished round, up to round {round}"
        )
    s = new_state(
        options,
        catalog.rules_of(options.rules),
        _hex("secret", fields.get("secret", "")),
        tuple([_hex("entropy", "" if part == "-" else part) for part in fields.get("entropy", "").split()]),
    )
    s.resigned = bytes([_seat("resigned", word, seats) for word in fields.get("resigned", "").split()])
    s.totals = tuple([sum(scores[seat::players]) for seat in range(players)])
    s.scores = tuple(scores)
    s.round = round
    s.turn = _number("round", round_match[2])
    s.active = _seat("round", round_match[3], seats, none=True)
    s.holder = _seat("token", token.removesuffix("+"), seats)
    s.token_active = token.endswith("+")
    s.caller = _seat("caller", fields.get("caller", "-"), seats, none=True)
    s.extra_turns = _number("extra", fields.get("extra", "0"))
    s.shuffles = _number("shuffles", fields.get("shuffles", "1"))
    s.ability_used = fields.get("ability", "") == "used"
    s.over = over
    return s


def _over(fields: dict[str, str]) -> int:
    if "over" not in fields:
        return NOBODY
    if fields["over"] not in catalog.OVER_NAMES:
        raise NotationError("over", f"is one of: {', '.join(catalog.OVER_NAMES)}")
    return catalog.OVER_NAMES.index(fields["over"])


class _CardReader:
    """Reads cards into a state, giving them handles in the order in which they are read."""

    def __init__(self, s: State) -> None:
        self.s = s
        self.next = 0
        self.faces = {face_text(s.cards, face): face for face in set(faces_in_play(s.cards))}

    def cards(self, field: str, text: str) -> list[int]:
        handles: list[int] = []
        for word in "" if text == "-" else text.split():
            match = _CARD.fullmatch(word)
            if not match or (not match[1] and not match[2]):
                raise NotationError(
                    field, f"'{word}' is not a card; a faceup 7 is '7', a facedown one '?7', an unknown one '?'"
                )
            handles += [self._card(field, match) for _ in range(_number(field, match[5] or "1"))]
        return handles

    def _card(self, field: str, match: re.Match[str]) -> int:
        s, h = self.s, self.next
        if h == CARDS:
            raise NotationError("cards", f"there are more than {CARDS}")
        self.next += 1
        if match[2]:
            if match[2] not in self.faces:
                raise NotationError(field, f"no card of this deck has the value {match[2]}")
            set_face(s, h, self.faces[match[2]])
        s.flags[h] = sum(flag for flag, mark in MARKS if mark in match[3]) | (0 if match[1] else FACEUP)
        seen_by = match[4] or ("" if match[1] else "*")
        s.known[h] = _seen_by(seen_by)
        return h

    def check(self) -> None:
        if self.next != CARDS:
            raise NotationError("cards", f"there are {self.next}, not {CARDS}")


def _seen_by(text: str) -> int:
    if text == "*":
        return EVERYBODY
    return 0 if text == "-" else sum({1 << SEATS.index(letter) for letter in text})


def _tucked(s: State, reader: _CardReader, text: str) -> None:
    for word in text.split():
        card, _, place = word.rpartition("=")
        handles = reader.cards("tucked", card)
        if len(handles) != 1:
            raise NotationError("tucked", f"'{word}' is not CARD=PLACE, such as '-1=b3'")
        s.tucked += bytes((_handle_at(s, "tucked", place), handles[0]))
    if NOBODY in s.tucked:
        raise NotationError("tucked", "every card lies under another one")


def _pool(s: State, reader: _CardReader, text: str) -> None:
    for word in text.split():
        match = _CARD.fullmatch(word)
        if not match or match[2] not in reader.faces or not match[4] or match[3] or match[5]:
            raise NotationError("pool", f"'{word}' is not a card and who knows it, such as '?7:a' or '7:*'")
        s.pool += bytes((reader.faces[match[2]] | (0 if match[1] else POOL_FACEUP), _seen_by(match[4])))


def _excluded(s: State, text: str) -> None:
    for word in text.split():
        place, _, numbers = word.partition("=")
        h = _handle_at(s, "excluded", place)
        mask = sum({1 << _number("excluded", number) % NUMBERS for number in numbers.split(",")})
        if h == NOBODY:
            raise NotationError("excluded", f"'{word}' is not PLACE=NUMBERS, such as 'b3=0,2,4'")
        s.excluded += bytes((h, mask & 255, mask >> 8))


def _check_faces(s: State, viewer: int) -> None:
    deck = Counter(faces_in_play(s.cards))
    for face, count in Counter(s.identity).items():
        if face == UNKNOWN:
            if viewer == NOBODY:
                raise NotationError("cards", "the whole position needs every face; a viewer's one begins with 'as a'")
        elif count > deck[face]:
            text = face_text(s.cards, face)
            raise NotationError("cards", f"there are {count} of {text}, the deck has {deck[face]}")
    if viewer == NOBODY and len(s.secret) != SECRET_BYTES:
        raise NotationError("secret", f"the whole position needs {SECRET_BYTES} bytes")
    if viewer != NOBODY and s.secret:
        raise NotationError("secret", "is no part of a viewer's position")


def _frames(s: State, fields: dict[str, str]) -> None:
    if ("frames" in fields) == s.is_over():
        raise NotationError("frames", "a game has either frames or 'over'")
    stack = b""
    for word in fields.get("frames", "").split():
        match = _FRAME.fullmatch(word)
        name = match[1] if match else ""
        if not match or name not in s.rules.program_names:
            raise NotationError("frames", f"'{word}' is not a frame")
        program = s.rules.program_names.index(name)
        seat = _seat("frames", match[3], SEATS[: s.options.players])
        numbers = [_number("frames", text or "0") for text in match.group(4, 5, 6)]
        cards = [_handle_at(s, "frames", place) for place in (match[7] or "-,-,-,-").split(",")]
        if len(cards) != 4:
            raise NotationError("frames", f"'{word}' names {len(cards)} cards, not 4")
        step = int(match[2])
        if step > len(s.rules.programs[program]):
            raise NotationError("frames", f"'{word}': the program has {len(s.rules.programs[program])} steps")
        stack += bytes((program, step, seat, *numbers, *cards))
    if s.is_over():
        drop_frames(s)
    elif not stack or stack[0] != programs.ROUND:
        raise NotationError("frames", "begin with that of the round")
    else:
        set_stack(s, stack)


def _handle_at(s: State, field: str, place: str) -> int:
    if place == "-":
        return NOBODY
    match = _PLACE.fullmatch(place)
    if not match:
        raise NotationError(field, f"'{place}' is not a place of a card")
    zones = {"hand": s.hand_cards(), "pile": s.pile[::-1], "deck": s.deck[::-1], "aside": s.aside}
    zones["tucked"] = s.tucked[1::2]
    zones |= dict(zip(SEATS, s.villages, strict=False))
    zone = zones.get(match[2] or "hand", b"")
    spot = int(match[3] or 0)
    if spot >= len(zone):
        raise NotationError(field, f"there is no card at '{place}'")
    return zone[spot]


def _handles(text: str) -> list[int]:
    if not text:
        return list(range(CARDS))
    handles: list[int] = []
    for word in text.split():
        first, _, last = word.partition("-")
        handles += range(_number("handles", first), _number("handles", last or first) + 1)
    if sorted(handles) != list(range(CARDS)):
        raise NotationError("handles", f"needs each of 0..{CARDS - 1} once, in the order of the cards")
    return handles


def _renumber(s: State, handles: list[int]) -> None:
    """Give the cards, which were numbered in reading order, their handles."""
    table = bytes([*handles, *range(CARDS, 256)])
    order = sorted(range(CARDS), key=lambda i: handles[i])
    s.identity = bytes([s.identity[i] for i in order])
    s.flags = bytearray([s.flags[i] for i in order])
    s.known = bytearray([s.known[i] for i in order])
    s.deck = s.deck.translate(table)
    s.pile = s.pile.translate(table)
    s.aside = s.aside.translate(table)
    s.villages = [village.translate(table) for village in s.villages]
    if not s.is_over():
        stack = bytearray(s.stack)
        for at in range(0, len(stack), FRAME):
            stack[at + 6 : at + FRAME] = stack[at + 6 : at + FRAME].translate(table)
        set_stack(s, bytes(stack))
    s.hand, s.put = table[s.hand], table[s.put]
    s.tucked = s.tucked.translate(table)
    s.excluded = b"".join(
        [bytes((table[s.excluded[i]],)) + s.excluded[i + 1 : i + 3] for i in range(0, len(s.excluded), 3)]
    )


def _with_choices(s: State, viewer: int) -> Position:
    position = Position(s, viewer)
    before = s.stack
    try:
        if before:
            position.check_frames()
            position.list_choices()
    except (IndexError, ValueError, AssertionError) as error:
        raise NotationError("frames", f"do not fit the cards on the table: {error}") from error
    if s.stack != before or (before and not s.choices and viewer in (NOBODY, s.seat)):
        raise NotationError("frames", "do not end in an open decision")
    return position


def _viewer(text: str, seats: str) -> int:
    if text == "spectator":
        return SPECTATOR
    return _seat("as", text, seats) if text else NOBODY


def _seat(field: str, text: str, seats: str, none: bool = False) -> int:
    if none and text == "-":
        return NOBODY
    if len(text) != 1 or text not in seats:
        raise NotationError(field, f"'{text}' is not a seat; the seats are {', '.join(seats)}")
    return seats.index(text)


def _number(field: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise NotationError(field, f"'{text}' is not a number") from None
    if not -1000 <= number <= 1000:
        raise NotationError(field, f"{number} is out of range")
    return number


def _hex(field: str, text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NotationError(field, "is not hexadecimal") from None
