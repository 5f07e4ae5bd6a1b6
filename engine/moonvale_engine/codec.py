"""The codec: a state as a short string of bytes, behind a header that rejects what this engine does not know."""

from __future__ import annotations

from functools import lru_cache

from moonvale_engine import catalog, play
from moonvale_engine.deck import FACES
from moonvale_engine.errors import CodecError, EngineError, UnknownRulesError
from moonvale_engine.events import EVERYBODY, NOBODY, OVER_BY_ROUNDS, UNKNOWN
from moonvale_engine.options import DECKS, DEMANDS, MEMORIES, SUCCESSFUL_CALLS, TOKENS, Options
from moonvale_engine.rules import Rules
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_engine.state import (
    BYTES,
    CARDS,
    FACEUP,
    FLIPPED,
    FRAME,
    HIDDEN,
    NOTHING_NOTED,
    POOLED,
    SIDEWAYS,
    SPENT,
    SPOTTED,
    USED,
    State,
    drop_frames,
    new_state,
    set_stack,
)

MAGIC = b"MV"
CODEC_VERSION = 2
READ_VERSIONS = (1, 2)  # of the codec: 1 had a byte for each part of a card, a frame and an exclusion
_HEADER_BYTES = 4  # MAGIC, the version of the codec, and that of the rules that the game is played by

_FRAME_HEAD = FRAME - len(NOTHING_NOTED)
_NOBODYS = BYTES[NOBODY]
_SAME_NUMBERS = 128  # with a handle: it has no number that the one before hasn't
_PASSING = (USED, FLIPPED, SPOTTED)  # flags of few cards, and not for long
_HANDLE = 63  # the bits of a handle


def _each(byte: int) -> int:
    return int.from_bytes(bytes((byte,)) * CARDS, "little")


# Two bytes for each card: its face with two flags, and who knows it with three more.
_FACES = _each(FACES - 1)
_FACING = _each(FACEUP | SIDEWAYS)
_KNOWN = _each(EVERYBODY)
_IN_PLACE = _each(POOLED | HIDDEN)
_SPENT = _each(SPENT)
_ANY_PASSING = _each(USED | FLIPPED | SPOTTED)
_FACE_OF = bytes([UNKNOWN if face == UNKNOWN & FACES - 1 else face for face in range(256)])


def encode(s: State) -> bytes:
    """Return the bytes of a state (about 275 for four players). They hold the secret and every card."""
    out = [_head(s), s.secret, BYTES[len(s.entropy)]]
    for part in s.entropy:
        _put_bytes(out, part)
    bits = s.token_active | s.ability_used << 1
    out.append(bytes((s.hand, s.put, s.active, s.holder, s.caller, s.over, bits, s.shuffles)))
    for number in (s.round, s.turn, s.extra_turns):
        _put_int(out, number)
    _put_cards(out, s)
    _put_frames(out, s.stack)
    _put_excluded(out, s.excluded)
    for zone in (s.deck, s.pile, s.aside, s.resigned, s.tucked, s.pool):
        _put_bytes(out, zone)
    for village in s.villages:
        _put_bytes(out, village)
    for points in (s.totals, s.scores):
        for number in points:
            _put_int(out, number * 2 if number >= 0 else -number * 2 - 1)
    return b"".join(out)


def decode(data: bytes) -> State:
    """Return the state of encoded bytes.

    Raises UnknownRulesError for a codec or rules version that this engine does not know, CodecError for damaged bytes.
    """
    rules = rules_of_stored(data)
    try:
        s = _decode(_Reader(data), rules)
        if sorted([*s.deck, *s.pile, *s.aside, *b"".join(s.villages), *s.hand_cards(), *s.tucked[1::2]]) != list(
            range(CARDS)
        ):
            raise CodecError("damaged: the zones do not hold each card once")
        if len(s.tucked) % 2 or len(s.pool) % 2 or len(s.excluded) % 3:
            raise CodecError("damaged: pairs or triples are not whole")
        play.open_decision(s)
    except (IndexError, ValueError) as error:
        if isinstance(error, CodecError):
            raise
        raise CodecError("damaged: the bytes are not those of a state") from error
    return s


def rules_of_stored(data: bytes) -> Rules:
    """Return the rules of encoded bytes, of which nothing else is read. Raises what ``decode`` raises."""
    if data[:2] != MAGIC or len(data) < _HEADER_BYTES:
        raise CodecError("not a stored game")
    if data[2] not in READ_VERSIONS:
        raise UnknownRulesError("codec", data[2], READ_VERSIONS)
    return catalog.rules_of(data[3])


