"""Opens thousands of watches in one server process and says what each costs: `make watch-scale N=10000`.

The server, the store and the clients are processes of their own. What a watch costs is compared with what an empty
stream handler of grpc.aio costs, opened by the same clients.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager
from pathlib import Path
from typing import Any

import grpc.aio
import psutil
import uvloop
from grpc_health.v1 import health_pb2, health_pb2_grpc

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_service import logs
from tests.service.client import SERVICE, Client, Game
from tests.service.servers import start_server
from tests.support.servers import running, valkey_program

PER_CHANNEL = 100  # streams of one connection
GAMES = 100
SETTLE_SECONDS = 3.0  # for what has ended to be given back
EMPTY = "moonvale.tests.Empty"


async def serve(url: str, folder: Path) -> None:
    """Serve the service, and beside it an empty handler, until standard input is closed."""
    logs.configure("error")
    server = await start_server(
        url, folder, heartbeat="1h", poll="1h", watch_age="1d", spectator_watches="0", watches="0"
    )
    bare = grpc.aio.server()

    async def nothing(_request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        await context.write(b"first")
        await asyncio.Event().wait()

    handlers: Any = {"Wait": grpc.unary_stream_rpc_method_handler(nothing)}
    bare.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(EMPTY, handlers),))
    port = bare.add_insecure_port("127.0.0.1:0")
    await bare.start()
    print(server.address, f"127.0.0.1:{port}", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await bare.stop(0)
    await server.stop()


class Streams:
    """Open streams, on a connection for each hundred."""

    def __init__(self, address: str, method: str) -> None:
        self._address = address
        self._method = method
        self._channels: list[grpc.aio.Channel] = []
        self._calls: list[grpc.aio.UnaryStreamCall[bytes, bytes]] = []

    async def open(self, requests: list[tuple[bytes, str]]) -> None:
        """Open one for each request and credential, and get the first message of each."""
        for start in range(0, len(requests), PER_CHANNEL):
            channel = grpc.aio.insecure_channel(self._address, (("grpc.use_local_subchannel_pool", 1),))
            self._channels.append(channel)
            method: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(self._method)
            calls = [
                method(request, metadata=(("authorization", f"Bearer {credential}"),))
                for request, credential in requests[start : start + PER_CHANNEL]
            ]
            self._calls += calls
            for first in await asyncio.gather(*(call.read() for call in calls)):
                assert isinstance(first, bytes)

    async def next_of(self, numbers: list[int]) -> None:
        """Get the next message of some of them."""
        for message in await asyncio.gather(*(self._calls[i].read() for i in numbers)):
            assert isinstance(message, bytes)
            assert pb.WatchGameResponse.FromString(message).HasField("entry")

    async def close(self) -> None:
        """Give all up."""
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*(channel.close() for channel in self._channels))
        await asyncio.sleep(SETTLE_SECONDS)


async def health_of(address: str, answers: list[float]) -> None:
    """Ask for health over and over, and keep how long each answer took."""
    async with grpc.aio.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),)) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        while True:
            began = time.perf_counter()
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=SERVICE), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
            answers.append(time.perf_counter() - began)
            await asyncio.sleep(0.05)


async def act(client: Client, games: list[Game]) -> None:
    """Have each game go on by one action."""
    for game in games:
        seat = (await client.view(game.name, game.spectator)).decision.seat
        view = await client.view(game.name, game.seats[seat])
        action = random.Random(1).choice(view.decision.legal_actions)
        await client.submit(game.name, game.seats[seat], [action], view.version)


@contextmanager
def server_process(url: str, folder: str) -> Iterator[tuple[psutil.Process, str, str]]:
    """A started server, and the addresses of the service and of the empty handler."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.service.watch_scale", "serve", url, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        address, empty = process.stdout.readline().split()
        yield psutil.Process(process.pid), address, empty
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def memory(process: psutil.Process) -> float:
    """The resident memory of a process, in KiB."""
    return float(process.memory_info().rss) / 1024


