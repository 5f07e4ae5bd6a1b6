"""A plain client for tests: the stubs, raw bytes, and errors taken apart. It repeats nothing by itself."""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import grpc
import grpc.aio
from google.rpc import error_details_pb2, status_pb2

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action
from moonvale.v1.options_pb2 import Options
from moonvale.v1.view_pb2 import View

SERVICE = "moonvale.v1.GameService"

_SECONDS = 60.0


@dataclass(eq=False)
class Failure(Exception):  # noqa: N818  # it is what tests expect, not what goes wrong in them
    """A failed call, its error info taken apart."""

    code: grpc.StatusCode
    reason: str
    message: str
    metadata: dict[str, str]
    fields: tuple[str, ...]
    trailers: tuple[tuple[str, Any], ...]
    retry_delay: float | None = None

    @property
    def is_transient(self) -> bool:
        """Whether a client makes the call again: a server that has just stopped cuts off what it had not taken up."""
        cut_off = self.code is grpc.StatusCode.CANCELLED and not self.reason
        return cut_off or self.code is grpc.StatusCode.UNAVAILABLE


def failure(error: grpc.aio.AioRpcError) -> Failure:
    """Take an error apart; one without a reason gets an empty one."""
    trailers = tuple(error.trailing_metadata() or ())
    packed = dict(trailers).get("grpc-status-details-bin", b"")
    status = status_pb2.Status.FromString(packed)
    info = error_details_pb2.ErrorInfo()
    fields: list[str] = []
    delay = None
    for detail in status.details:
        violations, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Unpack(violations):
            fields += [violation.field for violation in violations.field_violations]
        elif detail.Unpack(retry):
            delay = retry.retry_delay.ToNanoseconds() / 1e9
        else:
            assert detail.Unpack(info)
    if info.reason:
        assert info.domain == "moonvale.v1"
        assert status.code == error.code().value[0]
        assert status.message == error.details()
    text = error.details() or ""
    return Failure(error.code(), info.reason, text, dict(info.metadata), tuple(fields), trailers, delay)


@dataclass
class Game:
    """A game with all its credentials."""

    name: str
    creator: str
    seats: list[str]
    spectator: str
    view: View
    join_code: str = ""

    @property
    def id(self) -> str:
        """The id in its name."""
        return self.name.removeprefix("games/")

    @property
    def all_credentials(self) -> list[str]:
        """Whoever may look at it."""
        return [self.creator, *self.seats, self.spectator]


