"""Notation of actions, seats and cards as readable text that round-trips; positions are in ``position_text``.

Specified in docs/notation.md. Seats are letters a..d, spots numbers from 0 at the owner's left, so ``b3`` is a card;
``p0`` is the top of the pile.
"""

from __future__ import annotations

import re

from moonvale_engine import actions as act
from moonvale_engine.actions import pack
from moonvale_engine.errors import NotationError

SEATS = "abcd"
MOST_SPOTS = 64

#: verb -> what its text looks like; {x}, {y}, {z} are its fields
_PATTERNS: dict[int, str] = {
    act.PEEK: "peek {x}",
    act.DRAW: "draw",
    act.TAKE: "take {x}",
    act.CALL: "call",
    act.ACTIVATE: "activate {x}",
    act.USE_RESIDENT: "use {x}",
    act.TURN_CARD: "turn {y} by {x}",
    act.DISCARD_RESIDENT: "discard {y} by {x}{z}",
    act.USE_TOKEN: "token",
    act.DISCARD: "discard",
    act.USE: "use",
    act.NAME: "name {x}",
    act.CLOSE: "close",
    act.PLACE: "place {x}",
    act.PLACE_END: "end {x}",
    act.PICK: "pick {x}{y}",
    act.VILLAGE: "village {x}",
    act.TURN_DIRECTION: "{x}",
    act.STOP: "stop",
    act.END_TURN: "end",
    act.DONE: "done",
    act.GIVE: "give {y} by {x} to {z}",
    act.DRAW_WITH_TOKEN: "draw with token",
    act.CHOOSE: "choose {x} {y}",
    act.GAMBLE: "gamble",
    act.PREDICT: "predict {x}",
    act.DECLINE: "decline",
    act.KEEP: "keep",
    act.DECLARE: "declare{x}",
    act.UNDERMINE: "undermine {x}",
    act.PASS: "pass",
    act.TUCK: "tuck {x} under {y}",
    act.BOMB: "bomb {y} by {x}",
}
_FIELD_PATTERNS = {
    act.SPOT: r"\d{1,2}",
    act.SQUARE: r"[a-d]\d{1,2}",
    act.DEPTH: r"p\d{1,2}",
    act.SEAT: "[a-d]",
    act.END: "[a-d] (?:left|right)",
    act.PAIR: r"\d \d",
    act.DIRECTION: "clockwise|counterclockwise",
    act.SPOTTERS: "(?: spotters [1-4])?",
    act.VALUE: r"-1|\d{1,2}",
    act.FACE: r"\d{1,2}(?:\.[1-4])?",
    act.FACEUP: "facedown|faceup",
}
_SIDES = ("left", "right")
_DIRECTIONS = ("clockwise", "counterclockwise")
_FACINGS = ("facedown", "faceup")


def action_text(action: int) -> str:
    """Return the text of an action, such as ``draw``, ``pick b3`` or ``turn 4 by 1``."""
    verb = act.verb_of(action)
    values = (act.x_of(action), act.y_of(action), act.z_of(action))
    fields = act.FIELDS[verb][1]
    parts = {name: _field_text(field, value) for name, field, value in zip("xyz", fields, values, strict=False)}
    return _PATTERNS[verb].format(**parts)


def parse_action(text: str) -> int:
    """Return the action of a text. Raises NotationError for ``action``."""
    words = " ".join(text.split())
    for verb, matcher in _MATCHERS:
        match = matcher.fullmatch(words)
        if match:
            fields = act.FIELDS[verb][1]
            parts = match.groupdict()
            values = [_field_value(field, parts[name]) for name, field in zip("xyz", fields, strict=False)]
            return pack(verb, *values)
    raise NotationError("action", f"'{text}' is not an action; see docs/notation.md, or list the legal ones")


def _compile() -> list[tuple[int, re.Pattern[str]]]:
    matchers = []
    for verb, pattern in _PATTERNS.items():
        for name, field in zip("xyz", act.FIELDS[verb][1], strict=False):
            pattern = pattern.replace("{" + name + "}", f"(?P<{name}>{_FIELD_PATTERNS[field]})")
        matchers.append((verb, re.compile(pattern, re.ASCII)))
    return matchers


_MATCHERS = _compile()


def _field_text(field: str, value: int) -> str:
    if field == act.SQUARE:
        return square_text(value)
    if field == act.DEPTH:
        return f"p{value}"
    if field == act.SEAT:
        return SEATS[value]
    if field == act.END:
        return f"{SEATS[value >> 1]} {_SIDES[value & 1]}"
    if field == act.PAIR:
        return f"{value >> 3} {value & 7}"
    if field == act.DIRECTION:
        return _DIRECTIONS[value]
    if field == act.SPOTTERS:
        return f" spotters {value}" if value else ""
    if field == act.VALUE:
        return str(value - 1)
    if field == act.FACE:
        return f"{value & 15}.{(value >> 4) + 1}" if value >> 4 else str(value & 15)
    if field == act.FACEUP:
        return _FACINGS[value]
    return str(value)


def _field_value(field: str, text: str) -> int:
    if field == act.SQUARE:
        return act.square(SEATS.index(text[0]), _spot(text[1:]))
    if field == act.DEPTH:
        return _spot(text[1:])
    if field == act.SEAT:
        return SEATS.index(text)
    if field == act.END:
        seat, side = text.split()
        return SEATS.index(seat) << 1 | _SIDES.index(side)
    if field == act.PAIR:
        first, second = text.split()
        return _spot(first, 8) << 3 | _spot(second, 8)
    if field == act.DIRECTION:
        return _DIRECTIONS.index(text)
    if field == act.SPOTTERS:
        return int(text[-1]) if text else 0
    if field == act.VALUE:
        return _spot(text, 14) + 1 if text != "-1" else 0
    if field == act.FACE:
        number, _, variant = text.partition(".")
        return _spot(number, 14) | (int(variant or 1) - 1) << 4
    if field == act.FACEUP:
        return _FACINGS.index(text)
    return _spot(text)


def _spot(text: str, bound: int = MOST_SPOTS) -> int:
    if int(text) >= bound:
        raise NotationError("action", f"'{text}' is too large a number")
    return int(text)


def square_text(square: int) -> str:
    """Return the text of a card's place in a village, such as ``b3``."""
    return f"{SEATS[act.seat_of(square)]}{act.spot_of(square)}"
