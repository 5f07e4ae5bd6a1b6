"""The machine of a run: what it is, and which of its cores measure and which make the load."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]


def describe() -> dict[str, str]:
    """Return what a reader has to know of the machine."""
    memory = psutil.virtual_memory().total / 2**30
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": commit or "unknown",
        "processor": f"{_processor()}, {len(cores())} cores, {memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load before": load(),
    }


def load() -> str:
    """Return how busy the machine was in the last minute."""
    return f"{os.getloadavg()[0]:.1f} processes"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def cores() -> list[int]:
    """Return the cores that this process may use."""
    process = psutil.Process()
    return (
        sorted(process.cpu_affinity() or []) if hasattr(process, "cpu_affinity") else list(range(os.cpu_count() or 1))
    )


def pin(process: int, core: int) -> None:
    """Keep a process, with all its threads, on one core where the system can do that."""
    if sys.platform == "linux":
        for thread in psutil.Process(process).threads():
            os.sched_setaffinity(thread.id, {core})


def cpu_seconds(process: int) -> float:
    """Return the CPU that a process has used so far, to the nanosecond on Linux."""
    if sys.platform == "linux":
        used = time.clock_gettime(~process << 3 | 2)  # the clock of a whole process, as clock_getcpuclockid(3) makes it
    else:
        times = psutil.Process(process).cpu_times()
        used = times.user + times.system
    return used
