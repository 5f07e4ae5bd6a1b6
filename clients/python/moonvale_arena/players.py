"""Players: entrants at a table. Each kind is opened for one seat of one game, asked for its choices, and closed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final, Protocol, TypeVar

from moonvale_arena.entrants import AGENT, COMMAND, SERVER, Entrant
from moonvale_arena.errors import ArenaError
from moonvale_arena.inside import InsideSource, is_quick
from moonvale_arena.processes import Child, Processes
from moonvale_client import BotCaller, BotError, View
from moonvale_client.bot import BOT_ADDRESS_VARIABLE

Answer = TypeVar("Answer")

#: How long a command may take until it can be called.
START_SECONDS: Final = 30.0
_REACH_SECONDS: Final = 5.0
_ENDING_SECONDS: Final = 1.0
#: What a bot that is a process may print in a game, and how much of that is remembered to say why it ended.
_MOST_PRINTED: Final = 1024 * 1024
_LAST_WORDS: Final = 2000
_LONGEST_LINE: Final = 4096


class Player(Protocol):
    """A bot in one seat of one game."""

    async def choose(self, view: View, seconds: float) -> int:
        """Return which of the view's legal actions it chooses, counted from 0. Raises BotError."""

    async def close(self) -> None:
        """Let it go."""


class Source(Protocol):
    """An entrant, which can take any number of seats."""

    async def load(self) -> None:
        """See whether it can play. Raises ArenaError."""

    async def sit_down(self, seed: int) -> Player:
        """Have it take a seat. seed: what its chance follows from, if it asks for that. Raises BotError."""

    async def close(self) -> None:
        """End all of it."""


def source_of(entrant: Entrant) -> Source:
    """Return where an entrant's players come from."""
    if is_quick(entrant):
        return InsideSource(entrant)
    if entrant.kind == SERVER:
        return ServerSource(entrant)
    return CommandSource(entrant) if entrant.kind == COMMAND else AgentSource(entrant)


class AgentSource:
    """Agents in processes: those that come along are made anew for each game; for others so is the process."""

    def __init__(self, entrant: Entrant) -> None:
        self._entrant = entrant
        self._processes = Processes(entrant)
        self._idle: deque[AgentPlayer] = deque()

    async def load(self) -> None:
        """Import it and make one. Raises ArenaError."""
        await self._processes.load()

    async def sit_down(self, seed: int) -> Player:
        """Make an agent. Raises BotError if it raises anything."""
        player = self._idle.popleft() if self._idle else await AgentPlayer.start(self)
        try:
            await player.begin(seed)
        except BaseException:  # so also when the event is given up meanwhile
            player.sound = False
            await player.close()
            raise
        return player

    async def close(self) -> None:
        """Kill its processes."""
        while self._idle:
            await self._idle.popleft().hang_up()
        await self._processes.close()

    async def start(self, talk: socket.socket) -> Child:
        """Start a process."""
        return await self._processes.start(talk.fileno(), {})

    async def take_back(self, player: AgentPlayer) -> None:
        """Keep a process for the next game if nothing can be left in it, or kill it."""
        if self._entrant.kind == AGENT and player.sound:
            self._idle.append(player)
        else:
            self._processes.end(player.child)
            await player.hang_up()


