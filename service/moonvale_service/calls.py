"""The methods of GameService: what each reads from its request, which use case it calls, and what it answers."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from typing import Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from moonvale.v1 import game_service_pb2 as pb
from moonvale_engine.events import SPECTATOR
from moonvale_service import limits, pages, render
from moonvale_service.about import About
from moonvale_service.convert import actions, catalog, options, replays
from moonvale_service.credentials import NOBODY, Credential, Keys, Role
from moonvale_service.errors import CallError, CreatorKeyRequiredError, FieldError, RoleNotAllowedError
from moonvale_service.failures import failure_of
from moonvale_service.games import Games, check_epoch
from moonvale_service.history import Happened, Snapshot
from moonvale_service.quotas import Holder, Quotas, holder_of
from moonvale_service.settings import Settings
from moonvale_service.store.redis_store import is_game_id
from moonvale_service.turns import Lost, Turn, TurnWatch
from moonvale_service.watch import End, Heartbeat, Watches

_LAST_SECOND: Final = 253_402_300_799  # of the year 9999, the last that timestamps go to

_ENDS: Final = {
    End.GAME_OVER: pb.WATCH_END_REASON_GAME_OVER,
    End.GAME_DELETED: pb.WATCH_END_REASON_GAME_DELETED,
    End.DRAINING: pb.WATCH_END_REASON_DRAINING,
    End.MAX_AGE: pb.WATCH_END_REASON_MAX_AGE,
    End.NO_SEAT_LEFT: pb.WATCH_END_REASON_NO_SEAT_LEFT,
}
_TURNS_HEARTBEAT: Final = pb.WatchTurnsResponse(heartbeat=pb.TurnsHeartbeat()).SerializeToString()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the game that the request names and the credential that came with it, or nobody in particular."""

    game: str = ""
    credential: Credential = NOBODY
    creator_key: bool = False

    @property
    def holder(self) -> Holder:
        """Who the caller is, for quotas."""
        return holder_of(self.credential)

    @property
    def viewer(self) -> int:
        """As whom the caller sees the game: its seat, or a spectator. The creator is no more than that."""
        return SPECTATOR if self.credential.seat is None else self.credential.seat


