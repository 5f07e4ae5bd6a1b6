"""Node.js for tests of the TypeScript client: its packages installed once, or a skip that says what is missing."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.support.ci import do_without

TYPESCRIPT = Path(__file__).parent.parent.parent / "clients" / "typescript"
NO_NODE = 3


@cache
def missing() -> str:
    """Install what the TypeScript client is built and tested with; return what is missing for it, if anything."""
    command = [sys.executable, str(TYPESCRIPT / "install.py")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == NO_NODE:
        return done.stdout.strip()
    assert done.returncode == 0, done.stdout
    return ""


def need_node() -> None:
    """Skip the test where there is no Node.js; under CI that is a failure."""
    if what := missing():
        do_without(what)
