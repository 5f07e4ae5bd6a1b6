"""The codec refuses what it does not know, and damaged bytes, with an error of their own."""

from random import Random

import pytest

from moonvale_engine import CodecError, UnknownRulesError, decode, encode
from tests.support.playing import positions, random_setup


def stored() -> bytes:
    states = positions(random_setup(4, players=3, rounds=4))
    for _ in range(50):
        s = next(states)
    return encode(s)


def test_a_state_takes_a_few_hundred_bytes() -> None:
    assert len(encode(next(positions(random_setup(1, players=4))))) < 400


@pytest.mark.parametrize("at", [2, 3])
def test_another_codec_or_rules_version_is_refused_as_such(at: int) -> None:
    data = bytearray(stored())
    data[at] = 99
    with pytest.raises(UnknownRulesError, match="99"):
        decode(bytes(data))


@pytest.mark.parametrize("data", [b"", b"M", b"MV", b"XY\1\1", b"MV\1\1", b"not a game at all"])
def test_other_bytes_are_no_game(data: bytes) -> None:
    with pytest.raises(CodecError):
        decode(data)


def test_bytes_that_are_too_short_or_too_long_are_refused() -> None:
    data = stored()
    for wrong in [*(data[:end] for end in range(len(data))), data + b"\0"]:
        with pytest.raises(CodecError):
            decode(wrong)


def test_damaged_bytes_raise_a_codec_error_or_decode() -> None:
    """Whatever the bytes, there is no other error."""
    rng = Random(0)
    data = stored()
    refused = 0
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 1, 3))):
            damaged[rng.randrange(4, len(data))] = rng.randrange(256)
        try:
            decode(bytes(damaged))
        except CodecError:
            refused += 1
    assert refused > 1000