def as_encoded_now(data: bytes) -> bytes:
    """Return encoded bytes as the present codec writes the same state. Raises what ``decode`` raises."""
    return data if data[2:3] == BYTES[CODEC_VERSION] else encode(decode(data))


def _decode(reader: _Reader, rules: Rules) -> State:
    options = _decode_options(reader.options(), rules.version)
    secret = reader.take(SECRET_BYTES)
    entropy = tuple([reader.chunk() for _ in range(reader.byte())])
    numbers = reader.take(8)
    over = numbers[5]
    round, turn, extra_turns = reader.number(), reader.number(), reader.number()
    if reader.data[2] == 1:
        identity, flags, known = reader.take(CARDS), bytearray(reader.take(CARDS)), bytearray(reader.take(CARDS))
        deck, pile, aside, stack = reader.chunk(), reader.chunk(), reader.chunk(), reader.chunk()
        resigned, tucked, pool, excluded = reader.chunk(), reader.chunk(), reader.chunk(), reader.chunk()
    else:
        identity, flags, known = reader.cards()
        stack, excluded = reader.frames(), reader.excluded()
        deck, pile, aside = reader.chunk(), reader.chunk(), reader.chunk()
        resigned, tucked, pool = reader.chunk(), reader.chunk(), reader.chunk()
    villages = [reader.chunk() for _ in range(options.players)]
    finished = round if over == OVER_BY_ROUNDS else round - 1
    totals = tuple([reader.signed() for _ in range(options.players)])
    scores = tuple([reader.signed() for _ in range(options.players * finished)])
    if not reader.at_end():
        raise CodecError("damaged: there are bytes left over")
    if len(stack) % FRAME or (len(stack) > 0) != (over == NOBODY):
        raise CodecError("damaged: the frames are not well formed")
    s = new_state(options, rules, secret, entropy)
    s.identity, s.flags, s.known = identity, flags, known
    s.deck, s.pile, s.aside, s.villages = deck, pile, aside, villages
    s.resigned, s.totals, s.scores = resigned, totals, scores
    s.hand, s.put, s.active, s.holder, s.caller, s.over, bits, s.shuffles = numbers
    s.token_active, s.ability_used = bits & 1 != 0, bits >> 1 & 1 != 0
    s.round, s.turn, s.extra_turns = round, turn, extra_turns
    s.tucked, s.pool, s.excluded = tucked, pool, excluded
    if stack:
        set_stack(s, stack)
    else:
        drop_frames(s)
    return s


def _put_int(out: list[bytes], number: int) -> None:
    while number > 127:
        out.append(BYTES[number & 127 | 128])
        number >>= 7
    out.append(BYTES[number])


def _put_bytes(out: list[bytes], chunk: bytes) -> None:
    _put_int(out, len(chunk))
    out.append(chunk)


def _put_cards(out: list[bytes], s: State) -> None:
    flags = int.from_bytes(s.flags, "little")
    faces = int.from_bytes(s.identity, "little") & _FACES | (flags & _FACING) << 6
    known = int.from_bytes(s.known, "little") | flags & _IN_PLACE | (flags & _SPENT) << 2
    out += (faces.to_bytes(CARDS, "little"), known.to_bytes(CARDS, "little"))
    _put_bytes(out, _passing(s.flags) if flags & _ANY_PASSING else b"")


def _passing(flags: bytearray) -> bytes:
    """Return a byte for each passing flag of each handle."""
    return bytes([h | which << 6 for h in range(CARDS) for which in range(3) if flags[h] & _PASSING[which]])


