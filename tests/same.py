"""Plays random games of all decks on the pure and on the compiled engine: ``make same N=10000``.

Each engine runs in processes of its own and says of each game a hash of all that came of it. Where two differ, the
command says for which game.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from random import Random

from moonvale_engine import (
    RESIGNATION,
    SPECTATOR,
    Entry,
    encode,
    enter,
    new_game,
    observe,
    position_text,
    result,
    seat_to_act,
    seen_by,
    state,
    view,
    whole,
)
from tests.support.playing import choose, random_setup

ROOT = Path(__file__).resolve().parents[1]
PURE = ROOT / "engine"
COMPILED = ROOT / "build" / "compiled"
CHUNK = 100  # games of one process
LOOKED_AT = 8  # one decision in so many is looked at by every viewer
RESIGNING = 300  # at one decision in so many somebody gives up


class DifferentError(Exception):
    """The engines differ, or one of them could not be run."""


def hash_of(seed: int) -> str:
    """Play the game of a seed; return a hash of its log, choices, events, stored bytes, views and texts."""
    rng = Random(seed)
    setup = random_setup(seed)
    viewers = (*range(setup.options.players), SPECTATOR)
    digest = sha256()
    s = new_game(setup.options, setup.secret)
    s.events = []
    while True:
        seen = [[seen_by(event, viewer) for event in s.events] for viewer in viewers]
        digest.update(repr((s.choices, s.events, seen)).encode())
        digest.update(encode(s))
        if not s.choices or rng.randrange(LOOKED_AT) == 0:
            looks = [(view(s, viewer), position_text(observe(s, viewer))) for viewer in viewers]
            digest.update(repr((looks, position_text(whole(s)), result(s))).encode())
        if not s.choices:
            return digest.hexdigest()
        entry = Entry(seat_to_act(s), choose(rng, setup.style, s.choices))
        if rng.randrange(RESIGNING) == 0:
            entry = Entry(rng.choice([seat for seat in viewers[:-1] if seat not in s.resigned]), RESIGNATION)
        s.events.clear()
        enter(s, entry)


def hashes(engine: Path, seeds: range) -> list[str]:
    """Return the hashes of some games on the engine in a folder. Raises DifferentError if it can't be run."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.same", "--child", str(seeds.start), str(seeds.stop)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(engine)},
        capture_output=True,
        text=True,
        check=False,
    )
    file, *found = done.stdout.split()
    suffix = ".py" if engine == PURE else ".so"
    if done.returncode or Path(file).parent.parent != engine or Path(file).suffix != suffix:
        raise DifferentError(f"{engine}: games {seeds} could not be played on it: {file} {done.stderr}")
    return found


def compare(games: range, jobs: int) -> Iterator[int]:
    """Play the games on both engines, yielding how many are the same. Raises DifferentError at the first that isn't."""
    chunks = [range(first, min(first + CHUNK, games.stop)) for first in range(games.start, games.stop, CHUNK)]
    with ThreadPoolExecutor(jobs) as pool:
        runs = [(chunk, pool.submit(hashes, PURE, chunk), pool.submit(hashes, COMPILED, chunk)) for chunk in chunks]
        try:
            for chunk, pure, compiled in runs:
                for seed, one, other in zip(chunk, pure.result(), compiled.result(), strict=True):
                    if one != other:
                        raise DifferentError(f"the game of seed {seed} is not the same on both engines")
                yield chunk.stop - games.start
        finally:
            pool.shutdown(cancel_futures=True)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.same", description=__doc__)
    parser.add_argument("games", type=int, nargs="?", default=10000, help="how many games (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the first game's seed; the next ones count up from it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one for each core)")
    parser.add_argument("--child", type=int, nargs=2, metavar="SEED", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(state.__file__, *[hash_of(seed) for seed in range(*arguments.child)], sep="\n")
        return 0
    try:
        for same in compare(range(arguments.seed, arguments.seed + arguments.games), arguments.jobs):
            print(f"{same} of {arguments.games} games are the same on both engines", flush=True)
    except DifferentError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
