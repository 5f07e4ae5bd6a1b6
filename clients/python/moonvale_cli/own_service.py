"""The process of a service that a command has started for itself: it ends with its owner."""

from __future__ import annotations

import os
import signal
import sys
import threading

from moonvale_service.supervisor import main


def _follow_owner() -> None:
    """End this process, in good order, when its owner has ended, however that happened."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_follow_owner, name="owner", daemon=True).start()
    sys.exit(main(os.environ))
