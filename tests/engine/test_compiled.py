"""The compiled engine does what the pure one does: tests and whole games, run on it in processes of its own.

Where there is no C compiler these tests are skipped and say so; under CI that is a failure.
"""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from moonvale_engine import State, View, view
from moonvale_engine.state import SIDEWAYS
from tests import same
from tests.support.ci import do_without

ROOT = same.ROOT
LOCK = ROOT / "build" / "compiled.lock"

#: What is run on the compiled engine too.
SUITES = (
    "tests/rules",
    "tests/engine/test_records.py tests/engine/test_perft.py tests/engine/test_corpus.py tests/engine/test_codec.py",
    "tests/engine/test_copies.py tests/engine/test_notation.py tests/engine/test_shuffle.py tests/engine/test_views.py",
    "tests/engine/test_hashes.py tests/engine/test_properties.py tests/engine/test_rules_versions.py",
    "tests/engine/test_twins.py tests/agents",
    "tests/engine/test_worlds.py",
    "tests/contract/test_views.py tests/contract/test_events.py tests/contract/test_replays.py",
    "tests/service/test_games.py tests/service/test_exactly_once.py tests/service/test_many_games.py",
)

#: Runs pytest, but only on a compiled engine.
PYTEST = """
import sys, pytest, moonvale_engine.play, moonvale_engine.cards.coin.blob, moonvale_agents.random
for module in (moonvale_engine.play, moonvale_engine.cards.coin.blob, moonvale_agents.random):
    assert module.__file__.endswith(".so"), f"{module.__file__} is not compiled"
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.fixture(scope="session")
def compiled() -> Path:
    """The folder with the compiled engine, up to date."""
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests of several processes want it, one makes it
        made = subprocess.run(
            ["make", "--silent", "build/compiled/.made"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    assert made.returncode == 0, made.stderr
    if not list(same.COMPILED.glob("*.so")):
        do_without(f"the engine could not be compiled: {made.stderr or 'no C compiler when it was made'}")
    return same.COMPILED


def environment(**changes: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | changes


@pytest.mark.timeout(900)
@pytest.mark.parametrize("suite", SUITES, ids=[suite.split()[0].removesuffix(".py") for suite in SUITES])
def test_tests_pass_on_the_compiled_engine(compiled: Path, suite: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PYTEST, "-n", "0", "-q", "-p", "no:cacheprovider", *suite.split()],
        cwd=ROOT,
        env=environment(PYTHONPATH=str(compiled)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert re.search(r"^\d+ passed in ", done.stdout, re.MULTILINE), done.stdout[-500:]


@pytest.mark.timeout(600)
def test_games_are_the_same_on_both_engines(compiled: Path) -> None:
    assert list(same.compare(range(120), 1)) == [100, 120]


def test_a_difference_would_be_found() -> None:
    """A test of the test: one view of one game in which a card lies differently changes its hash."""
    honest = same.hash_of(3)

    def leaky(s: State, viewer: int) -> View:
        seen = s.copy()
        seen.flags[0] ^= SIDEWAYS  # it lies in a village, the pile or nowhere that shows
        return view(seen, viewer)

    with mock.patch.object(same, "view", leaky):
        assert same.hash_of(3) != honest


def test_a_different_game_is_named(compiled: Path) -> None:
    hashes = same.hashes

    def other(engine: Path, seeds: range) -> list[str]:
        found = hashes(engine, seeds)
        return found if engine == same.PURE else [*found[:2], "other", *found[3:]]

    with mock.patch.object(same, "hashes", other), pytest.raises(same.DifferentError, match="seed 2 "):
        list(same.compare(range(4), 1))


def build(folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Build the engine into a folder, in an environment with these changes."""
    order = ("setup.py", "--quiet", "build_ext", "--build-lib", str(folder), "--build-temp", str(folder / "temporary"))
    return subprocess.run(
        [sys.executable, *order], cwd=ROOT, env=environment(**changes), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"MOONVALE_COMPILE": "1", "CC": "no-such-compiler"}, "the C compiler failed"),
        ({"MOONVALE_COMPILE": "1", "PYTHONPATH": "no-mypyc"}, "mypyc is not installed"),
        ({}, ""),
    ],
    ids=["no compiler", "no mypyc", "not asked to"],
)
def test_without_a_compiler_the_build_says_so_and_goes_on(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    if "PYTHONPATH" in changes:
        (tmp_path / "mypyc.py").write_text("raise ImportError('there is none')\n")
        changes = {**changes, "PYTHONPATH": str(tmp_path)}
    done = build(tmp_path / "built", **changes)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*.so")) == []
    said = [line for line in done.stderr.splitlines() if line.startswith("moonvale: ")]
    assert len(said) == (1 if reason else 0)
    assert all(reason in line and line.endswith("so the engine stays pure Python") for line in said)
