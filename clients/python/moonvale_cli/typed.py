"""Lines that a person types, waited for so that Ctrl-C is never missed."""

from __future__ import annotations

import select
import signal
import socket
import sys
import termios

from rich.console import Console


def line(console: Console, prompt: str, seconds: float | None = None) -> str:
    """Print the prompt and return the next line typed. Raises EOFError at the end of the input, or KeyboardInterrupt.

    On a terminal TimeoutError is raised if nothing was typed for so many seconds. To be called in the main thread, as
    signals are.
    """
    if sys.stdin.isatty():
        console.print(prompt, end="")
        if not _wait_for_input(seconds):
            console.print()
            raise TimeoutError
        prompt = ""
    return console.input(prompt)


def forget() -> None:
    """Throw away what was typed so far, but not entered."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _wait_for_input(seconds: float | None) -> bool:
    """Wait for a line, or for a signal: just before a plain read one would be noticed only after the line.

    Return whether one of them came in time.
    """
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            ready, _, _ = select.select((sys.stdin, reader), (), (), seconds)
        finally:
            signal.set_wakeup_fd(before)
    return bool(ready)