async def measure_empty(count: int, server: psutil.Process, address: str) -> float:
    """Open so many empty streams, and return what each costs, in KiB."""
    requests = [(b"", "")] * count
    warm_up = Streams(address, f"/{EMPTY}/Wait")
    await warm_up.open(requests[:GAMES])
    await warm_up.close()
    before = memory(server)
    bare = Streams(address, f"/{EMPTY}/Wait")
    await bare.open(requests)
    each = (memory(server) - before) / count
    await bare.close()
    print(f"{count} empty streams of grpc.aio: {each:.1f} KiB each")
    return each


async def measure(count: int, server: psutil.Process, address: str, each_bare: float) -> float:
    """Open so many watches, have all games go on, close them, and print what they cost; return the KiB of each."""
    async with Client(address) as client:
        games = [await client.create(pb.CreateGameRequest(options=Options(players=4))) for _ in range(GAMES)]
        requests = []
        for i in range(count):
            game = games[i % GAMES]
            requests.append((pb.WatchGameRequest(name=game.name).SerializeToString(), game.spectator))
        warm_up = Streams(address, f"/{SERVICE}/WatchGame")
        await warm_up.open(requests[:GAMES])
        await warm_up.close()
        before = memory(server)
        health: list[float] = []
        asking = asyncio.create_task(health_of(address, health))
        watches = Streams(address, f"/{SERVICE}/WatchGame")
        began = time.perf_counter()
        await watches.open(requests)
        print(f"{count} watches of {GAMES} games opened in {time.perf_counter() - began:.1f} s")
        each = (memory(server) - before) / count
        print(f"{count} watches: {each:.1f} KiB each, {each / each_bare:.2f} times an empty stream")
        began = time.perf_counter()
        await act(client, games)
        await watches.next_of(list(range(count)))
        print(f"one action in each game told to all watchers in {time.perf_counter() - began:.1f} s")
        asking.cancel()
        await asyncio.wait([asking])
        if not asking.cancelled():
            asking.result()
        health.sort()
        print(
            f"meanwhile health was answered {len(health)} times,"
            f" half of them within {1000 * health[len(health) // 2]:.0f} ms, the slowest in {1000 * health[-1]:.0f} ms"
        )
        first = memory(server)
        await watches.close()
        print(
            f"memory: {before / 1024:.0f} MiB before, {first / 1024:.0f} with them, {memory(server) / 1024:.0f} closed"
        )
        again = Streams(address, f"/{SERVICE}/WatchGame")
        await again.open(requests)
        second = memory(server)
        await again.close()
        print(f"opened and closed again: {second / 1024:.0f} MiB with them, {memory(server) / 1024:.0f} closed")
        return each


async def measure_turns(count: int, server: psutil.Process, address: str) -> float:
    """Watch the turns of so many seats, all seats of the games on each stream; return the KiB of each seat."""
    async with Client(address) as client:
        games = [await client.create(pb.CreateGameRequest(options=Options(players=4))) for _ in range(GAMES)]
        seats = [(game.name, credential) for game in games for credential in game.seats]
        each = 0.0
        for streams in (1, max(1, count // len(seats))):  # the first one to warm up
            before = memory(server)
            async with AsyncExitStack() as stack:
                began = time.perf_counter()
                for _ in range(streams):
                    messages = await stack.enter_async_context(aclosing(client.turns(seats)))
                    for _ in games:
                        assert (await anext(messages)).HasField("turn")
                seconds = time.perf_counter() - began
                each = (memory(server) - before) / streams / len(seats)
            await asyncio.sleep(SETTLE_SECONDS)
    print(
        f"{streams} streams of turns, each of {len(seats)} seats: {each:.1f} KiB each seat, opened in {seconds:.1f} s"
    )
    return each


def raise_file_limit() -> None:
    """Let this process and those it starts open as many files as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main(count: int) -> None:
    raise_file_limit()
    with running(valkey_program()) as store, tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        with server_process(store.url, folder) as (process, _, empty):
            each_bare = uvloop.run(measure_empty(count, process, empty))
        with server_process(store.url, folder) as (process, address, _):
            uvloop.run(measure(count, process, address, each_bare))
        with server_process(store.url, folder) as (process, address, _):
            uvloop.run(measure_turns(count, process, address))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        uvloop.run(serve(sys.argv[2], Path(sys.argv[3])))
    else:
        main(int(sys.argv[1]))
