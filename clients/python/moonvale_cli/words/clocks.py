"""Clocks and times, as people write and read them: ``30s``, ``5m+2s``; ``4:05``."""

from __future__ import annotations

import re
from typing import Final

from google.protobuf.duration_pb2 import Duration

from moonvale.v1 import clock_pb2
from moonvale.v1.clock_pb2 import Clock

#: What can happen when a seat's time is out, by the word that commands take.
TIME_OUTS: Final = {
    "forfeit": clock_pb2.TIME_OUT_FORFEIT,
    "agent": clock_pb2.TIME_OUT_AGENT_DECIDES,
    "takeover": clock_pb2.TIME_OUT_AGENT_TAKES_OVER,
}

_TIME_OUT_WORDS: Final = {
    clock_pb2.TIME_OUT_FORFEIT: "whoever runs out of time resigns",
    clock_pb2.TIME_OUT_AGENT_DECIDES: "an agent decides for whoever runs out of time",
    clock_pb2.TIME_OUT_AGENT_TAKES_OVER: "an agent plays on for whoever runs out of time",
}
_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d{1,3})?)s)?")


def read_clock(text: str) -> Clock:
    """Return the clock that a text names: a time for each decision, or a bank, ``+``, and what each decision adds.

    Raises ValueError.
    """
    first, plus, increment = text.partition("+")
    if not plus:
        return Clock(per_decision=_duration(first))
    return Clock(bank=_duration(first), increment=_duration(increment))


def _duration(text: str) -> Duration:
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        raise ValueError(f"'{text}' is no time such as 30s, 5m or 1h30m")
    hours, minutes, seconds = [float(part or 0) for part in found.groups()]
    duration = Duration()
    duration.FromMilliseconds(round((hours * 3600 + minutes * 60 + seconds) * 1000))
    return duration


def clock_words(clock: Clock) -> str:
    """Return how long the seats may think, and what happens to those who think longer."""
    if clock.HasField("bank"):
        words = f"{time_words(_seconds(clock.bank))} for all decisions of a player"
        if _seconds(clock.increment):
            words += f", {time_words(_seconds(clock.increment))} more with each"
    else:
        words = f"{time_words(_seconds(clock.per_decision))} for each decision"
    out = _TIME_OUT_WORDS.get(clock.on_time_out, _TIME_OUT_WORDS[clock_pb2.TIME_OUT_FORFEIT])
    return f"{words}; {out}"


def _seconds(duration: Duration) -> float:
    return duration.ToMilliseconds() / 1000


def time_words(seconds: float) -> str:
    """Return a time as a clock shows it: ``28 s``, ``4:05``, ``1:00:00``."""
    if 0 < seconds < 1:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02}"
    return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"
