"""Events of tests."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import psutil

from moonvale_arena import Event, GameResult, Journal, Services, parse_entrants, play_event, read

BOT = f"{sys.executable} -m tests.arena.bots"


def event(*entrants: str, **settings: object) -> Event:
    """Return an event of short games. An entrant may be the name of a class of ``bots``."""
    texts = [f"python:tests.arena.bots:{text}" if text[:1].isupper() else text for text in entrants]
    chosen = {"seed": "test", "games": 4, "rounds": 1, "alpha": None, **settings}
    return Event(entrants=parse_entrants(texts), **chosen)  # type: ignore[arg-type]  # as the test says


def play(event: Event, services: Services, folder: Path, at_once: int = 4) -> dict[int, GameResult]:
    """Play a whole event, and return the games that its journal has."""
    with Journal(folder, event) as journal:
        asyncio.run(play_event(event, services, journal, at_once, lambda _: None))
    return dict(read(folder).games)


def marked(mark: str) -> list[psutil.Process]:
    """Return the other processes that have a mark in their environment, which all get from whoever starts them."""
    processes = [process for process in psutil.process_iter(["environ"]) if process.pid != os.getpid()]
    return [process for process in processes if (process.info["environ"] or {}).get("ARENA_TEST") == mark]
