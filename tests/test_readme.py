"""The README keeps its word: its examples run, its commands and its links exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.servers import running_service

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
ADDRESS = "127.0.0.1:7350"


def run(program: str, folder: Path) -> str:
    """Run a program as a reader would who saved it, and return what it prints."""
    path = folder / "bot.py"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_bot_has_ten_lines_and_plays_a_game(tmp_path: Path) -> None:
    bot = EXAMPLES[0]
    assert ADDRESS in bot
    lines = [line for line in bot.splitlines() if line.strip()]
    assert len(lines) <= 10
    with running_service() as service:
        printed = run(bot.replace(ADDRESS, service.address), tmp_path)
    assert printed.count("places") == 4  # two seats, each with the places of two


def test_the_engine_example_plays_a_game(tmp_path: Path) -> None:
    assert "Result(reason=0, places=" in run(EXAMPLES[1], tmp_path)


def test_curl_plays_the_first_moves(tmp_path: Path) -> None:
    (lines,) = [example for example in SHELL if "curl" in example]
    url = "http://127.0.0.1:7351"
    assert url in lines
    with running_service() as service:
        done = subprocess.run(
            ["bash", "-c", lines.replace(url, service.url)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stderr == ""
    view, first, second, *events = done.stdout.replace("}retry: ", "}\nretry: ").replace('}{"', '}\n{"').splitlines()
    seen = json.loads(view)["view"]
    assert seen["viewerSeat"] == seen["decision"]["seat"]
    assert {"peek": {"spots": [0, 1]}} in seen["decision"]["legalActions"]
    assert [json.loads(answer)["version"] for answer in (first, second)] == ["1", "2"]
    assert [line for line in events if line.startswith("event: ")] == ["event: view", "event: entry", "event: entry"]


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"run", "test", "demo"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (page.parent / link).exists(), link


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
