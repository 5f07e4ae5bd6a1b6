"""The driver of `make cluster-test` on a stand-in for kubectl: what it does, and what it says of failures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from tests.deploy.cluster import Kubectl, run
from tests.deploy.manifests import OVERLAYS, ROOT, named
from tests.deploy.policies import images_are_pinned, pods_are_restricted, resources_are_bounded
from tests.service.servers import start_server
from tests.support.servers import StoreServer

IMAGE = "registry.example.org:5000/moonvale:7"
STAND_IN = [sys.executable, "-m", "tests.deploy.stand_in"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the stand-in keeps what it has been given."""
    monkeypatch.setenv("STAND_IN", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join([*(path for path in sys.path if path), str(ROOT)]))
    return tmp_path


async def test_it_installs_plays_and_lets_everything_happen(
    valkey: StoreServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await start_server(valkey.url, folder / "data", call_rate="0", create_rate="0")
    monkeypatch.setenv("SERVER", server.address)
    secret = {"stringData": {"creator_key": server.creator_key}}
    (folder / "secret").write_text(json.dumps(secret), encoding="utf-8")
    shown: list[str] = []
    try:
        assert await run(Kubectl(STAND_IN), IMAGE, games=3, at_once=4, show=shown.append, calm=20) == []
    finally:
        await server.stop()
    calls = (folder / "calls").read_text(encoding="utf-8").splitlines()
    assert [call for call in calls if call.startswith(("rollout restart", "scale", "delete pod"))] == [
        "scale --replicas=2 deployment/moonvale",
        "delete pod moonvale-players",
        "rollout restart deployment/moonvale",
        "scale --replicas=4 deployment/moonvale",
        "delete pod one",
        "delete pod one",
        "scale --replicas=2 deployment/moonvale",
        "delete pod one",
        "rollout restart deployment/moonvale",
        "delete pod moonvale-players",
    ]
    assert calls.count("rollout status deployment/moonvale") == 8
    applied = list(yaml.safe_load_all((folder / "applied").read_text(encoding="utf-8")))
    deployment = named(applied, "Deployment", "moonvale")
    assert deployment is not None
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE
    pod = yaml.safe_load((folder / "pod").read_text(encoding="utf-8"))
    assert pod["spec"]["containers"][0]["image"] == IMAGE
    as_job = [{"kind": "Job", "metadata": pod["metadata"], "spec": {"template": pod}}]
    for policy in (pods_are_restricted, images_are_pinned, resources_are_bounded):
        assert list(policy(as_job)) == []
    assert "games over" in shown[-1]
    assert {path.name for path in (ROOT / "deploy/kubernetes/overlays").iterdir()} == set(OVERLAYS)  # nothing is left


async def test_a_roll_out_that_fails_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILING", "rollout")
    with pytest.raises(RuntimeError, match=r"rollout status statefulset/moonvale-redis .*timed out"):
        await run(Kubectl(STAND_IN), IMAGE, games=1, at_once=1, show=print)
    made = json.loads((folder / "secret").read_text(encoding="utf-8"))  # there were no keys before
    assert made["metadata"]["name"] == "moonvale-keys"


async def test_players_that_end_too_early_are_a_violation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER", "--no-such-option")
    (violation,) = await run(Kubectl(STAND_IN), IMAGE, games=1, at_once=1, show=print)
    assert violation == "the players ended with code 2 before all had happened"
