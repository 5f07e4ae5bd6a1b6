"""What a viewer gets of a game, as messages: views and entries of the log, built for the one who reads them."""

from __future__ import annotations

from functools import lru_cache

from moonvale.v1 import errors_pb2, game_service_pb2, view_pb2
from moonvale_engine import views
from moonvale_engine.events import seen_by
from moonvale_engine.position import observe
from moonvale_engine.position_text import position_text
from moonvale_engine.shuffle import commitment
from moonvale_service.about import About
from moonvale_service.convert import wire
from moonvale_service.convert.events import encode_entry
from moonvale_service.convert.times import timestamp
from moonvale_service.convert.views import GameHeader, time_left
from moonvale_service.convert.views import encode as encode_view
from moonvale_service.errors import CallError, RateLimitedError
from moonvale_service.history import Happened, Snapshot
from moonvale_service.store import WAITING, Listed

_PREFIX = "games/"


def game_name(game: str) -> str:
    """Return the resource name of a game."""
    return _PREFIX + game


def game_of(name: str) -> str:
    """Return the id in a resource name, or nothing if that is not the name of a game."""
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else ""


def view(snapshot: Snapshot, viewer: int, now: int) -> view_pb2.View:
    """Return the game as a seat or SPECTATOR sees it. ``now``: what the store's clock says, in milliseconds."""
    return view_pb2.View.FromString(encoded_view(snapshot, viewer, now))


def encoded_view(snapshot: Snapshot, viewer: int, now: int) -> bytes:
    """Return the same as an encoded message: built once for all who see the game as the same viewer."""
    encoded = snapshot.rendered.get(viewer)
    if encoded is None:
        encoded = snapshot.rendered[viewer] = _encode_view(snapshot, viewer)
    return encoded + time_left(snapshot.ticking, now)


def _encode_view(snapshot: Snapshot, viewer: int) -> bytes:
    """Return all of a view but how much time is left."""
    state = snapshot.state
    about = snapshot.about
    header = GameHeader(
        name=game_name(snapshot.game),
        version=None if snapshot.waits else snapshot.version,
        mark=snapshot.mark,
        commitment=_commitment(state.secret),
        created=snapshot.created,
        updated=snapshot.updated,
        about=about,
        rematch_of=game_name(about.rematch_of) if about.rematch_of else "",
        entropy=state.entropy,
        ticking=snapshot.ticking,
    )
    position = "" if snapshot.waits else position_text(observe(state, viewer))
    return encode_view(views.view(state, viewer), position, header)


_commitment = lru_cache(4096)(commitment)  # of about as many games as are remembered


def encoded_entry(happened: Happened, viewer: int) -> bytes:
    """Return an entry of the log, encoded, with its events as the viewer may know them: built once for each viewer."""
    encoded = happened.rendered.get(viewer)
    if encoded is None:
        encoded = happened.rendered[viewer] = encode_entry(
            happened.options,
            happened.version,
            happened.mark,
            happened.entry,
            happened.time,
            happened.seat_to_act,
            [seen_by(event, viewer) for event in happened.events],
            happened.deadline,
        )
    return encoded


def summary(listed: Listed) -> game_service_pb2.GameSummary:
    """Return a game of a list."""
    about = About.decode(listed.meta)
    return game_service_pb2.GameSummary(
        name=game_name(listed.game),
        external_id=about.external_id,
        labels=about.labels,
        version=None if listed.version == WAITING else listed.version,
        create_time=timestamp(listed.created),
        update_time=timestamp(listed.updated),
    )


def turn(place: int, snapshot: Snapshot, viewer: int, now: int) -> bytes:
    """Return the encoded message of a stream of turns: a seat is to act, or its game is over."""
    seen = encoded_view(snapshot, viewer, now)
    told = _over(seen) if snapshot.state.is_over() else _turn(seen)
    return game_service_pb2.WatchTurnsResponse(index=place).SerializeToString() + told


_over = wire.field(game_service_pb2.WatchTurnsResponse, "over")
_turn = wire.field(game_service_pb2.WatchTurnsResponse, "turn")


def lost_seat(place: int, error: CallError) -> bytes:
    """Return the encoded message of a stream of turns that a seat can't be watched."""
    message = game_service_pb2.SeatError(
        code=error.code.value[0],
        reason=errors_pb2.ErrorReason.Value(f"ERROR_REASON_{error.reason}"),
        message=error.message,
        metadata=error.metadata,
    )
    if isinstance(error, RateLimitedError):
        message.retry_delay.CopyFrom(error.retry_delay)
    return game_service_pb2.WatchTurnsResponse(index=place, error=message).SerializeToString()
