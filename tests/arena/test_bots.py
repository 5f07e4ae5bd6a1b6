"""Bots of others: the page on bots keeps its word, and the TypeScript example plays."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from moonvale.v1.action_pb2 import CallAction, DrawAction
from moonvale.v1.view_pb2 import Decision
from moonvale_arena import Services
from moonvale_client import Action, BotCaller, BotError, View, bot_server
from moonvale_client.bot import BOT_ADDRESS_VARIABLE
from tests.arena.playing import event, play
from tests.support.node import TYPESCRIPT, need_node

ROOT = Path(__file__).parent.parent.parent
VIEW = View(
    viewer_seat=0, decision=Decision(seat=0, legal_actions=[Action(draw=DrawAction()), Action(call=CallAction())])
)


def example(page: str) -> str:
    """The program of a page of the documentation."""
    programs: list[str] = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL
    )
    return programs[0]


def test_the_bot_of_the_page_plays_without_a_fault_and_beats_random(services: Services, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(example("bots.md"), encoding="utf-8")
    games = play(event(f"mine=cmd:{sys.executable} -W error {bot}", "random", games=6), services, tmp_path / "event")
    assert not any(game.by_rule for game in games.values())
    assert sum(game.seats[game.places[0]] == 0 for game in games.values()) >= 4


def test_the_typescript_bot_plays_without_a_fault_and_beats_random(services: Services, tmp_path: Path) -> None:
    need_node()
    bundle = tmp_path / "server-bot.mjs"
    subprocess.run(
        [
            TYPESCRIPT / "node_modules" / ".bin" / "esbuild",
            "examples/server-bot.ts",
            "--bundle",
            "--platform=node",
            "--format=esm",
            "--log-level=error",
            "--alias:moonvale/node=./src/node.ts",
            f"--outfile={bundle}",
        ],
        cwd=TYPESCRIPT,
        check=True,
    )
    games = play(event(f"typescript=cmd:node {bundle}", "random", games=6), services, tmp_path / "event")
    assert not any(game.by_rule for game in games.values())
    assert sum(game.seats[game.places[0]] == 0 for game in games.values()) >= 4


def test_the_page_on_the_arena_reads_an_event(services: Services, tmp_path: Path) -> None:
    play(event("Steady", "Hasty"), services, tmp_path / "spring")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example("arena.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Estimate(") >= 2


def second(view: View) -> Action:
    return view.decision.legal_actions[1]


async def later(view: View) -> Action:
    return second(view)


async def never(view: View) -> Action:
    await asyncio.Event().wait()
    return second(view)


def fails(view: View) -> Action:
    raise ValueError("the secret plan")


@pytest.mark.parametrize("choose", [second, later])
async def test_a_served_bot_is_asked_by_functions_and_coroutines(choose: object) -> None:
    async with bot_server(choose, "127.0.0.1:0") as server, BotCaller(server.address) as caller:  # type: ignore[arg-type]
        assert await caller.choose(VIEW, 30) == second(VIEW)
        assert await caller.choose(VIEW, None) == second(VIEW)


@pytest.mark.parametrize(
    ("choose", "seconds", "fault"),
    [(never, 0.2, "timeout"), (lambda _: Action(), 30, "illegal"), (fails, 30, "crash")],
    ids=["late", "illegal", "failing"],
)
async def test_what_a_served_bot_does_wrong_is_told_without_detail(choose: object, seconds: float, fault: str) -> None:
    async with bot_server(choose, "127.0.0.1:0") as server, BotCaller(server.address) as caller:  # type: ignore[arg-type]
        with pytest.raises(BotError) as failed:
            await caller.choose(VIEW, seconds)
    assert failed.value.fault == fault
    assert "secret plan" not in str(failed.value)


async def test_a_bot_serves_where_the_environment_says_and_not_where_another_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bot_server(second, "127.0.0.1:0") as server:
        monkeypatch.setenv(BOT_ADDRESS_VARIABLE, server.address)
        with pytest.raises(OSError, match=server.address):
            async with bot_server(second):
                pass
    async with bot_server(second) as again, BotCaller(again.address) as caller:
        assert again.address == server.address
        assert await caller.reachable(10)
    assert not await BotCaller("127.0.0.1:1").reachable(0.2)
