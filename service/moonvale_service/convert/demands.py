"""Demands: the engine's texts, such as ``at most 6``, to messages, and back with the field named that is wrong."""

from __future__ import annotations

from functools import cache
from typing import Final

from moonvale.v1 import card_pb2 as pb
from moonvale_engine.options import NUMBERS
from moonvale_service.errors import FieldError

_LEAST_VALUE: Final = -1  # Nelly's
_PARITIES: Final = {"even": pb.PARITY_EVEN, "odd": pb.PARITY_ODD}
_PARITY_OF: Final = {number: name for name, number in _PARITIES.items()}


@cache
def to_proto(demand: str) -> pb.Demand:
    """Return a demand as message."""
    if demand in _PARITIES:
        return pb.Demand(parity=_PARITIES[demand])
    _, bound, value = demand.split(" ")
    return pb.Demand(at_most=int(value)) if bound == "most" else pb.Demand(at_least=int(value))


def from_proto(message: pb.Demand, path: str) -> str:
    """Return the engine's text of a demand. Raises FieldError, which names the field below ``path``."""
    kind = message.WhichOneof("kind")
    if kind is None:
        raise FieldError(path, "needs one of parity, at_most, at_least")
    if kind == "parity":
        if message.parity not in _PARITY_OF:
            raise FieldError(f"{path}.parity", f"must be one of {', '.join(map(pb.Parity.Name, _PARITY_OF))}")
        return _PARITY_OF[message.parity]
    value = message.at_most if kind == "at_most" else message.at_least
    if not _LEAST_VALUE <= value < NUMBERS:
        raise FieldError(f"{path}.{kind}", f"must be {_LEAST_VALUE}..{NUMBERS - 1}, is {value}")
    return f"{kind.replace('_', ' ')} {value}"
