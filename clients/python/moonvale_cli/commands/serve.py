"""`moonvale serve`: the service on this machine, with the settings of the environment."""

from __future__ import annotations

import argparse
import os
from typing import Final

from moonvale_cli.at_hand import command_name
from moonvale_cli.errors import service_missing

DESCRIPTION: Final = """\
Run the service on this machine until Ctrl-C, and print how to join.

Games are kept in a store of the service's own unless MOONVALE_STORE names another one, so they
are still there when the service starts again. Everything is set by environment variables.
"""
EXAMPLES: Final = """\
  moonvale serve
  MOONVALE_LISTEN=127.0.0.1:7400 MOONVALE_WORKERS=2 moonvale serve
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """List the settings, which are no arguments, below the examples."""
    try:
        from moonvale_service.settings import descriptions
    except ImportError as error:
        parser.epilog = f"{parser.epilog}\n{service_missing(error)}\n"
        return
    lines = ["settings, with their defaults:"]
    for setting in descriptions():
        default = f" [{setting.default}]" if setting.default else ""
        lines.append(f"  {setting.variable}{default}")
        lines += _wrapped(setting.help)
    parser.epilog = f"{parser.epilog}\n" + "\n".join(lines)


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to stop."""
    try:
        from moonvale_service.supervisor import main
    except ImportError as error:
        raise service_missing(error) from error
    return main(os.environ, command_name())


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 92, initial_indent="      ", subsequent_indent="      ")
