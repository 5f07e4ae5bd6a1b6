"""Plays games through the Service of a real cluster while the Deployment is rolled and scaled and pods are deleted.

It applies the dev overlay to whatever cluster KUBECONFIG leads to, into the namespace moonvale. The image has to be
where the cluster finds it (kind: kind load docker-image moonvale:0.1.0). No move may be lost or repeated, and no client
may see an error beyond its retries. What it made stays, but for the pod of the players.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.chaos.progress import ACKNOWLEDGED, Progress
from tests.deploy.manifests import KUBERNETES, ROOT, kubectl
from tests.deploy.players import GAMES_OVER
from tests.deploy.rolling import LEAST, happen

NAMESPACE: Final = "moonvale"
PLAYERS: Final = "moonvale-players"
TARGET: Final = "dns:///moonvale-headless.moonvale.svc:7350"
CALM: Final = 300  # changes acknowledged between two events

_SERVER: Final = "deployment/moonvale"
_PODS: Final = "app.kubernetes.io/name=moonvale,app.kubernetes.io/component=server"
_TIMEOUT: Final = "--timeout=300s"
_SENT: Final = ("__init__.py", "chaos/*.py", "deploy/__init__.py", "deploy/players.py")
_UNPACK: Final = "import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode='r|').extractall('/tmp/players')"


class Kubectl:
    """kubectl on one cluster. ``command``: how it is called."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command

    async def run(self, *arguments: str, given: bytes = b"") -> str:
        """Run it in the namespace; return what it prints. Raises RuntimeError with its complaint."""
        process = await self.start(*arguments, errors=asyncio.subprocess.PIPE)
        printed, complaint = await process.communicate(given)
        if process.returncode:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {complaint.decode(errors='replace').strip()}")
        return printed.decode()

    async def start(self, *arguments: str, errors: int | None = None) -> asyncio.subprocess.Process:
        """Start it in the namespace."""
        return await asyncio.create_subprocess_exec(
            *(*self._command, "--namespace", NAMESPACE, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )

    async def get(self, *arguments: str) -> Any:  # noqa: ANN401
        """Return what `get` tells of something."""
        return json.loads(await self.run("get", *arguments, "--output=json"))


class Pods:
    """The Deployment of the servers in a cluster. ``show`` gets a line of what happens."""

    def __init__(self, cluster: Kubectl, rng: Random, show: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._rng = rng
        self._show = show

    async def roll(self) -> None:
        """Replace all pods, one after the other."""
        self._show("rolled")
        await self._cluster.run("rollout", "restart", _SERVER)
        await self._settle()

    async def scale(self, count: int) -> None:
        """Have so many pods."""
        self._show(f"scaled to {count}")
        await self._cluster.run("scale", f"--replicas={count}", _SERVER)
        await self._settle()

    async def delete(self) -> None:
        """Delete some pod."""
        await self._delete("--wait=true")

    async def kill(self) -> None:
        """Delete some pod without a word to it."""
        await self._delete("--grace-period=0", "--force")

    async def _delete(self, *how: str) -> None:
        pods = (await self._cluster.get("pods", f"--selector={_PODS}"))["items"]
        name = self._rng.choice([pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]])
        self._show(f"pod {name} deleted ({' '.join(how)})")
        await self._cluster.run("delete", "pod", name, *how)
        await self._settle()

    async def _settle(self) -> None:
        await self._cluster.run("rollout", "status", _SERVER, _TIMEOUT)


async def run(
    cluster: Kubectl, image: str, games: int, at_once: int, show: Callable[[str], None], calm: int = CALM
) -> list[str]:
    """Do it, and return the violations."""
    creator_key = await _install(cluster, image)
    await _start_players(cluster, image)
    progress = Progress()
    players = await cluster.start(
        *("exec", "--stdin", PLAYERS, "--", "python", "-m", "tests.deploy.players", TARGET, f"--at-once={at_once}")
    )
    assert players.stdin is not None
    players.stdin.write(f"{creator_key}\n".encode())
    reading = asyncio.create_task(_read(players, progress))
    happening = asyncio.create_task(_happen(cluster, progress, games, calm, show))
    await asyncio.wait({reading, happening}, return_when=asyncio.FIRST_COMPLETED)
    if happening.done():
        await happening
        players.stdin.write(b"end\n")
    else:  # the players have ended before they were told to
        happening.cancel()
    last = await reading
    await players.wait()
    await cluster.run("delete", "pod", PLAYERS, "--wait=false")
    show(f"{dict(progress.counts)}; calls and streams by how they ended: {last.get('outcomes')}")
    if "violations" not in last:
        return [f"the players ended with code {players.returncode} before all had happened"]
    violations: list[str] = last["violations"]
    return violations


async def _happen(cluster: Kubectl, progress: Progress, games: int, calm: int, show: Callable[[str], None]) -> None:
    def told(what: str) -> None:
        show(f"{progress.counts[GAMES_OVER]} games over, {progress.counts[ACKNOWLEDGED]} changes acknowledged: {what}")

    await happen(Pods(cluster, Random(), told), progress, calm)
    await progress.until(lambda: progress.counts[GAMES_OVER] >= games)
    told("ended")


async def _install(cluster: Kubectl, image: str) -> str:
    """Apply the overlay with this image, and keys unless there are some; return the creator key."""
    await cluster.run("apply", "--filename", str(KUBERNETES / "base/namespace.yaml"))
    if not await cluster.run("get", "secret", "moonvale-keys", "--ignore-not-found"):
        making = await asyncio.create_subprocess_exec(
            sys.executable, KUBERNETES / "make_secret.py", stdout=asyncio.subprocess.PIPE
        )
        made, _ = await making.communicate()
        await cluster.run("apply", "--filename=-", given=made)
    secret = await cluster.get("secret", "moonvale-keys")
    name, _, tag = image.rpartition(":")
    with tempfile.TemporaryDirectory(dir=KUBERNETES / "overlays") as folder:  # kustomize takes no absolute path
        own = {
            "resources": ["../dev"],
            "images": [{"name": "moonvale", "newName": name, "newTag": tag}],
        }
        (Path(folder) / "kustomization.yaml").write_text(json.dumps(own), encoding="utf-8")
        await cluster.run("apply", f"--kustomize={folder}")
    await cluster.run("rollout", "status", "statefulset/moonvale-redis", _TIMEOUT)
    await cluster.run("scale", f"--replicas={LEAST}", _SERVER)
    await cluster.run("rollout", "status", _SERVER, _TIMEOUT)
    return _decoded(secret["data"]["creator_key"])


async def _start_players(cluster: Kubectl, image: str) -> None:
    manifest = (ROOT / "tests/deploy/players.yaml").read_text(encoding="utf-8")
    assert manifest.count("image: moonvale\n") == 1
    await cluster.run("delete", "pod", PLAYERS, "--ignore-not-found")
    await cluster.run(
        "apply", "--filename=-", given=manifest.replace("image: moonvale\n", f"image: {image}\n").encode()
    )
    await cluster.run("wait", "--for=condition=Ready", f"pod/{PLAYERS}", _TIMEOUT)
    await cluster.run("exec", "--stdin", PLAYERS, "--", "python", "-c", _UNPACK, given=_packed())


async def _read(players: asyncio.subprocess.Process, progress: Progress) -> dict[str, Any]:
    """Keep the counts up to date with what the players say, and return what they said last."""
    assert players.stdout is not None
    last: dict[str, Any] = {}
    async for line in players.stdout:
        last = json.loads(line)
        for name, count in last["counts"].items():
            for _ in range(count - progress.counts[name]):
                progress.add(name)
    return last


def _packed() -> bytes:
    """Return the modules of the players, packed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for pattern in _SENT:
            for path in sorted((ROOT / "tests").glob(pattern)):
                archive.add(path, str(path.relative_to(ROOT)))
    return packed.getvalue()


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode("ascii").strip()


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.deploy.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kubeconfig", type=Path, help="the file that leads to the cluster")
    parser.add_argument("--image", default="moonvale:0.1.0", help="as the cluster knows it (default: %(default)s)")
    parser.add_argument("--games", type=int, default=100, metavar="N", help="to be over (default: %(default)s)")
    parser.add_argument("--at-once", type=int, default=20, metavar="N", help="games at once (default: %(default)s)")
    arguments = parser.parse_args()
    cluster = Kubectl([str(kubectl()), "--kubeconfig", str(arguments.kubeconfig)])
    violations = asyncio.run(
        run(cluster, arguments.image, arguments.games, arguments.at_once, lambda line: print(line, flush=True))
    )
    print("\n".join(violations) or "No violation: no move was lost or repeated, and no client saw more than retries.")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
