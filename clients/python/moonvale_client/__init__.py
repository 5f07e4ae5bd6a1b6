"""Clients over the generated stubs: retries, resumable watches, an agent loop.

>>> import asyncio, random
>>> from moonvale_client import Client, Options, play_seat
>>> def choose(view):
...     return random.choice(view.decision.legal_actions)
>>> with Client("127.0.0.1:7350") as client:
...     game = client.create_game(Options(players=2, rounds=1))
>>> async def play():
...     seats = [play_seat("127.0.0.1:7350", game.name, credential, choose) for credential in game.seat_credentials]
...     return await asyncio.gather(*seats)
>>> asyncio.run(play())
"""

from moonvale.v1.action_pb2 import Action
from moonvale.v1.clock_pb2 import Clock
from moonvale.v1.event_pb2 import Event, LogEntry
from moonvale.v1.game_service_pb2 import ClaimSeatResponse, CreateGameResponse, Deal, RematchResponse, SeatSetup
from moonvale.v1.options_pb2 import Options
from moonvale.v1.replay_pb2 import Replay
from moonvale.v1.result_pb2 import Result
from moonvale.v1.view_pb2 import Decision, View
from moonvale_client.agent import Choose, play_seat, play_seats
from moonvale_client.aio import AsyncClient
from moonvale_client.bot import BotCaller, BotError, bot_server, serve_bot
from moonvale_client.channel import DEFAULT_ADDRESS
from moonvale_client.client import Client
from moonvale_client.cursor import Update
from moonvale_client.entropy import CommitmentChangedError, entropy_commitment, new_entropy
from moonvale_client.errors import FieldViolation, MoonvaleError
from moonvale_client.retry import RetryPolicy
from moonvale_client.turns import Turn

__all__ = [
    "DEFAULT_ADDRESS",
    "Action",
    "AsyncClient",
    "BotCaller",
    "BotError",
    "Choose",
    "ClaimSeatResponse",
    "Client",
    "Clock",
    "CommitmentChangedError",
    "CreateGameResponse",
    "Deal",
    "Decision",
    "Event",
    "FieldViolation",
    "LogEntry",
    "MoonvaleError",
    "Options",
    "RematchResponse",
    "Replay",
    "Result",
    "RetryPolicy",
    "SeatSetup",
    "Turn",
    "Update",
    "View",
    "bot_server",
    "entropy_commitment",
    "new_entropy",
    "play_seat",
    "play_seats",
    "serve_bot",
]
