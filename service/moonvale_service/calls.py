"""The methods of GameService: what each reads from its request, which use case it calls, and what it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.view_pb2 import View
from moonvale_engine.events import SPECTATOR
from moonvale_service import limits, pages, render
from moonvale_service.about import About, SeatAbout
from moonvale_service.bots import bot_names
from moonvale_service.commits import Outcome
from moonvale_service.convert import actions, catalog, clocks, fields, options, replays, wire
from moonvale_service.credentials import NOBODY, Credential, Keys, Role
from moonvale_service.errors import CallError, CreatorKeyRequiredError, FieldError, RoleNotAllowedError
from moonvale_service.failures import failure_of
from moonvale_service.games import Games, check_epoch
from moonvale_service.history import Happened, Snapshot
from moonvale_service.quotas import Holder, Quotas, holder_of
from moonvale_service.seats import Seats, shown_code
from moonvale_service.server_info import server_info
from moonvale_service.settings import Settings
from moonvale_service.store import WAITING
from moonvale_service.store.redis_store import is_game_id
from moonvale_service.turns import Lost, Turn, TurnWatch
from moonvale_service.watch import End, Heartbeat, Watches

ANY_GAME: Final = "-"  # in place of a game's id, where something else says which one is meant

_ENDS: Final = {
    End.GAME_OVER: pb.WATCH_END_REASON_GAME_OVER,
    End.GAME_DELETED: pb.WATCH_END_REASON_GAME_DELETED,
    End.DRAINING: pb.WATCH_END_REASON_DRAINING,
    End.MAX_AGE: pb.WATCH_END_REASON_MAX_AGE,
    End.NO_SEAT_LEFT: pb.WATCH_END_REASON_NO_SEAT_LEFT,
}
_Repeatable = TypeVar("_Repeatable", pb.CreateGameRequest, pb.ClaimSeatRequest)
_TURNS_HEARTBEAT: Final = pb.WatchTurnsResponse(heartbeat=pb.TurnsHeartbeat()).SerializeToString()

# Responses are put together of encoded views and entries.
_view_got: Final = wire.field(pb.GetViewResponse, "view")
_view_watched: Final = wire.field(pb.WatchGameResponse, "view")
_entry_listed: Final = wire.field(pb.ListEventsResponse, "entries")
_entry_watched: Final = wire.field(pb.WatchGameResponse, "entry")


class _Change:
    """How the response of a method that changes a game is put together. ``kind``: its type."""

    def __init__(self, kind: type[pb.SubmitActionResponse | pb.ResignResponse | pb.ReclaimSeatResponse]) -> None:
        self.kind = kind
        self.view = wire.field(kind, "view")
        self.entry = wire.field(kind, "entries")


_SUBMITTED: Final = _Change(pb.SubmitActionResponse)
_RESIGNED: Final = _Change(pb.ResignResponse)
_RECLAIMED: Final = _Change(pb.ReclaimSeatResponse)


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

    def __init__(
        self, games: Games, seats: Seats, watches: Watches, keys: Keys, quotas: Quotas, settings: Settings
    ) -> None:
        self._games = games
        self._seats = seats
        self._watches = watches
        self._keys = keys
        self._quotas = quotas
        self._create_needs_key = settings.create_needs_key
        self._catalog = pb.GetCatalogResponse(cards=catalog.card_types(settings.rules), tokens=catalog.token_types())
        self._bots = bot_names(settings)
        self._server_info = server_info(settings)

    async def create_game(self, request: pb.CreateGameRequest, caller: Caller) -> pb.CreateGameResponse:
        if request.HasField("deal") and not caller.creator_key:
            raise CreatorKeyRequiredError("a supplied deal")
        if self._create_needs_key and not caller.creator_key:
            raise CreatorKeyRequiredError("CreateGame")
        self._quotas.create(creator_key=caller.creator_key)
        deal = request.deal if request.HasField("deal") else None
        chosen = options.from_proto(request.options, deal)
        about = self._about(request, chosen.players)
        open_seats = frozenset([number for number, seat in enumerate(request.seats) if seat.open])
        if request.with_join_code and not open_seats:
            raise FieldError("with_join_code", "goes with an open seat: seats[0].open, for example")
        request_id = fields.secret_id(request.request_id)
        snapshot = await self._seats.create(
            self._keys.game_id(request_id),
            chosen,
            deal.secret if deal is not None else None,
            about,
            _content(request),
            open_seats=open_seats,
            with_join_code=request.with_join_code,
        )
        reserved = [not (seat.open or seat.bot) for seat in request.seats] or [True] * chosen.players
        lobby = snapshot.about.lobby
        return pb.CreateGameResponse(
            name=render.game_name(snapshot.game),
            creator_credential=self._token(snapshot, Role.CREATOR),
            seat_credentials=[
                self._token(snapshot, Role.SEAT, seat) if mine else "" for seat, mine in enumerate(reserved)
            ],
            spectator_credential=self._token(snapshot, Role.SPECTATOR),
            view=self._view(snapshot, caller),
            join_code="" if lobby is None else shown_code(lobby.join_code),
        )

    def _view(self, snapshot: Snapshot, caller: Caller) -> View:
        return render.view(snapshot, caller.viewer, self._games.now())

    def _encoded_view(self, snapshot: Snapshot, caller: Caller) -> bytes:
        return render.encoded_view(snapshot, caller.viewer, self._games.now())

    def _about(self, request: pb.CreateGameRequest, players: int) -> About:
        """Return what the request says of the game. Raises FieldError."""
        if len(request.seats) not in (0, players):
            raise FieldError("seats", f"needs one for each of {players} seats, or none; has {len(request.seats)}")
        sealed_until = None
        if request.HasField("seal_replay_until"):
            sealed_until = fields.milliseconds("seal_replay_until", request.seal_replay_until)
        return About(
            external_id=fields.text("external_id", request.external_id),
            labels=fields.labels("labels", request.labels),
            seats=tuple([self._seat(f"seats[{i}]", seat) for i, seat in enumerate(request.seats)]),
            sealed_until=sealed_until,
            clock=clocks.from_proto(request.clock, self._bots) if request.HasField("clock") else None,
        )

    def _seat(self, field: str, seat: pb.SeatSetup) -> SeatAbout:
        """Return who sits at a seat. Raises FieldError."""
        if seat.bot and seat.bot not in self._bots:
            raise FieldError(f"{field}.bot", f"must be one of {', '.join(self._bots)}")
        if seat.bot and (seat.open or seat.entropy_commitment):
            raise FieldError(f"{field}.bot", "a bot's seat is neither open, nor has it entropy of its own")
        if seat.open and (seat.name or seat.labels or seat.entropy_commitment):
            raise FieldError(f"{field}.open", "of an open seat nothing can be said before somebody claims it")
        return SeatAbout(
            name=fields.text(f"{field}.name", seat.name) or seat.bot,
            labels=fields.labels(f"{field}.labels", seat.labels),
            bot=seat.bot,
            entropy_commitment=fields.commitment(f"{field}.entropy_commitment", seat.entropy_commitment),
        )

    async def claim_seat(self, request: pb.ClaimSeatRequest, _caller: Caller) -> pb.ClaimSeatResponse:
        player = self._seat("player", request.player)
        for field in ("open", "bot"):
            if getattr(request.player, field):
                raise FieldError(f"player.{field}", "is not for who claims a seat")
        if not request.request_id:
            raise FieldError("request_id", "is required: a repeat of the call finds the seat by it")
        request_id = fields.secret_id(request.request_id)
        self._quotas.claim()
        code = fields.text("join_code", request.join_code)
        if request.name == render.game_name(ANY_GAME):
            game = await self._seats.find(code)
        else:
            game = render.game_of(request.name)
            if not is_game_id(game):
                raise FieldError("name", "needs the form games/{game}, or games/- for that of the join code")
        number = request.seat if request.HasField("seat") else None
        taken = await self._seats.claim(game, code, number, player, request_id, _content(request))
        return pb.ClaimSeatResponse(
            name=render.game_name(game),
            seat=taken.credential.seat,
            credential=self._keys.token(taken.credential),
            view=self._view(taken.snapshot, Caller(game, taken.credential)),
        )

    async def leave_seat(self, request: pb.LeaveSeatRequest, caller: Caller) -> pb.LeaveSeatResponse:
        seat = request.seat if request.HasField("seat") else caller.credential.seat
        if seat is None:
            raise FieldError("seat", "is required of the creator: which seat is to be freed")
        _check_own(caller.credential, seat)
        await self._seats.leave(caller.credential, seat)
        return pb.LeaveSeatResponse()

    async def reveal_entropy(self, request: pb.RevealEntropyRequest, caller: Caller) -> pb.RevealEntropyResponse:
        snapshot = await self._seats.reveal(caller.credential, request.entropy)
        return pb.RevealEntropyResponse(view=self._view(snapshot, caller))

    async def reclaim_seat(self, _request: pb.ReclaimSeatRequest, caller: Caller) -> bytes:
        return self._told(_RECLAIMED, await self._games.reclaim(caller.credential), caller)

    async def rematch(self, request: pb.RematchRequest, caller: Caller) -> pb.RematchResponse:
        number = request.number if request.HasField("number") else None
        if caller.credential.seat is None and (number is not None or request.entropy_commitment):
            raise FieldError("number" if number is not None else "entropy_commitment", "is for seats")
        commitment = fields.commitment("entropy_commitment", request.entropy_commitment)
        self._quotas.create(creator_key=False)
        taken = await self._seats.rematch(caller.credential, number, commitment)
        response = pb.RematchResponse(
            name=render.game_name(taken.snapshot.game),
            view=self._view(taken.snapshot, Caller(taken.snapshot.game, taken.credential)),
        )
        if taken.credential.seat is None:
            response.creator_credential = self._token(taken.snapshot, Role.CREATOR)
            response.spectator_credential = self._token(taken.snapshot, Role.SPECTATOR)
        else:
            response.seat_credential = self._keys.token(taken.credential)
        return response

    def _token(self, snapshot: Snapshot, role: Role, seat: int | None = None) -> str:
        credential = Credential(snapshot.game, role, seat)
        return self._keys.token(replace(credential, epoch=snapshot.about.rotation(credential).epoch))

    async def get_view(self, _request: pb.GetViewRequest, caller: Caller) -> bytes:
        return _view_got(self._encoded_view(await self._games.look(caller.credential), caller))

    async def submit_action(self, request: pb.SubmitActionRequest, caller: Caller) -> bytes:
        if not 1 <= len(request.actions) <= limits.MAX_ACTIONS:
            raise FieldError("actions", f"needs 1..{limits.MAX_ACTIONS} actions, has {len(request.actions)}")
        if not request.HasField("version"):
            raise FieldError("version", "is required: that of the view that the choice was made on")
        chosen = [actions.from_proto(action, f"actions[{i}]") for i, action in enumerate(request.actions)]
        request_id = fields.text("request_id", request.request_id) or None
        outcome = await self._games.submit(caller.credential, request.version, chosen, request_id)
        return self._told(_SUBMITTED, outcome, caller)

    def _told(self, change: _Change, outcome: Outcome, caller: Caller) -> bytes:
        """Return what every method tells that has changed a game."""
        made = change.kind(version=outcome.version, mark=outcome.mark).SerializeToString()
        entries = [change.entry(render.encoded_entry(each, caller.viewer)) for each in outcome.happened]
        return b"".join([made, change.view(self._encoded_view(outcome.snapshot, caller)), *entries])

    async def resign(self, _request: pb.ResignRequest, caller: Caller) -> bytes:
        return self._told(_RESIGNED, await self._games.resign(caller.credential), caller)

    async def list_events(self, request: pb.ListEventsRequest, caller: Caller) -> bytes:
        if request.page_size < 0:
            raise FieldError("page_size", f"must be 0 or more, is {request.page_size}")
        try:
            after = pages.place(request.page_token) if request.page_token else None
        except ValueError:
            raise FieldError("page_token", "is not the next_page_token of a page before") from None
        size = min(request.page_size or limits.MAX_PAGE_SIZE, limits.MAX_PAGE_SIZE)
        happened, following = await self._games.list_happened(caller.credential, after, size)
        token = "" if following is None else pages.token(following)
        entries = [_entry_listed(render.encoded_entry(each, caller.viewer)) for each in happened]
        return b"".join([*entries, pb.ListEventsResponse(next_page_token=token).SerializeToString()])

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
        _check_own(caller.credential, seat)
        request_id = fields.secret_id(request.request_id)
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
        mark = fields.text("after_mark", request.after_mark)
        if mark and after is None:
            raise FieldError("after_mark", "goes with after_version")
        with self._quotas.watch(caller.holder):
            async with aclosing(
                self._watches.watch(caller.game, after, mark, partial(check_epoch, by=caller.credential))
            ) as told:
                async for each in told:
                    if isinstance(each, Snapshot):
                        yield _view_watched(self._encoded_view(each, caller))
                    elif isinstance(each, Happened):
                        yield _entry_watched(render.encoded_entry(each, caller.viewer))
                    elif isinstance(each, Heartbeat):
                        version = None if each.version == WAITING else each.version
                        heartbeat = pb.Heartbeat(version=version, mark=each.mark)
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
                    yield render.turn(each.place, each.snapshot, seats[each.place].viewer, self._games.now())
                elif isinstance(each, Lost):
                    yield render.lost_seat(each.place, failure_of(each.error))
                elif each is None:
                    yield _TURNS_HEARTBEAT
                else:
                    yield pb.WatchTurnsResponse(end=pb.WatchEnd(reason=_ENDS[each])).SerializeToString()


def _content(request: _Repeatable) -> bytes:
    """Return what a repeat of a request must have in common with it: all but its id."""
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField("request_id")
    return content.SerializeToString(deterministic=True)


def _check_own(by: Credential, seat: int | None) -> None:
    """Raise RoleNotAllowedError if a seat wants something done that is another one's, or a spectator's (None)."""
    if by.seat is not None and by.seat != seat:
        raise RoleNotAllowedError(by.role.name.lower(), "another seat", "creator or the seat itself")
