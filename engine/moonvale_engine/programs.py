"""Numbers of the programs, which stored frames name: append-only within a rules version. ``catalog`` has the rest."""

from __future__ import annotations

from typing import Final

ROUND: Final = 0
TURN: Final = 1
HAND: Final = 2
EXCHANGE: Final = 3
FAILED_SET: Final = 4
SCORER: Final = 5
REACTIONS: Final = 6
TOKENS: Final = 16  # + id of the token
CARDS: Final = 32  # + id of the card type