class Calls:
    """The methods. Each gets its request, parsed, and a caller who may call it."""

    def __init__(self, games: Games, watches: Watches, keys: Keys, quotas: Quotas, settings: Settings) -> None:
        self._games = games
        self._watches = watches
        self._keys = keys
        self._quotas = quotas
        self._create_needs_key = settings.create_needs_key
        self._catalog = pb.GetCatalogResponse(cards=catalog.card_types(settings.rules), tokens=catalog.token_types())
        self._server_info = _server_info(settings)

    async def create_game(self, request: pb.CreateGameRequest, caller: Caller) -> pb.CreateGameResponse:
        if request.HasField("deal") and not caller.creator_key:
            raise CreatorKeyRequiredError("a supplied deal")
        if self._create_needs_key and not caller.creator_key:
            raise CreatorKeyRequiredError("CreateGame")
        self._quotas.create(creator_key=caller.creator_key)
        deal = request.deal if request.HasField("deal") else None
        chosen = options.from_proto(request.options, deal)
        about = _about(request, chosen.players)
        request_id = _secret_id(request.request_id)
        content = pb.CreateGameRequest()
        content.CopyFrom(request)
        content.ClearField("request_id")
        snapshot = await self._games.create(
            self._keys.game_id(request_id),
            chosen,
            deal.secret if deal is not None else None,
            about,
            content.SerializeToString(deterministic=True),
        )
        return pb.CreateGameResponse(
            name=render.game_name(snapshot.game),
            creator_credential=self._token(snapshot, Role.CREATOR),
            seat_credentials=[self._token(snapshot, Role.SEAT, seat) for seat in range(chosen.players)],
            spectator_credential=self._token(snapshot, Role.SPECTATOR),
            view=render.view(snapshot, caller.viewer),
        )

    def _token(self, snapshot: Snapshot, role: Role, seat: int | None = None) -> str:
        credential = Credential(snapshot.game, role, seat)
        return self._keys.token(replace(credential, epoch=snapshot.about.rotation(credential).epoch))

    async def get_view(self, _request: pb.GetViewRequest, caller: Caller) -> pb.GetViewResponse:
        return pb.GetViewResponse(view=render.view(await self._games.look(caller.credential), caller.viewer))

    async def submit_action(self, request: pb.SubmitActionRequest, caller: Caller) -> pb.SubmitActionResponse:
        if not 1 <= len(request.actions) <= limits.MAX_ACTIONS:
            raise FieldError("actions", f"needs 1..{limits.MAX_ACTIONS} actions, has {len(request.actions)}")
        if not request.HasField("version"):
            raise FieldError("version", "is required: that of the view that the choice was made on")
        chosen = [actions.from_proto(action, f"actions[{i}]") for i, action in enumerate(request.actions)]
        request_id = _text("request_id", request.request_id) or None
        outcome = await self._games.submit(caller.credential, request.version, chosen, request_id)
        return pb.SubmitActionResponse(
            version=outcome.version,
            mark=outcome.mark,
            view=render.view(outcome.snapshot, caller.viewer),
            entries=[render.entry(outcome.snapshot.state.options, each, caller.viewer) for each in outcome.happened],
        )

    async def resign(self, _request: pb.ResignRequest, caller: Caller) -> pb.ResignResponse:
        outcome = await self._games.resign(caller.credential)
        return pb.ResignResponse(
            version=outcome.version,
            mark=outcome.mark,
            view=render.view(outcome.snapshot, caller.viewer),
            entries=[render.entry(outcome.snapshot.state.options, each, caller.viewer) for each in outcome.happened],
        )

    async def list_events(self, request: pb.ListEventsRequest, caller: Caller) -> pb.ListEventsResponse:
        if request.page_size < 0:
            raise FieldError("page_size", f"must be 0 or more, is {request.page_size}")
        try:
            after = pages.place(request.page_token) if request.page_token else None
        except ValueError:
            raise FieldError("page_token", "is not the next_page_token of a page before") from None
        size = min(request.page_size or limits.MAX_PAGE_SIZE, limits.MAX_PAGE_SIZE)
        played_by, happened, following = await self._games.list_happened(caller.credential, after, size)
        return pb.ListEventsResponse(
            entries=[render.entry(played_by, each, caller.viewer) for each in happened],
            next_page_token="" if following is None else pages.token(following),
        )

    async def get_replay(self, _request: pb.GetReplayRequest, caller: Caller) -> pb.GetReplayResponse:
        return pb.GetReplayResponse(replay=replays.to_proto(await self._games.replay(caller.credential)))

    async def delete_game(self, _request: pb.DeleteGameRequest, caller: Caller) -> pb.DeleteGameResponse:
        await self._games.delete(caller.game)
        return pb.DeleteGameResponse()

    async def rotate_credential(
        self, request: pb.RotateCredentialRequest, caller: Caller
    ) -> pb.RotateCredentialResponse:
        seat = request.seat if request.HasField("seat") else None
        if seat is not None and seat < 0:
            raise FieldError("seat", f"must be 0 or more, is {seat}")
        holder = Credential(caller.game, Role.SPECTATOR if seat is None else Role.SEAT, seat)
        role = caller.credential.role
        if role is Role.SEAT and caller.credential.seat != seat:
            raise RoleNotAllowedError(role.name.lower(), "another seat", "creator or the seat itself")
        request_id = _secret_id(request.request_id)
        return pb.RotateCredentialResponse(
            credential=self._keys.token(await self._games.rotate(caller.credential, holder, request_id))
        )

    async def list_games(self, request: pb.ListGamesRequest, _caller: Caller) -> pb.ListGamesResponse:
        if request.page_size < 0:
            raise FieldError("page_size", f"must be 0 or more, is {request.page_size}")
        if request.page_token and not is_game_id(request.page_token):
            raise FieldError("page_token", "is not the next_page_token of a page before")
        size = min(request.page_size or limits.MAX_PAGE_SIZE, limits.MAX_PAGE_SIZE)
        listed, last = await self._games.list_games(request.page_token, size)
        return pb.ListGamesResponse(games=[render.summary(each) for each in listed], next_page_token=last)

    async def get_catalog(self, _request: pb.GetCatalogRequest, _caller: Caller) -> pb.GetCatalogResponse:
        return self._catalog

    async def get_server_info(self, _request: pb.GetServerInfoRequest, _caller: Caller) -> pb.GetServerInfoResponse:
        return self._server_info

    async def watch_game(self, request: pb.WatchGameRequest, caller: Caller) -> AsyncGenerator[bytes, None]:
        """Yield the messages of the stream, encoded."""
        after = request.after_version if request.HasField("after_version") else None
        mark = _text("after_mark", request.after_mark)
        if mark and after is None:
            raise FieldError("after_mark", "goes with after_version")
        with self._quotas.watch(caller.holder):
            async with aclosing(
                self._watches.watch(caller.game, after, mark, partial(check_epoch, by=caller.credential))
            ) as told:
                async for each in told:
                    if isinstance(each, Snapshot):
                        played_by = each.state.options
                        yield pb.WatchGameResponse(view=render.view(each, caller.viewer)).SerializeToString()
                    elif isinstance(each, Happened):
                        yield render.watched_entry(played_by, each, caller.viewer)
                    elif isinstance(each, Heartbeat):
                        heartbeat = pb.Heartbeat(version=each.version, mark=each.mark)
                        yield pb.WatchGameResponse(heartbeat=heartbeat).SerializeToString()
                    else:
                        yield pb.WatchGameResponse(end=pb.WatchEnd(reason=_ENDS[each])).SerializeToString()

    async def watch_turns(
        self, _request: pb.WatchTurnsRequest, callers: Sequence[Caller | CallError]
    ) -> AsyncGenerator[bytes, None]:
        """Yield the messages of the stream, encoded. ``callers``: who each seat is, or why it can't be watched."""
        seats: dict[int, Caller] = {}
        for place, caller in enumerate(callers):
            if isinstance(caller, CallError):
                yield render.lost_seat(place, caller)
            else:
                seats[place] = caller
        credentials = {place: caller.credential for place, caller in seats.items()}
        async with aclosing(TurnWatch(self._watches, self._quotas, credentials).told()) as told:
            async for each in told:
                if isinstance(each, Turn):
                    yield render.turn(each.place, each.snapshot, seats[each.place].viewer)
                elif isinstance(each, Lost):
                    yield render.lost_seat(each.place, failure_of(each.error))
                elif each is None:
                    yield _TURNS_HEARTBEAT
                else:
                    yield pb.WatchTurnsResponse(end=pb.WatchEnd(reason=_ENDS[each])).SerializeToString()


