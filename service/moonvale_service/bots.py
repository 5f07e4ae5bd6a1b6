"""Bots: who plays the seats that nobody sits at. Some are built in, others are servers that the operator has named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import grpc
import grpc.aio

from moonvale.v1 import bot_service_pb2, bot_service_pb2_grpc, view_pb2
from moonvale_agents import Agent, GreedyAgent, RandomAgent
from moonvale_engine import play
from moonvale_engine.position import observe
from moonvale_service import render
from moonvale_service.convert import actions
from moonvale_service.errors import FieldError
from moonvale_service.history import Snapshot
from moonvale_service.settings import Settings

#: The bots that come along, by name. Each chooses at once; none that searches may be among them (see ``Bots.choose``).
BUILT_IN: Final[Mapping[str, Callable[[], Agent]]] = {"greedy": GreedyAgent, "random": RandomAgent}
#: Which of them stands in for a bot that fails.
SUBSTITUTE: Final = "greedy"


class BotFailedError(Exception):
    """A bot gave no answer in time, none at all, or one that is not legal. The message says which."""


def bot_names(settings: Settings) -> list[str]:
    """Return the names of all bots that a seat may name."""
    return [*BUILT_IN, *[name for name, _ in settings.bots if name not in BUILT_IN]]


class Bots:
    """The bots of this process. Use it within a running loop, and close it."""

    def __init__(self, settings: Settings) -> None:
        self._built_in = {name: make() for name, make in BUILT_IN.items()}
        self._timeout = settings.bot_timeout
        self._channels = {name: grpc.aio.insecure_channel(address) for name, address in settings.bots}

    async def choose(self, name: str, now: Snapshot, time: int) -> int:
        """Return the action that a bot chooses for the seat to act. ``time``: what the store's clock says.

        It gets what the seat may know, and nothing else. Raises BotFailedError.
        """
        if name in self._built_in:
            seat = play.seat_to_act(now.state)
            return self._built_in[name].choose(observe(now.state, seat))
        if name not in self._channels:
            raise BotFailedError(f"no bot is registered as {name} here")
        return await self._ask(name, now, render.view(now, play.seat_to_act(now.state), time))

    async def _ask(self, name: str, now: Snapshot, view: view_pb2.View) -> int:
        request = bot_service_pb2.ChooseActionRequest(view=view)
        request.time_left.FromNanoseconds(round(self._timeout * 1e9))
        stub = bot_service_pb2_grpc.BotServiceStub(self._channels[name])
        try:
            response = await stub.ChooseAction(request, timeout=self._timeout)
            action = actions.from_proto(response.action, "action")
        except grpc.aio.AioRpcError as error:
            raise BotFailedError(f"bot {name} failed with {error.code().name}") from error
        except FieldError as error:
            raise BotFailedError(f"bot {name} answered with no action: {error.message}") from error
        if action not in play.legal_actions(now.state):
            raise BotFailedError(f"bot {name} answered with an action that is not legal")
        return action

    async def close(self) -> None:
        """Give up the connections."""
        for channel in self._channels.values():
            await channel.close()
