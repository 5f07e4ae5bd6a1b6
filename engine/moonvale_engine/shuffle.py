"""Keyed shuffles: chance as a function of the secret of the game, specified to the byte in docs/shuffle.md.

Each shuffle can be checked alone, and no generator runs through the game. HMAC is RFC 2104 with SHA-256.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator

SECRET_BYTES = 32
_DOMAIN = b"moonvale/1/"


def commitment(secret: bytes) -> bytes:
    """Return the 32 bytes that can be published before the deal and opened when the game is over (HID-5)."""
    return hashlib.sha256(_DOMAIN + b"commitment" + secret).digest()


def game_key(secret: bytes, entropy: tuple[bytes, ...]) -> bytes:
    """Return the key of all shuffles: the secret, bound to what each seat added."""
    message = _DOMAIN + b"key" + bytes((len(entropy),))
    for part in entropy:
        message += len(part).to_bytes(2, "big") + part
    return hmac.digest(secret, message, "sha256")


def shuffled(key: bytes, round: int, n: int, cards: bytes) -> bytes:
    """Return the n-th shuffle (0: the deal) of a round (1..): Fisher-Yates from the back."""
    stream = _stream(key, b"shuffle", round, n)
    result = bytearray(cards)
    for i in range(len(result) - 1, 0, -1):
        j = _below(stream, i + 1)
        result[i], result[j] = result[j], result[i]
    return bytes(result)


#: Makes every shuffle of a game. A variable, so that tests of hidden twins can deal the cards that they are about.
arrange: Callable[[bytes, int, int, bytes], bytes] = shuffled


def first_start(key: bytes, players: int) -> int:
    """Return which of the dealt villages in play, in ascending order, starts the first round (SET-5, SET-6)."""
    return _below(_stream(key, b"start", 0, 0), players)


def _stream(key: bytes, purpose: bytes, round: int, n: int) -> Iterator[int]:
    block = 0
    while True:
        yield from hmac.digest(key, _DOMAIN + purpose + bytes((round, n)) + block.to_bytes(4, "big"), "sha256")
        block += 1


def _below(stream: Iterator[int], bound: int) -> int:
    """Return a uniform int below the bound (1..256): the next byte that is not in the last, incomplete multiple."""
    limit = 256 - 256 % bound
    for byte in stream:
        if byte < limit:
            return byte % bound
    raise AssertionError("a stream has no end")