class AgentPlayer:
    """An agent in a process. sound: it has done nothing wrong."""

    def __init__(
        self, source: AgentSource, child: Child, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.child = child
        self.sound = True
        self._source = source
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, source: AgentSource) -> AgentPlayer:
        """Start a process."""
        mine, theirs = socket.socketpair()
        try:
            with theirs:
                child = await source.start(theirs)
            reader, writer = await asyncio.open_unix_connection(sock=mine, limit=_LONGEST_LINE)
        except BaseException:
            mine.close()
            raise
        return cls(source, child, reader, writer)

    async def begin(self, seed: int) -> None:
        """Make the agent. Raises BotError."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._ask(f"new {seed}\n")
        except TimeoutError:
            raise BotError("timeout", f"did not begin within {START_SECONDS:.0f} s") from None

    async def choose(self, view: View, seconds: float) -> int:
        """Ask it."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self._ask(f"{view.position}\n")
        except TimeoutError:
            self.sound = False
            raise BotError("timeout", "did not answer in time") from None
        if answer.startswith("#"):
            raise ArenaError(f"a position of the service can't be read: {answer[1:]}: {view.position}")
        if answer.isascii() and answer.isdigit() and int(answer) < len(view.decision.legal_actions):
            return int(answer)
        self.sound = False
        raise BotError("illegal", f"chose no legal action: {answer[1:]}")

    async def close(self) -> None:
        """Give the process back."""
        await self._source.take_back(self)

    async def hang_up(self) -> None:
        """Close the connection, at which a process that is well ends."""
        self._writer.transport.abort()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _ask(self, line: str) -> str:
        try:
            self._writer.write(line.encode())
            answer = await self._reader.readline()
        except (ValueError, ConnectionError) as error:
            self.sound = False
            if isinstance(error, ValueError):
                raise BotError("flood", "answered more than any action has") from error
            raise BotError("crash", "its process ended") from error
        if not answer.endswith(b"\n"):
            self.sound = False
            raise BotError("crash", "its process ended")
        words = answer.decode(errors="replace").strip()
        if words.startswith("!"):
            self.sound = False
            raise BotError("crash", words[1:])
        return words


class ServerSource:
    """A bot that serves BotService somewhere: all of its seats share a connection."""

    def __init__(self, entrant: Entrant) -> None:
        self._entrant = entrant
        self._caller: BotCaller | None = None

    async def load(self) -> None:
        """Connect. Raises ArenaError if nobody is there."""
        self._caller = BotCaller(self._entrant.target)
        if not await self._caller.reachable(_REACH_SECONDS):
            raise ArenaError(f"entrant '{self._entrant.name}': no bot answers at {self._entrant.target}")

    async def sit_down(self, seed: int) -> Player:
        """Take a seat; the bot notices when it is asked first."""
        assert self._caller is not None
        return CalledPlayer(self._caller)

    async def close(self) -> None:
        """Close the connection."""
        if self._caller is not None:
            await self._caller.close()


class CalledPlayer:
    """A bot that is called."""

    def __init__(self, caller: BotCaller) -> None:
        self._caller = caller

    async def choose(self, view: View, seconds: float) -> int:
        """Ask it."""
        return await _ask(self._caller, view, seconds)

    async def close(self) -> None:
        """Leave it to others."""


async def _ask(caller: BotCaller, view: View, seconds: float) -> int:
    """Return which of the legal actions a bot that is called chooses. Raises BotError."""
    action = await caller.choose(shown_to_others(view), seconds)
    return list(view.decision.legal_actions).index(action)


class CommandSource:
    """A command, started for each seat of each game, which serves BotService where it is told to."""

    def __init__(self, entrant: Entrant) -> None:
        self._entrant = entrant
        self._processes = Processes(entrant)
        self._ports: set[int] = set()

    async def load(self) -> None:
        """Start it once and end it. Raises ArenaError."""
        await self._processes.load()
        try:
            player = await self.sit_down(0)
        except BotError as error:
            raise ArenaError(f"entrant '{self._entrant.name}': {error}") from error
        await player.close()

    async def sit_down(self, seed: int) -> Player:
        """Start it, and wait until it can be called. Raises BotError.

        If it ends at once it is started once more, since somebody else may have taken its port meanwhile.
        """
        try:
            return await self._start(seed)
        except BotError as error:
            if error.fault != "crash":
                raise
            return await self._start(seed)

    async def _start(self, seed: int) -> CommandPlayer:
        player = CommandPlayer(self, self._free_port())
        try:
            await player.start(self._processes, seed)
        except BaseException:
            await player.close()
            raise
        return player

    async def close(self) -> None:
        """Kill its processes."""
        await self._processes.close()

    def end(self, child: Child, port: int) -> None:
        """Kill the process of a seat."""
        self._processes.end(child)
        self._ports.discard(port)

    def _free_port(self) -> int:
        while True:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = int(probe.getsockname()[1])
            if port not in self._ports:
                self._ports.add(port)
                return port


