"""Agents at a table of the service: how an agent of this machine plays a seat over gRPC."""

from __future__ import annotations

import argparse
import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Final, Self

import grpc

from moonvale_agents import Agent, GreedyAgent, IsmctsAgent, RandomAgent
from moonvale_client import Action, AsyncClient, View, play_seat
from moonvale_engine import legal_actions, parse_position

THINKING: Final = 0.3  # seconds that the search agent has for a decision


def searching(seed: int | None) -> IsmctsAgent:
    """Return the search agent: with a time for each decision, or, to choose the same again, with its own iterations."""
    return IsmctsAgent(seconds=THINKING) if seed is None else IsmctsAgent(seed)


#: The agents that come with the engine, by the name that commands give them; each is made from a seed, or from none.
AGENTS: Final[Mapping[str, Callable[[int | None], Agent]]] = {
    "greedy": GreedyAgent,
    "ismcts": searching,
    "random": RandomAgent,
}


def add_bots(parser: argparse.ArgumentParser) -> None:
    """Add which agents of this command sit at the table, and their seed."""
    parser.add_argument("--bots", choices=AGENTS, default="greedy", help="how the agents choose [greedy]")
    parser.add_argument("--seed", type=int, help="makes the agents choose the same again in the same positions")


def make_bot(arguments: argparse.Namespace, place: int) -> Agent:
    """Return the agent at a place of the table, from what ``add_bots`` added."""
    return AGENTS[arguments.bots](None if arguments.seed is None else arguments.seed + place)


def chooser(agent: Agent, pause: Callable[[View], float] | None = None) -> Callable[[View], Awaitable[Action]]:
    """Return what `play_seat` asks for an agent's choices. ``pause``: seconds to wait before a decision is answered."""

    async def choose(view: View) -> Action:
        if pause is not None:
            await asyncio.sleep(pause(view))
        position = parse_position(view.position)
        # A view lists its legal actions in the order in which the position does.
        return view.decision.legal_actions[legal_actions(position.state).index(agent.choose(position))]

    return choose


class Bots:
    """Agents that play seats of one game in a thread of their own, from entering this context to leaving it.

    If one of them fails, the main thread gets a KeyboardInterrupt, and ``failure`` says why.
    """

    def __init__(
        self, address: str, game: str, agents: Mapping[str, Agent], tls: grpc.ChannelCredentials | None = None
    ) -> None:
        self._address = address
        self._tls = tls
        self._game = game
        self._agents = agents  # by the credential of their seat
        self._thread = threading.Thread(target=self._run, name="bots")
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._playing: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._playing is not None and not self._playing.done():
            self._loop.call_soon_threadsafe(self._playing.cancel)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._play())
        except asyncio.CancelledError:
            return
        except Exception as failure:  # noqa: BLE001  # handed on to the main thread
            self.failure = failure.exceptions[0] if isinstance(failure, ExceptionGroup) else failure
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    async def _play(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._playing = asyncio.current_task()
        self._ready.set()
        async with AsyncClient(self._address, tls=self._tls) as client, asyncio.TaskGroup() as seats:
            for credential, agent in self._agents.items():
                seats.create_task(play_seat(client, self._game, credential, chooser(agent)))
