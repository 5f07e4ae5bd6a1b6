"""A kubectl that stands in for a cluster: it notes how it is called, and runs the pod of the players here.

STAND_IN: its folder, where `calls` has a line for each. SERVER: where the Service is. The command in FAILING fails.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.deploy.manifests import kubectl

FOLDER: Final = Path(os.environ["STAND_IN"])
PODS: Final = [{"metadata": {"name": "one"}}, {"metadata": {"name": "two", "deletionTimestamp": "now"}}]


def main(arguments: list[str]) -> int:
    """Do as a cluster would, as far as its driver can see."""
    assert arguments[:2] == ["--namespace", "moonvale"]
    call = arguments[2:]
    with (FOLDER / "calls").open("a", encoding="utf-8") as calls:
        calls.write(f"{' '.join(call[:3])}\n")
    if os.environ.get("FAILING") == call[0]:
        sys.stderr.write("error: timed out waiting for the condition\n")
        return 1
    secret = FOLDER / "secret"
    match call:
        case ["get", "secret", _, "--ignore-not-found"]:
            sys.stdout.write("moonvale-keys" if secret.exists() else "")
        case ["get", "secret", _, _]:
            made = json.loads(secret.read_text(encoding="utf-8"))["stringData"]
            data = {name: base64.b64encode(text.encode()).decode() for name, text in made.items()}
            sys.stdout.write(json.dumps({"data": data}))
        case ["get", "pods", *_]:
            sys.stdout.write(json.dumps({"items": PODS}))
        case ["apply", "--filename=-"]:
            given = sys.stdin.read()
            (secret if given.startswith("{") else FOLDER / "pod").write_text(given, encoding="utf-8")
        case ["apply", kustomization] if kustomization.startswith("--kustomize="):
            folder = kustomization.partition("=")[2]
            rendered = subprocess.run([kubectl(), "kustomize", folder], capture_output=True, text=True, check=True)
            (FOLDER / "applied").write_text(rendered.stdout, encoding="utf-8")
        case ["exec", "--stdin", _, "--", "python", "-c", program]:
            here = program.replace("/tmp/players", str(FOLDER / "players"))
            assert here != program
            subprocess.run([sys.executable, "-c", here], check=True)
        case ["exec", "--stdin", _, "--", "python", "-m", module, target, *more]:
            assert target.startswith("dns:///moonvale-headless.")
            os.chdir(FOLDER / "players")
            os.execv(sys.executable, [sys.executable, "-m", module, os.environ["SERVER"], *more])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
