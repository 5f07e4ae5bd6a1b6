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
_DEALT: Final = 5  # cards of a village when its owner peeks (SET-4)

_VERBS: Final = {name.lower(): verb for verb, (name, _) in enumerate(engine.FIELDS)}
_ENDS: Final = {engine.LEFT: pb.END_LEFT, engine.RIGHT: pb.END_RIGHT}
_DIRECTIONS: Final = {
    engine.CLOCKWISE: pb.DIRECTION_CLOCKWISE,
    engine.COUNTERCLOCKWISE: pb.DIRECTION_COUNTERCLOCKWISE,
}


def to_proto(action: int) -> pb.Action:
    """Return an action as message."""
    message = pb.Action()
    name, fields = engine.FIELDS[engine.verb_of(action)]
    arguments: Message = getattr(message, name.lower())
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
    """Return an argument's field: its kind, but where two spots follow each other, the first is the acting card's."""
    return "resident_spot" if fields[i : i + 2] == (engine.SPOT, engine.SPOT) else fields[i]


def _write(arguments: Message, name: str, kind: str, value: int) -> None:
    if kind == engine.PAIR:
        assert isinstance(arguments, pb.PeekAction)
        arguments.spots[:] = (value >> 3, value & 7)
    elif kind == engine.SQUARE:
        assert isinstance(arguments, pb.PickAction)
        arguments.card.seat = engine.seat_of(value)
        arguments.card.spot = engine.spot_of(value)
    elif kind == engine.END:
        assert isinstance(arguments, pb.PlaceEndAction)
        arguments.seat = value >> 1
        arguments.end = _ENDS[value & 1]
    elif kind == engine.DIRECTION:
        assert isinstance(arguments, pb.TurnDirectionAction)
        arguments.direction = _DIRECTIONS[value]
    else:
        setattr(arguments, name, value)


def _read(arguments: Message, name: str, kind: str, path: str) -> int:
    if kind == engine.PAIR:
        assert isinstance(arguments, pb.PeekAction)
        return _pair(arguments, path)
    if kind == engine.SQUARE:
        assert isinstance(arguments, pb.PickAction)
        if not arguments.HasField("card"):
            raise FieldError(f"{path}.card", "is required: the seat and the spot of a card")
        seat = _number(arguments.card, "seat", _SEATS, f"{path}.card")
        return engine.square(seat, _number(arguments.card, "spot", _CARDS, f"{path}.card"))
    if kind == engine.END:
        assert isinstance(arguments, pb.PlaceEndAction)
        seat = _number(arguments, "seat", _SEATS, path)
        return seat << 1 | _choice(arguments.end, _ENDS, pb.End.Name, f"{path}.end")
    if kind == engine.DIRECTION:
        assert isinstance(arguments, pb.TurnDirectionAction)
        return _choice(arguments.direction, _DIRECTIONS, pb.Direction.Name, f"{path}.direction")
    return _number(arguments, name, _SEATS if kind == engine.SEAT else _CARDS, path)


def _pair(arguments: pb.PeekAction, path: str) -> int:
    spots = arguments.spots
    if len(spots) != 2 or not 0 <= spots[0] < spots[1] < _DEALT:
        raise FieldError(f"{path}.spots", f"needs two different spots of 0..{_DEALT - 1}, in ascending order")
    return spots[0] << 3 | spots[1]


def _number(message: Message, name: str, count: int, path: str) -> int:
    if not message.HasField(name):
        raise FieldError(f"{path}.{name}", f"is required: 0..{count - 1}")
    value: int = getattr(message, name)
    if not 0 <= value < count:
        raise FieldError(f"{path}.{name}", f"must be 0..{count - 1}, is {value}")
    return value


def _choice(number: Number, choices: Mapping[int, Number], name: Callable[[Number], str], path: str) -> int:
    for argument, known in choices.items():
        if known == number:
            return argument
    raise FieldError(path, f"must be one of {', '.join(map(name, choices.values()))}")
