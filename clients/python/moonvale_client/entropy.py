"""Entropy of a seat's own, which no server can foresee: drawn, committed to, and revealed before the deal.

Whoever takes a seat commits to it (``SeatSetup.entropy_commitment``) and reveals it once every seat is taken, so that
neither the server nor whoever commits last can choose what all shuffles follow from (docs/fairness.md).
"""

from __future__ import annotations

import hashlib
import secrets

from moonvale.v1.view_pb2 import PHASE_REVEALING, View

_BYTES = 32


class CommitmentChangedError(Exception):
    """The service shows another commitment than before, its own or the seat's, so no entropy was revealed."""


def new_entropy() -> bytes:
    """Return fresh entropy: 32 random bytes, to be kept secret until it is revealed."""
    return secrets.token_bytes(_BYTES)


def entropy_commitment(entropy: bytes) -> bytes:
    """Return what a seat commits to with its entropy: 32 bytes."""
    return hashlib.sha256(b"moonvale/1/entropy" + entropy).digest()


def has_to_reveal(view: View, entropy: bytes, commitment: bytes) -> bool:
    """Whether the viewer's seat is to reveal its entropy now; revealing it once more changes nothing.

    commitment: the service's, as it was shown when the seat was taken. Raises CommitmentChangedError if the view does
    not show that one, or not what the seat has committed to.
    """
    if view.phase != PHASE_REVEALING or not entropy:
        return False
    if view.commitment != commitment:
        raise CommitmentChangedError(f"{view.name} shows another commitment of the service's: nothing was revealed")
    if view.seats[view.viewer_seat].entropy_commitment != entropy_commitment(entropy):
        raise CommitmentChangedError(
            f"{view.name} shows another commitment than that of seat {view.viewer_seat}: nothing was revealed"
        )
    return True
