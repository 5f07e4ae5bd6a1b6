"""Runs the bench: ``python -m tests.bench [--only PART,...] [--quick] [--publish]``."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable

from tests.bench import arena, bots, engine, environments, growth, machine, memory, service, startup
from tests.bench.environments import NotInstalledError, Tell
from tests.bench.report import Part, publish, report, to_json

PAGE = machine.ROOT / "docs" / "performance.md"
IMAGES = machine.ROOT / "docs" / "images"

PARTS: dict[str, Callable[[bool, Tell], Part]] = {
    "engine": lambda quick, tell: engine.run(engine.QUICK if quick else engine.FULL, tell),
    "service": lambda quick, tell: service.run(service.QUICK if quick else service.FULL, tell),
    "memory": lambda quick, tell: memory.run(memory.QUICK if quick else memory.FULL, tell),
    "growth": lambda quick, tell: growth.run(growth.QUICK if quick else growth.FULL, tell),
    "arena": lambda quick, tell: arena.run(arena.QUICK if quick else arena.FULL, tell),
    "bots": lambda quick, tell: bots.run(bots.QUICK if quick else bots.FULL, tell),
    "startup": lambda quick, tell: startup.run(startup.QUICK if quick else startup.FULL, tell),
}


def progress(began: float) -> Tell:
    """Return what tells how far the run is: in one line of a terminal, else a line each ten seconds."""
    last = 0.0

    def tell(words: str) -> None:
        nonlocal last
        now = time.monotonic()
        line = f"{now - began:5.0f} s  {words}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line[:110]}")
        elif now - last >= 10 or not words.startswith(("round", "warm-up")):
            last = now
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    return tell


def write(about: dict[str, str], parts: list[Part]) -> str:
    """Write what a run has found so far to build/bench, and return it as text."""
    environments.FOLDER.mkdir(parents=True, exist_ok=True)
    (environments.FOLDER / "results.json").write_text(to_json(about, parts), encoding="utf-8")
    written = report(about, parts)
    (environments.FOLDER / "results.md").write_text(written, encoding="utf-8")
    return written


def keep(about: dict[str, str], parts: list[Part], *, publish_it: bool, tell: Tell) -> str:
    """Write what a run has found and draw it, in the documentation too if asked to; return it as text."""
    written = write(about, parts)
    try:
        environments.draw(tell)
    except NotInstalledError as error:
        tell(f"no plots: {error}")
    if publish_it:
        PAGE.write_text(publish(written, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        IMAGES.mkdir(exist_ok=True)
        for plot in environments.FOLDER.glob("*.svg"):
            shutil.copy(plot, IMAGES)
    return written


def main(arguments: list[str]) -> int:
    """Run the parts that are asked for, print what they found, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts, of {','.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: to see that it runs")
    parser.add_argument("--publish", action="store_true", help="put the report and the plots into docs/")
    chosen = parser.parse_args(arguments)
    names = chosen.only.split(",")
    if unknown := set(names) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; choose of {', '.join(PARTS)}")
    if chosen.publish and set(names) != set(PARTS):
        parser.error("only a whole run is published")
    about = machine.describe()
    tell = progress(time.monotonic())
    parts: list[Part] = []
    for name in names:
        parts.append(PARTS[name](chosen.quick, tell))
        about["load after"] = machine.load()
        write(about, parts)  # whatever becomes of the next one
    written = keep(about, parts, publish_it=chosen.publish, tell=tell)
    tell("done\n")
    print(written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
