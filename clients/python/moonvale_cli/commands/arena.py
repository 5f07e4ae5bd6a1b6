"""`moonvale arena`: events between bots, their standings and reports."""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from moonvale_arena import ArenaError, Event, GameResult, Journal, Services, parse_entrants, play_event, read, standings
from moonvale_arena.event import FORMATS
from moonvale_arena.journal import results_path
from moonvale_arena.live import Spectator
from moonvale_arena.tables import WIDTH, tables
from moonvale_arena.words import summary
from moonvale_cli.at_hand import add_address, answers, command_name, own_service, say_own_service, tls_of
from moonvale_cli.errors import CommandError
from moonvale_client import DEFAULT_ADDRESS
from moonvale_engine.options import MAX_PLAYERS, MIN_PLAYERS

DESCRIPTION: Final = """\
Let bots play each other, each deal in all seatings, and say which is better and how sure that is.

An entrant is an agent by name (random, greedy, ismcts), a class (python:my_bots:Cautious), a bot
that serves somewhere (grpc://127.0.0.1:7360), or a command that is started for each game and
serves where MOONVALE_BOT_ADDRESS says ('cmd:node bot.js'); NAME= before it names it. What is
played is kept in a folder, so that an event which was interrupted can be resumed.
docs/arena.md explains all of it, docs/bots.md how to write a bot.
"""
EXAMPLES: Final = """\
  moonvale arena run greedy random --games 100
  moonvale arena run greedy mine=python:my_bots:Cautious grpc://127.0.0.1:7360 --seats 3 --deck mix
  moonvale arena run new=cmd:./bot greedy random --format gauntlet --into spring
  moonvale arena resume spring
  moonvale arena show spring
  moonvale arena report spring --html report.html --png report.png
"""

_KEY_FILE_VARIABLE: Final = "MOONVALE_CREATOR_KEY_FILE"
_DATA_VARIABLE: Final = "MOONVALE_DATA"
_DATA: Final = "~/.local/share/moonvale"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parsers = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
    _add_run(parsers.add_parser("run", help="play an event"))
    resume = parsers.add_parser("resume", help="go on with an event that was interrupted")
    resume.add_argument("folder", metavar="FOLDER", type=Path, help="where the event is kept")
    _add_playing(resume)
    show = parsers.add_parser("show", help="print the standings of an event")
    show.add_argument("path", metavar="PATH", type=Path, help="its folder, or its results file")
    report = parsers.add_parser("report", help="write the report of an event, as HTML and as a picture")
    report.add_argument("path", metavar="PATH", type=Path, help="its folder, or its results file")
    report.add_argument("--html", metavar="FILE", type=Path, help="[report.html in the folder]")
    report.add_argument("--png", metavar="FILE", type=Path, help="[report.png in the folder]")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entrants", metavar="ENTRANT", nargs="+", help="[NAME=]AGENT, python:, grpc:// or cmd:")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="gauntlet: the first against all others")
    seats = range(MIN_PLAYERS, MAX_PLAYERS + 1)
    parser.add_argument("--seats", type=int, choices=seats, default=MIN_PLAYERS, help="at a table [2]")
    parser.add_argument("--games", type=int, metavar="N", default=200, help="the most that are played [200]")
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        help="lineups whose entrants are told apart play no more; so often equal ones may be, wrongly [0.05]",
    )
    parser.add_argument("--all", action="store_true", help="play all games, whatever they show")
    parser.add_argument("--rounds", type=int, metavar="N", default=4, help="of a game [4]")
    parser.add_argument("--deck", default="coin", help="coin, eye, such as coin,2=eye, or mix: another for each block")
    parser.add_argument("--token", default="", help="coin or eye [that of most cards]")
    parser.add_argument(
        "--independent", action="store_true", help="a deal of its own for each game: for bots that cheat"
    )
    parser.add_argument("--decision-seconds", type=float, metavar="S", default=10.0, help="time for a decision [10]")
    parser.add_argument("--game-seconds", type=float, metavar="S", default=120.0, help="time of a seat in a game [120]")
    parser.add_argument("--seed", help="repeats schedule and deals; keep it secret from bots [drawn]")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="where the event is kept [arena-DATE-TIME]")
    _add_playing(parser)


def _add_playing(parser: argparse.ArgumentParser) -> None:
    cores = os.cpu_count() or 1
    parser.add_argument("--at-once", type=int, metavar="N", default=cores, help=f"games played at a time [{cores}]")
    parser.add_argument(
        "--creator-key",
        type=Path,
        metavar="FILE",
        help=f"file of the service's creator key, with which deals are supplied [{_KEY_FILE_VARIABLE}, or where"
        " `moonvale serve` keeps it]",
    )
    add_address(parser, "or a service of its own if none answers there; several are separated by commas")


