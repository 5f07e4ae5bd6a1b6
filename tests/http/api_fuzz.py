"""Requests of every kind that the OpenAPI document allows and forbids, by Schemathesis against a running service.

``make fuzz-api N=2000`` asks that many for each operation; tests ask few.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.service.client import Client, Game
from tests.service.servers import Service, running_service

PROGRAM = Path(sysconfig.get_path("scripts")) / "schemathesis"
#: Its systematic phase never comes to an end for the 33 verbs of an action, of which at most one may be given.
LARGE = ("SubmitAction",)
#: A stream of a game that is on has no end.
ENDLESS = ("WatchGame",)
#: Rules that a schema can't say, such as one name for each of the seats that there are.
UNSAID = "positive_data_acceptance"
SECONDS = "10"  # for an answer


def phases() -> list[list[str]]:
    """The options of each run: what is asked of which operations."""
    rest = [option for name in (*LARGE, *ENDLESS) for option in ("--exclude-operation-id", name)]
    large = [option for name in LARGE for option in ("--include-operation-id", name)]
    return [["--phases", "examples,coverage,fuzzing", *rest], ["--phases", "examples,fuzzing", *large]]


def ask(service: Service, options: Sequence[str], examples: int, credential: str = "", game: str = "") -> str:
    """Let Schemathesis ask; return its report if it found something, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "schemathesis.toml"
        settings.write_text(f'[parameters]\n"path.game" = "{game}"\n' if game else "")
        command = [str(PROGRAM), "--config-file", str(settings), "run", f"{service.url}/openapi.json", "--no-color"]
        command += [*options, "--max-examples", str(examples), "--request-timeout", SECONDS, "--workers", "1"]
        command += ["--generation-deterministic", "--exclude-checks", UNSAID]
        if credential:
            command += ["-H", f"Authorization: Bearer {credential}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return "" if done.returncode == 0 else done.stdout + done.stderr


async def new_game(service: Service) -> Game:
    """A game of the service's."""
    async with Client(service.address) as client:
        return await client.create()


def main(examples: int) -> int:
    """Ask as nobody and as a seat of a game; return how many runs found something."""
    if shutil.which(str(PROGRAM)) is None:
        sys.exit(f"{PROGRAM} is missing; run: make test")
    found = 0
    with running_service(call_rate="0", create_rate="0", workers="1") as service:
        game = asyncio.run(new_game(service))
        for credential, name in (("", ""), (game.seats[0], game.id)):
            for options in phases():
                report = ask(service, options, examples, credential, name)
                found += bool(report)
                print(f"{'as a seat' if credential else 'as nobody'}, {' '.join(options)}: {report or 'nothing found'}")
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
