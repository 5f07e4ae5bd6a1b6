"""A name server on the loopback, which says what a headless Service would: the addresses of all that is ready."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from ipaddress import IPv4Address
from types import TracebackType
from typing import Final, Self

NAME: Final = "moonvale-headless.test"

_HEADER: Final = struct.Struct("!6H")
_QUESTION: Final = struct.Struct("!2H")
_ANSWER: Final = struct.Struct("!3HIH4s")
_A, _IN = 1, 1
_FOUND, _NOTHING = 0x8580, 0x8583  # authoritative answers: there it is, and there is no such name
_TO_THE_QUESTION: Final = 0xC00C  # where an answer's name stands already


class Names(asyncio.DatagramProtocol):
    """Answers for ``NAME`` and nothing else. ``addresses``: what it has. ``asked``: how often it was asked for them."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.asked = 0
        self._transport: asyncio.DatagramTransport | None = None

    async def __aenter__(self) -> Self:
        self._transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: self, local_addr=("127.0.0.1", 0)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._transport is not None
        self._transport.close()

    def target(self, port: int) -> str:
        """Return what a client of gRPC is given to ask here."""
        assert self._transport is not None
        return f"dns://127.0.0.1:{self._transport.get_extra_info('sockname')[1]}/{NAME}:{port}"

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer one question."""
        assert self._transport is not None
        number = _HEADER.unpack_from(data)[0]
        end = data.index(b"\0", _HEADER.size) + 1
        question = data[_HEADER.size : end + _QUESTION.size]
        kind, _ = _QUESTION.unpack_from(data, end)
        known = list(_labels(data, _HEADER.size)) == NAME.split(".")
        answers = []
        if known and kind == _A:
            self.asked += 1
            answers = [
                _ANSWER.pack(_TO_THE_QUESTION, _A, _IN, 1, 4, IPv4Address(address).packed) for address in self.addresses
            ]
        header = _HEADER.pack(number, _FOUND if known else _NOTHING, 1, len(answers), 0, 0)
        self._transport.sendto(header + question + b"".join(answers), addr)


def _labels(data: bytes, at: int) -> Iterator[str]:
    while length := data[at]:
        yield data[at + 1 : at + 1 + length].decode("ascii").lower()
        at += 1 + length
