"""Views: the engine's view for one viewer, with what the service knows of the game, to a message."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from moonvale.v1 import view_pb2 as pb
from moonvale_engine import catalog, decisions, views
from moonvale_engine.events import NOBODY, SPECTATOR
from moonvale_engine.options import Options
from moonvale_service.about import About, Lobby
from moonvale_service.convert import actions, cards, clocks, options, results, wire
from moonvale_service.convert.times import timestamp
from moonvale_service.store import Ticking

_KINDS: Final = tuple([pb.DecisionKind.Value(f"DECISION_KIND_{name}") for name in decisions.KINDS])


class GameHeader(NamedTuple):
    """What a view says of a game besides the table. Times are milliseconds since the epoch.

    version: None while it waits for players. entropy: of each seat, or none.
    """

    name: str
    version: int | None
    mark: str
    commitment: bytes
    created: int
    updated: int
    about: About
    rematch_of: str = ""
    entropy: tuple[bytes, ...] = ()
    ticking: Ticking | None = None


def to_proto(view: views.View, position: str, header: GameHeader) -> pb.View:
    """Return a view as message. ``position``: the text of the position as the same viewer knows it."""
    return pb.View.FromString(encode(view, position, header))


def encode(view: views.View, position: str, header: GameHeader) -> bytes:
    """Return a view as an encoded message: what is the same in many views is encoded once. See ``to_proto``."""
    about = header.about
    constant = _constant(view.options, header)
    encoder = constant.encoder
    message = pb.View(
        version=header.version,
        mark=header.mark,
        viewer_seat=None if view.viewer == SPECTATOR else view.viewer,
        update_time=timestamp(header.updated),
        round=view.round,
        turn=view.turn,
        active_seat=_seat_or_none(view.active),
        token_holder=_seat_or_none(view.holder),
        token_active=view.token_active,
        caller=_seat_or_none(view.caller),
        extra_turns=view.extra_turns,
        deck_count=view.deck_count,
        position=position,
        phase=_phase(view, about),
    )
    if view.pool:
        message.pool.extend([encoder.pool_card(face, faceup) for face, faceup in view.pool])
    banks: tuple[int, ...] = ()
    if header.ticking is not None:
        banks = header.ticking.banks
        if header.ticking.deadline:
            message.deadline.CopyFrom(timestamp(header.ticking.deadline))
    if view.over != NOBODY:
        totals = [seat.total for seat in view.seats]
        message.result.CopyFrom(results.to_proto(view.over, view.places, totals))
    parts = [
        constant.game,
        message.SerializeToString(),
        encoder.deck_top.encode(view.packed_deck_top),
        encoder.pile.encode(view.packed_pile),
        encoder.hand.encode(view.packed_hand),
    ]
    for number, seat in enumerate(view.seats):
        points = _points(seat.total, seat.scores, seat.resigned)
        bank = pb.SeatView(bank=clocks.duration(banks[number])).SerializeToString() if banks else b""
        parts.append(_seats(constant.seats[number] + points + bank + encoder.village.encode(seat.packed_village)))
    if view.decision is not None:
        parts.append(_decision(_decision_of(view.decision, view.options.rules)))
    return b"".join(parts)


def time_left(ticking: Ticking | None, now: int) -> bytes:
    """Return what changes in a view as time goes by, encoded as a View. ``now``: what the store's clock says."""
    if ticking is None or not ticking.deadline:
        return b""
    return pb.View(time_left=clocks.duration(max(0, ticking.deadline - now))).SerializeToString()


_seats: Final = wire.field(pb.View, "seats")
_decision: Final = wire.field(pb.View, "decision")


class _Constant(NamedTuple):
    """What all views of a game have in common, encoded: fields of the View, and of each seat. ``of``: what it says."""

    of: tuple[object, ...]
    game: bytes
    seats: tuple[bytes, ...]
    encoder: cards.Encoder


def _constant(game: Options, header: GameHeader) -> _Constant:
    """Return what views say of a game and its seats whatever happens in it. It is kept with what it is made of most."""
    about = header.about
    of = (header.name, header.created, header.commitment, header.rematch_of, header.entropy, game)
    kept: _Constant | None = about.derived.get("view")
    if kept is not None and kept.of == of:
        return kept
    message = pb.View(
        name=header.name,
        options=options.to_proto(game),
        commitment=header.commitment,
        labels=about.labels,
        external_id=about.external_id,
        create_time=timestamp(header.created),
        seal_replay_until=None if about.sealed_until is None else timestamp(about.sealed_until),
        clock=None if about.clock is None else clocks.to_proto(about.clock),
        join_needs_code=about.lobby is not None and about.lobby.join_code != "",
        rules_version=game.rules,
        rematch_of=header.rematch_of,
    )
    seats = []
    for number in range(game.players):
        who = about.seat(number)
        seat = pb.SeatView(
            seat=number,
            name=who.name,
            labels=who.labels,
            status=pb.SEAT_STATUS_TAKEN if about.lobby is None else _status(about.lobby, number),
            bot=who.bot,
            away=who.away,
            entropy_commitment=who.entropy_commitment,
            entropy=header.entropy[number] if header.entropy else b"",
            entropy_withheld=who.withheld,
        )
        seats.append(seat.SerializeToString())
    about.derived["view"] = made = _Constant(of, message.SerializeToString(), tuple(seats), cards.encoder(game))
    return made


@lru_cache(maxsize=8192)
def _points(total: int, scores: tuple[int, ...], resigned: bool) -> bytes:
    return pb.SeatView(total=total, scores=scores, resigned=resigned).SerializeToString()


def _phase(view: views.View, about: About) -> pb.Phase.ValueType:
    if about.lobby is not None:
        return pb.PHASE_REVEALING if about.lobby.is_full else pb.PHASE_WAITING
    return pb.PHASE_PLAYING if view.over == NOBODY else pb.PHASE_OVER


def _status(lobby: Lobby, seat: int) -> pb.SeatStatus.ValueType:
    if seat in lobby.open:
        return pb.SEAT_STATUS_OPEN
    return pb.SEAT_STATUS_KEPT if seat in lobby.kept else pb.SEAT_STATUS_TAKEN


def _decision_of(decision: views.DecisionView, rules: int) -> bytes:
    return _asked(decision[:-1], rules) + actions.legal_actions(decision.legal_actions)


@lru_cache(maxsize=8192)
def _asked(question: tuple[int, int, int, tuple[int, ...], int | None, int], rules: int) -> bytes:
    """Encode what a decision is about: all of a DecisionView but its legal actions."""
    kind, seat, ability, picked, value, declared = question
    message = pb.Decision(kind=_KINDS[kind], seat=seat, picked=picked, value=value, declared_spotters=declared)
    if ability >= 0:
        message.ability = cards.key_of(catalog.rules_of(rules).cards[ability])
    return message.SerializeToString()


def _seat_or_none(seat: int) -> int | None:
    return None if seat == NOBODY else seat
