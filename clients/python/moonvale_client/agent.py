"""The agent loop: plays one seat to the end of its game by asking a function for each decision."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

from moonvale.v1.action_pb2 import Action
from moonvale.v1.result_pb2 import Result
from moonvale.v1.view_pb2 import View
from moonvale_client.aio import AsyncClient
from moonvale_client.errors import GAME_OVER, HISTORY_REWOUND, NOT_YOUR_TURN, STALE_VERSION, MoonvaleError

#: Returns one of ``view.decision.legal_actions``; it may be a coroutine function.
Choose = Callable[[View], Action | Awaitable[Action]]

#: The game has moved on since the view, by another client of the same seat or by a resignation.
_MOVED_ON = frozenset({STALE_VERSION, NOT_YOUR_TURN, GAME_OVER})


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
