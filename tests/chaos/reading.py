"""Messages read back into the engine's terms, so that the checker can compare them with a replay.

The service has converters of its own for the other direction; nothing is shared with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from moonvale.v1 import action_pb2, card_pb2, event_pb2, options_pb2, replay_pb2, result_pb2
from moonvale_engine import actions as act
from moonvale_engine import events
from moonvale_engine.catalog import cards_in_play
from moonvale_engine.log import (
    BY_AGENT,
    BY_BOT,
    BY_CALLER,
    BY_TIME_OUT,
    FOR_FAILED_BOT,
    RESIGNATION,
    RETURN,
    TAKEOVER,
    Entry,
)
from moonvale_engine.options import Options, parse_deck
from moonvale_engine.outcome import Result

Told = tuple[int, int, int, int, tuple[int, ...]]
"""An event without its audience."""

_VERBS: Final = {name.lower(): verb for verb, (name, _) in enumerate(act.FIELDS)} | {"pass_reaction": act.PASS}
_KINDS: Final = {name.lower(): kind for kind, name in enumerate(events.KINDS)}
_ZONES: Final = {
    card_pb2.ZONE_DECK_TOP: events.DECK,
    card_pb2.ZONE_DECK_BOTTOM: events.DECK_BOTTOM,
    card_pb2.ZONE_PILE_BOTTOM: events.PILE_BOTTOM,
    card_pb2.ZONE_HAND: events.HAND,
    card_pb2.ZONE_ASIDE: events.ASIDE,
}
_SHOWN: Final = {
    event_pb2.SHOWN_REASON_FAILED_SET: events.SHOWN_FAILED_SET,
    event_pb2.SHOWN_REASON_ROUND_END: events.SHOWN_ROUND_END,
    event_pb2.SHOWN_REASON_REFUSED: events.SHOWN_REFUSED,
}
_ENDED: Final = {
    event_pb2.ROUND_END_REASON_CALL: events.END_BY_CALL,
    event_pb2.ROUND_END_REASON_DECK: events.END_BY_DECK,
    event_pb2.ROUND_END_REASON_TURN_LIMIT: events.END_BY_LIMIT,
}
_OVER: Final = {
    result_pb2.GAME_OVER_REASON_ROUNDS: events.OVER_BY_ROUNDS,
    result_pb2.GAME_OVER_REASON_RESIGNATION: events.OVER_BY_RESIGNATION,
}
_ENTRY_CAUSES: Final = {
    event_pb2.CAUSE_PLAYER: BY_CALLER,
    event_pb2.CAUSE_RESIGNATION: BY_CALLER,
    event_pb2.CAUSE_TIME_OUT: BY_TIME_OUT,
    event_pb2.CAUSE_BOT: BY_BOT,
    event_pb2.CAUSE_AGENT: BY_AGENT,
    event_pb2.CAUSE_BOT_FAILED: FOR_FAILED_BOT,
}
_TABLE_ENTRIES: Final = {
    replay_pb2.TABLE_ENTRY_RESIGNATION: RESIGNATION,
    replay_pb2.TABLE_ENTRY_AWAY: TAKEOVER,
    replay_pb2.TABLE_ENTRY_RETURN: RETURN,
}
_CAUSES: Final = {event_pb2.CAUSE_PLAYER: events.BY_PLAYER, event_pb2.CAUSE_POLICY: events.BY_POLICY}


def action(message: action_pb2.Action) -> int:
    """Return the int of an action."""
    verb = message.WhichOneof("verb")
    assert verb is not None
    arguments: Any = getattr(message, verb)
    fields = act.FIELDS[_VERBS[verb]][1]
    numbers = []
    for i, kind in enumerate(fields):
        if kind == act.PAIR:
            numbers.append(arguments.spots[0] << 3 | arguments.spots[1])
        elif kind == act.SQUARE:
            numbers.append(_square(arguments.card))
        elif kind == act.END:
            numbers.append(arguments.seat << 1 | int(arguments.end == action_pb2.END_RIGHT))
        elif kind == act.DIRECTION:
            numbers.append(int(arguments.direction == action_pb2.DIRECTION_COUNTERCLOCKWISE))
        elif kind == act.FACE:
            numbers.append(_face_of(arguments.number, arguments.variant))
        elif kind == act.FACEUP:
            numbers.append(int(arguments.faceup))
        elif kind == act.VALUE:
            numbers.append(arguments.value + 1)
        elif kind == act.SPOT and fields[i + 1 : i + 2] in ((act.SPOT,), (act.SQUARE,)):
            numbers.append(arguments.resident_spot)
        else:
            numbers.append(getattr(arguments, kind))
    return act.pack(_VERBS[verb], *numbers)


def options(message: options_pb2.Options) -> Options:
    """Return the options of a game, as its views and its replay tell them: every field set."""
    table, lower = options_pb2.MEMORY_TABLE, options_pb2.SUCCESSFUL_CALL_LOWER
    return Options(
        players=message.players,
        deck=parse_deck(message.deck),
        token=message.token,
        rounds=message.rounds,
        turn_limit=message.turn_limit,
        memory="table" if message.memory == table else "assisted",
        successful_call="lower" if message.successful_call == lower else "zero",
        demands=tuple(map(_demand, message.demands)),
        villages=tuple(message.villages),
        deal_supplied=message.deal_supplied,
    )


def entry(message: replay_pb2.ReplayEntry) -> Entry:
    """Return an entry of a log."""
    number = action(message.action) if message.HasField("action") else _TABLE_ENTRIES[message.table_entry]
    time = message.create_time.seconds * 1000 + message.create_time.nanos // 1_000_000
    return Entry(message.seat, number, _ENTRY_CAUSES[message.cause], time)


def cause(entry: Entry) -> event_pb2.Cause.ValueType:
    """Return the cause that everybody must be told of an entry."""
    if entry.action == RESIGNATION and entry.cause == BY_CALLER:
        return event_pb2.CAUSE_RESIGNATION
    return next(told for told, known in _ENTRY_CAUSES.items() if known == entry.cause)


def outcome(message: result_pb2.Result) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return the reason, the places and the totals of a result."""
    return _OVER[message.reason], tuple(message.places), tuple(message.totals)


