"""`moonvale play`: a person at a terminal, against agents or whoever joins."""

from __future__ import annotations

import argparse
import os
from typing import Final

from rich.console import Console

from moonvale_cli.at_hand import add_address, any_service, tls_of
from moonvale_cli.bots import Bots, add_bots, make_bot
from moonvale_cli.errors import CommandError
from moonvale_cli.game_name import CREDENTIAL_VARIABLE, game_name
from moonvale_cli.player import LeftError, Player
from moonvale_client import Client, MoonvaleError, Options
from moonvale_engine.errors import OptionError
from moonvale_engine.options import DECKS, MAX_PLAYERS, MAX_ROUNDS, MIN_PLAYERS, TOKENS, deck_text, parse_deck

DESCRIPTION: Final = """\
Sit down at a table with agents, and play.

The table is drawn before each of your turns, what the others did is told in words, and your
choices are numbered. If no service runs on this machine, one is started that ends with the
command. With --game and --credential you sit down at a table that somebody else has set.
"""
EXAMPLES: Final = """\
  moonvale play
  moonvale play --players 2 --rounds 1 --name Ann
  moonvale play --deck eye --bots random
  moonvale play --deck coin,2=eye,9=eye --token eye
"""

_AGENT_NAMES: Final = ("Ben", "Cleo", "Dan", "Eve")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the table agrees on, and where it stands."""
    players = range(MIN_PLAYERS, MAX_PLAYERS + 1)
    parser.add_argument("--players", type=int, choices=players, default=MAX_PLAYERS, help="you and the agents [4]")
    parser.add_argument("--rounds", type=int, metavar="N", default=4, help=f"how many rounds, 1 to {MAX_ROUNDS} [4]")
    parser.add_argument(
        "--deck", type=_deck, default=DECKS[0], help="coin, eye, or a mix by number, such as coin,2=eye,9=eye [coin]"
    )
    parser.add_argument("--token", choices=TOKENS, help="whose token is in play [that of most of the cards]")
    parser.add_argument("--name", default="Player", help="what you are called [Player]")
    parser.add_argument(
        "--seat", type=int, choices=range(1, MAX_PLAYERS + 1), default=1, help="which seat is yours [1]"
    )
    add_bots(parser)
    parser.add_argument("--game", help="join this game instead")
    parser.add_argument(
        "--credential",
        default=os.environ.get(CREDENTIAL_VARIABLE, ""),
        help=f"your seat's credential in that game; the default is {CREDENTIAL_VARIABLE}",
    )
    add_address(parser, "or a service of its own if none answers there")


def _deck(text: str) -> str:
    """Return a deck as the service reads it."""
    try:
        return deck_text(parse_deck(text))
    except OptionError as error:
        raise argparse.ArgumentTypeError(error.message) from error


def run(arguments: argparse.Namespace) -> int:
    """Play a game to its end, or until the player quits."""
    console = Console(highlight=False)
    tls = tls_of(arguments)
    try:
        with any_service(arguments.address, console, tls) as address, Client(address, tls=tls) as client:
            if arguments.game:
                _join(client, arguments, console)
            else:
                _against_agents(client, address, arguments, console)
    except MoonvaleError as error:
        raise CommandError(str(error)) from error
    return 0


def _join(client: Client, arguments: argparse.Namespace, console: Console) -> None:
    if not arguments.credential:
        raise CommandError("--game needs your seat's --credential, which whoever set the table can give you")
    game = game_name(arguments.game)
    if not client.get_view(game, arguments.credential).HasField("viewer_seat"):
        raise CommandError("the credential is no seat's; to look on, use: moonvale watch")
    try:
        Player(client, game, arguments.credential, console).play()
    except (LeftError, KeyboardInterrupt):
        console.print("\nYou left the table. The game waits for you; the same command brings you back.")


def _against_agents(client: Client, address: str, arguments: argparse.Namespace, console: Console) -> None:
    if arguments.seat > arguments.players:
        raise CommandError(f"--seat {arguments.seat} is not there with --players {arguments.players}")
    names = list(_AGENT_NAMES[: arguments.players - 1])
    names.insert(arguments.seat - 1, arguments.name)
    token = arguments.token or arguments.deck.partition(",")[0]
    options = Options(players=arguments.players, rounds=arguments.rounds, deck=arguments.deck, token=token)
    game = client.create_game(options, names)
    credentials = list(game.seat_credentials)
    mine = credentials.pop(arguments.seat - 1)
    agents = {credential: make_bot(arguments, i) for i, credential in enumerate(credentials)}
    with Bots(address, game.name, agents, tls_of(arguments)) as bots:
        try:
            Player(client, game.name, mine, console).play()
        except LeftError:
            console.print("\nYou left the table.")
        except KeyboardInterrupt:
            if bots.failure is not None:
                raise CommandError(f"an agent could not go on: {bots.failure}") from bots.failure
            console.print("\nYou left the table.")