def _put_frames(out: list[bytes], stack: bytes) -> None:
    out.append(BYTES[len(stack) // FRAME])
    for at in range(0, len(stack), FRAME):
        noted = stack[at + _FRAME_HEAD : at + FRAME].rstrip(_NOBODYS)
        out += (stack[at : at + _FRAME_HEAD], BYTES[len(noted)], noted)


def _put_excluded(out: list[bytes], excluded: bytes) -> None:
    _put_int(out, len(excluded) // 3)
    before = b""
    for at in range(0, len(excluded), 3):
        numbers = excluded[at + 1 : at + 3]
        if numbers == before:
            out.append(BYTES[excluded[at] | _SAME_NUMBERS])
        else:
            out.append(excluded[at : at + 3])
        before = numbers


def _head(s: State) -> bytes:
    """Return what stored states of games with the same options begin with."""
    types = s.types
    if types.options is not s.options:
        return _encode_options(s.options)
    if not types.options_bytes:
        types.options_bytes = _encode_options(s.options)
    return types.options_bytes


def _encode_options(options: Options) -> bytes:
    out = [MAGIC, BYTES[CODEC_VERSION], BYTES[options.rules]]
    out += (BYTES[options.players], BYTES[options.rounds], BYTES[options.turn_limit])
    out.append(BYTES[MEMORIES.index(options.memory) | SUCCESSFUL_CALLS.index(options.successful_call) << 1])
    out.append(BYTES[TOKENS.index(options.token) | options.deal_supplied << 7])
    out.append(bytes(options.villages))
    deck = sum(DECKS.index(name) << number for number, name in enumerate(options.deck))
    out.append(deck.to_bytes(2, "little"))
    demands = () if options.demands == DEMANDS else options.demands
    out.append(BYTES[len(demands)])
    for demand in demands:
        _put_bytes(out, demand.encode())
    return b"".join(out)


@lru_cache(maxsize=256)
def _decode_options(data: bytes, rules: int) -> Options:
    """Return the options that a stored state has these bytes for. Raises CodecError."""
    reader = _Reader(data, 0)
    players, rounds, turn_limit, choices, token = reader.take(5)
    villages = tuple(reader.take(players))
    deck = int.from_bytes(reader.take(2), "little")
    demands = tuple([reader.chunk().decode("ascii") for _ in range(reader.byte())]) or DEMANDS
    try:
        return Options(
            players=players,
            deck=tuple([DECKS[deck >> number & 1] for number in range(14)]),
            token=TOKENS[token & 127],
            rounds=rounds,
            turn_limit=turn_limit,
            memory=MEMORIES[choices & 1],
            successful_call=SUCCESSFUL_CALLS[choices >> 1],
            demands=demands,
            villages=villages,
            deal_supplied=token >> 7 != 0,
            rules=rules,
        )
    except EngineError as error:
        raise CodecError(f"damaged: {error}") from error


class _Reader:
    """Reads what the _put functions wrote; raises IndexError at the end of the bytes."""

    def __init__(self, data: bytes, at: int = _HEADER_BYTES) -> None:
        self.data = data
        self.at = at

    def at_end(self) -> bool:
        return self.at == len(self.data)

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise IndexError
        chunk = self.data[self.at : end]
        self.at = end
        return chunk

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def signed(self) -> int:
        number = self.number()
        return -(number + 1 >> 1) if number & 1 else number >> 1

    def chunk(self) -> bytes:
        return self.take(self.number())

    def options(self) -> bytes:
        """Take the bytes that the options have."""
        start = self.at
        players = self.take(5)[0]
        self.take(players + 2)
        for _ in range(self.byte()):
            self.chunk()
        return self.data[start : self.at]

    def cards(self) -> tuple[bytes, bytearray, bytearray]:
        """Take the faces, the flags and the masks of who knows them, of all cards."""
        faces = int.from_bytes(self.take(CARDS), "little")
        known = int.from_bytes(self.take(CARDS), "little")
        numbers = faces >> 6 & _FACING | known & _IN_PLACE | known >> 2 & _SPENT
        flags = bytearray(numbers.to_bytes(CARDS, "little"))
        for byte in self.chunk():
            flags[byte & _HANDLE] |= _PASSING[byte >> 6]
        identity = (faces & _FACES).to_bytes(CARDS, "little").translate(_FACE_OF)
        return identity, flags, bytearray((known & _KNOWN).to_bytes(CARDS, "little"))

    def frames(self) -> bytes:
        """Take the stack, each frame as long as any other."""
        frames: list[bytes] = []
        for _ in range(self.byte()):
            frame = self.take(_FRAME_HEAD)
            noted = self.chunk()
            if len(noted) > len(NOTHING_NOTED):
                raise CodecError("damaged: a frame notes too many cards")
            frames += (frame, noted, NOTHING_NOTED[len(noted) :])
        return b"".join(frames)

    def excluded(self) -> bytes:
        """Take the handles with the numbers that they can't have, as triples."""
        triples: list[bytes] = []
        numbers = b""
        for _ in range(self.number()):
            h = self.byte()
            if h & _SAME_NUMBERS == 0:
                numbers = self.take(2)
            triples += (BYTES[h & ~_SAME_NUMBERS], numbers)
        return b"".join(triples)
