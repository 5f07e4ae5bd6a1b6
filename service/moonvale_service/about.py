"""What a game's creator says of it: names, labels, an id, how long the replay stays sealed; and its stored form."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class About:
    """Given when a game is created, and given back unchanged.

    seat_names, seat_labels: one for each seat, or none at all. sealed_until: milliseconds since the epoch.
    """

    external_id: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    seat_names: tuple[str, ...] = ()
    seat_labels: tuple[dict[str, str], ...] = ()
    sealed_until: int | None = None

    def encode(self) -> bytes:
        """Return the stored form."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes) -> About:
        """Return what ``encode`` has stored."""
        stored = json.loads(data)
        return cls(
            stored["external_id"],
            stored["labels"],
            tuple(stored["seat_names"]),
            tuple(stored["seat_labels"]),
            stored["sealed_until"],
        )
