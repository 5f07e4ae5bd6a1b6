"""`moonvale doctor`: whether a service would run well with the settings of the environment."""

from __future__ import annotations

import argparse
import asyncio
import os
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from moonvale_cli.errors import service_missing

if TYPE_CHECKING:
    from moonvale_service.checkup import Finding

DESCRIPTION: Final = """\
Look at what the service needs before it starts, or while it runs: its settings, the files of its
keys and certificates, and the store: version, persistence, eviction, memory, replicas, speed.

Nothing is changed. For what is wrong (the service fails, or loses games) and for what is worth a
thought (note) it says what to change. The exit code is 1 if anything is wrong.
"""
EXAMPLES: Final = """\
  moonvale doctor
  MOONVALE_STORE=redis://redis.example.org:6379 MOONVALE_KEYS_FILE=keys moonvale doctor
  env $(cat moonvale.env) moonvale doctor
"""

_STYLES: Final = {"good": "green", "note": "yellow", "wrong": "bold red"}
_INDENT: Final = 7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add none: all is in the environment, as for `moonvale serve`."""


def run(arguments: argparse.Namespace) -> int:
    """Tell the findings, and return 1 if anything is wrong."""
    try:
        from moonvale_service.checkup import Judgement
    except ImportError as error:
        raise service_missing(error) from error
    console = Console(highlight=False)
    findings = asyncio.run(_tell(console))
    wrong = len([finding for finding in findings if finding.judgement is Judgement.WRONG])
    notes = len([finding for finding in findings if finding.judgement is Judgement.NOTE])
    console.print()
    console.print(f"{wrong} wrong, {notes} to think about." if wrong or notes else "All is well.")
    return 1 if wrong else 0


async def _tell(console: Console) -> list[Finding]:
    from moonvale_service.checkup import examine

    findings = []
    async for finding in examine(os.environ):
        findings.append(finding)
        judgement = finding.judgement.value
        line = Text.assemble((judgement.ljust(_INDENT), _STYLES[judgement]), f"{finding.what}: {finding.found}")
        console.print(line, soft_wrap=True)
        if finding.change:
            console.print(Text(f"{' ' * _INDENT}-> {finding.change}", style="dim"), soft_wrap=True)
    return findings
