"""A terminal with the command in it, driven as a person would: read what it shows, type, press Enter."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from types import TracebackType
from typing import Self

_SECONDS = 60.0
_PRESS_AGAIN_SECONDS = 10.0
#: Variables that say how the test itself runs.
_OWN = ("MOONVALE_", "NO_COLOR", "COLUMNS", "LINES")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """The command `moonvale` on a pseudo-terminal."""

    def __init__(self, *arguments: str, columns: int = 80, lines: int = 50, **environment: str) -> None:
        self._screen, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        others = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moonvale_cli", *arguments],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**others, "TERM": "xterm-256color", **environment},
            start_new_session=True,
        )
        os.close(inside)
        self.raw = ""
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._screen)

    @property
    def text(self) -> str:
        """All that was shown, without control sequences."""
        return _CONTROL.sub("", self.raw).replace("\r", "")

    def until(self, *patterns: str) -> str:
        """Wait until one of the patterns was shown since the last wait, and return that part up to its end."""
        wanted = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
        part = self._search(wanted, time.monotonic() + _SECONDS)
        if part is None:
            raise AssertionError(f"{patterns} was not shown; the last was:\n{self.text[-2000:]}")
        return part

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._screen, f"{line}\n".encode())

    def interrupt(self, pattern: str) -> str:
        """Press Ctrl-C and wait until the pattern is shown, as `until` does.

        Python misses a signal that comes in the instant before it waits for input; then people press again.
        """
        while self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            found = self._search(re.compile(pattern), time.monotonic() + _PRESS_AGAIN_SECONDS)
            if found is not None:
                return found
        raise AssertionError(f"{pattern} was not shown; the last was:\n{self.text[-2000:]}")

    def end(self) -> int:
        """Wait until the command has ended, and return its exit code."""
        while self._wait(time.monotonic() + _SECONDS):
            pass
        return self._process.wait(_SECONDS)

    def _search(self, wanted: re.Pattern[str], deadline: float) -> str | None:
        while True:
            found = wanted.search(self.text, self._read)
            if found is not None:
                part = self.text[self._read : found.end()]
                self._read = found.end()
                return part
            if not self._wait(deadline):
                return None

    def _wait(self, deadline: float) -> bool:
        """Read what comes; False at the end."""
        ready, _, _ = select.select([self._screen], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._screen, 65536)
        except OSError:  # what Linux says when the other side is closed
            return False
        self.raw += data.decode(errors="replace")
        return data != b""