class CommandPlayer:
    """A started command."""

    def __init__(self, source: CommandSource, port: int) -> None:
        self._source = source
        self._port = port
        self._child: Child | None = None
        self._caller: BotCaller | None = None
        self._listening: asyncio.Task[None] | None = None
        self._printed = bytearray()
        self._flooded = asyncio.Event()

    async def start(self, processes: Processes, seed: int) -> None:
        """Start it and wait until it can be called. Raises BotError."""
        address = f"127.0.0.1:{self._port}"
        reading, writing = os.pipe()
        try:
            self._child = await processes.start(
                writing, {BOT_ADDRESS_VARIABLE: address, "MOONVALE_BOT_SEED": str(seed)}
            )
        finally:
            os.close(writing)
        self._listening = asyncio.create_task(self._listen(reading))
        self._caller = BotCaller(address)
        if not await self._unless_it_ends(self._caller.reachable(START_SECONDS)):
            raise BotError("timeout", f"does not serve at {address} after {START_SECONDS:.0f} s")

    async def choose(self, view: View, seconds: float) -> int:
        """Ask it."""
        assert self._caller is not None
        return await self._unless_it_ends(_ask(self._caller, view, seconds))

    async def close(self) -> None:
        """Kill it."""
        if self._child is not None:
            self._source.end(self._child, self._port)
        if self._listening is not None:
            self._listening.cancel()
        if self._caller is not None:
            await self._caller.close()
        if self._listening is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._listening

    async def _unless_it_ends(self, asked: Coroutine[Any, Any, Answer]) -> Answer:
        """Return what was asked for. Raises BotError, too, as soon as the process ends or prints without end."""
        assert self._child is not None
        asking = asyncio.ensure_future(asked)
        flooded = asyncio.ensure_future(self._flooded.wait())
        try:
            await asyncio.wait((asking, self._child.ended, flooded), return_when=asyncio.FIRST_COMPLETED)
            if flooded.done():
                raise BotError("flood", f"printed more than {_MOST_PRINTED} bytes in a game")
            if not self._child.ended.done():
                try:
                    return await asking
                except BotError as error:
                    if error.fault != "crash":
                        raise
                    await asyncio.wait((self._child.ended,), timeout=_ENDING_SECONDS)  # which may be what has happened
                    if not self._child.ended.done():
                        raise
            raise BotError("crash", f"its process ended with {self._child.ended.result()}{self._last_words()}")
        finally:
            for future in (asking, flooded):
                future.cancel()

    async def _listen(self, reading: int) -> None:
        """Read what it prints, which nobody wants but to say why it ended."""
        reader = asyncio.StreamReader()
        pipe = os.fdopen(reading, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        printed = 0
        try:
            while part := await reader.read(_LAST_WORDS):
                printed += len(part)
                self._printed = (self._printed + part)[-_LAST_WORDS:]
                if printed > _MOST_PRINTED:
                    self._flooded.set()
                    return
        finally:
            transport.close()

    def _last_words(self) -> str:
        lines = self._printed.decode(errors="replace").strip().splitlines()
        return f": {''.join([c if c.isprintable() else '?' for c in lines[-1]])[:200]}" if lines else ""


def shown_to_others(view: View) -> View:
    """Return a view as bots of others get it: without what tells games of the same deal apart from all others."""
    shown = View()
    shown.CopyFrom(view)
    shown.ClearField("commitment")
    return shown