def outcome_of(result: Result) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return the same of the engine's result."""
    return result.reason, result.places, result.totals


def told(chosen: Options, messages: Iterable[event_pb2.Event]) -> list[Told]:
    """Return events that somebody was told. Raises KeyError or AssertionError for what can't be an event."""
    names = [f"{card.deck}/{card.key}" for card in cards_in_play(chosen)]
    return [_told(names, message) for message in messages]


def told_of(happened: Iterable[events.Event], viewer: int) -> list[Told]:
    """Return the engine's events as they must be told to a viewer."""
    return [_plain(events.seen_by(event, viewer)) for event in happened]


def _plain(event: events.Event) -> Told:
    kind, seat, a, b, _, cards = event
    if kind == events.SEARCHED:  # no handles, and to others not even how many cards there are
        cards = tuple([face for face in cards[1::2] if face != events.UNKNOWN])
    return kind, seat, a, b, cards


def _told(names: list[str], message: event_pb2.Event) -> Told:
    name = message.WhichOneof("kind")
    assert name is not None
    kind = _KINDS[name]
    body: Any = getattr(message, name)
    a = b = 0
    cards: tuple[int, ...] = ()
    if kind == events.ACTED:
        a = action(body.action) if body.HasField("action") else -1
        b = _CAUSES[body.cause]
    elif kind == events.ROUND_BEGAN:
        a, cards = body.round, _card(names, body.first_of_pile)
    elif kind == events.TURN_BEGAN:
        a = body.turn
        b = events.TURN_ADDITIONAL * body.additional | events.TURN_FINAL * body.final
    elif kind == events.MOVED:
        a, b, cards = _place(body.origin), _place(body.destination), _card(names, body.card)
    elif kind == events.FLIPPED:
        a, b, cards = _square(body.spot), int(body.faceup), _card(names, body.card)
    elif kind == events.TURNED:
        a, b, cards = _square(body.spot), int(body.sideways), _card(names, body.card)
    elif kind in (events.LOOKED, events.SHOWN):
        a = _SHOWN[body.reason] if kind == events.SHOWN else 0
        cards = tuple([number for card in body.cards for number in _card(names, card)])
    elif kind == events.ABILITY_BEGAN:
        a, cards = _place(body.place), _card(names, body.card)
    elif kind == events.ROUND_ENDED:
        a = _ENDED[body.reason]
    elif kind == events.SCORED:
        a, b = body.sum, body.score
    elif kind == events.TOKEN_AWARDED:
        a = int(body.active)
    elif kind == events.GAME_OVER:
        a, cards = _OVER[body.reason], tuple(body.places)
    elif kind == events.PREDICTED:
        a = body.value
    elif kind == events.SEARCHED:
        cards = tuple([_face(names, face) for face in body.faces])
    elif kind == events.SHUFFLED:
        a = body.deck_count
    elif kind == events.TUCKED:
        a, b, cards = _square(body.origin), _square(body.host), _card(names, body.card)
    return kind, message.seat if message.HasField("seat") else events.NOBODY, a, b, cards


def _card(names: list[str], card: card_pb2.Card) -> tuple[int, int]:
    return card.handle, _face(names, card.face) if card.HasField("face") else events.UNKNOWN


def _face(names: list[str], face: card_pb2.Face) -> int:
    assert names[face.number] == face.key
    return _face_of(face.number, face.variant)


def _face_of(number: int, variant: int) -> int:
    """Return the engine's face; in messages variants count from 1, and 0 is a card that has none."""
    return number | max(variant - 1, 0) << 4


def _demand(message: card_pb2.Demand) -> str:
    kind = message.WhichOneof("kind")
    if kind == "parity":
        return "even" if message.parity == card_pb2.PARITY_EVEN else "odd"
    return f"at most {message.at_most}" if kind == "at_most" else f"at least {message.at_least}"


def _place(place: card_pb2.Place) -> int:
    if place.zone == card_pb2.ZONE_PILE:
        return events.PILE + place.depth
    if place.zone == card_pb2.ZONE_VILLAGE:
        return _square(place.village_spot)
    return _ZONES[place.zone]


def _square(spot: card_pb2.VillageSpot) -> int:
    return act.square(spot.seat, spot.spot)
