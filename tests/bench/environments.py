"""Environments: the peers with what they need, under build/bench, and where the engine is, pure and compiled.

Each of the first is made when it is needed, and kept until what it is made from changes.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.bench.machine import ROOT

FOLDER = ROOT / "build" / "bench"
PEERS = Path(__file__).parent / "peers"
PURE = ROOT / "engine"
COMPILED = ROOT / "build" / "compiled"
STAMP = ".made-from"

Tell = Callable[[str], None]


class NotInstalledError(Exception):
    """Something could not be installed or built; the message says what and why."""


def python_with(name: str, tell: Tell) -> Path:
    """Return the interpreter of an environment with what ``peers/NAME.txt`` locks. Raises NotInstalledError."""
    lock = PEERS / f"{name}.txt"

    def make(folder: Path) -> None:
        _run(name, sys.executable, "-m", "venv", folder)
        pip = (folder / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
        _run(name, *pip, "install", "--no-deps", "--require-hashes", "-r", lock)

    return made(name, [lock, sys.version], make, tell) / "bin" / "python"


def node_modules(name: str, tell: Tell) -> Path:
    """Return the modules of a package of ``peers/NAME``, by its lock. Raises NotInstalledError."""
    sources = [PEERS / name / "package.json", PEERS / name / "package-lock.json"]

    def make(folder: Path) -> None:
        folder.mkdir(parents=True)
        for source in sources:
            shutil.copy(source, folder)
        npm = shutil.which("npm")
        if npm is None or shutil.which("node") is None:
            raise NotInstalledError(f"{name}: there is no node with npm here")
        _run(name, npm, "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", folder=folder)

    return made(name, sources, make, tell) / "node_modules"


def draw(tell: Tell) -> None:
    """Draw the plots of the results in the folder. Raises NotInstalledError."""
    python = python_with("plots", tell)
    tell("drawing plots")
    _run("plots", python, "-m", "tests.bench.plots", FOLDER / "results.json", FOLDER)


def compiled_engine() -> Path:
    """Return the folder with the compiled engine that make has built. Raises NotInstalledError."""
    if not list(COMPILED.glob("*.so")):
        raise NotInstalledError("compiled engine: `make build/compiled/.made` builds it where there is a C compiler")
    return COMPILED


def best_engine() -> tuple[Path, list[str]]:
    """Return the folder of the compiled engine; or of the pure one, with a note that says why."""
    try:
        return compiled_engine(), []
    except NotInstalledError as error:
        return PURE, [f"the service runs on the pure engine: {error}"]


def made(name: str, origins: Iterable[Path | str], make: Callable[[Path], None], tell: Tell) -> Path:
    """Return a folder that was made from these files and texts; make it anew if it wasn't."""
    digest = hashlib.sha256()
    for origin in origins:
        digest.update(origin.read_bytes() if isinstance(origin, Path) else origin.encode())
    folder = FOLDER / name
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return folder
    tell(f"making {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    make(folder)
    stamp.write_text(digest.hexdigest())
    return folder


def _run(name: str, *order: str | Path, folder: Path = ROOT) -> None:
    done = subprocess.run(order, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise NotInstalledError(f"{name}: {' / '.join(words)}")
