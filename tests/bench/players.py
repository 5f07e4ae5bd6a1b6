"""Processes that obey: see ``peers.obey``. Each is pinned, and runs only while it is asked to."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.bench.machine import ROOT, pin
from tests.bench.rounds import Sample

STOP_SECONDS = 10.0


class PlayerFailedError(Exception):
    """A process has ended or said something strange; the message ends with its last words."""


class Player:
    """A started process that obeys. Close it in the end."""

    def __init__(self, program: Sequence[str | Path], core: int, environment: Mapping[str, str] | None = None) -> None:
        """Raises PlayerFailedError if it doesn't start."""
        self._name = " ".join(map(str, program[1:]))
        self._process = subprocess.Popen(
            program,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        try:
            pin(self._process.pid, core)
            hello = self._answer()
        except BaseException:
            self.close()
            raise
        self.about: dict[str, str] = hello["about"]
        self.cases: list[str] = hello["cases"]

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def measure(self, case: str, seconds: float) -> Sample:
        """Have it run a case for so many seconds."""
        answer = self.ask(case, seconds)
        return Sample(answer["count"], answer["cpu"], answer["wall"])

    def ask(self, case: str, seconds: float) -> dict[str, float]:
        """Have it run a case for so many seconds, and return all that it says of that."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"case": case, "seconds": seconds}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            words = self._process.stderr.read().strip().splitlines()[-5:]
            raise PlayerFailedError(f"{self._name} has ended: {' / '.join(words)}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Have it end."""
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
