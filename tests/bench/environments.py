"""Environments under build/bench: the peers with what they need, and the engine both pure and compiled.

Each is made when it is needed and kept until what it is made from changes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tests.bench.machine import ROOT

FOLDER = ROOT / "build" / "bench"
PEERS = Path(__file__).parent / "peers"
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

    return _made(name, [lock, sys.version], make, tell) / "bin" / "python"


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

    return _made(name, sources, make, tell) / "node_modules"


def draw(tell: Tell) -> None:
    """Draw the plots of the results in the folder. Raises NotInstalledError."""
    python = python_with("plots", tell)
    tell("drawing plots")
    _run("plots", python, "-m", "tests.bench.plots", FOLDER / "results.json", FOLDER)


def pure_engine(tell: Tell) -> Path:
    """Return a folder with the engine's source alone, whatever is built beside it."""
    sources = _sources(ROOT / "engine")

    def make(folder: Path) -> None:
        shutil.copytree(ROOT / "engine", folder, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))

    return _made("engine-pure", sources, make, tell)


def compiled_engine(tell: Tell) -> Path:
    """Return a folder with the engine compiled. Raises NotInstalledError."""
    setup = ROOT / "setup.py"
    if not setup.exists():
        raise NotInstalledError("compiled engine: this version of Moonvale has none")

    def make(folder: Path) -> None:
        build = ("--quiet", "build_ext", "--build-lib", folder, "--build-temp", folder / "temporary")
        _run("compiled engine", sys.executable, setup, *build, environment={"MOONVALE_COMPILE": "1"})

    return _made("engine-compiled", [setup, *_sources(ROOT / "engine")], make, tell)


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _made(name: str, origins: Iterable[Path | str], make: Callable[[Path], None], tell: Tell) -> Path:
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


def _run(name: str, *order: str | Path, folder: Path = ROOT, environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        order, cwd=folder, capture_output=True, text=True, env={**os.environ, **(environment or {})}, check=False
    )
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise NotInstalledError(f"{name}: {' / '.join(words)}")
