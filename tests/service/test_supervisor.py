"""The supervisor: starts store and workers, says when they are ready, restarts what ends, and stops in good order."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import grpc
import grpc.aio
import psutil
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from moonvale.v1.view_pb2 import View
from moonvale_service.settings import Settings
from moonvale_service.supervisor import join_text, reserve
from tests.service.client import Client, play
from tests.service.servers import Service, running_service
from tests.support.servers import StoreServer


def test_a_service_starts_serves_and_stops_without_a_trace() -> None:
    with running_service() as service:
        processes = service.process.children(recursive=True)
        assert len(service.workers()) == 2
        store = service.store()
        assert {os.getsid(child.pid) for child in processes} == {child.pid for child in processes}
        asyncio.run(_play_one(service))
        code = service.stop(signal.SIGINT)
        assert code == 0
        assert not [child for child in processes if child.is_running()]
        lines = service.log_lines()
        events = [line["event"] for line in lines if line["event"] != "call"]
        assert events.index("service_ready") > events.index("worker_started")
        assert events[-1] in ("worker_stopped", "steward_stopped")
        assert (events.count("worker_stopped"), events.count("steward_stopped")) == (2, 1)
        assert not [line for line in lines if line["level"] in ("error", "warning")]
        assert store.pid not in {line["pid"] for line in lines}
    assert "moonvale play --address" in service.printed
    assert f"supplies a deal needs the key in {service.folder}/data/creator_key." in service.printed
    assert f"lists all games, or deletes any, needs the key in {service.folder}/data/operator_key." in service.printed


async def _play_one(service: Service) -> None:
    async with Client(service.address) as client:
        game = await client.create()
        await play(client, game, seed=1, moves=5)


def test_games_are_still_there_when_the_service_starts_again() -> None:
    with running_service() as service:
        view = asyncio.run(_create_and_play(service))
        service.stop()
        service.start()
        game, credential, version, mark = view
        again = asyncio.run(_look(service, game, credential))
        assert (again.version, again.mark) == (version, mark)


async def _create_and_play(service: Service) -> tuple[str, str, int, str]:
    async with Client(service.address) as client:
        game = await client.create()
        view = await play(client, game, seed=1, moves=5)
        return game.name, game.seats[0], view.version, view.mark


async def _look(service: Service, game: str, credential: str) -> View:
    async with Client(service.address) as client:
        return await client.view(game, credential)


def test_a_worker_that_ends_is_started_again() -> None:
    with running_service(workers="1") as service:
        (first,) = service.workers()
        first.kill()
        asyncio.run(_play_one(service))
        (second,) = service.workers()
        assert second.pid != first.pid
        service.stop()
        ended = [line for line in service.log_lines() if line["event"] == "worker_ended"]
        assert [(line["worker"], line["code"], line["level"]) for line in ended] == [(0, -signal.SIGKILL, "error")]


def test_workers_end_when_their_supervisor_is_killed() -> None:
    with running_service() as service:
        workers = service.workers()
        store = service.store()
        service.kill()
        _, alive = psutil.wait_procs(workers, 20)
        assert not alive
        assert store.is_running()
        # The next service on the same folder ends the store that was left over, and goes on.
        service.start()
        asyncio.run(_play_one(service))
        assert service.stop() == 0
        assert not [worker for worker in workers if worker.is_running()]


def test_a_second_signal_ends_calls_that_would_last_longer() -> None:
    with running_service(grace="1h", workers="1") as service:
        (worker,) = service.workers()
        worker.suspend()  # it will not drain
        service.process.terminate()
        while "service_draining" not in service.log_text():
            pass
        assert service.stop() == 0
        assert not worker.is_running()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can give a process a core of its own")
def test_workers_can_have_a_core_each() -> None:
    with running_service(pin_workers="true") as service:
        cores = sorted(os.sched_getaffinity(0))
        pinned = [worker.cpu_affinity() for worker in sorted(service.workers(), key=lambda worker: worker.cmdline())]
        assert pinned == [[cores[0]], [cores[1 % len(cores)]]]


def test_health_and_reflection_answer_on_the_same_port() -> None:
    with running_service(workers="1") as service, grpc.insecure_channel(service.address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        for name in ("", "moonvale.v1.GameService"):
            answer = check(health_pb2.HealthCheckRequest(service=name), timeout=20)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        reflection = ProtoReflectionDescriptorDatabase(channel)
        assert "moonvale.v1.GameService" in reflection.get_services()
        described = reflection.FindFileContainingSymbol("moonvale.v1.GameService")
        assert described.name == "moonvale/v1/game_service.proto"


def run(**settings: str) -> subprocess.CompletedProcess[str]:
    """Run a service that must end by itself."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")},
        "MOONVALE_HTTP_LISTEN": "127.0.0.1:0",
        **{f"MOONVALE_{name.upper()}": value for name, value in settings.items()},
    }
    return subprocess.run(
        [sys.executable, "-m", "moonvale_service"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_settings_that_are_wrong_are_said_in_one_line(store_url: str, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for settings, right in (
            ({"listen": address}, f"MOONVALE_LISTEN: {address} can't be listened on: Address already in use\n"),
            ({"listen": "no.such.host.invalid:1"}, "MOONVALE_LISTEN: no.such.host.invalid:1 can't be listened on"),
            ({"workers": "none"}, "MOONVALE_WORKERS: needs a whole number of 0 to 256\n"),
            ({"store": store_url, "data": str(tmp_path)}, "MOONVALE_KEYS_FILE: there is no file"),
            ({"store": "redis://localhost:port", "data": str(tmp_path)}, "MOONVALE_"),
        ):
            done = run(**{"listen": "127.0.0.1:0", **settings})
            assert done.returncode == 2
            assert done.stdout == ""
            assert done.stderr.startswith(right)
            assert "Traceback" not in done.stderr


def test_two_services_do_not_share_a_port_by_mistake() -> None:
    with running_service(workers="1") as service, tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        done = run(listen=service.address, data=folder)
        assert done.returncode == 2
        assert done.stderr.startswith("MOONVALE_LISTEN: ")


def test_a_reserved_port_is_held_for_workers_alone() -> None:
    with reserve("listen", "127.0.0.1:0") as address:
        port = int(address.rpartition(":")[2])
        with socket.socket() as worker:
            worker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            worker.bind(("127.0.0.1", port))
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", port))


def test_a_store_that_is_down_at_the_start_is_waited_for(valkey: StoreServer, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("A" * 43)
    valkey.stop()
    with running_service(store=valkey.url, keys_file=str(keys), store_timeout="300ms", workers="1") as service:
        assert "store_unavailable" in service.log_text()
        valkey.start()
        asyncio.run(_play_one(service))
        assert not (service.folder / "data").exists()


def test_the_default_address_needs_no_words_in_what_people_read() -> None:
    settings = Settings.from_environment({"MOONVALE_WORKERS": "2"})
    text = join_text(settings, "127.0.0.1:7350", None)
    assert "--address" not in text
    assert "Ctrl-C" in text