class Client:
    """One channel to a service. Failed calls raise Failure."""

    def __init__(self, address: str) -> None:
        # A channel of its own, even if another one to the same address is open in this process.
        self._channel = grpc.aio.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._channel.close()

    async def raw(self, method: str, request: bytes, credential: str | None = None) -> bytes:
        """Call a method with bytes, and return bytes."""
        call: Callable[..., Awaitable[bytes]] = self._channel.unary_unary(f"/{SERVICE}/{method}")
        metadata = () if credential is None else (("authorization", f"Bearer {credential}"),)
        try:
            return await call(request, metadata=metadata, timeout=_SECONDS, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            raise failure(error) from None

    async def create(self, request: pb.CreateGameRequest | None = None, credential: str | None = None) -> Game:
        """Create a game."""
        request = request or pb.CreateGameRequest(options=Options(players=2))
        answer = pb.CreateGameResponse.FromString(await self.raw("CreateGame", request.SerializeToString(), credential))
        seats = list(answer.seat_credentials)
        spectator = answer.spectator_credential
        return Game(answer.name, answer.creator_credential, seats, spectator, answer.view, answer.join_code)

    async def claim(
        self,
        game: str,
        seat: int | None = None,
        *,
        code: str = "",
        player: pb.SeatSetup | None = None,
        request_id: str = "",
        credential: str | None = None,
    ) -> pb.ClaimSeatResponse:
        """Sit down at a seat."""
        request = pb.ClaimSeatRequest(
            name=game, seat=seat, join_code=code, player=player, request_id=request_id or str(uuid.uuid4())
        )
        return pb.ClaimSeatResponse.FromString(await self.raw("ClaimSeat", request.SerializeToString(), credential))

    async def leave(self, game: str, credential: str | None, seat: int | None = None) -> None:
        """Free a seat."""
        await self.raw("LeaveSeat", pb.LeaveSeatRequest(name=game, seat=seat).SerializeToString(), credential)

    async def reveal(self, game: str, credential: str | None, entropy: bytes) -> View:
        """Reveal the entropy of a seat."""
        request = pb.RevealEntropyRequest(name=game, entropy=entropy).SerializeToString()
        return pb.RevealEntropyResponse.FromString(await self.raw("RevealEntropy", request, credential)).view

    async def reclaim(self, game: str, credential: str | None) -> pb.ReclaimSeatResponse:
        """Take a seat back from the agent that plays it."""
        request = pb.ReclaimSeatRequest(name=game).SerializeToString()
        return pb.ReclaimSeatResponse.FromString(await self.raw("ReclaimSeat", request, credential))

    async def rematch(
        self, game: str, credential: str | None, number: int | None = None, commitment: bytes = b""
    ) -> pb.RematchResponse:
        """Sit down for another game."""
        request = pb.RematchRequest(name=game, number=number, entropy_commitment=commitment).SerializeToString()
        return pb.RematchResponse.FromString(await self.raw("Rematch", request, credential))

    async def view(self, game: str, credential: str | None) -> View:
        """Look at a game."""
        request = pb.GetViewRequest(name=game)
        return pb.GetViewResponse.FromString(await self.raw("GetView", request.SerializeToString(), credential)).view

    async def submit(
        self,
        game: str,
        credential: str | None,
        actions: Sequence[Action],
        version: int | None,
        request_id: str = "",
    ) -> pb.SubmitActionResponse:
        """Act for a seat."""
        request = pb.SubmitActionRequest(name=game, actions=actions, version=version, request_id=request_id)
        raw = await self.raw("SubmitAction", request.SerializeToString(), credential)
        return pb.SubmitActionResponse.FromString(raw)

    async def resign(self, game: str, credential: str | None) -> pb.ResignResponse:
        """Resign for a seat."""
        request = pb.ResignRequest(name=game)
        return pb.ResignResponse.FromString(await self.raw("Resign", request.SerializeToString(), credential))

    async def delete(self, game: str, credential: str | None) -> None:
        """Delete a game."""
        await self.raw("DeleteGame", pb.DeleteGameRequest(name=game).SerializeToString(), credential)

    async def rotate(self, game: str, credential: str | None, seat: int | None = None, request_id: str = "") -> str:
        """Replace a credential of a game."""
        request = pb.RotateCredentialRequest(name=game, seat=seat, request_id=request_id).SerializeToString()
        answer = await self.raw("RotateCredential", request, credential)
        return pb.RotateCredentialResponse.FromString(answer).credential

    async def list_games(
        self, credential: str | None, page_size: int = 0, page_token: str = ""
    ) -> pb.ListGamesResponse:
        """List a page of games."""
        request = pb.ListGamesRequest(page_size=page_size, page_token=page_token).SerializeToString()
        return pb.ListGamesResponse.FromString(await self.raw("ListGames", request, credential))

    async def replay(self, game: str, credential: str | None) -> pb.GetReplayResponse:
        """Get a game's replay."""
        request = pb.GetReplayRequest(name=game)
        return pb.GetReplayResponse.FromString(await self.raw("GetReplay", request.SerializeToString(), credential))

    async def events(
        self, game: str, credential: str | None, page_size: int = 0, page_token: str = ""
    ) -> pb.ListEventsResponse:
        """List a page of events."""
        request = pb.ListEventsRequest(parent=game, page_size=page_size, page_token=page_token)
        return pb.ListEventsResponse.FromString(await self.raw("ListEvents", request.SerializeToString(), credential))

    async def raw_stream(
        self, method: str, request: bytes, credential: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Call a method with bytes that answers with a stream, and yield bytes."""
        stream: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = self._channel.unary_stream(f"/{SERVICE}/{method}")
        metadata = () if credential is None else (("authorization", f"Bearer {credential}"),)
        call = stream(request, metadata=metadata, wait_for_ready=True)
        try:
            async for message in call:
                yield message
        except grpc.aio.AioRpcError as error:
            raise failure(error) from None
        finally:
            call.cancel()

    async def turns(self, seats: Iterable[tuple[str, str]]) -> AsyncGenerator[pb.WatchTurnsResponse, None]:
        """Watch the turns of seats, each a game and a credential; ends with the stream."""
        listed = [pb.WatchedSeat(name=game, credential=credential) for game, credential in seats]
        request = pb.WatchTurnsRequest(seats=listed).SerializeToString()
        async with aclosing(self.raw_stream("WatchTurns", request)) as messages:
            async for message in messages:
                yield pb.WatchTurnsResponse.FromString(message)

    async def watch(
        self, game: str, credential: str | None, after: int | None = None, mark: str = ""
    ) -> AsyncGenerator[pb.WatchGameResponse, None]:
        """Watch a game; ends with the stream."""
        request = pb.WatchGameRequest(name=game, after_version=after, after_mark=mark)
        async with aclosing(self.raw_stream("WatchGame", request.SerializeToString(), credential)) as messages:
            async for message in messages:
                yield pb.WatchGameResponse.FromString(message)


async def play(client: Client, game: Game, seed: int, moves: int | None = None) -> View:
    """Play at random until the game is over, or for a number of actions; return the last view seen."""
    rng = random.Random(seed)
    view = await client.view(game.name, game.spectator)
    while view.HasField("decision") and moves != 0:
        seat = view.decision.seat
        if not view.HasField("viewer_seat") or view.viewer_seat != seat:
            view = await client.view(game.name, game.seats[seat])
        action = rng.choice(view.decision.legal_actions)
        answer = await client.submit(game.name, game.seats[seat], [action], view.version, str(uuid.uuid4()))
        view = answer.view
        moves = None if moves is None else moves - 1
    return view
