"""What `make image-test` checks: an image is built, runs as strictly as in a cluster, and loses nothing when stopped.

MOONVALE_IMAGE: an image that is there already, not to be built. BASE=debian: build on images made of Debian's packages.
The checks run on Linux, where a container can share the network of its machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import psutil
import pytest

from moonvale_client import AsyncClient, Options, play_seat
from moonvale_service.credentials import load_keys
from moonvale_service.settings import Settings
from tests.chaos.calling import Connections
from tests.chaos.checker import check
from tests.chaos.progress import ACKNOWLEDGED, BEGUN_ANEW, Progress
from tests.chaos.tables import RecordingClient, Table
from tests.deploy.containers import MEMORY, ROOT, USER, Container, engine
from tests.support.servers import StoreServer, running, valkey_program

pytestmark = pytest.mark.timeout(1200)

NAME = "localhost/moonvale:image-test"
GRACE = 10
TABLES = 8
LARGEST = 400_000_000  # bytes of the image; its base alone has 130 to 180 million
PROTECTED = ("/opt/moonvale/x", "/usr/x", "/etc/x", "/x")


@pytest.fixture(scope="session")
def image() -> str:
    """The image's name; it is built unless one is given."""
    given = os.environ.get("MOONVALE_IMAGE")
    if given:
        return given
    options = []
    if os.environ.get("BASE") == "debian":
        subprocess.run([ROOT / "tests/deploy/debian_base.sh", engine()], check=True)
        options = [f"--build-arg={stage.upper()}_IMAGE=localhost/moonvale-debian:{stage}" for stage in ("build", "run")]
    subprocess.run([ROOT / "deploy/image.sh", NAME, "--network=host", *options], check=True)
    return NAME


@pytest.fixture
def store() -> Iterator[StoreServer]:
    """A store on a port of this machine."""
    with running(valkey_program(), tcp=True) as store:
        yield store


@pytest.fixture
def ports() -> tuple[int, int]:
    """Two free ports."""
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


@pytest.fixture
def container(image: str, store: StoreServer, ports: tuple[int, int], tmp_path: Path) -> Iterator[Container]:
    """A container that is ready."""
    load_keys(Settings.from_environment({"MOONVALE_DATA": str(tmp_path)}), make=True)
    for path in tmp_path.iterdir():
        path.chmod(0o444)
    tmp_path.chmod(0o755)
    container = Container(
        image,
        tmp_path,
        {
            "MOONVALE_STORE": store.url,
            "MOONVALE_LISTEN": f"127.0.0.1:{ports[0]}",
            "MOONVALE_HTTP_LISTEN": f"127.0.0.1:{ports[1]}",
            "MOONVALE_WORKERS": "1",
            "MOONVALE_GRACE": f"{GRACE}s",
            "MOONVALE_KEYS_FILE": "/run/keys/keys",
            "MOONVALE_CREATOR_KEY_FILE": "/run/keys/creator_key",
            "MOONVALE_OPERATOR_KEY_FILE": "/run/keys/operator_key",
        },
    )
    container.start()
    yield container
    container.remove()


def test_the_image_says_what_it_is(image: str) -> None:
    asked = subprocess.run([engine(), "image", "inspect", image], capture_output=True, text=True, check=True)
    (found,) = json.loads(asked.stdout)
    config: dict[str, Any] = found["Config"]
    assert config["User"] == f"{USER}:{USER}"
    assert config["StopSignal"] in ("SIGTERM", "15")
    assert config["Entrypoint"] == ["moonvale"]
    assert set(config["ExposedPorts"]) == {"7350/tcp", "7351/tcp", "7352/tcp"}
    labels = config["Labels"]
    assert labels["org.opencontainers.image.version"] != "0.0.0"
    assert labels["org.opencontainers.image.licenses"] == "MIT"
    assert (found.get("Healthcheck") or config["Healthcheck"])["Test"][0] == "CMD"  # in exec form
    print(f"{found['Size'] / 1e6:.0f} MB")
    assert found["Size"] < LARGEST


def test_it_runs_compiled_as_nobody_in_particular_and_changes_nothing(container: Container) -> None:
    status = Path(f"/proc/{container.state['Pid']}/status").read_text(encoding="ascii")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert set(fields["Uid"].split()) == {str(USER)}
    assert (int(fields["CapEff"], 16), int(fields["CapBnd"], 16), fields["NoNewPrivs"]) == (0, 0, "1")
    for path in PROTECTED:
        done = container.run("python", "-c", f"open({path!r}, 'w')")
        assert "Read-only file system" in done.stderr or "Permission denied" in done.stderr, path
    where = container.run("python", "-c", "import moonvale_engine.play as play; print(play.__file__)")
    assert where.stdout.strip().endswith(".so")
    assert container.run("python", "-m", "moonvale_service.probe", "live").returncode == 0


async def test_a_game_is_played_over_grpc_and_one_over_rest(container: Container, ports: tuple[int, int]) -> None:
    rng = Random(1)
    async with AsyncClient(f"127.0.0.1:{ports[0]}") as client:
        game = await client.create_game(Options(players=2, rounds=1))
        seats = [
            play_seat(client, game.name, credential, lambda view: rng.choice(view.decision.legal_actions))
            for credential in game.seat_credentials
        ]
        results = await asyncio.gather(*seats)
    assert results[0] == results[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports[1]}/v1/", timeout=30) as http:
        created = (await http.post("games", json={"options": {"players": 2, "rounds": 1, "turnLimit": 6}})).json()
        view = created["view"]
        headers = [{"authorization": f"Bearer {credential}"} for credential in created["seatCredentials"]]
        while "decision" in view:
            seat = view["decision"]["seat"]
            view = (await http.get(created["name"], headers=headers[seat])).json()["view"]
            action = rng.choice(view["decision"]["legalActions"])
            body = {"version": view["version"], "actions": [action]}
            answer = await http.post(f"{created['name']}:submitAction", headers=headers[seat], json=body)
            answer.raise_for_status()
            view = answer.json()["view"]
        assert "result" in view


async def test_stopped_under_load_it_ends_in_good_order_within_its_memory_and_loses_nothing(
    container: Container, ports: tuple[int, int], tmp_path: Path
) -> None:
    address = f"127.0.0.1:{ports[0]}"
    progress = Progress()
    connections = Connections([address], Random(1))
    key = (tmp_path / "creator_key").read_text(encoding="ascii").strip()
    async with RecordingClient(address) as agents:
        tables = [Table(connections, agents, key, progress, Random(seed), shared=0) for seed in range(TABLES)]
        games = asyncio.gather(*(table.play() for table in tables))
        await progress.calm(200)
        print(f"{_memory(container.state['Pid']) / 1e6:.0f} MB resident of {MEMORY}")
        assert await asyncio.to_thread(container.stop, GRACE + 5) == 0
        assert not container.state["OOMKilled"]
        await asyncio.to_thread(container.start)
        await progress.calm(100)
        progress.end()
        await games
    await connections.close()
    violations = [violation for table in tables for violation in check(table.game)]
    print(f"{progress.counts[ACKNOWLEDGED]} changes acknowledged; calls and streams: {dict(connections.outcomes)}")
    assert violations == []
    assert progress.counts[BEGUN_ANEW] == 0
    assert '"level":"error"' not in container.logs()


def _memory(pid: int) -> int:
    """Return how many bytes the processes of a container hold."""
    process = psutil.Process(pid)
    resident: int = sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
    return resident
