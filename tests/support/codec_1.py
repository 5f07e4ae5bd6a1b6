"""States as the first version of the codec stored them, which are read for ever."""

from moonvale_engine import State, encode


def encode_1(s: State) -> bytes:
    """Return the bytes that version 1 of the codec had for a state."""
    options = encode(s)[3 : encode(s).index(s.secret)]  # as they are now
    out = [b"MV\1", options, s.secret, bytes([len(s.entropy)]), *map(_chunk, s.entropy)]
    bits = s.token_active | s.ability_used << 1
    out.append(bytes((s.hand, s.put, s.active, s.holder, s.caller, s.over, bits, s.shuffles)))
    out += map(_number, (s.round, s.turn, s.extra_turns))
    out += (s.identity, bytes(s.flags), bytes(s.known))
    out += map(_chunk, (s.deck, s.pile, s.aside, s.stack, s.resigned, s.tucked, s.pool, s.excluded, *s.villages))
    out += [_number(number * 2 if number >= 0 else -number * 2 - 1) for number in (*s.totals, *s.scores)]
    return b"".join(out)


def _chunk(data: bytes) -> bytes:
    return _number(len(data)) + data


def _number(number: int) -> bytes:
    return bytes((number,)) if number < 128 else bytes((number & 127 | 128,)) + _number(number >> 7)
