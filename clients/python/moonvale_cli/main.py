"""The command `moonvale`: reads which subcommand is meant, imports that one alone, and runs it."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version
from types import ModuleType
from typing import Final

from moonvale_cli.errors import CommandError

#: The subcommands with what `moonvale --help` says of them.
COMMANDS: Final = {
    "serve": "run the service on this machine",
    "doctor": "check what the service needs, and say what to change",
    "play": "sit down at a table with bots, or with whoever joins",
    "join": "sit down at a table that somebody else has set",
    "watch": "look on while a game is played",
    "demo": "let four agents play one game while you look on",
    "cards": "list the cards and what they do",
    "position": "draw a position, list its legal actions, carry some out",
    "replay": "show a game record move by move, as one seat saw it",
    "arena": "let bots play hundreds of games and say which is better",
    "record": "check a game record and print its result",
    "verify": "check that a finished game's cards were shuffled as promised",
}

EXIT_FAILED: Final = 1
EXIT_INTERRUPTED: Final = 130

_DESCRIPTION = """\
Moonvale plays Silver Coin and Silver Eye, card games of hidden information for two to four, as a service.

New here? `moonvale play` needs nothing else: it starts a service if none runs, seats three agents
and tells you what you can do. `moonvale COMMAND --help` explains each command with examples.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 for a failure, 2 for wrong arguments, 130 after Ctrl-C."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser, modules = _parser(arguments)
    parsed = parser.parse_args(arguments)
    if parsed.command is None:
        parser.print_help()
        return 0
    try:
        return int(modules[parsed.command].run(parsed))
    except CommandError as error:
        print(f"moonvale {parsed.command}: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _parser(arguments: Sequence[str]) -> tuple[argparse.ArgumentParser, dict[str, ModuleType]]:
    """Return the parser, which knows the arguments of the one subcommand that is called, and that one's module."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="moonvale", description=_DESCRIPTION, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"moonvale {version('moonvale')}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    called = next((argument for argument in arguments if not argument.startswith("-")), "")
    modules: dict[str, ModuleType] = {}
    for name, summary in COMMANDS.items():
        if name != called:
            subparsers.add_parser(name, help=summary)
            continue
        module = modules[name] = importlib.import_module(f"moonvale_cli.commands.{name}")
        subparser = subparsers.add_parser(
            name,
            help=summary,
            description=module.DESCRIPTION,
            epilog=f"examples:\n{module.EXAMPLES}",
            formatter_class=raw,
        )
        module.add_arguments(subparser)
    return parser, modules
