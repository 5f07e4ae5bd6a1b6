"""Bots as servers (BotService): one of one's own served in a few lines, and others' asked for their choices."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, Self

import grpc

from moonvale.v1.action_pb2 import Action
from moonvale.v1.bot_service_pb2 import ChooseActionRequest, ChooseActionResponse
from moonvale.v1.bot_service_pb2_grpc import BotServiceServicer, BotServiceStub, add_BotServiceServicer_to_server
from moonvale.v1.view_pb2 import View
from moonvale_client.agent import Choose
from moonvale_client.channel import open_aio_channel

#: Where whoever starts a bot tells it to serve.
BOT_ADDRESS_VARIABLE: Final = "MOONVALE_BOT_ADDRESS"
DEFAULT_BOT_ADDRESS: Final = "127.0.0.1:7360"

#: Larger answers than any action are not even read.
_MOST_BYTES: Final = 4096

_log = logging.getLogger(__name__)

#: What a bot can do wrong: no answer in time; no legal action; an error, or nobody there; an answer beyond all bounds.
Fault = Literal["timeout", "illegal", "crash", "flood"]


class BotError(Exception):
    """A bot has not chosen one of the legal actions in time. ``fault`` says what it did instead."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault: Fault = fault


async def serve_bot(choose: Choose, address: str | None = None) -> None:
    """Serve a bot until this task is cancelled.

    choose: gets the seat's view at each decision and returns one of ``view.decision.legal_actions``, as for
    ``play_seat``. address: HOST:PORT or unix:PATH; without one MOONVALE_BOT_ADDRESS, or 127.0.0.1:7360.
    Raises OSError if the address is not free.
    """
    async with bot_server(choose, address) as server:
        await server.wait_for_termination()


@asynccontextmanager
async def bot_server(choose: Choose, address: str | None = None) -> AsyncGenerator[BotServer, None]:
    """Serve a bot within this context, as ``serve_bot`` does; port 0 is any free one, which ``address`` then tells."""
    server = BotServer(choose, address or os.environ.get(BOT_ADDRESS_VARIABLE) or DEFAULT_BOT_ADDRESS)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


class BotServer(BotServiceServicer):
    """A server that answers with what a function chooses."""

    def __init__(self, choose: Choose, address: str) -> None:
        self.address = address
        self._choose = choose
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
        add_BotServiceServicer_to_server(self, self._server)  # type: ignore[no-untyped-call, unused-ignore]

    async def start(self) -> None:
        """Begin to serve. Raises OSError if the address is not free."""
        try:
            port = self._server.add_insecure_port(self.address)
        except RuntimeError as error:
            raise OSError(f"can't serve a bot at {self.address}: {error}") from error
        host, colon, asked = self.address.rpartition(":")
        if colon and asked == "0":
            self.address = f"{host}:{port}"
        await self._server.start()

    async def wait_for_termination(self) -> None:
        """Wait until it has been stopped."""
        await self._server.wait_for_termination()

    async def stop(self) -> None:
        """Stop, giving up what is being answered."""
        await self._server.stop(grace=None)

    async def ChooseAction(  # noqa: N802  # the name of the contract
        self,
        request: ChooseActionRequest,
        context: grpc.aio.ServicerContext[ChooseActionRequest, ChooseActionResponse],
    ) -> ChooseActionResponse:
        """Answer with the function's choice; what it raises is logged, and told as INTERNAL without detail."""
        try:
            choice = self._choose(request.view)
            action = await choice if inspect.isawaitable(choice) else choice
            return ChooseActionResponse(action=action)
        except Exception:
            _log.exception("the bot failed to choose")
            await context.abort(grpc.StatusCode.INTERNAL, "the bot failed to choose")
            raise


class BotCaller:
    """A bot at an address, to be asked. Made and used within one event loop; close it in the end."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._channel = open_aio_channel(
            address, None, (("grpc.max_receive_message_length", _MOST_BYTES), ("grpc.enable_http_proxy", 0))
        )
        self._stub: Any = BotServiceStub(self._channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._channel.close()

    async def reachable(self, seconds: float) -> bool:
        """Whether a server can be connected to within so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._channel.channel_ready()
        except TimeoutError:
            return False
        return True

    async def choose(self, view: View, seconds: float | None) -> Action:
        """Return the bot's choice among the view's legal actions, made within so many seconds; None: without a limit.

        Where nobody answers at the address, it is tried again until the time is out. Raises BotError.
        """
        request = ChooseActionRequest(view=view)
        if seconds is not None:
            request.time_left.FromNanoseconds(int(seconds * 1e9))
        try:
            response = await self._stub.ChooseAction(request, timeout=seconds, wait_for_ready=seconds is not None)
        except grpc.aio.AioRpcError as error:
            raise _fault(error, self.address) from error
        action = response.action
        if action not in view.decision.legal_actions:
            raise BotError("illegal", f"the bot at {self.address} answered with no legal action")
        return action  # type: ignore[no-any-return]


def _fault(error: grpc.aio.AioRpcError, address: str) -> BotError:
    code, said = error.code(), error.details() or ""
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return BotError("timeout", f"the bot at {address} did not answer in time")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in said.lower():
        return BotError("flood", f"the bot at {address} answered with more than {_MOST_BYTES} bytes")
    return BotError("crash", f"the bot at {address} failed: {code.name}")
