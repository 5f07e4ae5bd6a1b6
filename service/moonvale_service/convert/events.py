"""Events: the engine's tuples, as one viewer gets them, to messages; and the entries of the log that hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from moonvale.v1 import card_pb2
from moonvale.v1 import event_pb2 as pb
from moonvale_engine import events as engine
from moonvale_engine.log import (
    BY_AGENT,
    BY_BOT,
    BY_CALLER,
    BY_TIME_OUT,
    FOR_FAILED_BOT,
    RESIGNATION,
    Entry,
)
from moonvale_engine.options import Options
from moonvale_service.convert import actions, cards, results, wire
from moonvale_service.convert.times import timestamp

# By the engine's constants.
_ACTION_CAUSES: Final = {engine.BY_PLAYER: pb.CAUSE_PLAYER, engine.BY_POLICY: pb.CAUSE_POLICY}
_ENTRY_CAUSES: Final = {
    BY_CALLER: pb.CAUSE_PLAYER,
    BY_TIME_OUT: pb.CAUSE_TIME_OUT,
    BY_BOT: pb.CAUSE_BOT,
    BY_AGENT: pb.CAUSE_AGENT,
    FOR_FAILED_BOT: pb.CAUSE_BOT_FAILED,
}
_SHOWN_REASONS: Final = {
    engine.SHOWN_FAILED_SET: pb.SHOWN_REASON_FAILED_SET,
    engine.SHOWN_ROUND_END: pb.SHOWN_REASON_ROUND_END,
    engine.SHOWN_REFUSED: pb.SHOWN_REASON_REFUSED,
}
_ROUND_END_REASONS: Final = {
    engine.END_BY_CALL: pb.ROUND_END_REASON_CALL,
    engine.END_BY_DECK: pb.ROUND_END_REASON_DECK,
    engine.END_BY_LIMIT: pb.ROUND_END_REASON_TURN_LIMIT,
}


def log_entry(
    options: Options,
    version: int,
    mark: str,
    entry: Entry | None,
    time: int,
    seat_to_act: int,
    events: Sequence[engine.Event],
    deadline: int = 0,
) -> pb.LogEntry:
    """Return an entry of the log, or the creation (None), with its events, each as ``seen_by`` the viewer.

    time, deadline: milliseconds since the epoch; a deadline of 0 is none. seat_to_act: whose turn to act it is after
    the entry, or NOBODY.
    """
    encoded = encode_entry(options, version, mark, entry, time, seat_to_act, events, deadline)
    return pb.LogEntry.FromString(encoded)


def encode_entry(
    options: Options,
    version: int,
    mark: str,
    entry: Entry | None,
    time: int,
    seat_to_act: int,
    events: Sequence[engine.Event],
    deadline: int = 0,
) -> bytes:
    """Return the same as an encoded message."""
    message = pb.LogEntry(
        version=version,
        mark=mark,
        seat=None if entry is None else entry.seat,
        cause=pb.CAUSE_CREATION if entry is None else entry_cause(entry),
        create_time=timestamp(time),
        seat_to_act=None if seat_to_act == engine.NOBODY else seat_to_act,
        deadline=timestamp(deadline) if deadline else None,
    )
    faces = cards.faces(options)
    encoded = [_encode_cardless(event) if not event[5] else _encode(faces, event) for event in events]
    return b"".join([message.SerializeToString(), *encoded])


_event: Final = wire.field(pb.LogEntry, "events")


def _encode(faces: cards.Faces, event: engine.Event) -> bytes:
    """Encode a list of one; such lists, one after the other, are a list of all."""
    return _event(to_proto(faces, event).SerializeToString())


@lru_cache(maxsize=8192)
def _encode_cardless(event: engine.Event) -> bytes:
    """Encode an event that says the same in all games, as it has no cards."""
    return _encode({}, event)


def entry_cause(entry: Entry) -> pb.Cause.ValueType:
    """Return what made an entry."""
    if entry.action == RESIGNATION and entry.cause == BY_CALLER:
        return pb.CAUSE_RESIGNATION
    return _ENTRY_CAUSES[entry.cause]


def to_proto(faces: cards.Faces, event: engine.Event) -> pb.Event:
    """Return an event, as ``seen_by`` the viewer, as message."""
    kind, seat, a, b, _, pairs = event
    if kind == engine.GAME_OVER:
        message = pb.Event(game_over=pb.GameOverEvent(reason=results.REASONS[a], places=pairs))
    else:
        seen = [cards.card(faces, pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)]
        message = _BUILDERS[kind](a, b, seen)
    if seat != engine.NOBODY:
        message.seat = seat
    return message


def _acted(action: int, cause: int, seen: list[card_pb2.Card]) -> pb.Event:
    acted = pb.ActedEvent(cause=_ACTION_CAUSES[cause])
    if action >= 0:
        acted.action.CopyFrom(actions.to_proto(action))
    return pb.Event(acted=acted)


def _round_began(round: int, _: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(round_began=pb.RoundBeganEvent(round=round, first_of_pile=seen[0]))


def _turn_began(turn: int, kind: int, seen: list[card_pb2.Card]) -> pb.Event:
    additional = kind & engine.TURN_ADDITIONAL != 0
    final = kind & engine.TURN_FINAL != 0
    return pb.Event(turn_began=pb.TurnBeganEvent(turn=turn, additional=additional, final=final))


def _moved(start: int, end: int, seen: list[card_pb2.Card]) -> pb.Event:
    message = pb.Event()  # filled in place, as this is what happens most
    moved = message.moved
    moved.card.CopyFrom(seen[0])
    moved.origin.CopyFrom(cards.place(start))
    moved.destination.CopyFrom(cards.place(end))
    return message


def _flipped(square: int, faceup: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(flipped=pb.FlippedEvent(card=seen[0], spot=cards.village_spot(square), faceup=faceup == 1))


def _turned(square: int, sideways: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(turned=pb.TurnedEvent(card=seen[0], spot=cards.village_spot(square), sideways=sideways == 1))


def _looked(_: int, __: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(looked=pb.LookedEvent(cards=seen))


def _shown(reason: int, _: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(shown=pb.ShownEvent(reason=_SHOWN_REASONS[reason], cards=seen))


def _ability_began(start: int, _: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(ability_began=pb.AbilityBeganEvent(card=seen[0], place=cards.place(start)))


def _round_ended(reason: int, _: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(round_ended=pb.RoundEndedEvent(reason=_ROUND_END_REASONS[reason]))


def _scored(total: int, score: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(scored=pb.ScoredEvent(sum=total, score=score))


def _token_awarded(active: int, _: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(token_awarded=pb.TokenAwardedEvent(active=active == 1))


def _searched(_: int, __: int, seen: list[card_pb2.Card]) -> pb.Event:
    return pb.Event(searched=pb.SearchedEvent(faces=[card.face for card in seen if card.HasField("face")]))


def _tucked(square: int, host: int, seen: list[card_pb2.Card]) -> pb.Event:
    spots = (cards.village_spot(square), cards.village_spot(host))
    return pb.Event(tucked=pb.TuckedEvent(card=seen[0], origin=spots[0], host=spots[1]))


#: What the arguments and cards of an event become, by its kind; GAME_OVER, which holds seats, is built in ``to_proto``.
_BUILDERS: Final[dict[int, Callable[[int, int, list[card_pb2.Card]], pb.Event]]] = {
    engine.ACTED: _acted,
    engine.RESIGNED: lambda a, b, seen: pb.Event(resigned=pb.ResignedEvent()),
    engine.ROUND_BEGAN: _round_began,
    engine.TURN_BEGAN: _turn_began,
    engine.MOVED: _moved,
    engine.FLIPPED: _flipped,
    engine.TURNED: _turned,
    engine.LOOKED: _looked,
    engine.SHOWN: _shown,
    engine.ABILITY_BEGAN: _ability_began,
    engine.TOKEN_USED: lambda a, b, seen: pb.Event(token_used=pb.TokenUsedEvent()),
    engine.TURN_ADDED: lambda a, b, seen: pb.Event(turn_added=pb.TurnAddedEvent()),
    engine.CALLED: lambda a, b, seen: pb.Event(called=pb.CalledEvent()),
    engine.ROUND_ENDED: _round_ended,
    engine.SCORED: _scored,
    engine.TOKEN_AWARDED: _token_awarded,
    engine.PREDICTED: lambda a, b, seen: pb.Event(predicted=pb.PredictedEvent(value=a)),
    engine.KEPT: lambda a, b, seen: pb.Event(kept=pb.KeptEvent()),
    engine.SEARCHED: _searched,
    engine.SHUFFLED: lambda a, b, seen: pb.Event(shuffled=pb.ShuffledEvent(deck_count=a)),
    engine.TUCKED: _tucked,
    engine.AWAY: lambda a, b, seen: pb.Event(away=pb.AwayEvent()),
    engine.RETURNED: lambda a, b, seen: pb.Event(returned=pb.ReturnedEvent()),
}
