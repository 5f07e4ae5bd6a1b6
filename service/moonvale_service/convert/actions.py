"""Actions: the engine's ints to typed messages, and back with every argument checked for presence and range.

What the arguments of a verb mean is in the engine's ``FIELDS``; the messages are named after the verbs. Whether an
action is legal is not judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from google.protobuf.message import Message

from moonvale.v1 import action_pb2 as pb
from moonvale.v1 import view_pb2
from moonvale_engine import actions as engine
from moonvale_service.errors import FieldError

Number = TypeVar("Number", bound=int)  # of an enum

_SEATS: Final = 4
_CARDS: Final = 52  # no village and no pile holds more
_COPIES: Final = 4  # of a card, at most: so of Spotters, and of Obsessors
_NUMBERS: Final = 14
_DEALT: Final = 5  # cards of a village when its owner peeks (SET-4)

#: verb -> its field of an Action; one name would be a keyword of Python.
_NAMES: Final = tuple(["pass_reaction" if name == "PASS" else name.lower() for name, _ in engine.FIELDS])
_VERBS: Final = {name: verb for verb, name in enumerate(_NAMES)}
_ENDS: Final = {engine.LEFT: pb.END_LEFT, engine.RIGHT: pb.END_RIGHT}
_DIRECTIONS: Final = {
    engine.CLOCKWISE: pb.DIRECTION_CLOCKWISE,
    engine.COUNTERCLOCKWISE: pb.DIRECTION_COUNTERCLOCKWISE,
}


# The least and the greatest argument of each kind that is one number of a message.
_RANGES: Final = {
    engine.SPOT: (0, _CARDS - 1),
    engine.DEPTH: (0, _CARDS - 1),
    engine.SEAT: (0, _SEATS - 1),
    engine.SPOTTERS: (1, _COPIES),
    engine.VALUE: (-1, _NUMBERS - 1),
}
_VALUE_OFFSET: Final = 1  # of the engine's argument
_RESIDENT_AND_CARD: Final = ((engine.SPOT, engine.SPOT), (engine.SPOT, engine.SQUARE))

_HasCard = pb.PickAction | pb.TuckAction | pb.BombAction


def to_proto(action: int) -> pb.Action:
    """Return an action as message."""
    message = pb.Action()
    verb = engine.verb_of(action)
    fields = engine.FIELDS[verb][1]
    arguments: Message = getattr(message, _NAMES[verb])
    arguments.SetInParent()
    values = (engine.x_of(action), engine.y_of(action), engine.z_of(action))
    for i, kind in enumerate(fields):
        _write(arguments, _name(fields, i), kind, values[i])
    return message


def from_proto(message: pb.Action, path: str) -> int:
    """Return the int of an action. Raises FieldError, which names the field below ``path``."""
    verb = message.WhichOneof("verb")
    if verb is None:
        raise FieldError(path, "needs a verb that this server knows, such as draw")
    arguments: Message = getattr(message, verb)
    fields = engine.FIELDS[_VERBS[verb]][1]
    values = [_read(arguments, _name(fields, i), kind, f"{path}.{verb}") for i, kind in enumerate(fields)]
    return engine.pack(_VERBS[verb], *values)


def legal_actions(actions: Iterable[int]) -> bytes:
    """Return the ``legal_actions`` of a Decision, encoded, to be merged into one."""
    return b"".join([_legal_action(action) for action in actions])


@lru_cache(maxsize=8192)
def _legal_action(action: int) -> bytes:
    """Encode a list of one; actions recur, and such lists, one after the other, are a list of all."""
    return view_pb2.Decision(legal_actions=[to_proto(action)]).SerializeToString()


def _name(fields: tuple[str, ...], i: int) -> str:
    """Return an argument's field: its kind, but of a spot that another card follows, the acting card's."""
    return "resident_spot" if fields[i : i + 2] in _RESIDENT_AND_CARD else fields[i]


def _write(arguments: Message, name: str, kind: str, value: int) -> None:
    if kind == engine.PAIR:
        assert isinstance(arguments, pb.PeekAction)
        arguments.spots[:] = (value >> 3, value & 7)
    elif kind == engine.SQUARE:
        assert isinstance(arguments, _HasCard)
        arguments.card.seat = engine.seat_of(value)
        arguments.card.spot = engine.spot_of(value)
    elif kind == engine.END:
        assert isinstance(arguments, pb.PlaceEndAction)
        arguments.seat = value >> 1
        arguments.end = _ENDS[value & 1]
    elif kind == engine.DIRECTION:
        assert isinstance(arguments, pb.TurnDirectionAction)
        arguments.direction = _DIRECTIONS[value]
    elif kind == engine.FACE:
        assert isinstance(arguments, pb.ChooseAction)
        arguments.number = value & 15
        arguments.variant = (value >> 4) + 1
    elif kind == engine.FACEUP:
        assert isinstance(arguments, pb.ChooseAction)
        arguments.faceup = value == 1
    else:
        setattr(arguments, name, value - _VALUE_OFFSET if kind == engine.VALUE else value)


def _read(arguments: Message, name: str, kind: str, path: str) -> int:
    if kind == engine.PAIR:
        assert isinstance(arguments, pb.PeekAction)
        return _pair(arguments, path)
    if kind == engine.SQUARE:
        assert isinstance(arguments, _HasCard)
        if not arguments.HasField("card"):
            raise FieldError(f"{path}.card", "is required: the seat and the spot of a card")
        seat = _number(arguments.card, "seat", _RANGES[engine.SEAT], f"{path}.card")
        return engine.square(seat, _number(arguments.card, "spot", _RANGES[engine.SPOT], f"{path}.card"))
    if kind == engine.END:
        assert isinstance(arguments, pb.PlaceEndAction)
        seat = _number(arguments, "seat", _RANGES[engine.SEAT], path)
        return seat << 1 | _choice(arguments.end, _ENDS, pb.End.Name, f"{path}.end")
    if kind == engine.DIRECTION:
        assert isinstance(arguments, pb.TurnDirectionAction)
        return _choice(arguments.direction, _DIRECTIONS, pb.Direction.Name, f"{path}.direction")
    if kind == engine.FACE:
        assert isinstance(arguments, pb.ChooseAction)
        number = _number(arguments, "number", (0, _NUMBERS - 1), path)
        variant = _within(arguments.variant or 1, (1, _COPIES), f"{path}.variant")
        return number | (variant - 1) << 4
    if kind == engine.FACEUP:
        assert isinstance(arguments, pb.ChooseAction)
        return int(arguments.faceup)
    if kind == engine.SPOTTERS and isinstance(arguments, pb.PickAction | pb.DiscardResidentAction):
        return _within(arguments.spotters, (0, _COPIES), f"{path}.{name}")
    return _number(arguments, name, _RANGES[kind], path) + (_VALUE_OFFSET if kind == engine.VALUE else 0)


def _pair(arguments: pb.PeekAction, path: str) -> int:
    spots = arguments.spots
    if len(spots) != 2 or not 0 <= spots[0] < spots[1] < _DEALT:
        raise FieldError(f"{path}.spots", f"needs two different spots of 0..{_DEALT - 1}, in ascending order")
    return spots[0] << 3 | spots[1]


def _number(message: Message, name: str, bounds: tuple[int, int], path: str) -> int:
    if not message.HasField(name):
        raise FieldError(f"{path}.{name}", f"is required: {bounds[0]}..{bounds[1]}")
    return _within(getattr(message, name), bounds, f"{path}.{name}")


def _within(value: int, bounds: tuple[int, int], path: str) -> int:
    if not bounds[0] <= value <= bounds[1]:
        raise FieldError(path, f"must be {bounds[0]}..{bounds[1]}, is {value}")
    return value


def _choice(number: Number, choices: Mapping[int, Number], name: Callable[[Number], str], path: str) -> int:
    for argument, known in choices.items():
        if known == number:
            return argument
    raise FieldError(path, f"must be one of {', '.join(map(name, choices.values()))}")
