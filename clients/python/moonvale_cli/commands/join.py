"""`moonvale join`: sits down at a table that somebody else has set."""

from __future__ import annotations

import argparse
from typing import Final

from rich.console import Console

from moonvale_cli.at_hand import add_address, address_options, running_service, tls_of
from moonvale_cli.errors import CommandError
from moonvale_cli.player import Place
from moonvale_cli.sitting import Sitting, add_save
from moonvale_client import ClaimSeatResponse, Client, MoonvaleError, SeatSetup, entropy_commitment, new_entropy
from moonvale_engine.options import MAX_PLAYERS

DESCRIPTION: Final = """\
Sit down at a table that waits for players, by the code that whoever set it has told you, and play.

You see who else comes; the game begins when every seat is taken. Ctrl-C before that frees your
seat again. Should you leave later, you are told how to come back.
"""
EXAMPLES: Final = """\
  moonvale join 7QX4-M2TC --name Ben
  moonvale join 7QX4-M2TC --name Ben --address example.org:7350 --tls --save game
"""

_NO_TABLE: Final = frozenset({"JOIN_CODE_WRONG", "SEAT_TAKEN", "GAME_BEGUN", "GAME_NOT_FOUND"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the code, who sits down, and where."""
    parser.add_argument("code", metavar="CODE", help="the join code; case and hyphens don't matter")
    parser.add_argument("--name", default="Guest", help="what you are called [Guest]")
    parser.add_argument(
        "--seat", type=int, choices=range(1, MAX_PLAYERS + 1), help="which seat [the first that is open]"
    )
    add_save(parser)
    add_address(parser, "which must answer")


def run(arguments: argparse.Namespace) -> int:
    """Sit down and play."""
    console = Console(highlight=False)
    tls = tls_of(arguments)
    with running_service(arguments.address, tls) as address, Client(address, tls=tls) as client:
        try:
            entropy = new_entropy()
            taken = _claim(client, arguments, entropy)
            sitting = Sitting(client, console, back=address_options(address, arguments), save=arguments.save)
            sitting.play(Place(taken.name, taken.credential, entropy, taken.view.commitment))
        except MoonvaleError as error:
            raise CommandError(str(error)) from error
    return 0


def _claim(client: Client, arguments: argparse.Namespace, entropy: bytes) -> ClaimSeatResponse:
    player = SeatSetup(name=arguments.name, entropy_commitment=entropy_commitment(entropy))
    seat = None if arguments.seat is None else arguments.seat - 1
    try:
        return client.claim_seat(player=player, join_code=arguments.code, seat=seat)
    except MoonvaleError as error:
        if error.reason in _NO_TABLE:
            which = "" if seat is None else f", seat {arguments.seat}"
            raise CommandError(
                f"no table waits for you with the code {arguments.code}{which}: it is mistyped, or others were faster"
            ) from error
        raise
