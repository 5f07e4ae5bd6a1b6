"""Plays games while everything breaks, and checks that nothing acknowledged is lost, done twice, or told wrong.

Three or more workers and a store run behind a proxy. Workers and the store are killed, paused and restarted; the proxy
delays and cuts connections and loses replies. Meanwhile games are played by clients that try again, also two at once
for one seat. When a game is over, it is replayed from what its clients wrote down and compared with what the service
says. A violation is one line with the game and its version; what is known of the game and all logs are kept.

Chance is drawn from the seed, but how processes and faults meet is not: a seed repeats the schedule, not the run.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

import uvloop

from tests.chaos.faults import KINDS
from tests.chaos.run import Plan, Run
from tests.support.ci import UNDER_CI
from tests.support.servers import Program, redis_program, valkey_program


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=0, help="how long to go on, added to --seconds")
    parser.add_argument("--seconds", type=float, default=0, help="how long to go on (default: 60, if no --games)")
    parser.add_argument("--games", type=int, default=0, metavar="N", help="go on until so many games are over")
    parser.add_argument("--at-once", type=int, default=200, metavar="N", help="games at once (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=3, metavar="N", help="worker processes (default: %(default)s)")
    parser.add_argument("--store", choices=("redis", "valkey"), default="redis", help="which (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="the seed of the schedule (default: a random one, which is printed)")
    parser.add_argument("--faults", nargs="+", choices=tuple(KINDS), metavar="KIND", help="only these kinds of fault")
    parser.add_argument("--list-faults", action="store_true", help="list the kinds of fault, and end")
    arguments = parser.parse_args()
    if arguments.list_faults:
        print("\n".join(KINDS))
        return 0
    seconds = 60 * arguments.minutes + arguments.seconds or (0 if arguments.games else 60)
    plan = Plan(
        seed=secrets.randbelow(1 << 32) if arguments.seed is None else arguments.seed,
        program=_program(arguments.store),
        workers=arguments.workers,
        at_once=arguments.at_once,
        seconds=seconds,
        games=arguments.games,
        kinds=arguments.faults or tuple(KINDS),
    )
    folder = Path(tempfile.mkdtemp(prefix="moonvale-chaos-"))
    print(f"Seed {plan.seed}: {plan.workers} workers, {plan.program.name}, {plan.at_once} games at once.", flush=True)
    report = uvloop.run(Run(plan, folder, lambda line: print(line, flush=True)).run())
    print("\n".join(report.lines()))
    if report.violations:
        print(f"{len(report.violations)} violations. Logs, data and what is known of the games: {folder}")
        return 1
    shutil.rmtree(folder)
    print(
        "No violation: nothing acknowledged was lost, nothing was done twice, and no watcher was told anything wrong."
    )
    return 0


def _program(store: str) -> Program:
    program = redis_program() if store == "redis" else valkey_program()
    if program is not None:
        return program
    missing = "no Redis 7.0 or newer on PATH (Debian and Ubuntu: apt-get install redis-tools)"
    if UNDER_CI:
        sys.exit(missing)
    print(f"There is {missing}: Valkey takes its place.")
    return valkey_program()


if __name__ == "__main__":
    sys.exit(main())
