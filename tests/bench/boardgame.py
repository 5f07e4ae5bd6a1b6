"""A boardgame.io server with a game of the same number of cards, driven by its own clients."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench import environments
from tests.bench.environments import PEERS, NotInstalledError, Tell
from tests.bench.machine import cores, cpu_seconds
from tests.bench.players import Player
from tests.bench.rounds import Sample

PACKAGE = "boardgame_io"


class Boardgame:
    """A running server, and its load."""

    def __init__(self, server: Player, load: Player) -> None:
        self._server = server
        self._load = load
        self.cases = load.cases

    def measure(self, case: str, seconds: float) -> Sample:
        """Have the load run a case; return what it did, and what it cost the server."""
        before = cpu_seconds(self._server.pid)
        answer = self._load.ask(case, seconds)
        cpu = cpu_seconds(self._server.pid) - before
        return Sample(answer.pop("count"), cpu, answer.pop("wall"), answer)


@contextmanager
def running(tell: Tell) -> Iterator[Boardgame]:
    """A started server with its load; both are gone afterwards. Raises NotInstalledError."""
    modules = environments.node_modules(PACKAGE, tell)
    node = shutil.which("node")
    if node is None:
        raise NotInstalledError(f"{PACKAGE}: there is no node here")
    environment = {"NODE_PATH": str(modules), "NODE_ENV": "production"}
    folder = PEERS / PACKAGE
    with (
        Player([node, folder / "server.js"], cores()[0], environment) as server,
        Player(
            [node, folder / "client.js", f"http://127.0.0.1:{server.about['port']}"], cores()[-1], environment
        ) as load,
    ):
        yield Boardgame(server, load)
