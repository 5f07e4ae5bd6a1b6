"""Sends nonsense to every method: random bytes and mutated messages. `make fuzz-input N=300000`.

The service must refuse it with a reason that fits, never with INTERNAL or UNKNOWN; what was refused must not have
changed a byte in the store, whatever else was going on; and the service's memory must stay flat.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import grpc
import grpc.aio
import redis.asyncio as aioredis
import uvloop
from google.protobuf.message import Message

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action, DrawAction, PickAction
from moonvale.v1.card_pb2 import VillageSpot
from moonvale.v1.options_pb2 import Options
from moonvale_service.seats import entropy_commitment
from tests.chaos.mutations import mutate, random_bytes
from tests.service.client import SERVICE, Client, Game, failure, play
from tests.service.servers import running_service

BATCH: Final = 200  # calls between two looks at the store
FLAT_BYTES: Final = 40 * 1024 * 1024  # growth after the first tenth: a worker remembers 4,096 games, of 4 KiB each

HEARTBEAT: Final = "100ms"  # so that the fuzzer need not wait long for a stream to have told all

_AT_ONCE: Final = 32
_SECONDS: Final = 60.0
_FORBIDDEN: Final = (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
REQUESTS: Final[dict[str, type[Message]]] = {
    method.name: getattr(pb, method.input_type.name) for method in pb.DESCRIPTOR.services_by_name["GameService"].methods
}


_STREAMS: Final = ("WatchGame", "WatchTurns")
_OF_SEATS: Final = ("ClaimSeat", "LeaveSeat", "RevealEntropy", "ReclaimSeat", "Rematch")
_CHANGING: Final = frozenset({"CreateGame", "SubmitAction", "Resign", "DeleteGame", "RotateCredential", *_OF_SEATS})
#: Whose answers name the game that they have changed.
_NAMING: Final[dict[str, type[Any]]] = {
    "CreateGame": pb.CreateGameResponse,
    "ClaimSeat": pb.ClaimSeatResponse,
    "Rematch": pb.RematchResponse,
}
#: Whose credentials a method takes; nobody's: the creator key.
_CALLERS: Final[dict[str, Callable[[Game], list[str]]]] = {
    "CreateGame": lambda game: [],
    "SubmitAction": lambda game: game.seats,
    "LeaveSeat": lambda game: [game.creator, *filter(None, game.seats)],
    "RevealEntropy": lambda game: [*filter(None, game.seats)],
    "ReclaimSeat": lambda game: [*filter(None, game.seats)],
    "Rematch": lambda game: [*filter(None, game.seats), game.creator],
    "Resign": lambda game: game.seats,
    "DeleteGame": lambda game: [game.creator],
    "RotateCredential": lambda game: [game.creator, *game.seats],
}


class NonsenseAcceptedError(Exception):
    """The service did what it must not do; the message says with which bytes."""


#: What a key holds (of a game, its log, or the index of a shard's games), and when it expires (-1: never).
_Value = tuple[dict[Any, Any] | list[Any] | bytes, int]
_INDEX: Final = (b":i", b":d")  # how the keys end of an index, and of what is due
_ENTROPY: Final = bytes(range(32))


@dataclass(slots=True)
class Report:
    """How many calls ended how, and how many of them changed something, as a valid one may."""

    outcomes: Counter[str] = field(default_factory=Counter)
    changes: int = 0

    @property
    def calls(self) -> int:
        return self.outcomes.total()


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    request: bytes
    metadata: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.method}, request {self.request.hex() or 'of no bytes'}, metadata {self.metadata}"


class Fuzzer:
    """Sends calls to the service at an address, whose store is at hand as ``raw`` and holds nothing else."""

    def __init__(self, address: str, raw: aioredis.Redis, server_keys: tuple[str, str], rng: Random) -> None:
        self.report = Report()
        self._raw = raw
        self._rng = rng
        self._creator_key, self._operator_key = server_keys
        self._client = Client(address)
        self._channel = grpc.aio.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),))
        self._unary: dict[str, grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]] = {
            method: self._channel.unary_unary(f"/{SERVICE}/{method}") for method in REQUESTS
        }
        self._streams: dict[str, grpc.aio.UnaryStreamMultiCallable[bytes, bytes]] = {
            method: self._channel.unary_stream(f"/{SERVICE}/{method}") for method in _STREAMS
        }
        self._games: list[Game] = []
        self._corpus: list[tuple[str, bytes, Game]] = []
        self._kept: dict[bytes, _Value] = {}

    async def prepare(self) -> None:
        """Create the games that are called upon: over, amid a turn, sealed, new, deleted."""
        client = self._client
        short = Options(players=2, rounds=1, turn_limit=12)
        sealed = pb.CreateGameRequest(options=short)
        sealed.seal_replay_until.FromJsonString("2999-01-01T00:00:00Z")
        requests = [pb.CreateGameRequest(options=short), pb.CreateGameRequest(), sealed]
        self._games = [await client.create(request) for request in [*requests, *requests[:2]]]
        for game, moves in zip(self._games, (None, 20, None, 0, 0), strict=True):
            await play(client, game, seed=1, moves=moves)
            self._corpus += [(method, request, game) for method, request in await self._valid(game)]
        for game in self._games[-2:]:  # were all games deleted in every batch, little else would be met
            for method, request in (
                ("DeleteGame", pb.DeleteGameRequest(name=game.name)),
                ("RotateCredential", pb.RotateCredentialRequest(name=game.name, seat=0, request_id="rotate" * 4)),
                ("RotateCredential", pb.RotateCredentialRequest(name=game.name, request_id="rotate" * 5)),
            ):
                self._corpus.append((method, request.SerializeToString(), game))
        await self._prepare_seats()
        # One that succeeds asks all shards, so there are few.
        self._corpus.append(("ListGames", pb.ListGamesRequest(page_size=3).SerializeToString(), self._games[0]))
        deleted = self._games[4]
        await client.delete(deleted.name, deleted.creator)
        self._kept = await self._stored()

    async def _prepare_seats(self) -> None:
        """Create games that wait for players and for entropy, and call upon all for their seats."""
        committed = pb.SeatSetup(entropy_commitment=entropy_commitment(_ENTROPY))
        player = pb.SeatSetup(name="Ben", labels={"a": "b"}, entropy_commitment=entropy_commitment(_ENTROPY))
        three = Options(players=3, rounds=1, turn_limit=12)
        seats = [committed, committed, pb.SeatSetup(open=True)]
        waiting = await self._client.create(pb.CreateGameRequest(options=three, seats=seats, with_join_code=True))
        revealing = await self._client.create(
            pb.CreateGameRequest(options=Options(players=2), seats=[committed, committed])
        )
        over, played = self._games[:2]
        claim = pb.ClaimSeatRequest(join_code=waiting.join_code, seat=2, player=player, request_id="claim a seat" * 2)
        requests: list[tuple[str, Message, Game]] = [
            ("ClaimSeat", pb.ClaimSeatRequest(name=name), waiting) for name in ("games/-", waiting.name)
        ]
        for _, request, _ in requests:
            request.MergeFrom(claim)
        requests += [
            ("LeaveSeat", pb.LeaveSeatRequest(name=waiting.name, seat=0), waiting),
            ("LeaveSeat", pb.LeaveSeatRequest(name=waiting.name), waiting),
            ("RevealEntropy", pb.RevealEntropyRequest(name=revealing.name, entropy=_ENTROPY), revealing),
            ("ReclaimSeat", pb.ReclaimSeatRequest(name=played.name), played),
            ("Rematch", pb.RematchRequest(name=over.name, number=9), over),
            ("Rematch", pb.RematchRequest(name=over.name, entropy_commitment=entropy_commitment(_ENTROPY)), over),
            ("GetView", pb.GetViewRequest(name=waiting.name), waiting),
            ("Resign", pb.ResignRequest(name=revealing.name), revealing),
        ]
        self._corpus += [(method, request.SerializeToString(), game) for method, request, game in requests] * 2
        self._games += [waiting, revealing]

    async def close(self) -> None:
        """Close the connections."""
        await self._channel.close()
        await self._client.__aexit__(None, None, None)

    async def run_batch(self, count: int) -> None:
        """Send calls, and see what has changed in the store. Raises NonsenseAcceptedError."""
        calls = [self._call() for _ in range(count)]
        waiting = iter(calls)
        changed: set[str] = set()

        async def send() -> None:
            for call in waiting:
                changed.update(await self._send(call))

        await asyncio.gather(*(send() for _ in range(_AT_ONCE)))
        stored = await self._stored()
        for key in self._kept.keys() | stored.keys():
            if self._kept.get(key) == stored.get(key):
                continue
            if not _games_of(key, self._kept.get(key), stored.get(key)) <= changed:
                listed = "\n".join([str(call) for call in calls if call.method in _CHANGING])
                before, now = self._kept.get(key), stored.get(key)
                raise NonsenseAcceptedError(f"no call has changed {key!r}, but it was {before} and is {now}:\n{listed}")
            self.report.changes += 1
            await self._put_back(key)

    async def _valid(self, game: Game) -> list[tuple[str, bytes]]:
        """Return requests that can be carried out, at least for the right caller and at the right time."""
        view = await self._client.view(game.name, game.spectator)
        page = await self._client.events(game.name, game.spectator, page_size=2)
        requests: list[tuple[str, Message]] = [
            ("CreateGame", pb.CreateGameRequest()),
            ("CreateGame", _full_request(self._rng)),
            ("GetView", pb.GetViewRequest(name=game.name)),
            ("WatchGame", pb.WatchGameRequest(name=game.name, after_version=0, after_mark=game.view.mark)),
            (
                "WatchTurns",
                pb.WatchTurnsRequest(
                    seats=[pb.WatchedSeat(name=game.name, credential=each) for each in game.all_credentials]
                ),
            ),
            ("ListEvents", pb.ListEventsRequest(parent=game.name, page_size=3, page_token=page.next_page_token)),
            ("GetReplay", pb.GetReplayRequest(name=game.name)),
            ("Resign", pb.ResignRequest(name=game.name)),
            ("GetCatalog", pb.GetCatalogRequest()),
            ("GetServerInfo", pb.GetServerInfoRequest()),
        ]
        actions = [Action(draw=DrawAction()), Action(pick=PickAction(card=VillageSpot(seat=1, spot=0)))]
        if view.HasField("decision"):
            mine = await self._client.view(game.name, game.seats[view.decision.seat])
            actions += mine.decision.legal_actions[:4]
        requests += [
            (
                "SubmitAction",
                pb.SubmitActionRequest(name=game.name, actions=chosen, version=view.version, request_id="r"),
            )
            for chosen in ([actions[-1]], actions[:1], actions)
        ]
        return [(method, request.SerializeToString()) for method, request in requests]

    def _call(self) -> _Call:
        rng = self._rng
        method, request, game = rng.choice(self._corpus)
        request = random_bytes(rng) if rng.random() < 0.1 else mutate(REQUESTS[method], request, rng)
        return _Call(method, request, self._metadata(method, game))

    def _metadata(self, method: str, game: Game) -> tuple[tuple[str, str], ...]:
        """Return a caller's credentials: such that may call mostly, but also others, none, several, and nonsense."""
        rng = self._rng
        callers = _CALLERS[method](game) if method in _CALLERS else [*filter(None, game.all_credentials)]
        if method == "ListGames":
            callers = [self._operator_key]
        token = rng.choice([caller for caller in callers if caller] or [self._creator_key])
        if rng.random() < 0.1:
            token = rng.choice([*filter(None, rng.choice(self._games).all_credentials), self._creator_key])
        dice = rng.random()
        if dice < 0.03:
            return ()
        if dice < 0.05:
            return (("authorization", f"Bearer {token}"), ("authorization", f"Bearer {game.creator}"))
        if dice < 0.1:
            at = rng.randrange(len(token))
            token = rng.choice(
                (token[:at] + chr(rng.randrange(33, 127)) + token[at + 1 :], token[:at], token * 9, "mv1..")
            )
        scheme = rng.choice(("Bearer ", "bearer ", "Basic ", "")) if dice > 0.97 else "Bearer "
        return (("authorization", f"{scheme}{token}"),)

    async def _send(self, call: _Call) -> set[str]:
        """Make a call, and return the ids of the games that it may have changed. Raises NonsenseAcceptedError."""
        answer = b""
        try:
            if call.method in _STREAMS:
                await self._watch(call)
            else:
                answer = await self._unary[call.method](call.request, metadata=call.metadata, timeout=_SECONDS)
        except grpc.aio.AioRpcError as error:
            refused = failure(error)
            self.report.outcomes[f"{call.method} {refused.code.name} {refused.reason}"] += 1
            if refused.code in _FORBIDDEN or not refused.reason:
                raise NonsenseAcceptedError(f"{refused.code.name} ({refused.message}) for {call}") from None
            return set()
        self.report.outcomes[f"{call.method} OK"] += 1
        if call.method in _NAMING:
            return {_NAMING[call.method].FromString(answer).name.removeprefix("games/")}
        if call.method in _CHANGING:
            request: Any = REQUESTS[call.method].FromString(call.request)
            return {request.name.removeprefix("games/")}
        return set()

    async def _watch(self, call: _Call) -> None:
        """Watch until the first message, or the first silence if it is of turns; or until it is refused."""
        stream = self._streams[call.method](call.request, metadata=call.metadata, timeout=_SECONDS)
        try:
            while isinstance(message := await stream.read(), bytes) and call.method == "WatchTurns":
                told = pb.WatchTurnsResponse.FromString(message)
                if told.HasField("heartbeat"):
                    return
                if told.error.code in [code.value[0] for code in _FORBIDDEN]:
                    raise NonsenseAcceptedError(f"{told.error.message} of seat {told.index} for {call}")
        finally:
            stream.cancel()

    async def _stored(self) -> dict[bytes, _Value]:
        """Return all that the store holds, and when it expires."""
        keys = [key async for key in self._raw.scan_iter(count=1000)]
        async with self._raw.pipeline(transaction=True) as all_at_once:
            for key in keys:
                if b":g:" in key:
                    all_at_once.hgetall(key)
                elif key.endswith(_INDEX):
                    all_at_once.zrange(key, 0, -1, withscores=True)
                elif b":j:" in key:
                    all_at_once.get(key)
                else:
                    all_at_once.lrange(key, 0, -1)
                all_at_once.execute_command("PEXPIRETIME", key)
            found = await all_at_once.execute()
        return {key: (found[2 * i], found[2 * i + 1]) for i, key in enumerate(keys)}

    async def _put_back(self, key: bytes) -> None:
        """Have a game as it was before the calls."""
        value, expiry = self._kept.get(key, ({}, 0))
        async with self._raw.pipeline(transaction=True) as all_at_once:
            all_at_once.delete(key)
            if not value:
                pass
            elif key.endswith(_INDEX):
                assert isinstance(value, list)
                all_at_once.zadd(key, dict(value))
            elif isinstance(value, bytes):
                all_at_once.set(key, value)
            elif isinstance(value, list):
                all_at_once.rpush(key, *value)
            else:
                all_at_once.hset(key, mapping=value)
            if expiry > 0:
                all_at_once.pexpireat(key, expiry)
            await all_at_once.execute()


