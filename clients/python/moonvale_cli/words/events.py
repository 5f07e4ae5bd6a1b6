"""Events: what happened. Each has a subject, a seat or the table, and what it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from moonvale.v1 import event_pb2, result_pb2
from moonvale.v1.action_pb2 import DIRECTION_CLOCKWISE, Action
from moonvale.v1.card_pb2 import (
    ZONE_ASIDE,
    ZONE_DECK_BOTTOM,
    ZONE_DECK_TOP,
    ZONE_HAND,
    ZONE_PILE,
    ZONE_PILE_BOTTOM,
    ZONE_VILLAGE,
    Place,
    VillageSpot,
)
from moonvale.v1.event_pb2 import Event
from moonvale_cli.words.table import (
    Table,
    a_card,
    face_words,
    in_brackets,
    listed,
    ordinal,
    points,
    spots_words,
    the_card,
)


class Phrase(NamedTuple):
    """What somebody did; ``seat`` None: the table. An empty text says that other events tell it."""

    seat: int | None
    text: str


def phrase(event: Event, action: Action | None, table: Table) -> Phrase:
    """Return the words of an event. ``action``: that of the latest event of kind acted, from which this one came."""
    kind = event.WhichOneof("kind")
    seat = event.seat if event.HasField("seat") else None
    if kind is None:
        return Phrase(None, "Something happened that this version of the command does not know")
    return EVENTS[kind](event, seat, action or Action(), table)


def _acted(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    if event.acted.action.HasField("turn_direction"):
        clockwise = event.acted.action.turn_direction.direction == DIRECTION_CLOCKWISE
        return Phrase(seat, f"sent the cards {'clockwise' if clockwise else 'counterclockwise'}")
    return Phrase(seat, "")


def _round_began(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    starter = "" if seat is None else f"; {table.object(seat)} {'start' if seat == table.you else 'starts'}"
    began = event.round_began
    return Phrase(None, f"Round {began.round} began with {a_card(began.first_of_pile)} on the pile{starter}")


def _turn_began(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    if event.turn_began.additional:
        return Phrase(seat, "began one more turn")
    return Phrase(
        seat, f"began {table.whose(seat, seat)} last turn" if event.turn_began.final and seat is not None else ""
    )


def _moved(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    moved = event.moved
    origin, destination = moved.origin, moved.destination
    if destination.zone == ZONE_HAND:
        if origin.zone == ZONE_DECK_TOP:
            return Phrase(seat, f"drew {a_card(moved.card)}")
        depth = f", {ordinal(origin.depth)} from the top" if origin.depth else ""
        card = the_card(moved.card) if moved.card.HasField("face") else "a facedown card"
        return Phrase(seat, f"took {card} from the pile{depth}")
    if origin.zone == ZONE_HAND:
        if destination.zone == ZONE_VILLAGE:
            new = the_card(moved.card) if moved.card.HasField("face") else "the new card"
            return Phrase(seat, f"put {new} down as {_village_place(destination.village_spot, seat, table)}")
        return Phrase(seat, f"discarded {the_card(moved.card) if moved.card.HasField('face') else 'it'}")
    if origin.zone == ZONE_VILLAGE and destination.zone == ZONE_PILE:
        return Phrase(seat, f"discarded {_village_place(origin.village_spot, seat, table)}{in_brackets(moved.card)}")
    card = f"{_place_of(origin, seat, table)}{in_brackets(moved.card)}"
    if destination.zone == ZONE_PILE_BOTTOM:
        return Phrase(seat, f"sent {card} to the bottom of the pile")
    if destination.zone == ZONE_DECK_BOTTOM:
        slid = the_card(moved.card) if moved.card.HasField("face") else "a facedown card"
        return Phrase(seat, f"slid {slid} under the deck")
    if destination.zone == ZONE_ASIDE:
        return Phrase(seat, f"took {card} out of the round")
    if origin.zone == ZONE_DECK_TOP and destination.zone == ZONE_PILE:
        return Phrase(seat, f"turned up {a_card(moved.card)} from the deck")
    if origin.zone == ZONE_DECK_TOP:
        return Phrase(seat, f"added {card} to {_village_of(destination, seat, table)}")
    if origin.zone == ZONE_VILLAGE:
        return Phrase(seat, f"moved {card} to {_village_of(destination, seat, table)}")
    return Phrase(seat, f"moved {card}: it is now {_place_of(destination, seat, table)}")


_ZONES: Final = {
    ZONE_DECK_TOP: "the top card of the deck",
    ZONE_DECK_BOTTOM: "the bottom card of the deck",
    ZONE_PILE_BOTTOM: "the bottom card of the pile",
    ZONE_HAND: "the card in hand",
}


def _village_place(spot: VillageSpot, seat: int | None, table: Table) -> str:
    return f"{table.whose(spot.seat, seat)} {ordinal(spot.spot)} card"


def _village_of(place: Place, seat: int | None, table: Table) -> str:
    return f"{table.whose(place.village_spot.seat, seat)} village"


def _place_of(place: Place, seat: int | None, table: Table) -> str:
    if place.zone == ZONE_VILLAGE:
        return _village_place(place.village_spot, seat, table)
    if place.zone == ZONE_PILE:
        return "the top card of the pile" if place.depth == 0 else f"the {ordinal(place.depth)} card of the pile"
    return _ZONES.get(place.zone, "a card")


def _flipped(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    flipped = event.flipped
    way = "faceup" if flipped.faceup else "facedown"
    return Phrase(seat, f"turned {_village_place(flipped.spot, seat, table)} {way}{in_brackets(flipped.card)}")


def _turned(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    way = "sideways" if event.turned.sideways else "upright"
    return Phrase(seat, f"turned {_village_place(event.turned.spot, seat, table)} {way}")


def _looked(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    cards = event.looked.cards
    verb = action.WhichOneof("verb")
    if verb == "peek" and seat is not None:
        what = f"{table.whose(seat, seat)} {spots_words(action.peek.spots)}"
    elif verb == "pick":
        what = _village_place(action.pick.card, seat, table)
    elif verb == "village":
        what = f"all facedown cards of {table.whose(action.village.seat, seat)} village"
    else:
        what = f"{len(cards)} facedown cards"
    seen = ", ".join([face_words(card.face) for card in cards if card.HasField("face")])
    return Phrase(seat, f"looked at {what}{f' ({seen})' if seen else ''}")


def _shown(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    if event.shown.reason == event_pb2.SHOWN_REASON_ROUND_END:
        return Phrase(None, "All villages were opened")
    cards = ", ".join([face_words(card.face) for card in event.shown.cards])
    if event.shown.reason == event_pb2.SHOWN_REASON_FAILED_SET:
        return Phrase(seat, f"tried to exchange cards that are not equal ({cards})")
    if event.shown.reason == event_pb2.SHOWN_REASON_REFUSED:
        return Phrase(seat, f"showed what the Obsessor on the pile refuses ({cards})")
    return Phrase(seat, f"showed {len(event.shown.cards)} cards ({cards})")


def _ability_began(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    began = event.ability_began
    in_pile = f" in the pile, {ordinal(began.place.depth)} from the top," if began.place.depth else ""
    return Phrase(seat, f"used {the_card(began.card)}{in_pile}")


def _round_ended(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    return Phrase(None, f"The round is over: {ROUND_ENDS.get(event.round_ended.reason, 'it was ended')}")


def _scored(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    scored = event.scored
    why = "" if scored.sum == scored.score else f" for a village that counts {scored.sum}"
    return Phrase(seat, f"scored {points(scored.score)}{why}")


def _token_awarded(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    usable = ", which can be used in the next round" if event.token_awarded.active else ""
    return Phrase(seat, f"got the {table.token} token{usable}")


def _game_over(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    places = listed([f"{ordinal(place)} {table.name(seat)}" for place, seat in enumerate(event.game_over.places)])
    why = ENDINGS.get(event.game_over.reason, "it was ended")
    return Phrase(None, f"The game is over, since {why}. The places: {places}")


def _tucked(event: Event, seat: int | None, action: Action, table: Table) -> Phrase:
    tucked = event.tucked
    what = f"{_village_place(tucked.origin, seat, table)}{in_brackets(tucked.card)}"
    return Phrase(seat, f"tucked {what} under {_village_place(tucked.host, seat, table)}")


ROUND_ENDS: Final = {
    event_pb2.ROUND_END_REASON_CALL: "after the call everybody has had a last turn",
    event_pb2.ROUND_END_REASON_DECK: "the deck is empty",
    event_pb2.ROUND_END_REASON_TURN_LIMIT: "it has had as many turns as were agreed on",
}
ENDINGS: Final = {
    result_pb2.GAME_OVER_REASON_ROUNDS: "all rounds were played",
    result_pb2.GAME_OVER_REASON_RESIGNATION: "all others resigned",
}

#: Of each cause of an entry that people should know of, what its seat did or had done.
CAUSES: Final = {
    event_pb2.CAUSE_TIME_OUT: "ran out of time",
    event_pb2.CAUSE_BOT_FAILED: "failed as a bot",
}

#: Of each kind of an Event.
EVENTS: Final[dict[str, Callable[[Event, int | None, Action, Table], Phrase]]] = {
    "acted": _acted,
    "resigned": lambda event, seat, action, table: Phrase(seat, "resigned"),
    "round_began": _round_began,
    "turn_began": _turn_began,
    "moved": _moved,
    "flipped": _flipped,
    "turned": _turned,
    "looked": _looked,
    "shown": _shown,
    "ability_began": _ability_began,
    "token_used": lambda event, seat, action, table: Phrase(seat, f"used the {table.token} token"),
    "turn_added": lambda event, seat, action, table: Phrase(seat, "won one more turn"),
    "called": lambda event, seat, action, table: Phrase(seat, "called for the vote"),
    "round_ended": _round_ended,
    "scored": _scored,
    "token_awarded": _token_awarded,
    "game_over": _game_over,
    "predicted": lambda event, seat, action, table: Phrase(seat, f"predicted {event.predicted.value}"),
    "kept": lambda event, seat, action, table: Phrase(seat, "had to keep it"),
    "searched": lambda event, seat, action, table: Phrase(seat, "looked through the deck"),
    "shuffled": lambda event, seat, action, table: Phrase(seat, "shuffled it"),
    "tucked": _tucked,
    "away": lambda event, seat, action, table: Phrase(seat, "left the seat to an agent"),
    "returned": lambda event, seat, action, table: Phrase(seat, "came back"),
}
