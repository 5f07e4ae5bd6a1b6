"""`moonvale play`: a person at a terminal, against bots or whoever joins."""

from __future__ import annotations

import argparse
import os
from typing import Final

from rich.console import Console
from rich.text import Text

from moonvale_cli.at_hand import add_address, address_options, any_service, command_name, tls_of
from moonvale_cli.bots import AGENTS, Bots, make_bot
from moonvale_cli.errors import CommandError
from moonvale_cli.game_name import CREDENTIAL_VARIABLE, game_name
from moonvale_cli.player import Place
from moonvale_cli.sitting import Sitting, add_save
from moonvale_cli.words.clocks import TIME_OUTS, read_clock
from moonvale_client import (
    DEFAULT_ADDRESS,
    Client,
    Clock,
    CreateGameResponse,
    MoonvaleError,
    Options,
    SeatSetup,
    entropy_commitment,
    new_entropy,
)
from moonvale_engine.errors import OptionError
from moonvale_engine.options import DECKS, MAX_PLAYERS, MAX_ROUNDS, MIN_PLAYERS, TOKENS, deck_text, parse_deck

DESCRIPTION: Final = """\
Sit down at a table with bots, and play; with --host also with people, who use `moonvale join`.

The table is drawn before each of your turns, what the others did is told in words, and your
choices are numbered. If no service runs on this machine, one is started that ends with the
command. With --game and --credential you come back to a seat that you have left.
"""
EXAMPLES: Final = """\
  moonvale play
  moonvale play --players 2 --rounds 1 --name Ann
  moonvale play --deck coin,2=eye,9=eye --token eye --bots random
  moonvale play --host --name Ann                          (you and three others)
  moonvale play --host --open 1 --clock 5m+2s              (you, one other, two bots)
  moonvale play --host --players 2 --clock 30s --on-time-out takeover
"""

