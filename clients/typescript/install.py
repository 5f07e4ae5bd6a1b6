"""Installs what package-lock.json lists into node_modules, unless it is there; several may do so at a time.

python clients/typescript/install.py    exits with 0 when it is there, with 3 without Node.js
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LOCK = FOLDER / "package-lock.json"
STAMP = FOLDER / "node_modules" / ".moonvale"
#: What the compiler, the test runner and the plugin need; the client itself runs on every Node.js 20.
OLDEST = (20, 19)
NO_NODE = 3


def main() -> int:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or _version(node) < OLDEST:
        print(f"The TypeScript client needs Node.js {OLDEST[0]}.{OLDEST[1]} or newer, with npm", file=sys.stderr)
        return NO_NODE
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    with LOCK.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
            return 0
        done = subprocess.run(
            [npm, "ci"], cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode:
            print(done.stdout, file=sys.stderr)
            return 1
        STAMP.write_text(wanted, encoding="utf-8")
    return 0


def _version(node: str) -> tuple[int, int]:
    said = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    match = re.match(r"v(\d+)\.(\d+)", said)
    return (int(match[1]), int(match[2])) if match else (0, 0)


if __name__ == "__main__":
    sys.exit(main())
