"""The synchronous client: one method for each of the service's, with retries, deadlines and errors."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self, TypeVar

import grpc

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action
from moonvale.v1.clock_pb2 import Clock
from moonvale.v1.event_pb2 import LogEntry
from moonvale.v1.game_service_pb2_grpc import GameServiceStub
from moonvale.v1.options_pb2 import Options
from moonvale.v1.replay_pb2 import Replay
from moonvale.v1.view_pb2 import View
from moonvale_client import requests
from moonvale_client.channel import DEFAULT_ADDRESS, open_channel
from moonvale_client.cursor import STREAM_SECONDS, Cursor, Update
from moonvale_client.errors import CREDENTIAL_REVOKED, GAME_NOT_FOUND, MoonvaleError
from moonvale_client.retry import Attempts, RetryPolicy, StreamBrokenError, carried_out_before
from moonvale_client.turns import Turn, WatchedSeats

Request = TypeVar("Request")
Response = TypeVar("Response")


class Client:
    """A connection to the service. Every method raises MoonvaleError; threads may share a client.

    >>> with Client("127.0.0.1:7350") as client:
    ...     game = client.create_game(Options(players=2), ["Ann", "Ben"])
    ...     view = client.get_view(game.name, game.seat_credentials[0])
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        tls: grpc.ChannelCredentials | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._retry = retry or RetryPolicy()
        self._channel = open_channel(address, tls)
        self._stub = GameServiceStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; calls and watches that are under way end."""
        self._channel.close()

    def create_game(
        self,
        options: Options | None = None,
        seats: Sequence[str | pb.SeatSetup] = (),
        *,
        labels: Mapping[str, str] | None = None,
        external_id: str = "",
        deal: pb.Deal | None = None,
        seal_replay_until: datetime | None = None,
        clock: Clock | None = None,
        with_join_code: bool = False,
        creator_key: str = "",
        request_id: str = "",
    ) -> pb.CreateGameResponse:
        """Create a game: the defaults are four rounds of Silver Coin for four.

        seats: one for each, in order: a name, or a setup, which can make the seat open or a bot's; none: all reserved.
        """
        request = requests.create_game(
            options, seats, labels, external_id, deal, seal_replay_until, clock, with_join_code, request_id
        )
        return self._call(self._stub.CreateGame, request, creator_key)

    def claim_seat(
        self,
        game: str = "",
        player: str | pb.SeatSetup = "",
        *,
        join_code: str = "",
        seat: int | None = None,
        request_id: str = "",
    ) -> pb.ClaimSeatResponse:
        """Sit down at an open seat, the first one unless another is named; the join code alone finds its game.

        player: a name, or a setup with labels and what the seat commits to.
        """
        request = requests.claim_seat(game, player, join_code, seat, request_id)
        return self._call(self._stub.ClaimSeat, request)

    def leave_seat(self, game: str, credential: str, *, seat: int | None = None) -> None:
        """Free a seat before the game begins: the credential's own, or, by the creator's credential, ``seat``."""
        try:
            self._call(self._stub.LeaveSeat, pb.LeaveSeatRequest(name=game, seat=seat), credential)
        except MoonvaleError as error:
            if not carried_out_before(error, CREDENTIAL_REVOKED):
                raise

    def reveal_entropy(self, game: str, credential: str, entropy: bytes) -> View:
        """Open what the credential's seat has committed to, once every seat is taken; return its view."""
        request = pb.RevealEntropyRequest(name=game, entropy=entropy)
        return self._call(self._stub.RevealEntropy, request, credential).view

    def reclaim_seat(self, game: str, credential: str) -> pb.ReclaimSeatResponse:
        """Take the credential's seat back from the agent that plays it since its time was out."""
        return self._call(self._stub.ReclaimSeat, pb.ReclaimSeatRequest(name=game), credential)

    def rematch(
        self, game: str, credential: str, *, number: int | None = None, entropy_commitment: bytes = b""
    ) -> pb.RematchResponse:
        """Sit down for another game of the same seats, once this one is over. All who ask come to the same one.

        number: of the losers' choice, one whose cards come from the other deck in the new game.
        """
        request = requests.rematch(game, number, entropy_commitment)
        return self._call(self._stub.Rematch, request, credential)

    def get_view(self, game: str, credential: str) -> View:
        """Return the game as the credential's holder sees it."""
        return self._call(self._stub.GetView, pb.GetViewRequest(name=game), credential).view

    def submit_action(
        self, game: str, credential: str, actions: Action | Sequence[Action], version: int, request_id: str = ""
    ) -> pb.SubmitActionResponse:
        """Answer the open decision of the view that has this version, with one of its legal actions."""
        request = requests.submit_action(game, actions, version, request_id)
        return self._call(self._stub.SubmitAction, request, credential)

    def watch(
        self, game: str, credential: str, *, after_version: int | None = None, after_mark: str = ""
    ) -> Generator[Update, None]:
        """Yield the view, then every entry of the log once and in order, until the game is over.

        While the game waits for players, the view comes anew at each change, and the entries begin with that of version
        0. Streams that break are resumed. If the game began meanwhile, one more view says how far it is, and the
        entries go on from there; ``list_events`` has those before it. Without ``after_version`` the entries of a game
        that has begun follow the view. A view is always the whole game as it is by then.
        Raises HISTORY_REWOUND if the game no longer has what has been passed on: read the view and watch from there.
        """
        cursor = Cursor(game, after_version, after_mark)
        attempts = Attempts(self._retry)
        while not cursor.finished:
            stream = self._stub.WatchGame(
                cursor.request(), timeout=STREAM_SECONDS, metadata=requests.bearer(credential)
            )
            try:
                for response in stream:
                    attempts.renew(settled=not response.HasField("view"))
                    update = cursor.take(response)
                    if update is not None:
                        yield update
                if not cursor.finished:
                    raise StreamBrokenError("the stream ended before the game did")  # noqa: TRY301
            except (grpc.RpcError, StreamBrokenError) as failure:
                time.sleep(attempts.pause(failure))
            finally:
                stream.cancel()

    def watch_turns(self, seats: Iterable[tuple[str, str]]) -> Generator[Turn, None]:
        """Yield who of many seats is to act, and whose game is over, until there is nothing more to tell of any.

        seats: a game and a credential for each; GetServerInfo says how many there may be. Streams that break are opened
        anew, and tell again who is to act: of several turns of a seat only the newest counts. A seat that can't be
        watched any more is told as an error of its own.
        """
        watched = WatchedSeats(seats)
        attempts = Attempts(self._retry)
        while not watched.finished:
            stream = self._stub.WatchTurns(watched.request(), timeout=STREAM_SECONDS)
            try:
                for response in stream:
                    turn = watched.take(response)
                    attempts.renew(settled=watched.settled)
                    if turn is not None:
                        yield turn
                if not watched.finished:
                    raise StreamBrokenError("the stream ended before the games did")  # noqa: TRY301
            except (grpc.RpcError, StreamBrokenError, MoonvaleError) as failure:
                time.sleep(attempts.pause(failure))
            finally:
                stream.cancel()

    def list_events(self, game: str, credential: str, page_size: int = 0) -> Iterator[LogEntry]:
        """Yield the entries of the log so far, read page by page."""
        request = pb.ListEventsRequest(parent=game, page_size=page_size)
        while True:
            page = self._call(self._stub.ListEvents, request, credential)
            yield from page.entries
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def get_replay(self, game: str, credential: str) -> Replay:
        """Return a whole game that is over, opened."""
        return self._call(self._stub.GetReplay, pb.GetReplayRequest(name=game), credential).replay

    def resign(self, game: str, credential: str) -> pb.ResignResponse:
        """Give up for the credential's seat."""
        return self._call(self._stub.Resign, pb.ResignRequest(name=game), credential)

    def delete_game(self, game: str, credential: str) -> None:
        """Delete a game, by the creator's credential."""
        try:
            self._call(self._stub.DeleteGame, pb.DeleteGameRequest(name=game), credential)
        except MoonvaleError as error:
            if not carried_out_before(error, GAME_NOT_FOUND):
                raise

    def rotate_credential(self, game: str, credential: str, *, seat: int | None = None, request_id: str = "") -> str:
        """Replace the credential of a seat, or of the spectators; return the new one. The one before is good no more.

        By the creator's credential, or that of the seat whose own is replaced.
        """
        request = pb.RotateCredentialRequest(name=game, seat=seat, request_id=request_id or requests.new_request_id())
        return self._call(self._stub.RotateCredential, request, credential).credential

    def list_games(self, operator_key: str, page_size: int = 0) -> Iterator[pb.GameSummary]:
        """Yield all games of the service, read page by page, by the operator key."""
        request = pb.ListGamesRequest(page_size=page_size)
        while True:
            page = self._call(self._stub.ListGames, request, operator_key)
            yield from page.games
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def get_catalog(self) -> pb.GetCatalogResponse:
        """Return all card types and tokens."""
        return self._call(self._stub.GetCatalog, pb.GetCatalogRequest())

    def get_server_info(self) -> pb.GetServerInfoResponse:
        """Return the versions and limits of the server."""
        return self._call(self._stub.GetServerInfo, pb.GetServerInfoRequest())

    def _call(
        self, method: grpc.UnaryUnaryMultiCallable[Request, Response], request: Request, credential: str = ""
    ) -> Response:
        attempts = Attempts(self._retry)
        while True:
            try:
                return method(request, timeout=attempts.deadline(), metadata=requests.bearer(credential))
            except grpc.RpcError as failure:
                time.sleep(attempts.pause(failure))
