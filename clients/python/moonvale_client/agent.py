"""The agent loops: they play one seat, or many, to the end of their games by asking a function for each decision."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

from moonvale.v1.action_pb2 import Action
from moonvale.v1.result_pb2 import Result
from moonvale.v1.view_pb2 import View
from moonvale_client.aio import AsyncClient
from moonvale_client.errors import (
    CREDENTIAL_REVOKED,
    GAME_NOT_FOUND,
    GAME_OVER,
    HISTORY_REWOUND,
    NOT_YOUR_TURN,
    STALE_VERSION,
    MoonvaleError,
)
from moonvale_client.turns import Turn

#: Returns one of ``view.decision.legal_actions``; it may be a coroutine function.
Choose = Callable[[View], Action | Awaitable[Action]]

#: The game has moved on since the view, by another client of the same seat or by a resignation.
_MOVED_ON = frozenset({STALE_VERSION, NOT_YOUR_TURN, GAME_OVER})
#: The seat is lost to its player, as the stream of turns tells, too.
_LOST = frozenset({CREDENTIAL_REVOKED, GAME_NOT_FOUND})


async def play_seat(server: str | AsyncClient, game: str, credential: str, choose: Choose) -> Result:
    """Play the credential's seat until the game is over, and return how it ended.

    server: an address, or a client that several games share. choose: gets the seat's view at each decision of its own
    and returns one of ``view.decision.legal_actions``. Raises MoonvaleError, such as ILLEGAL_ACTION for another choice.
    """
    async with _client(server) as client:
        while True:
            try:
                return await _play(client, game, credential, choose)
            except MoonvaleError as error:
                if error.reason != HISTORY_REWOUND:
                    raise


async def play_seats(
    server: str | AsyncClient, seats: Sequence[tuple[str, str]], choose: Choose, *, at_once: int = 32
) -> list[Result | MoonvaleError]:
    """Play many seats, each a game and a credential, until all games are over, on as few streams as the server allows.

    Return for each seat how its game ended, or what kept it from being played on, such as CREDENTIAL_REVOKED or
    GAME_NOT_FOUND. choose: as for ``play_seat``. at_once: of how many seats decisions are answered at a time.
    Raises what ``choose`` raises, and MoonvaleError, such as ILLEGAL_ACTION for another choice.
    """
    async with _client(server) as client:
        most = (await client.get_server_info()).limits.max_watched_seats or len(seats)
        few = asyncio.Semaphore(at_once)
        parts = [seats[i : i + most] for i in range(0, len(seats), max(most, 1))]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_Bot(client, part, choose, few).play()) for part in parts]
        except ExceptionGroup as failed:  # of the first, for which the others were given up
            raise _first(failed) from None
    return [result for task in tasks for result in task.result()]


def _first(failed: ExceptionGroup[Exception]) -> Exception:
    error: Exception = failed
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class _Seat:
    """A seat of a bot. turn: told and not yet answered. answered: marks of the turns that were, since ``stream``."""

    def __init__(self) -> None:
        self.turn: View | None = None
        self.moving = False
        self.stream = 0
        self.answered: set[str] = set()
        self.result: Result | MoonvaleError = Result()

    def take_turn(self) -> View | None:
        """Return the turn that is to be answered next, if there is one."""
        turn, self.turn = self.turn, None
        if turn is None or turn.mark in self.answered:
            return None
        self.answered.clear()  # a stream tells nothing that is older than what it has told
        return turn


class _Bot:
    """Plays many seats on one stream. A turn that comes while its seat moves waits, and the newest alone counts."""

    def __init__(
        self, client: AsyncClient, seats: Sequence[tuple[str, str]], choose: Choose, few: asyncio.Semaphore
    ) -> None:
        self._client = client
        self._asked = seats
        self._choose = choose
        self._few = few
        self._seats = [_Seat() for _ in seats]

    async def play(self) -> list[Result | MoonvaleError]:
        """Play all games to their ends, and return how each seat's ended."""
        async with asyncio.TaskGroup() as moves, aclosing(self._client.watch_turns(self._asked)) as turns:
            async for turn in turns:
                self._take(turn, moves)
        return [seat.result for seat in self._seats]

    def _take(self, turn: Turn, moves: asyncio.TaskGroup) -> None:
        seat = self._seats[turn.index]
        if turn.error is not None:
            seat.turn, seat.result = None, turn.error
        elif turn.view is not None and turn.over:
            seat.turn, seat.result = None, turn.view.result
        else:
            if turn.stream != seat.stream:  # should the store have lost what was answered, it is to be answered again
                seat.stream = turn.stream
                seat.answered.clear()
            seat.turn = turn.view
            if not seat.moving:
                seat.moving = True
                moves.create_task(self._move(seat, turn.credential))

    async def _move(self, seat: _Seat, credential: str) -> None:
        """Answer the seat's turns until there is none."""
        while True:
            async with self._few:
                view = seat.take_turn()
                if view is None:
                    break
                await self._answer(seat, view, credential)
        seat.moving = False

    async def _answer(self, seat: _Seat, view: View, credential: str) -> None:
        """Answer one decision after the other, until another seat is to act."""
        try:
            while view.decision.legal_actions:
                seat.answered.add(view.mark)
                view = await _answer(self._client, view, credential, self._choose)
        except MoonvaleError as error:
            if error.reason not in _LOST:
                raise


async def _play(client: AsyncClient, game: str, credential: str, choose: Choose) -> Result:
    view = View()
    async with aclosing(client.watch(game, credential)) as updates:
        async for update in updates:
            if isinstance(update, View):
                view = update
            elif update.version > view.version and update.seat_to_act == view.viewer_seat:
                view = await client.get_view(game, credential)
            while view.decision.legal_actions:
                view = await _answer(client, view, credential, choose)
    if not view.HasField("result"):
        view = await client.get_view(game, credential)
    return view.result


async def _answer(client: AsyncClient, view: View, credential: str, choose: Choose) -> View:
    """Answer the view's decision and return the view that follows."""
    choice = choose(view)
    action = await choice if inspect.isawaitable(choice) else choice
    try:
        return (await client.submit_action(view.name, credential, action, view.version)).view
    except MoonvaleError as error:
        if error.reason not in _MOVED_ON:
            raise
        return await client.get_view(view.name, credential)


@asynccontextmanager
async def _client(server: str | AsyncClient) -> AsyncIterator[AsyncClient]:
    if isinstance(server, AsyncClient):
        yield server
    else:
        async with AsyncClient(server) as client:
            yield client
