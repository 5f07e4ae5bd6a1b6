"""Page tokens of ListEvents: after which version the next page begins, and the mark by which it was known."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from moonvale_service.history import Place
from moonvale_service.store.log_codec import MARK_BYTES

_VERSION_BYTES: Final = 4


def token(place: Place) -> str:
    """Return the token of the page that begins after a place in the log."""
    data = place.version.to_bytes(_VERSION_BYTES, "big") + place.mark
    return base64.urlsafe_b64encode(data).decode("ascii")


def place(token: str) -> Place:
    """Return what ``token`` was made of. Raises ValueError for a text that it has not made."""
    try:
        data = base64.b64decode(token, altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("not base64url") from None
    if len(data) != _VERSION_BYTES + MARK_BYTES:
        raise ValueError("not of the right length")
    return Place(int.from_bytes(data[:_VERSION_BYTES], "big"), data[_VERSION_BYTES:])
