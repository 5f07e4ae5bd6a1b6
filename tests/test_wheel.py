"""The wheel, installed where nothing else is, plays a game: on the oldest releases it supports and on the locked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.service.servers import running_service

ROOT = Path(__file__).parent.parent
PARTS = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "engine", "service", "clients/python")
REQUIREMENTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
README_BOT = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
ADDRESS = "127.0.0.1:7350"  # as the README has it
BARE = {
    name: value
    for name, value in os.environ.items()
    if name in ("PATH", "HOME", "LANG") or name.startswith("PIP_") or name.lower().endswith("_proxy")
}


def run(*command: str | Path, folder: Path) -> str:
    """Run a command of an environment of its own, and return what it prints."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=BARE,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def build_wheel(folder: Path) -> Path:
    """Build the wheel from a copy of the sources, which stay as they are."""
    source = folder / "source"
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        elif (ROOT / part).exists():
            source.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, source / part)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
    run(*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", folder, source, folder=folder)
    (wheel,) = folder.glob("moonvale-*.whl")
    return wheel


def oldest() -> list[str]:
    """The least releases that pyproject.toml allows."""
    return [re.sub(r">=([0-9.]+).*", r"==\1", requirement) for requirement in REQUIREMENTS]


def locked() -> list[str]:
    """The releases that the lock pins, which were the newest when it was made."""
    pins = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "deploy/requirements/service.txt").read_text(), re.MULTILINE)
    )
    names = [re.split("[><=]", requirement)[0] for requirement in REQUIREMENTS]
    return [f"{name}=={pins[name]}" for name in names]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("pins", [oldest(), locked()], ids=["oldest", "locked"])
def test_a_bot_plays_from_the_wheel_alone(pins: list[str], tmp_path: Path) -> None:
    assert len(pins) == len(REQUIREMENTS)
    assert all("==" in pin for pin in pins)
    wheel = build_wheel(tmp_path)
    place = tmp_path / "place"
    run(sys.executable, "-m", "venv", place, folder=tmp_path)
    python, command = place / "bin" / "python", place / "bin" / "moonvale"
    run(python, "-m", "pip", "install", "--quiet", "--no-input", "--only-binary=:all:", wheel, *pins, folder=tmp_path)
    installed = run(python, "-m", "pip", "list", "--format=freeze", folder=tmp_path)
    assert {line.split("==")[0] for line in installed.split()} & {"redis", "structlog", "orjson"} == set()
    assert "Curator" in run(command, "cards", folder=tmp_path)
    with running_service() as service:
        bot = tmp_path / "bot.py"
        bot.write_text(README_BOT.replace(ADDRESS, service.address), encoding="utf-8")
        assert README_BOT.count(ADDRESS) == 1
        assert "places" in run(python, "-W", "error", bot, folder=tmp_path)
