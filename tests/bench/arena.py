"""The arena beside bare loops over the client: how many games a second each plays at the same service."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.bench.environments import PURE, Tell, best_engine
from tests.bench.report import Figure, Part
from tests.bench.rounds import Sample, interleave, ratio, spread
from tests.bench.services import UNLIMITED, python_path
from tests.service.servers import running_service

#: What the arena may cost: of the games that loops without it play, it plays so much at least.
LEAST = 0.8


@dataclass(frozen=True)
class Size:
    """How many rounds, of how many games, so many at a time."""

    rounds: int
    games: int
    loops: int = 8


FULL = Size(rounds=7, games=96)
QUICK = Size(rounds=1, games=32, loops=4)


def run(size: Size, tell: Tell, *, compiled: bool = True) -> Part:
    """Measure all ways in turn."""
    part = Part("Arena")
    engine, notes = best_engine() if compiled else (PURE, [])
    part.notes += notes
    with python_path(engine), running_service(workers="1", log_level="warning", **UNLIMITED) as service:
        key = service.folder / "data" / "creator_key"
        ways = ("arena", "client loops", "direct loops")
        samples = part.samples = interleave(
            {way: partial(_play, way, service.address, key, size) for way in ways}, size.rounds, tell
        )
    paces = {way: [sample.pace for sample in taken] for way, taken in samples.items()}
    part.figures += [Figure(way, spread(pace), "games a second") for way, pace in paces.items()]
    for way in ways[1:]:
        share = ratio(samples["arena"], samples[way], lambda sample: sample.pace)
        part.figures.append(Figure(f"arena, of the games of {way}", share, "times", at_least=LEAST))
    part.notes.append(
        f"{size.loops} games at a time, two seats of greedy agents, two rounds each; *client loops* are play_seats of"
        " the client with the agents in its own process, *direct loops* nothing but SubmitAction and GetView."
    )
    return part


def _play(way: str, address: str, key: Path, size: Size) -> Sample:
    """Have games played in a process of its own."""
    order = [sys.executable, "-m", "tests.bench.arena_load", way, address, str(key), str(size.games), str(size.loops)]
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(order, stdout=subprocess.PIPE, stderr=said, check=False)
        if done.returncode:
            said.seek(0)
            raise RuntimeError(f"{way} ended with {done.returncode}: {said.read().decode()[-500:]}")
    measured = json.loads(done.stdout)
    return Sample(measured["count"], measured["wall"], measured["wall"])
