"""The shuffles are those of docs/shuffle.md, written out here once more from the page alone."""

import hashlib
import hmac
from collections.abc import Iterator

import pytest

from moonvale_engine import Options, commitment, new_game


def stream(key: bytes, purpose: bytes, round: int, n: int) -> Iterator[int]:
    for block in range(2**32):
        message = b"moonvale/1/" + purpose + bytes([round, n]) + block.to_bytes(4, "big")
        yield from hmac.new(key, message, hashlib.sha256).digest()


def below(numbers: Iterator[int], b: int) -> int:
    return next(byte for byte in numbers if byte < 256 - 256 % b) % b


@pytest.mark.parametrize("entropy", [(), (b"seat 0", b"", b"x" * 300)])
def test_the_deal_follows_from_secret_and_entropy_as_specified(entropy: tuple[bytes, ...]) -> None:
    secret = bytes(range(32))
    message = b"moonvale/1/key" + bytes([len(entropy)])
    for part in entropy:
        message += len(part).to_bytes(2, "big") + part
    key = hmac.new(secret, message, hashlib.sha256).digest()
    cards = [number for number in range(14) for _ in range(2 if number in (0, 13) else 4)]
    numbers = stream(key, b"shuffle", 1, 0)
    for i in range(51, 0, -1):
        j = below(numbers, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    start = below(stream(key, b"start", 0, 0), 3)

    game = new_game(Options(players=3, villages=(2, 3, 0)), secret, entropy)

    assert list(game.identity) == cards
    assert [list(village) for village in game.villages] == [[10, 11, 12, 13, 14], [15, 16, 17, 18, 19], [0, 1, 2, 3, 4]]
    assert list(game.pile) == [20]
    assert list(reversed(game.deck)) == list(range(21, 52))
    assert game.holder == (2, 0, 1)[start]  # dealt villages 0, 2, 3 in play belong to seats 2, 0, 1


def test_the_commitment_is_a_hash_of_the_secret_alone() -> None:
    secret = bytes(range(32))
    assert commitment(secret) == hashlib.sha256(b"moonvale/1/commitment" + secret).digest()
