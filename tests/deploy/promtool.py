"""promtool, Prometheus' own checker of what it reads; tests/support/install_promtool.sh fetches it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import UNDER_CI
from tests.deploy.manifests import ROOT

_FETCHED: Final = ROOT / "build" / "tools" / "promtool"


def check(*arguments: str | Path) -> None:
    """Run promtool; it must find nothing wrong. Skips the test where there is none, which under CI is a failure."""
    program = shutil.which("promtool") or (str(_FETCHED) if _FETCHED.exists() else None)
    if program is None:
        missing = "no promtool on PATH (Debian and Ubuntu: apt-get install prometheus)"
        (pytest.fail if UNDER_CI else pytest.skip)(missing)
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
