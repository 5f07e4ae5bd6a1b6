"""Views: the engine's view for one viewer, with what the service knows of the game, to a message."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from moonvale.v1 import card_pb2, options_pb2
from moonvale.v1 import view_pb2 as pb
from moonvale_engine import catalog, decisions, views
from moonvale_engine.events import NOBODY, SPECTATOR
from moonvale_engine.options import Options
from moonvale_service.about import About
from moonvale_service.convert import actions, cards, options, results
from moonvale_service.convert.times import timestamp

_KINDS: Final = tuple([pb.DecisionKind.Value(f"DECISION_KIND_{name}") for name in decisions.KINDS])


@dataclass(frozen=True, slots=True)
class GameHeader:
    """What a view says of a game besides the table. Times are milliseconds since the epoch."""

    name: str
    version: int
    mark: str
    commitment: bytes
    created: int
    updated: int
    about: About


def to_proto(view: views.View, position: str, header: GameHeader) -> pb.View:
    """Return a view as message. ``position``: the text of the position as the same viewer knows it."""
    about = header.about
    players = view.options.players
    encoder = cards.encoder(view.options)
    faces = encoder.faces
    message = pb.View(
        name=header.name,
        version=header.version,
        mark=header.mark,
        viewer_seat=None if view.viewer == SPECTATOR else view.viewer,
        options=_options(view.options),
        commitment=header.commitment,
        labels=about.labels,
        external_id=about.external_id,
        create_time=timestamp(header.created),
        update_time=timestamp(header.updated),
        seal_replay_until=None if about.sealed_until is None else timestamp(about.sealed_until),
        round=view.round,
        turn=view.turn,
        active_seat=_seat_or_none(view.active),
        token_holder=_seat_or_none(view.holder),
        token_active=view.token_active,
        caller=_seat_or_none(view.caller),
        extra_turns=view.extra_turns,
        deck_count=view.deck_count,
        deck_top=_card_or_none(faces, players, view.deck_top),
        hand=_card_or_none(faces, players, view.hand),
        position=position,
        pool=[cards.pool_card(faces, face, faceup) for face, faceup in view.pool],
    )
    message.MergeFromString(encoder.pile(view.packed_pile))
    for number, seat in enumerate(view.seats):
        seat_message = message.seats.add(
            seat=number,
            name=about.seat_names[number] if about.seat_names else "",
            labels=about.seat_labels[number] if about.seat_labels else None,
            total=seat.total,
            scores=seat.scores,
            resigned=seat.resigned,
        )
        seat_message.MergeFromString(encoder.village(seat.packed_village))
    if view.decision is not None:
        _write_decision(message.decision, view.decision, view.options.rules)
    if view.over != NOBODY:
        totals = [seat.total for seat in view.seats]
        message.result.CopyFrom(results.to_proto(view.over, view.places, totals))
    return message


def _write_decision(message: pb.Decision, decision: views.DecisionView, rules: int) -> None:
    message.kind = _KINDS[decision.kind]
    message.seat = decision.seat
    if decision.ability >= 0:
        message.ability = cards.key_of(catalog.rules_of(rules).cards[decision.ability])
    message.picked.extend(decision.picked)
    if decision.value is not None:
        message.value = decision.value
    message.declared_spotters = decision.declared
    message.MergeFromString(actions.legal_actions(decision.legal_actions))


def _seat_or_none(seat: int) -> int | None:
    return None if seat == NOBODY else seat


def _card_or_none(faces: cards.Faces, players: int, card: views.CardView | None) -> card_pb2.CardView | None:
    return None if card is None else cards.card_view(faces, players, card)


@lru_cache(maxsize=256)
def _options(game: Options) -> options_pb2.Options:
    return options.to_proto(game)