def play(arguments: argparse.Namespace, console: Console) -> None:
    """Play an event from its beginning."""
    event = Event(
        entrants=parse_entrants(arguments.entrants),
        seed=arguments.seed or secrets.token_hex(16),
        format=arguments.format,
        seats=arguments.seats,
        games=arguments.games,
        alpha=None if arguments.all else arguments.alpha,
        deck=arguments.deck,
        token=arguments.token,
        rounds=arguments.rounds,
        independent=arguments.independent,
        decision_seconds=arguments.decision_seconds,
        game_seconds=arguments.game_seconds,
    )
    folder = arguments.into or Path(f"arena-{datetime.now().astimezone():%Y%m%d-%H%M%S}")
    _play(arguments, console, Journal(folder, event), event, {})


def resume(arguments: argparse.Namespace, console: Console) -> None:
    """Go on with an event."""
    kept = read(arguments.folder)
    _play(arguments, console, Journal(arguments.folder), kept.event, kept.games)


def show(arguments: argparse.Namespace, console: Console) -> None:
    """Print the standings."""
    kept = read(arguments.path)
    _print(console, kept.event, kept.games)


def report(arguments: argparse.Namespace, console: Console) -> None:
    """Write the report."""
    from moonvale_arena.plots import png
    from moonvale_arena.report import html

    kept = read(arguments.path)
    found = standings(kept.event, list(kept.games.values()))
    if not found.entrants:
        raise CommandError(f"{arguments.path}: no block of the event is over yet")
    folder = results_path(arguments.path).parent
    page, picture = arguments.html or folder / "report.html", arguments.png or folder / "report.png"
    try:
        page.write_text(html(found), encoding="utf-8")
        png(found, picture)
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}") from error
    console.print(f"{page}\n{picture}", soft_wrap=True)


_SUBCOMMANDS: Final[Mapping[str, Callable[[argparse.Namespace, Console], None]]] = {
    "run": play,
    "resume": resume,
    "show": show,
    "report": report,
}


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand."""
    try:
        _SUBCOMMANDS[arguments.subcommand](arguments, _console())
    except ArenaError as error:
        raise CommandError(str(error)) from error
    return 0


def _console() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, WIDTH)
    return console


def _play(
    arguments: argparse.Namespace, console: Console, journal: Journal, event: Event, done: Mapping[int, GameResult]
) -> None:
    if arguments.at_once < 1:
        raise CommandError("--at-once: must be 1 or more")
    standings(event, [])  # before any game is played: whether there is all that it takes
    with _services(arguments, console) as services, journal:
        try:
            with Spectator(event, done, console) as spectator:
                asyncio.run(play_event(event, services, journal, arguments.at_once, spectator.tell, done))
        except KeyboardInterrupt:
            console.print(f"Interrupted. Go on with: {command_name()} arena resume {journal.folder}", soft_wrap=True)
            raise
    console.print()
    _print(console, event, read(journal.folder).games)
    console.print(f"Kept in {journal.folder}. A report: {command_name()} arena report {journal.folder}", soft_wrap=True)


def _print(console: Console, event: Event, games: Mapping[int, GameResult]) -> None:
    found = standings(event, list(games.values()))
    if found.entrants:
        console.print(tables(found))
        console.print()
    for sentence in summary(found):
        console.print(Text(sentence))
    if found.left_over:
        console.print(f"{found.left_over} more games belong to blocks that are not over, and don't count.", style="dim")


@contextmanager
def _services(arguments: argparse.Namespace, console: Console) -> Iterator[Services]:
    """Yield where games are played. Raises CommandError."""
    tls = tls_of(arguments)
    if arguments.address is None and tls is None and not answers(DEFAULT_ADDRESS):
        say_own_service(console)
        with own_service(call_rate="0", create_rate="0") as (address, folder):
            yield Services([address], _key(folder / "creator_key"))
        return
    addresses = [address.strip() for address in (arguments.address or DEFAULT_ADDRESS).split(",")]
    named = arguments.creator_key or os.environ.get(_KEY_FILE_VARIABLE)
    data = Path(os.environ.get(_DATA_VARIABLE) or _DATA).expanduser()
    yield Services(addresses, _key(Path(named) if named else data / "creator_key"), tls)


def _key(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no key"
        raise CommandError(
            f"needs the service's creator key, to supply deals: {path}: {reason}; name its file with --creator-key"
        ) from error
