"""The codec refuses what it does not know, and damaged bytes, with an error of their own."""

from collections.abc import Callable
from random import Random

import pytest

from moonvale_engine import CodecError, State, UnknownRulesError, decode, encode
from moonvale_engine.codec import as_encoded_now
from moonvale_engine.events import EVERYBODY
from moonvale_engine.options import DEMANDS
from moonvale_engine.state import CARDS
from tests.support.codec_1 import encode_1
from tests.support.playing import MEMORIES, positions, random_setup


def stored() -> bytes:
    states = positions(random_setup(4, players=3, rounds=4))
    for _ in range(50):
        s = next(states)
    return encode(s)


@pytest.mark.parametrize("seed", [351, 500, 667, 798])  # which have the largest ones of the first 800
def test_a_state_of_four_players_takes_at_most_400_bytes(seed: int) -> None:
    eye = {} if seed % 2 else {"token": "eye", "deck": ("eye",) * 14}
    memory = MEMORIES[seed // 2 % 2]
    setup = random_setup(seed, players=4, rounds=4, demands=DEMANDS, memory=memory, **eye)
    assert 370 < max(len(encode(s)) for s in positions(setup)) <= 400


def test_each_flag_and_mask_of_each_card_is_kept() -> None:
    s = decode(stored())
    for h in range(CARDS):
        for flags, known in ((0, 0), *[(1 << bit, 1 << bit % 5) for bit in range(8)], (255, EVERYBODY)):
            s.flags[h], s.known[h] = flags, known
            again = decode(encode(s))
            assert (again.flags, again.known) == (s.flags, s.known)
        s.flags[h], s.known[h] = h * 5 & 255, h * 7 % 32


def test_states_of_the_first_codec_are_read_as_the_same() -> None:
    for seed in range(12):
        for number, s in enumerate(positions(random_setup(seed))):
            if number % 20 == 0:
                first = encode_1(s)
                assert encode(decode(first)) == as_encoded_now(first) == encode(s)
                assert encode_1(decode(first)) == first
                assert len(first) > len(encode(s))


@pytest.mark.parametrize("at", [2, 3])
def test_another_codec_or_rules_version_is_refused_as_such(at: int) -> None:
    data = bytearray(stored())
    data[at] = 99
    with pytest.raises(UnknownRulesError, match="99"):
        decode(bytes(data))


@pytest.mark.parametrize("data", [b"", b"M", b"MV", b"XY\1\1", b"MV\1\1", b"MV\2\1", b"not a game at all"])
def test_other_bytes_are_no_game(data: bytes) -> None:
    with pytest.raises(CodecError):
        decode(data)


@pytest.mark.parametrize("write", [encode, encode_1])
def test_bytes_that_are_too_short_or_too_long_are_refused(write: Callable[[State], bytes]) -> None:
    data = write(decode(stored()))
    for wrong in [*(data[:end] for end in range(len(data))), data + b"\0"]:
        with pytest.raises(CodecError):
            decode(wrong)


@pytest.mark.parametrize("write", [encode, encode_1])
def test_damaged_bytes_raise_a_codec_error_or_decode(write: Callable[[State], bytes]) -> None:
    """Whatever the bytes, there is no other error."""
    rng = Random(0)
    data = write(decode(stored()))
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
