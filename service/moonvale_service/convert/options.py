"""Options: those of a request to the engine's, with errors that name the field of the request; and back."""

from __future__ import annotations

from typing import Final

from moonvale.v1 import game_service_pb2
from moonvale.v1 import options_pb2 as pb
from moonvale_engine.errors import OptionError
from moonvale_engine.options import Options, deck_text, parse_deck
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_service.convert import demands
from moonvale_service.errors import FieldError

_MEMORIES: Final = {"assisted": pb.MEMORY_ASSISTED, "table": pb.MEMORY_TABLE}
_SUCCESSFUL_CALLS: Final = {"zero": pb.SUCCESSFUL_CALL_ZERO, "lower": pb.SUCCESSFUL_CALL_LOWER}
_MEMORY_OF: Final = {number: name for name, number in _MEMORIES.items()}
_SUCCESSFUL_CALL_OF: Final = {number: name for name, number in _SUCCESSFUL_CALLS.items()}

_DEFAULTS: Final = Options()


def from_proto(message: pb.Options, deal: game_service_pb2.Deal | None = None) -> Options:
    """Return the options of a new game, defaults filled in; ``deal``: the supplied one, if any.

    Raises FieldError with a path of CreateGameRequest: ``options.players``, ``options.demands[1].at_most``,
    ``deal.villages``.
    """
    if message.memory and message.memory not in _MEMORY_OF:
        raise FieldError("options.memory", f"must be one of {', '.join(map(pb.Memory.Name, _MEMORY_OF))}")
    if message.successful_call and message.successful_call not in _SUCCESSFUL_CALL_OF:
        known = ", ".join(map(pb.SuccessfulCall.Name, _SUCCESSFUL_CALL_OF))
        raise FieldError("options.successful_call", f"must be one of {known}")
    if deal is not None and len(deal.secret) != SECRET_BYTES:
        raise FieldError("deal.secret", f"needs {SECRET_BYTES} bytes, has {len(deal.secret)}")
    try:
        return Options(
            players=message.players if message.HasField("players") else _DEFAULTS.players,
            deck=parse_deck(message.deck) if message.deck else _DEFAULTS.deck,
            token=message.token or _DEFAULTS.token,
            rounds=message.rounds if message.HasField("rounds") else _DEFAULTS.rounds,
            turn_limit=message.turn_limit if message.HasField("turn_limit") else _DEFAULTS.turn_limit,
            memory=_MEMORY_OF.get(message.memory, _DEFAULTS.memory),
            successful_call=_SUCCESSFUL_CALL_OF.get(message.successful_call, _DEFAULTS.successful_call),
            demands=_demands(message) if message.demands else _DEFAULTS.demands,
            villages=tuple(deal.villages) if deal is not None else (),
            deal_supplied=deal is not None,
        )
    except OptionError as error:
        message_name = "deal" if error.field == "villages" else "options"
        raise FieldError(f"{message_name}.{error.field}", error.message) from error


def _demands(message: pb.Options) -> tuple[str, ...]:
    return tuple([demands.from_proto(demand, f"options.demands[{i}]") for i, demand in enumerate(message.demands)])


def to_proto(options: Options) -> pb.Options:
    """Return the options of a game, every field set."""
    return pb.Options(
        players=options.players,
        deck=deck_text(options.deck),
        token=options.token,
        rounds=options.rounds,
        turn_limit=options.turn_limit,
        memory=_MEMORIES[options.memory],
        successful_call=_SUCCESSFUL_CALLS[options.successful_call],
        demands=[demands.to_proto(demand) for demand in options.demands],
        villages=options.villages,
        deal_supplied=options.deal_supplied,
    )
