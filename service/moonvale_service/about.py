"""What is kept of a game beside its play, and its stored form.

That is what its creator says of it (names, labels, an id, how long the replay stays sealed), and which of its
credentials were replaced.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

from moonvale_service.credentials import Credential


class Rotation(NamedTuple):
    """How often a credential was replaced, and a digest of the request that did it last."""

    epoch: int = 0
    request: str = ""


@dataclass(frozen=True, slots=True)
class About:
    """Given when a game is created, and given back unchanged; but ``rotations`` grow.

    seat_names, seat_labels: one for each seat, or none at all. sealed_until: milliseconds since the epoch.
    """

    external_id: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    seat_names: tuple[str, ...] = ()
    seat_labels: tuple[dict[str, str], ...] = ()
    sealed_until: int | None = None
    rotations: dict[str, Rotation] = field(default_factory=dict)

    def rotation(self, credential: Credential) -> Rotation:
        """Return how the credential of the same holder was replaced last."""
        return self.rotations.get(_holder(credential), Rotation())

    def rotated(self, credential: Credential, request: str) -> About:
        """Return the same with the credential of the same holder replaced once more."""
        rotation = Rotation(self.rotation(credential).epoch + 1, request)
        return replace(self, rotations={**self.rotations, _holder(credential): rotation})

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
            {holder: Rotation(*rotation) for holder, rotation in stored["rotations"].items()},
        )


def _holder(credential: Credential) -> str:
    return credential.role.name.lower() if credential.seat is None else str(credential.seat)
