"""The agent loops: they play one seat, or many, to the end of their games by asking a function for each decision."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

from moonvale.v1.action_pb2 import Action
from moonvale.v1.result_pb2 import Result
from moonvale.v1.view_pb2 import PHASE_PLAYING, PHASE_REVEALING, View
from moonvale_client.aio import AsyncClient
from moonvale_client.cursor import is_newer
from moonvale_client.entropy import has_to_reveal
from moonvale_client.errors import (
    CREDENTIAL_REVOKED,
    GAME_BEGUN,
    GAME_NOT_BEGUN,
    GAME_NOT_FOUND,
    GAME_OVER,
    HISTORY_REWOUND,
    NOT_YOUR_TURN,
    STALE_VERSION,
    TIME_OUT,
    MoonvaleError,
)
from moonvale_client.turns import Turn

#: Returns one of ``view.decision.legal_actions``; it may be a coroutine function.
Choose = Callable[[View], Action | Awaitable[Action]]

#: The game has moved on since the view: by another client of the same seat, by a resignation, or as time was out.
_MOVED_ON = frozenset({STALE_VERSION, NOT_YOUR_TURN, GAME_OVER, GAME_BEGUN, GAME_NOT_BEGUN})
#: The seat is lost to its player, as the stream of turns tells, too.
_LOST = frozenset({CREDENTIAL_REVOKED, GAME_NOT_FOUND})


async def play_seat(
    server: str | AsyncClient, game: str, credential: str, choose: Choose, *, entropy: bytes = b""
) -> Result:
    """Play the credential's seat until the game is over, and return how it ended.

    server: an address, or a client that several games share. choose: gets the seat's view at each decision of its own
    and returns one of ``view.decision.legal_actions``. entropy: what the seat has committed to, which is revealed when
    it is time to. A seat that an agent plays, since its time was out, is taken back: once, and once more whenever the
    seat has answered a decision in time since. So a player that can't keep up at all leaves the agent to it.
    Raises MoonvaleError, such as ILLEGAL_ACTION for another choice, and CommitmentChangedError.
    """
    async with _client(server) as client:
        player = _Player(client, credential, choose, entropy)
        while True:
            try:
                return await _play(client, game, credential, player)
            except MoonvaleError as error:
                if error.reason != HISTORY_REWOUND:
                    raise


async def play_seats(
    server: str | AsyncClient,
    seats: Sequence[tuple[str, str]],
    choose: Choose,
    *,
    entropies: Mapping[str, bytes] | None = None,
    at_once: int = 32,
) -> list[Result | MoonvaleError]:
    """Play many seats, each a game and a credential, until all games are over, on as few streams as the server allows.

    Return for each seat how its game ended, or what kept it from being played on, such as CREDENTIAL_REVOKED or
    GAME_NOT_FOUND. choose, and what becomes of seats whose time was out: as for ``play_seat``. entropies: what seats
    have committed to, by their credentials. at_once: of how many seats decisions are answered at a time.
    Raises what ``choose`` raises, MoonvaleError, such as ILLEGAL_ACTION for another choice, and CommitmentChangedError.
    """
    async with _client(server) as client:
        most = (await client.get_server_info()).limits.max_watched_seats or len(seats)
        few = asyncio.Semaphore(at_once)
        parts = [seats[i : i + most] for i in range(0, len(seats), max(most, 1))]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_Bot(client, part, choose, few, entropies or {}).play()) for part in parts]
        except ExceptionGroup as failed:  # of the first, for which the others were given up
            raise _first(failed) from None
    return [result for task in tasks for result in task.result()]


def _first(failed: ExceptionGroup[Exception]) -> Exception:
    error: Exception = failed
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class _Player:
    """Whoever plays one seat: what is done when it is to act."""

    def __init__(self, client: AsyncClient, credential: str, choose: Choose, entropy: bytes) -> None:
        self._client = client
        self._credential = credential
        self._choose = choose
        self._entropy = entropy
        self._commitment = b""  # the service's, as the first view shows it
        self._may_return = True

    async def step(self, view: View) -> View | None:
        """Do the next thing that the view asks of the seat, and return the view that follows.

        None: there is nothing to be done until the service tells more.
        """
        self._commitment = self._commitment or view.commitment
        try:
            if has_to_reveal(view, self._entropy, self._commitment):
                view = await self._client.reveal_entropy(view.name, self._credential, self._entropy)
                return None if view.phase == PHASE_REVEALING else view
            if view.phase == PHASE_PLAYING and view.seats[view.viewer_seat].away:
                if not self._may_return:
                    return None
                self._may_return = False
                return (await self._client.reclaim_seat(view.name, self._credential)).view
            if not view.decision.legal_actions:
                return None
            choice = self._choose(view)
            action = await choice if inspect.isawaitable(choice) else choice
            view = (await self._client.submit_action(view.name, self._credential, action, view.version)).view
        except MoonvaleError as error:
            if error.reason == TIME_OUT:  # what comes of it is told as soon as it is done
                return None
            if error.reason not in _MOVED_ON:
                raise
            return await self._client.get_view(view.name, self._credential)
        self._may_return = True
        return view


class _Seat:
    """A seat of a bot. turn: told and not yet answered. answered: marks of the turns that were, since ``stream``."""

    def __init__(self, player: _Player) -> None:
        self.player = player
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
        self,
        client: AsyncClient,
        seats: Sequence[tuple[str, str]],
        choose: Choose,
        few: asyncio.Semaphore,
        entropies: Mapping[str, bytes],
    ) -> None:
        self._client = client
        self._asked = seats
        self._few = few
        self._seats = [
            _Seat(_Player(client, credential, choose, entropies.get(credential, b""))) for _, credential in seats
        ]

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
                moves.create_task(self._move(seat))

    async def _move(self, seat: _Seat) -> None:
        """Answer the seat's turns until there is none."""
        while True:
            async with self._few:
                view = seat.take_turn()
                if view is None:
                    break
                await self._answer(seat, view)
        seat.moving = False

    async def _answer(self, seat: _Seat, turn: View) -> None:
        """Answer one decision after the other, until another seat is to act."""
        view: View | None = turn
        try:
            while view is not None:
                seat.answered.add(view.mark)
                view = await seat.player.step(view)
        except MoonvaleError as error:
            if error.reason not in _LOST:
                raise


async def _play(client: AsyncClient, game: str, credential: str, player: _Player) -> Result:
    view = View()
    async with aclosing(client.watch(game, credential)) as updates:
        async for update in updates:
            if isinstance(update, View):
                view = update
            elif is_newer(update, view) and update.seat_to_act == view.viewer_seat:
                view = await client.get_view(game, credential)
            else:
                continue
            while (following := await player.step(view)) is not None:
                view = following
    if not view.HasField("result"):
        view = await client.get_view(game, credential)
    return view.result


@asynccontextmanager
async def _client(server: str | AsyncClient) -> AsyncIterator[AsyncClient]:
    if isinstance(server, AsyncClient):
        yield server
    else:
        async with AsyncClient(server) as client:
            yield client
