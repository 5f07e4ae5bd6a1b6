"""Bots that the arena's tests let play: good ones that depend on nothing but the position, and bad ones of every kind.

As a program, ``python -m tests.arena.bots KIND`` serves one as BotService, as commands of entrants do.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from hashlib import sha256

import grpc

from moonvale_client import Action, View, serve_bot
from moonvale_engine import Position, legal_actions, position_text


class Steady:
    """Chooses by a hash of the position: the same in the same position, whatever the seed."""

    def choose(self, position: Position) -> int:
        """Return a legal action."""
        legal = legal_actions(position.state)
        return legal[sha256(position_text(position).encode()).digest()[0] % len(legal)]


class Hasty(Steady):
    """Calls, or ends, as soon as it can."""

    def choose(self, position: Position) -> int:
        """Return the first of the legal actions."""
        return legal_actions(position.state)[0]


class Hangs:
    """Never answers, and can't be interrupted."""

    def choose(self, position: Position) -> int:
        """Compute for ever."""
        while True:
            pass


class Cheats:
    """Chooses what nobody offered."""

    def choose(self, position: Position) -> int:
        """Return no legal action."""
        return -1


class Raises:
    """Fails after some good choices."""

    def __init__(self, seed: int) -> None:
        self._left = 3

    def choose(self, position: Position) -> int:
        """Return a legal action, some times."""
        self._left -= 1
        if self._left < 0:
            raise ValueError("lost the plot\nand the thread")
        return legal_actions(position.state)[0]


class Dies(Hasty):
    """Takes its whole process down."""

    def choose(self, position: Position) -> int:
        """End the process."""
        os._exit(3)


class Broken:
    """Can't even be made."""

    def __init__(self, seed: int) -> None:
        raise RuntimeError("out of order")


class Remembers(Steady):
    """Fails if it finds anything of another game, or of the arena's keys, in its process."""

    games = 0

    def __init__(self) -> None:
        type(self).games += 1

    def choose(self, position: Position) -> int:
        """Return a legal action in the process's first game."""
        assert not [name for name in os.environ if name.startswith("MOONVALE_")]
        assert self.games == 2, "one was made when its code was loaded, and one for this game"
        return super().choose(position)


def first(view: View) -> Action:
    """Choose the first legal action."""
    return view.decision.legal_actions[0]


def hang(view: View) -> Action:
    """Choose nothing, ever."""
    time.sleep(3600)
    return first(view)


def cheat(view: View) -> Action:
    """Choose what nobody offered."""
    return Action()


def crash(view: View) -> Action:
    """End the process."""
    print("goodbye", file=sys.stderr)
    sys.stderr.flush()
    os._exit(5)


def flood(view: View) -> Action:
    """Print without end."""
    while True:
        print("x" * 1000)


CHOICES = {"first": first, "hang": hang, "cheat": cheat, "crash": crash, "flood": flood}


async def answer_with_much() -> None:
    """Serve as a bot that answers with more than anybody wants to read, whatever it is asked."""
    server = grpc.aio.server()

    async def answer(request: bytes, context: object) -> bytes:
        return b"\0" * 1_000_000

    methods = {"ChooseAction": grpc.unary_unary_rpc_method_handler(answer)}  # type: ignore[var-annotated]
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("moonvale.v1.BotService", methods),))
    server.add_insecure_port(os.environ["MOONVALE_BOT_ADDRESS"])
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    if sys.argv[1] == "never":
        time.sleep(3600)
    elif sys.argv[1] == "much":
        asyncio.run(answer_with_much())
    elif sys.argv[1] != "ends":
        asyncio.run(serve_bot(CHOICES[sys.argv[1]]))