def _about(request: pb.CreateGameRequest, players: int) -> About:
    """Return what the request says of the game. Raises FieldError."""
    if len(request.seats) not in (0, players):
        raise FieldError("seats", f"needs one for each of {players} seats, or none; has {len(request.seats)}")
    sealed_until = None
    if request.HasField("seal_replay_until"):
        sealed_until = _milliseconds("seal_replay_until", request.seal_replay_until)
    return About(
        external_id=_text("external_id", request.external_id),
        labels=_labels("labels", request.labels),
        seat_names=tuple([_text(f"seats[{i}].name", seat.name) for i, seat in enumerate(request.seats)]),
        seat_labels=tuple([_labels(f"seats[{i}].labels", seat.labels) for i, seat in enumerate(request.seats)]),
        sealed_until=sealed_until,
    )


def _labels(field: str, labels: Mapping[str, str]) -> dict[str, str]:
    if len(labels) > limits.MAX_LABELS:
        raise FieldError(field, f"may have {limits.MAX_LABELS} entries, has {len(labels)}")
    for key, value in labels.items():
        _text(f"{field} (a key)", key)
        _text(f"{field} (a value)", value)
    return dict(labels)


def _text(field: str, text: str) -> str:
    size = len(text.encode())
    if size > limits.MAX_TEXT_BYTES:
        raise FieldError(field, f"may have {limits.MAX_TEXT_BYTES} bytes, has {size}")
    return text


def _secret_id(text: str) -> str:
    """Return a request id that leads to credentials; one of our own if the caller gave none. Raises FieldError."""
    request_id = _text("request_id", text) or secrets.token_hex()
    if len(request_id) < limits.MIN_SECRET_REQUEST_ID:
        least = limits.MIN_SECRET_REQUEST_ID
        raise FieldError("request_id", f"needs {least} characters or more, best a random UUID: it is a secret")
    return request_id


def _milliseconds(field: str, time: Timestamp) -> int:
    if not (0 <= time.seconds <= _LAST_SECOND and 0 <= time.nanos < 1_000_000_000):
        raise FieldError(field, "needs a time of the years 1970 to 9999")
    return time.seconds * 1000 + time.nanos // 1_000_000


def _server_info(settings: Settings) -> pb.GetServerInfoResponse:
    return pb.GetServerInfoResponse(
        version=metadata.version("moonvale"),
        rules_version=settings.rules,
        creator_key_required=settings.create_needs_key,
        limits=pb.Limits(
            max_request_bytes=settings.message_limit,
            max_page_size=limits.MAX_PAGE_SIZE,
            max_actions=limits.MAX_ACTIONS,
            max_labels=limits.MAX_LABELS,
            max_text_bytes=limits.MAX_TEXT_BYTES,
            finished_game_ttl=_duration(settings.finished_expiry),
            idle_game_ttl=_duration(settings.idle_expiry),
            heartbeat_interval=_duration(settings.heartbeat),
            max_calls_per_second=settings.call_rate or None,
            max_spectator_calls_per_second=settings.spectator_call_rate or None,
            max_games_per_second=settings.create_rate or None,
            max_watches=settings.watches or None,
            max_spectator_watches=settings.spectator_watches or None,
            max_watched_seats=limits.MAX_WATCHED_SEATS,
            max_watch_age=_duration(settings.watch_age),
        ),
    )


def _duration(seconds: float | None) -> Duration | None:
    return None if seconds is None else Duration(seconds=int(seconds), nanos=round(seconds % 1 * 1e9))
