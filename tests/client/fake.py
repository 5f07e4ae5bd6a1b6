"""A service of one game in memory, for faults that a real one shows only by luck: lost answers, broken streams."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2

from moonvale.v1 import event_pb2, view_pb2
from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.game_service_pb2_grpc import GameServiceServicer, add_GameServiceServicer_to_server
from moonvale_client.errors import DOMAIN
from moonvale_engine import Options, legal_actions, new_game, observe, position_text, seat_to_act, view
from moonvale_engine.catalog import rules_of
from moonvale_engine.events import SPECTATOR, Event, seen_by
from moonvale_engine.log import BY_TIME_OUT, RETURN, TAKEOVER, Entry, enter
from moonvale_engine.state import drop_frames, new_state
from moonvale_service.about import About, Lobby, SeatAbout
from moonvale_service.convert import actions, events, views
from moonvale_service.errors import FieldError

GAME = "games/fake"
SEATS = ("seat-0", "seat-1")
SPECTATOR_CREDENTIAL = "spectator"
Context = grpc.ServicerContext


class FakeService(GameServiceServicer):
    """The tests set the faults before they call; every call is noted with its request id."""

    def __init__(self) -> None:
        self.request_ids: list[str] = []
        self.watched_from: list[tuple[int | None, str]] = []
        self.watched_seats: list[list[int]] = []
        self.carried_out: dict[str, pb.SubmitActionResponse] = {}
        self.faults: list[grpc.StatusCode] = []
        """What calls fail with, one after the other, after they were carried out."""
        self.stream_lengths: list[int] = []
        """After how many messages streams break, one after the other; later ones last."""
        self.repeat_entries = 0
        """How many entries each stream sends again that it was told not to."""
        self.leave_out: int | None = None
        """The version whose entry the next stream leaves out."""
        self.rewound = False
        self.deleted = False
        self.left: list[int | None] = []
        self.lobby: Lobby | None = None
        """What the game waits for; None: it has begun."""
        self.seats = [SeatAbout() for _ in SEATS]
        self.changes = 0
        """How often the game has changed while it waited."""
        self.late: list[int] = []
        """The versions upon which the first answer comes too late."""
        self.reclaimed = 0
        self.commitment = bytes(32)
        self._viewed = threading.Event()
        self._happened: list[Event] = []
        self.options = Options(players=len(SEATS), rounds=1)
        self.state = new_game(self.options, bytes(32), (), self._happened)
        self.log: list[tuple[Entry | None, list[Event], int]] = [(None, self._happened, seat_to_act(self.state))]
        self._changed = threading.Condition()

    def wait_for_players(self, *commitments: bytes, open_seats: frozenset[int] = frozenset()) -> None:
        """Have the game wait: for players of open seats, then for what seats have committed to."""
        self.lobby = Lobby(self.options, bytes(32), open_seats)
        self.seats = [SeatAbout(entropy_commitment=commitment) for commitment in commitments or (b"",) * len(SEATS)]

    def wait_until_viewed(self) -> None:
        """Wait until somebody watches the game."""
        assert self._viewed.wait(60)

    def change(self, lobby: Lobby | None) -> None:
        """Have something change in a game that waits; None: it begins."""
        with self._changed:
            self.lobby = lobby
            self.changes += 1
            self._changed.notify_all()

    # The methods of the contract.

    def CreateGame(self, request: pb.CreateGameRequest, context: Context) -> pb.CreateGameResponse:  # noqa: N802
        self.request_ids.append(request.request_id)
        self._fault(context)
        return pb.CreateGameResponse(name=GAME, seat_credentials=SEATS, spectator_credential=SPECTATOR_CREDENTIAL)

    def ClaimSeat(self, request: pb.ClaimSeatRequest, context: Context) -> pb.ClaimSeatResponse:  # noqa: N802
        self.request_ids.append(request.request_id)
        self._fault(context)
        return pb.ClaimSeatResponse(name=GAME, seat=request.seat, credential=f"{request.name} {request.player.name}")

    def LeaveSeat(self, request: pb.LeaveSeatRequest, context: Context) -> pb.LeaveSeatResponse:  # noqa: N802
        if self.left:
            fail(context, grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_REVOKED", {})
        self.left.append(request.seat if request.HasField("seat") else None)
        self._fault(context)
        return pb.LeaveSeatResponse()

    def RevealEntropy(  # noqa: N802
        self, request: pb.RevealEntropyRequest, context: Context
    ) -> pb.RevealEntropyResponse:
        viewer = viewer_of(context)
        if self.lobby is not None and viewer not in self.lobby.entropy:
            revealed = {**self.lobby.entropy, viewer: request.entropy}
            promised = sum(seat.entropy_commitment != b"" for seat in self.seats)
            self.change(None if len(revealed) == promised else replace(self.lobby, entropy=revealed))
        self._fault(context)
        return pb.RevealEntropyResponse(view=self.view(viewer))

    def ReclaimSeat(self, request: pb.ReclaimSeatRequest, context: Context) -> pb.ReclaimSeatResponse:  # noqa: N802
        viewer = viewer_of(context)
        with self._changed:
            if self.seats[viewer].away:
                self.reclaimed += 1
                self.seats[viewer] = SeatAbout()
                self._log(Entry(viewer, RETURN))
        self._fault(context)
        return pb.ReclaimSeatResponse(view=self.view(viewer))

    def Rematch(self, request: pb.RematchRequest, context: Context) -> pb.RematchResponse:  # noqa: N802
        self._fault(context)
        number = request.number if request.HasField("number") else None
        return pb.RematchResponse(name=request.name, seat_credential=f"{number} {request.entropy_commitment.hex()}")

    def GetView(self, request: pb.GetViewRequest, context: Context) -> pb.GetViewResponse:  # noqa: N802
        self._fault(context)
        return pb.GetViewResponse(view=self.view(viewer_of(context)))

    def SubmitAction(self, request: pb.SubmitActionRequest, context: Context) -> pb.SubmitActionResponse:  # noqa: N802
        self.request_ids.append(request.request_id)
        with self._changed:
            response = self.carried_out.get(request.request_id)
            if response is None:
                response = self._carry_out(request, context)
                self.carried_out[request.request_id] = response
        self._fault(context)
        return response

    def WatchGame(self, request: pb.WatchGameRequest, context: Context) -> Iterator[pb.WatchGameResponse]:  # noqa: N802
        after = request.after_version if request.HasField("after_version") else None
        self.watched_from.append((after, request.after_mark))
        if self.rewound:
            fail(context, grpc.StatusCode.ABORTED, "HISTORY_REWOUND", {"version": "1"})
        length = self.stream_lengths.pop(0) if self.stream_lengths else None
        for sent, message in enumerate(self._stream(after, viewer_of(context), context)):
            if sent == length:
                context.abort(grpc.StatusCode.UNAVAILABLE, "the connection broke")
            yield message

    def WatchTurns(  # noqa: N802
        self, request: pb.WatchTurnsRequest, context: Context
    ) -> Iterator[pb.WatchTurnsResponse]:
        length = self.stream_lengths.pop(0) if self.stream_lengths else None
        viewers = [SEATS.index(seat.credential) for seat in request.seats]
        self.watched_seats.append(viewers)
        sent = 0
        messages = self._turns(viewers, context)
        while sent != length:
            message = next(messages, None)
            if message is None:
                return
            yield message
            sent += 1
        context.abort(grpc.StatusCode.UNAVAILABLE, "the connection broke")

    def ListEvents(self, request: pb.ListEventsRequest, context: Context) -> pb.ListEventsResponse:  # noqa: N802
        start = int(request.page_token or 0)
        end = start + (request.page_size or len(self.log))
        return pb.ListEventsResponse(
            entries=[self.entry(version, viewer_of(context)) for version in range(start, min(end, len(self.log)))],
            next_page_token=str(end) if end < len(self.log) else "",
        )

    def GetReplay(self, request: pb.GetReplayRequest, context: Context) -> pb.GetReplayResponse:  # noqa: N802
        fail(context, grpc.StatusCode.FAILED_PRECONDITION, "GAME_NOT_OVER", {})

    def Resign(self, request: pb.ResignRequest, context: Context) -> pb.ResignResponse:  # noqa: N802
        bad = violated("name", "needs games/{game}")
        fail(context, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", {}, bad)

    def RotateCredential(  # noqa: N802
        self, request: pb.RotateCredentialRequest, context: Context
    ) -> pb.RotateCredentialResponse:
        self.request_ids.append(request.request_id)
        self._fault(context)
        return pb.RotateCredentialResponse(credential=f"new {request.seat}")

    def DeleteGame(self, request: pb.DeleteGameRequest, context: Context) -> pb.DeleteGameResponse:  # noqa: N802
        if self.deleted:
            fail(context, grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND", {})
        self.deleted = True
        self._fault(context)
        return pb.DeleteGameResponse()

    def ListGames(self, request: pb.ListGamesRequest, context: Context) -> pb.ListGamesResponse:  # noqa: N802
        names = [f"games/{number}" for number in range(5)]
        start = int(request.page_token or 0)
        return pb.ListGamesResponse(
            games=[pb.GameSummary(name=name) for name in names[start : start + 2]],
            next_page_token=str(start + 2) if start < 4 else "",
        )

    def GetCatalog(self, request: pb.GetCatalogRequest, context: Context) -> pb.GetCatalogResponse:  # noqa: N802
        return pb.GetCatalogResponse()

    def GetServerInfo(self, request: pb.GetServerInfoRequest, context: Context) -> pb.GetServerInfoResponse:  # noqa: N802
        self._fault(context)
        return pb.GetServerInfoResponse(version="fake")

    # What they return.

    def view(self, viewer: int) -> view_pb2.View:
        version = len(self.log) - 1
        about = About(seats=tuple(self.seats), lobby=self.lobby)
        if self.lobby is not None:
            header = views.GameHeader(GAME, None, f"change-{self.changes}", self.commitment, 0, 0, about)
            return waiting_view(header, viewer, self.options)
        header = views.GameHeader(GAME, version, mark(version), bytes(32), created=0, updated=0, about=about)
        return views.to_proto(view(self.state, viewer), position_text(observe(self.state, viewer)), header)

    def entry(self, version: int, viewer: int) -> event_pb2.LogEntry:
        entry, happened, next_seat = self.log[version]
        seen = [seen_by(event, viewer) for event in happened]
        return events.log_entry(self.options, version, mark(version), entry, 0, next_seat, seen)

    def act(self) -> None:
        """The seat to act makes its first legal choice."""
        with self._changed:
            self._enter(legal_actions(self.state)[0])

    def time_out(self) -> None:
        """The time of the seat to act is out: an agent takes over."""
        with self._changed:
            seat = seat_to_act(self.state)
            self.seats[seat] = SeatAbout(away=True)
            self._log(Entry(seat, TAKEOVER, BY_TIME_OUT))

    def _carry_out(self, request: pb.SubmitActionRequest, context: Context) -> pb.SubmitActionResponse:
        viewer = viewer_of(context)
        if request.version in self.late:
            self.late.remove(request.version)
            self.time_out()
            fail(context, grpc.StatusCode.FAILED_PRECONDITION, "TIME_OUT", {})
        if request.version != len(self.log) - 1:
            fail(context, grpc.StatusCode.ABORTED, "STALE_VERSION", {"version": str(len(self.log) - 1)})
        try:
            action = actions.from_proto(request.actions[0], "actions[0]")
        except FieldError as error:
            fail(
                context, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", {}, violated(error.field, error.description)
            )
        self._enter(action)
        version = len(self.log) - 1
        return pb.SubmitActionResponse(
            version=version, mark=mark(version), view=self.view(viewer), entries=[self.entry(version, viewer)]
        )

    def _enter(self, action: int) -> None:
        self._log(Entry(seat_to_act(self.state), action))

    def _log(self, entry: Entry) -> None:
        happened: list[Event] = []
        self.state.events = happened
        enter(self.state, entry)
        self.log.append((entry, happened, seat_to_act(self.state)))
        self._changed.notify_all()

    def _stream(self, after: int | None, viewer: int, context: Context) -> Iterator[pb.WatchGameResponse]:
        version = len(self.log) - 1 if self.lobby is None else -1
        told = self.changes
        yield pb.WatchGameResponse(view=self.view(viewer))
        self._viewed.set()  # the first message is on its way
        while version < 0:
            if not self._wait_for_change(told, context):
                return
            told = self.changes
            if self.lobby is None:
                break
            yield pb.WatchGameResponse(heartbeat=pb.Heartbeat())
            yield pb.WatchGameResponse(view=self.view(viewer))
        version = version if after is None else max(0, after - self.repeat_entries)
        while True:
            with self._changed:
                while version == len(self.log) - 1:
                    if self.state.is_over():
                        yield pb.WatchGameResponse(end=pb.WatchEnd(reason=pb.WATCH_END_REASON_GAME_OVER))
                        return
                    if not context.is_active():
                        return
                    self._changed.wait(0.05)
            version += 1
            if version == self.leave_out:
                self.leave_out = None
                continue
            yield pb.WatchGameResponse(entry=self.entry(version, viewer))

    def _wait_for_change(self, told: int, context: Context) -> bool:
        """Wait until there are other ``changes`` than were told. False: the caller has gone."""
        with self._changed:
            while told == self.changes:
                if not context.is_active():
                    return False
                self._changed.wait(0.05)
        return True

    def _turns(self, viewers: list[int], context: Context) -> Iterator[pb.WatchTurnsResponse]:
        told = -1
        while (lobby := self.lobby) is not None:
            changes = self.changes
            for index, viewer in enumerate(viewers):
                if self.seats[viewer].entropy_commitment and viewer not in lobby.entropy:
                    yield pb.WatchTurnsResponse(index=index, turn=self.view(viewer))
            if not self._wait_for_change(changes, context):
                return
        while not self.state.is_over():
            with self._changed:
                while told == len(self.log) - 1:
                    if not context.is_active():
                        return
                    self._changed.wait(0.05)
                told = len(self.log) - 1
            for index, viewer in enumerate(viewers):
                if viewer == seat_to_act(self.state):
                    yield pb.WatchTurnsResponse(index=index, turn=self.view(viewer))
        for index, viewer in enumerate(viewers):
            yield pb.WatchTurnsResponse(index=index, over=self.view(viewer))
        yield pb.WatchTurnsResponse(end=pb.WatchEnd(reason=pb.WATCH_END_REASON_NO_SEAT_LEFT))

    def _fault(self, context: Context) -> None:
        if self.faults:
            context.abort(self.faults.pop(0), "the answer was lost")


def viewer_of(context: Context) -> int:
    credential = dict(context.invocation_metadata()).get("authorization", "")
    return {f"Bearer {seat}": i for i, seat in enumerate(SEATS)}.get(str(credential), SPECTATOR)


def waiting_view(header: views.GameHeader, viewer: int, options: Options) -> view_pb2.View:
    """A view of a game that waits, in which nothing is dealt."""
    empty = new_state(options, rules_of(options.rules), bytes(32), ())
    drop_frames(empty)
    return views.to_proto(view(empty, viewer), "", header)


def mark(version: int) -> str:
    return f"mark-{version}"


def violated(field: str, description: str) -> error_details_pb2.BadRequest:
    violation = error_details_pb2.BadRequest.FieldViolation(field=field, description=description)
    return error_details_pb2.BadRequest(field_violations=[violation])


def fail(
    context: Context,
    code: grpc.StatusCode,
    reason: str,
    metadata: dict[str, str],
    *details: error_details_pb2.BadRequest,
) -> NoReturn:
    """End a call with an error as the service words it."""
    packed = []
    for detail in (error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata), *details):
        any_ = any_pb2.Any()
        any_.Pack(detail)
        packed.append(any_)
    status = status_pb2.Status(code=code_pb2.Code.Value(code.name), message="no", details=packed)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, status.message)
    raise AssertionError("abort raises")


@contextmanager
def serving(service: FakeService) -> Iterator[str]:
    """Serve on a free port of the loopback; yields the address."""
    with ThreadPoolExecutor(16) as threads:
        server = grpc.server(threads)
        add_GameServiceServicer_to_server(service, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(None).wait()
