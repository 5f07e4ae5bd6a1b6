"""Obeys a bench over standard input and output: "run this case for so many seconds" is answered with what it took.

It needs the standard library alone, since it runs in the interpreters of the peers.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping

Batch = Callable[[], int]
"""Does some of the work, and returns how many decisions (or calls) that was. About a millisecond is right."""

Run = Callable[[float], Mapping[str, float]]
"""Works for so many seconds, and returns the count, the seconds of CPU and of the clock, and what else there is."""


def obey(cases: Mapping[str, Callable[[], Run]], about: Mapping[str, str]) -> None:
    """Say what there is, then run what is asked for until standard input ends. A case is made when first asked for."""
    _say({"about": dict(about), "cases": list(cases)})
    made: dict[str, Run] = {}
    for line in sys.stdin:
        order = json.loads(line)
        name = order["case"]
        if name not in made:
            made[name] = cases[name]()
        _say(made[name](order["seconds"]))


def repeated(batch: Batch) -> Run:
    """Repeat a batch for as long as asked."""

    def run(seconds: float) -> Mapping[str, float]:
        count = 0
        cpu = time.process_time()
        began = time.perf_counter()
        while True:
            count += batch()
            if time.perf_counter() - began >= seconds:
                break
        return {"count": count, "cpu": time.process_time() - cpu, "wall": time.perf_counter() - began}

    return run


def _say(message: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
