"""Games that this process has read or changed last, decoded: so that a move need not read its game first.

Only the store knows what a game is now. What is remembered here may be used to commit upon, since a commit compares,
and to save decoding what the store has just sent; never to refuse anybody or to answer by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from moonvale_service.history import Snapshot, snapshot
from moonvale_service.store import Record

_GAMES: Final = 4096  # a few kilobytes each, and two for each who looks at it


@dataclass(frozen=True, slots=True)
class Known:
    """A game as stored at one version, decoded. Nobody changes its state: whoever plays on takes a copy.

    ``state``, ``mark`` and ``meta`` are what the store holds. ``rings``: those of the slots that were read or
    written; if the game is ``new``, all others are empty.
    """

    now: Snapshot
    state: bytes
    mark: bytes
    meta: bytes
    rings: dict[int, bytes]
    new: bool = False

    def ring(self, slot: int) -> bytes | None:
        """Return the ring of a slot, or None if it is not known."""
        return self.rings.get(slot, b"" if self.new else None)


class Recent:
    """The games used last, at most so many of them."""

    def __init__(self, most: int = _GAMES) -> None:
        self._most = most
        self._known: OrderedDict[str, Known] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, game: str, version: int) -> Known | None:
        """Return a game if what is remembered of it is this version."""
        known = self._known.get(game)
        return known if known is not None and known.now.version == version else None

    def keep(self, known: Known) -> None:
        """Remember a game."""
        game = known.now.game
        self._known[game] = known
        self._known.move_to_end(game)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def learn(self, game: str, record: Record, slot: int | None = None) -> Known:
        """Return and remember a game that the store has sent, with the ring of ``slot``. Raises the codec's errors."""
        known = self.get(game, record.version)
        if known is None or (known.mark, known.meta, known.state) != (record.mark, record.meta, record.state):
            known = Known(snapshot(game, record), record.state, record.mark, record.meta, {})
        if slot is not None:
            known.rings[slot] = record.ring
        self.keep(known)
        return known
