"""`moonvale demo`: four agents play one game over gRPC while somebody looks on."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from moonvale.v1 import view_pb2
from moonvale_cli.at_hand import add_address, address_options, any_service, command_name, tls_of
from moonvale_cli.bots import add_bots, chooser, make_bot
from moonvale_cli.draw import LEGEND, scores
from moonvale_cli.errors import CommandError
from moonvale_cli.onlooker import Onlooker
from moonvale_client import (
    AsyncClient,
    CreateGameResponse,
    MoonvaleError,
    Options,
    Replay,
    View,
    play_seat,
)
from moonvale_engine import EngineError, read_record, replay_record

DESCRIPTION: Final = """\
Let four agents play one whole game over gRPC, and look on. They play on the service that runs on
this machine, or on one that is started for it and ends with the command.

When the game is over its replay is fetched and played again here: every action must be legal, the
result the same, and the secret must open the commitment that was published before the deal.
"""
EXAMPLES: Final = """\
  moonvale demo
  moonvale demo --fast --seed 1 --record game.moonvale
"""

_NAMES: Final = ("Ann", "Ben", "Cleo", "Dan")
_TURN_SECONDS: Final = 0.5
_PAUSED: Final = frozenset({view_pb2.DECISION_KIND_TURN, view_pb2.DECISION_KIND_PEEK})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the pace, the agents' seed and the service."""
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument(
        "--pause",
        type=float,
        metavar="SECONDS",
        help=f"how long agents wait before each turn [{_TURN_SECONDS} on a terminal, else 0]",
    )
    pace.add_argument("--fast", action="store_const", const=0.0, dest="pause", help="the same as --pause 0")
    parser.add_argument("--rounds", type=int, metavar="N", default=4, help="how many rounds [4]")
    add_bots(parser)
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the game's record there when it is over")
    add_address(parser, "or a service of its own if none answers there")


def run(arguments: argparse.Namespace) -> int:
    """Have a game played and show it."""
    console = Console(highlight=False)
    with any_service(arguments.address, console, tls_of(arguments)) as address:
        try:
            view, replay = asyncio.run(_demo(address, arguments, console))
        except ExceptionGroup as group:
            raise CommandError(f"the game could not go on: {group.exceptions[0]}") from group
        except MoonvaleError as error:
            raise CommandError(str(error)) from error
    console.print()
    console.print(scores(view))
    console.print()
    console.print(_checked(view, replay))
    if arguments.record is not None:
        try:
            arguments.record.write_text(replay.record, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{arguments.record}: {error.strerror}") from error
    return 0


async def _demo(address: str, arguments: argparse.Namespace, console: Console) -> tuple[View, Replay]:
    seconds = arguments.pause
    if seconds is None:
        seconds = _TURN_SECONDS if console.is_terminal else 0.0

    def pause(view: View) -> float:
        return float(seconds) if view.decision.kind in _PAUSED else 0.0

    async with AsyncClient(address, tls=tls_of(arguments)) as client:
        game = await client.create_game(Options(players=len(_NAMES), rounds=arguments.rounds), _NAMES)
        where = address_options(address, arguments)
        console.print(Text(f"To look on from elsewhere: {_watch_command(game)}{where}"), style="dim", soft_wrap=True)
        console.print(LEGEND, style="dim")
        console.print()
        async with asyncio.TaskGroup() as seats:
            for i, credential in enumerate(game.seat_credentials):
                choose = chooser(make_bot(arguments, i), pause)
                seats.create_task(play_seat(client, game.name, credential, choose))
            view = await Onlooker(client, game.name, game.spectator_credential, console).look_on()
        return view, await client.get_replay(game.name, game.spectator_credential)


def _watch_command(game: CreateGameResponse) -> str:
    return f"{command_name()} watch {game.name} --credential {game.spectator_credential}"


def _checked(view: View, replay: Replay) -> str:
    """Play the record again and say what that proves. Raises CommandError if it does not."""
    try:
        record = read_record(replay.record)
        replay_record(record)
    except EngineError as error:
        raise CommandError(f"the replay does not hold: {error}") from error
    if (
        record.commitment != view.commitment
        or record.result is None
        or record.result.totals != tuple(view.result.totals)
    ):
        raise CommandError("the replay is that of another game")
    return (
        f"Played again from its replay: {len(record.entries)} actions, all legal, with the same result;"
        " the secret opens the commitment."
    )
