"""Lines that a person types, waited for so that Ctrl-C is never missed."""

from __future__ import annotations

import select
import signal
import socket
import sys

from rich.console import Console


def line(console: Console, prompt: str) -> str:
    """Print the prompt and return the next line typed. Raises EOFError at the end of the input, or KeyboardInterrupt.

    To be called in the main thread, as signals are.
    """
    if sys.stdin.isatty():
        console.print(prompt, end="")
        _wait_for_input()
        prompt = ""
    return console.input(prompt)


def _wait_for_input() -> None:
    """Wait for a line, or for a signal: just before a plain read one would be noticed only after the line."""
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            select.select((sys.stdin, reader), (), ())
        finally:
            signal.set_wakeup_fd(before)
