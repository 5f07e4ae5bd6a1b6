"""Containers for the checks of the image, run as strictly as a pod of deploy/kubernetes, on this machine's ports."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent.parent
USER: Final = 65532
MEMORY: Final = "384m"

_SECONDS: Final = 60.0


def engine() -> str:
    """Return what runs containers here, by the rule of deploy/image.sh. Raises RuntimeError if nothing does."""
    if shutil.which("docker") and subprocess.run(["docker", "info"], check=False, capture_output=True).returncode == 0:
        return "docker"
    if shutil.which("podman"):
        return "podman"
    raise RuntimeError("containers are run by docker or podman, and neither is here (Debian: apt-get install podman)")


class Container:
    """A container of an image, without capabilities and on a read-only root, with /tmp alone to write to."""

    def __init__(self, image: str, keys: Path, environment: Mapping[str, str]) -> None:
        self._engine = engine()
        options = [f"--env={name}={value}" for name, value in environment.items()]
        options += ["--network=host", "--no-healthcheck"]
        options += ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
        options += ["--tmpfs=/tmp:size=16m,mode=1777", f"--memory={MEMORY}", "--pids-limit=200"]
        self.id = self._ask("create", *options, f"--volume={keys}:/run/keys:ro", image)

    def start(self) -> None:
        """Start it, for the first time or again; return when it is ready."""
        self._ask("start", self.id)
        deadline = time.monotonic() + _SECONDS
        while self.run("python", "-m", "moonvale_service.probe", "ready").returncode != 0:
            if time.monotonic() > deadline or not self.state["Running"]:
                raise AssertionError(f"the container did not get ready:\n{self.logs()}")

    def stop(self, seconds: int) -> int:
        """Tell it to end, as an orchestrator does that kills it after ``seconds``; return its exit code."""
        self._ask("stop", f"--time={seconds}", self.id)
        code: int = self.state["ExitCode"]
        return code

    def remove(self) -> None:
        """End it if it runs, and forget it."""
        self._ask("rm", "--force", self.id)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in it."""
        return subprocess.run([self._engine, "exec", self.id, *command], check=False, capture_output=True, text=True)

    def logs(self) -> str:
        """What it has printed."""
        done = subprocess.run([self._engine, "logs", self.id], capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    @property
    def state(self) -> dict[str, Any]:
        """What the engine says of it: Running, Pid, ExitCode, OOMKilled."""
        (found,) = json.loads(self._ask("inspect", self.id))
        state: dict[str, Any] = found["State"]
        return state

    def _ask(self, *arguments: str) -> str:
        done = subprocess.run([self._engine, *arguments], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()