def _games_of(key: bytes, before: _Value | None, now: _Value | None) -> set[str]:
    """Return the ids of the games that a change of a key is about."""
    if b":j:" in key:  # a join code means a game
        return {value[0].decode() for value in (before, now) if value is not None and isinstance(value[0], bytes)}
    if not key.endswith(_INDEX):
        return {key.decode().rpartition(":")[2]}
    members = [
        {member.decode() for member, _ in value[0]} if value and isinstance(value[0], list) else set[str]()
        for value in (before, now)
    ]
    return members[0] ^ members[1]


def _full_request(rng: Random) -> pb.CreateGameRequest:
    """Return a request of a new game in which every field is set."""
    request = pb.CreateGameRequest(
        options=Options(players=2, deck="coin,3=coin", token="coin", rounds=2, turn_limit=40),
        seats=[pb.SeatSetup(name="Ann", labels={"rating": "1510"}), pb.SeatSetup(name="Ben")],
        labels={"a": "b"},
        external_id="mine",
        request_id="a request id of the caller's",
        deal=pb.Deal(secret=rng.randbytes(32), villages=[1, 0]),
    )
    request.seal_replay_until.FromJsonString("2999-01-01T00:00:00Z")
    return request


async def _run(count: int, seed: int, show: Callable[[str], None]) -> Report:
    """Send so many calls to a service of its own. Raises NonsenseAcceptedError.

    It has no steward: one that begins a game whose reveals are due would change records without a call.
    """
    with running_service(workers="1", log_level="error", heartbeat=HEARTBEAT, stewards="0") as service:
        (worker,) = service.workers()
        creator_key, operator_key = (
            (service.folder / "data" / name).read_text(encoding="ascii").strip()
            for name in ("creator_key", "operator_key")
        )
        socket = service.folder / "data/run/store.sock"
        async with aioredis.Redis.from_url(f"unix://{socket}") as raw:
            fuzzer = Fuzzer(service.address, raw, (creator_key, operator_key), Random(seed))
            await fuzzer.prepare()
            settled = 0
            shown = time.monotonic()
            while fuzzer.report.calls < count:
                await fuzzer.run_batch(min(BATCH, count - fuzzer.report.calls))
                memory = worker.memory_info().rss
                if fuzzer.report.calls >= count / 10 and not settled:
                    settled = memory
                if time.monotonic() - shown > 2:
                    shown = time.monotonic()
                    show(f"{fuzzer.report.calls} of {count} calls, the worker has {memory >> 20} MB")
            await fuzzer.close()
        if memory > settled + FLAT_BYTES:
            raise NonsenseAcceptedError(f"the worker's memory grew from {settled >> 20} MB to {memory >> 20} MB")
        show(f"The worker had {settled >> 20} MB after a tenth of the calls, and {memory >> 20} MB at the end.")
        if service.log_text():
            raise NonsenseAcceptedError(f"the service logged:\n{service.log_text()}")
    return fuzzer.report


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.fuzz_input", description=__doc__)
    parser.add_argument("calls", type=int, nargs="?", default=200_000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="the seed of the mutations (default: a random one, which is printed)")
    arguments = parser.parse_args()
    seed = secrets.randbelow(1 << 32) if arguments.seed is None else arguments.seed
    print(f"Seed {seed}", flush=True)
    try:
        report = uvloop.run(_run(arguments.calls, seed, lambda line: print(line, flush=True)))
    except NonsenseAcceptedError as error:
        print(f"FAILED: {error}")
        return 1
    for outcome, number in sorted(report.outcomes.items()):
        print(f"{number:8} {outcome}")
    print(f"{report.calls} calls, none INTERNAL or UNKNOWN; {report.changes} changes, each by a call that succeeded.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
