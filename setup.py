"""The optional build step: with MOONVALE_COMPILE=1 engine and agents are compiled by mypyc, from the same source.

Everything else about the distribution is in pyproject.toml. Where mypyc or a C compiler is missing, the build says so
in one line and goes on with the pure source, which does the same, only slower.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

ROOT = Path(__file__).parent
COMPILED = ("engine/moonvale_engine", "engine/moonvale_agents")

#: All modules are one library, and nobody puts functions in the place of its own: they may call each other directly.
WITHIN_ONE_LIBRARY = ["-fno-semantic-interposition", "-fno-plt"]


def say(reason: str) -> None:
    """Say why nothing is compiled."""
    print(f"moonvale: {reason}, so the engine stays pure Python", file=sys.stderr)


def extensions() -> list[Extension]:
    """Return what is to be compiled: all modules of the engine and of the agents, or nothing."""
    if os.environ.get("MOONVALE_COMPILE") != "1":
        return []
    try:
        from mypyc.build import mypycify
    except ImportError:
        say("mypyc is not installed (pip install mypy)")
        return []
    paths = sorted(str(path.relative_to(ROOT)) for package in COMPILED for path in (ROOT / package).rglob("*.py"))
    made: list[Extension] = mypycify(paths, opt_level="3", debug_level="0", target_dir="build/mypyc")
    if sys.platform != "win32":
        for extension in made:
            extension.extra_compile_args += WITHIN_ONE_LIBRARY
    return made


class BuildOrStayPure(build_ext):
    """Compiles all modules or none: half a compiled engine can't be imported."""

    def run(self) -> None:
        """Compile; where that fails, take away what was made of it."""
        try:
            super().run()
        except (BaseError, CCompilerError, OSError) as error:
            say(f"the C compiler failed ({str(error).strip().splitlines()[-1]})")
            for output in self.get_outputs():
                Path(output).unlink(missing_ok=True)
            self.extensions = []


os.chdir(ROOT)
setup(ext_modules=extensions(), cmdclass={"build_ext": BuildOrStayPure})