_AGENT_NAMES: Final = ("Ben", "Cleo", "Dan", "Eve")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the table agrees on, and where it stands."""
    players = range(MIN_PLAYERS, MAX_PLAYERS + 1)
    parser.add_argument("--players", type=int, choices=players, default=MAX_PLAYERS, help="how many play, you too [4]")
    parser.add_argument("--rounds", type=int, metavar="N", default=4, help=f"how many rounds, 1 to {MAX_ROUNDS} [4]")
    parser.add_argument(
        "--deck", type=_deck, default=DECKS[0], help="coin, eye, or a mix by number, such as coin,2=eye,9=eye [coin]"
    )
    parser.add_argument("--token", choices=TOKENS, help="whose token is in play [that of most of the cards]")
    parser.add_argument("--name", default="Player", help="what you are called [Player]")
    parser.add_argument(
        "--seat", type=int, choices=range(1, MAX_PLAYERS + 1), default=1, help="which seat is yours [1]"
    )
    parser.add_argument(
        "--bots",
        metavar="NAME",
        default="greedy",
        help="which bots play: greedy, random, or another of the service's [greedy]",
    )
    parser.add_argument(
        "--seed", type=int, help="agents of this command play, and choose the same again in the same positions"
    )
    parser.add_argument("--host", action="store_true", help="leave seats open for people, and print how they join")
    parser.add_argument(
        "--open", type=int, metavar="N", help="how many seats are open with --host; bots take the others [all]"
    )
    parser.add_argument(
        "--clock",
        type=_clock,
        metavar="TIME",
        help="how long everybody may think: 30s for each decision, or 5m+2s for all of them, and 2s more with each",
    )
    parser.add_argument(
        "--on-time-out",
        choices=TIME_OUTS,
        default="forfeit",
        help="what becomes of who thinks longer: resigns, an agent decides once, or plays on [forfeit]",
    )
    add_save(parser)
    parser.add_argument("--game", help="come back to this game instead")
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


def _clock(text: str) -> Clock:
    try:
        return read_clock(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(arguments: argparse.Namespace) -> int:
    """Play a game to its end, or until the player quits."""
    console = Console(highlight=False)
    if arguments.open is not None and not (arguments.host and 1 <= arguments.open < arguments.players):
        raise CommandError(
            f"--open goes with --host, and is 1 to {arguments.players - 1} with {arguments.players} players"
        )
    if arguments.host and arguments.seed is not None:
        raise CommandError("--seed is for agents of this command, which have no place at a table with --host")
    if arguments.seed is not None and arguments.bots not in AGENTS:
        raise CommandError(f"with --seed --bots is one of {', '.join(AGENTS)}")
    tls = tls_of(arguments)
    try:
        with any_service(arguments.address, console, tls) as address, Client(address, tls=tls) as client:
            lasts = address == (arguments.address or DEFAULT_ADDRESS)
            back = address_options(address, arguments) if lasts else None
            if arguments.game:
                Sitting(client, console, back=back, save=arguments.save).play(_place(client, arguments))
            else:
                _set_table(client, address, arguments, console, back)
    except MoonvaleError as error:
        raise CommandError(str(error)) from error
    return 0


def _place(client: Client, arguments: argparse.Namespace) -> Place:
    """Return the seat of a game that somebody has set up."""
    if not arguments.credential:
        raise CommandError("--game needs your seat's --credential, which whoever set the table can give you")
    game = game_name(arguments.game)
    if not client.get_view(game, arguments.credential).HasField("viewer_seat"):
        raise CommandError("the credential is no seat's; to look on, use: moonvale watch")
    return Place(game, arguments.credential)


def _set_table(client: Client, address: str, arguments: argparse.Namespace, console: Console, back: str | None) -> None:
    """Set a table for the player and others, and play."""
    if arguments.seat > arguments.players:
        raise CommandError(f"--seat {arguments.seat} is not there with --players {arguments.players}")
    token = arguments.token or arguments.deck.partition(",")[0]
    options = Options(players=arguments.players, rounds=arguments.rounds, deck=arguments.deck, token=token)
    clock = arguments.clock
    if clock is not None:
        clock.on_time_out = TIME_OUTS[arguments.on_time_out]
    entropy = new_entropy()
    seats = _seats(arguments, entropy)
    game = client.create_game(options, seats, clock=clock, with_join_code=arguments.host)
    mine = game.seat_credentials[arguments.seat - 1]
    place = Place(game.name, mine, entropy, game.view.commitment, game.creator_credential)
    if arguments.seed is not None:
        _play_with_agents(client, address, arguments, console, place, game)
        return
    if arguments.host:
        console.print(Text(f"Your table is set. The join code is {game.join_code}. Others sit down with:"))
        invitation = f"{command_name()} join {game.join_code}{address_options(address, arguments, others=True)}"
        console.print(Text(f"  {invitation}", style="bold"), soft_wrap=True)
        console.print("Ctrl-C takes the table away while it waits.", style="dim")
        console.print()
    Sitting(client, console, back=back, save=arguments.save).play(place)


def _seats(arguments: argparse.Namespace, entropy: bytes) -> list[SeatSetup]:
    """Return who sits where: the player, open seats, then bots."""
    others = arguments.players - 1
    free = (others if arguments.open is None else arguments.open) if arguments.host else 0
    names = _AGENT_NAMES[: others - free]
    bot = "" if arguments.seed is not None else arguments.bots
    seats = [SeatSetup(open=True) for _ in range(free)] + [SeatSetup(name=name, bot=bot) for name in names]
    mine = SeatSetup(name=arguments.name, entropy_commitment=entropy_commitment(entropy))
    seats.insert(arguments.seat - 1, mine)
    return seats


def _play_with_agents(
    client: Client,
    address: str,
    arguments: argparse.Namespace,
    console: Console,
    place: Place,
    game: CreateGameResponse,
) -> None:
    """Play with agents of this command, whose seed decides how they choose."""
    others = [credential for credential in game.seat_credentials if credential != place.credential]
    agents = {credential: make_bot(arguments, i) for i, credential in enumerate(others)}
    with Bots(address, game.name, agents, tls_of(arguments)) as bots:
        Sitting(client, console, back=None, save=arguments.save, again=False).play(place)
    if bots.failure is not None:
        raise CommandError(f"an agent could not go on: {bots.failure}") from bots.failure
