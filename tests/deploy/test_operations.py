"""docs/operations.md: what it names exists, and its steps for backups and its rights for Redis are tried."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis
import yaml

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_service.settings import descriptions
from tests.deploy.manifests import ROOT
from tests.service.client import Client, play
from tests.service.servers import start_server
from tests.support.servers import StoreServer, running, valkey_program

PAGE = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
SHORT = pb.CreateGameRequest(options=Options(players=2, rounds=1))


def test_it_names_settings_files_and_commands_that_exist() -> None:
    assert set(re.findall(r"MOONVALE_[A-Z_]+", PAGE)) <= {each.variable for each in descriptions()}
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", PAGE)) <= targets
    for path in re.findall(r"\b(?:deploy|tests|docs)/[\w./-]+\w", PAGE):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([\w.]+)(?:#[\w-]+)?\)", PAGE):
        assert (ROOT / "docs" / path).exists(), path


def test_it_says_what_to_do_at_each_alert() -> None:
    groups = yaml.safe_load((ROOT / "deploy/monitoring/alerts.yaml").read_text(encoding="utf-8"))["groups"]
    alerts = {rule["alert"] for group in groups for rule in group["rules"]}
    assert set(re.findall(r"^\| (Moonvale\w+) \|", PAGE, re.MULTILINE)) == alerts


@pytest.mark.timeout(120)
async def test_a_game_goes_on_from_a_restored_backup(valkey: StoreServer, tmp_path: Path) -> None:
    keys, new = tmp_path / "keys", tmp_path / "new"
    server = await start_server(valkey.url, keys)
    async with Client(server.address) as client:
        game = await client.create(SHORT)
        there = await play(client, game, seed=1, moves=5)
        snapshot = _snapshot(valkey, tmp_path)
        await play(client, game, seed=1, moves=3)  # which the backup has not
    await server.stop()
    valkey.kill()

    new.mkdir()
    shutil.copy(snapshot, new / "dump.rdb")
    restored = StoreServer(valkey.program, new, tcp=True, options=("--appendonly", "no"))
    restored.start()
    with redis.Redis.from_url(restored.url) as raw:
        raw.config_set("appendonly", "yes")
        while raw.info("persistence")["aof_rewrite_in_progress"] or raw.info("persistence")["aof_rewrite_scheduled"]:
            pass
    restored.stop()
    restored = StoreServer(valkey.program, new, tcp=True)  # with its log, as always
    restored.start()
    server = await start_server(restored.url, keys)
    async with Client(server.address) as client:
        view = await client.view(game.name, game.seats[0])
        assert (view.version, view.mark) == (there.version, there.mark)
        assert (await play(client, game, seed=2)).HasField("result")
    await server.stop()
    restored.close()


def _snapshot(store: StoreServer, folder: Path) -> Path:
    """Take a backup as the page says, or, where there is no such command, as the server itself does."""
    path = folder / "backup.rdb"
    command = shutil.which("valkey-cli") or shutil.which("redis-cli")
    # A client refuses a snapshot whose version is newer than itself only when it reads it, which it doesn't.
    if command is not None:
        socket = store.url.removeprefix("unix://")
        subprocess.run([command, "-s", socket, "--rdb", path], check=True, capture_output=True)
        return path
    with redis.Redis.from_url(store.url) as raw:
        raw.save()
    return store.folder / "dump.rdb"


async def test_the_rights_that_it_names_are_enough(tmp_path: Path) -> None:
    rights = re.search(r"ACL: `([^`]+)` and `([^`]+)` with `([^`]+)`", PAGE)
    assert rights is not None
    with running(valkey_program(), tcp=True) as store, redis.Redis.from_url(store.url) as raw:
        words = [*rights[1].split(), *rights[2].split(), *rights[3].split()]
        raw.execute_command("ACL", "SETUSER", "moonvale", "on", ">password", *words)
        url = f"redis://moonvale:password@127.0.0.1:{urlsplit(store.url).port}/0"
        with redis.Redis.from_url(url) as theirs:
            for refused in ("FLUSHALL", "KEYS *", "CONFIG SET save 1", "SHUTDOWN", "GET other"):
                with pytest.raises(redis.exceptions.NoPermissionError):
                    theirs.execute_command(*refused.split())
        server = await start_server(url, tmp_path, poll="100ms")
        async with Client(server.address) as client:
            game = await client.create(SHORT)
            told = client.watch(game.name, game.spectator)
            await anext(told)
            await play(client, game, seed=1)
            entries = [message.entry.version async for message in told if message.HasField("entry")]
            assert entries == list(range(1, entries[-1] + 1))
            await client.delete(game.name, game.creator)
        await server.stop()
        assert not raw.acl_log()[len("FKCSG") :]  # nothing but those was refused
