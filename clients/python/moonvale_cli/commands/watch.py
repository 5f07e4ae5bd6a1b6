"""`moonvale watch`: looks on at a game."""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from rich.console import Console

from moonvale_cli.at_hand import add_address, running_service, tls_of
from moonvale_cli.draw import scores
from moonvale_cli.errors import CommandError
from moonvale_cli.game_name import CREDENTIAL_VARIABLE, game_name
from moonvale_cli.onlooker import Onlooker
from moonvale_client import AsyncClient, MoonvaleError, View

DESCRIPTION: Final = """\
Look on at a game until it is over, as whoever the credential belongs to: spectators see what lies
open, a player's credential also shows what that player knows. On a terminal the table is redrawn
in place; into a file or a pipe it is told line by line.
"""
EXAMPLES: Final = """\
  moonvale watch k5w2q7xw3m6d4c8h2r9t --credential mv1.Aw...
  MOONVALE_CREDENTIAL=mv1.Aw... moonvale watch games/k5w2q7xw3m6d4c8h2r9t > game.txt
  moonvale watch k5w2q7xw3m6d4c8h2r9t --save seen.ndjson    (for `moonvale verify` afterwards)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the game, the credential and the service."""
    parser.add_argument("game", metavar="GAME", help="the game's name, with or without games/")
    parser.add_argument(
        "--credential",
        default=os.environ.get(CREDENTIAL_VARIABLE, ""),
        help=f"any credential of the game; the default is {CREDENTIAL_VARIABLE}",
    )
    parser.add_argument(
        "--save", metavar="FILE", type=Path, help="also write what you are told to a file, one JSON object a line"
    )
    add_address(parser, "which must answer")


def run(arguments: argparse.Namespace) -> int:
    """Look on until the game is over."""
    if not arguments.credential:
        raise CommandError(
            f"needs a --credential of the game, or one in {CREDENTIAL_VARIABLE}; who created the game has one for you"
        )
    console = Console(highlight=False)
    with running_service(arguments.address, tls_of(arguments)) as address:
        try:
            view = asyncio.run(_look_on(address, arguments, console))
        except MoonvaleError as error:
            raise CommandError(str(error)) from error
    console.print()
    console.print(scores(view))
    return 0


async def _look_on(address: str, arguments: argparse.Namespace, console: Console) -> View:
    try:
        saving = nullcontext() if arguments.save is None else arguments.save.open("w", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"--save {arguments.save}: {error.strerror}") from error
    with saving as saved:
        async with AsyncClient(address, tls=tls_of(arguments)) as client:
            return await Onlooker(client, game_name(arguments.game), arguments.credential, console, saved).look_on()
