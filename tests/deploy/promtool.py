"""promtool, Prometheus' own checker of what it reads; tests/support/install_promtool.sh fetches it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests.deploy.manifests import ROOT
from tests.support.ci import do_without

_FETCHED: Final = ROOT / "build" / "tools" / "promtool"


def check(*arguments: str | Path) -> None:
    """Run promtool; it must find nothing wrong. Skips the test where there is none, which under CI is a failure."""
    program = shutil.which("promtool") or (str(_FETCHED) if _FETCHED.exists() else None)
    if program is None:
        do_without("no promtool on PATH (Debian and Ubuntu: apt-get install prometheus)")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
