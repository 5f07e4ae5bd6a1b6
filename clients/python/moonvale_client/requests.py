"""Requests: what the methods of both clients send."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from moonvale.v1.action_pb2 import Action
from moonvale.v1.clock_pb2 import Clock
from moonvale.v1.game_service_pb2 import (
    ClaimSeatRequest,
    CreateGameRequest,
    Deal,
    RematchRequest,
    SeatSetup,
    SubmitActionRequest,
)
from moonvale.v1.options_pb2 import Options

Metadata = tuple[tuple[str, str], ...]

#: In place of a game's name where the join code says which one is meant.
_GAME_OF_CODE: Final = "games/-"


def new_request_id() -> str:
    """Return a request id: a random UUID, which makes a call that can be repeated without being carried out twice."""
    return str(uuid.uuid4())


def bearer(credential: str) -> Metadata:
    """Return the metadata that carries a credential; none for the empty one."""
    return (("authorization", f"Bearer {credential}"),) if credential else ()


def create_game(
    options: Options | None,
    seats: Sequence[str | SeatSetup],
    labels: Mapping[str, str] | None,
    external_id: str,
    deal: Deal | None,
    seal_replay_until: datetime | None,
    clock: Clock | None,
    with_join_code: bool,
    request_id: str,
) -> CreateGameRequest:
    """Return the request of a new game; a seat given as text is one with that name."""
    sealed = None
    if seal_replay_until is not None:
        sealed = Timestamp()
        sealed.FromDatetime(seal_replay_until)
    return CreateGameRequest(
        options=options,
        seats=[_setup(seat) for seat in seats],
        labels=labels,
        external_id=external_id,
        request_id=request_id or new_request_id(),
        deal=deal,
        seal_replay_until=sealed,
        clock=clock,
        with_join_code=with_join_code,
    )


def claim_seat(
    game: str, player: str | SeatSetup, join_code: str, seat: int | None, request_id: str
) -> ClaimSeatRequest:
    """Return the request of an open seat; a player given as text is one with that name."""
    return ClaimSeatRequest(
        name=game or _GAME_OF_CODE,
        join_code=join_code,
        seat=seat,
        player=_setup(player),
        request_id=request_id or new_request_id(),
    )


def rematch(game: str, number: int | None, entropy_commitment: bytes) -> RematchRequest:
    """Return the request of another game of the same seats."""
    return RematchRequest(name=game, number=number, entropy_commitment=entropy_commitment)


def _setup(seat: str | SeatSetup) -> SeatSetup:
    return SeatSetup(name=seat) if isinstance(seat, str) else seat


def submit_action(game: str, actions: Action | Sequence[Action], version: int, request_id: str) -> SubmitActionRequest:
    """Return the request of one action, or of several at once."""
    return SubmitActionRequest(
        name=game,
        actions=[actions] if isinstance(actions, Action) else actions,
        version=version,
        request_id=request_id or new_request_id(),
    )
