"""The manifests of deploy/kubernetes as kubectl renders them, and questions about their objects."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parent.parent.parent
KUBERNETES: Final = ROOT / "deploy" / "kubernetes"
OVERLAYS: Final = ("dev", "production", "cluster")

#: Any object of Kubernetes, or a part of one.
Object = dict[str, Any]


def kubectl() -> Path:
    """Return kubectl, which comes from a wheel into the environment that tests run in."""
    return Path(sys.executable).parent / "kubectl"


@cache
def _rendered(overlay: str) -> str:
    # Addresses that nobody listens on: whatever would need a network fails.
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = subprocess.run(
        [kubectl(), "kustomize", KUBERNETES / "overlays" / overlay],
        capture_output=True,
        text=True,
        env={**proxies, "KUBECONFIG": "/dev/null"},  # without PATH: no git either
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr  # warnings, such as of what is deprecated
    return json.dumps([each for each in yaml.safe_load_all(done.stdout) if each is not None])


def render(overlay: str) -> list[Object]:
    """Return the objects of an overlay, fresh ones that may be changed."""
    objects: list[Object] = json.loads(_rendered(overlay))
    return objects


def of_kind(objects: list[Object], *kinds: str) -> list[Object]:
    """Return the objects of some kinds."""
    return [each for each in objects if each["kind"] in kinds]


def named(objects: list[Object], kind: str, name: str) -> Object | None:
    """Return an object by its kind and name, if it is there."""
    return next((each for each in of_kind(objects, kind) if each["metadata"]["name"] == name), None)


def title(of: Object) -> str:
    """Return what an object is called in messages."""
    return f"{of['kind']} {of['metadata']['name']}"


def workloads(objects: list[Object]) -> list[Object]:
    """Return what makes pods."""
    return of_kind(objects, "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")


def pod_of(workload: Object) -> Object:
    """Return the template of a workload's pods."""
    spec = workload["spec"]
    template: Object = (spec["jobTemplate"]["spec"] if workload["kind"] == "CronJob" else spec)["template"]
    return template


def containers(workload: Object) -> Iterator[Object]:
    """Yield all containers of a workload's pods."""
    spec = pod_of(workload)["spec"]
    yield from spec.get("initContainers", ())
    yield from spec["containers"]


def ours(workload: Object) -> bool:
    """Whether a workload runs our image, and not one of others."""
    return any(each["image"].partition(":")[0] == "moonvale" for each in containers(workload))


def environment(objects: list[Object], container: Object) -> Iterator[tuple[str, str | None]]:
    """Yield the variables of a container and their values, None for what comes from a Secret; later ones win."""
    for source in container.get("envFrom", ()):
        config = named(objects, "ConfigMap", source["configMapRef"]["name"])
        assert config is not None, f"there is no ConfigMap {source['configMapRef']['name']}"
        yield from config["data"].items()
    for each in container.get("env", ()):
        yield each["name"], each.get("value")


def variables_of(objects: list[Object], container: Object) -> dict[str, str]:
    """Return a container's variables; one from a Secret, the store's URL, as it may be."""
    return {
        name: "rediss://redis.example.org:6380/0" if value is None else value
        for name, value in environment(objects, container)
    }


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a selector, plain or with matchLabels, is met by labels. No other form is used here."""
    wanted = selector.get("matchLabels", {}) if not selector or "matchLabels" in selector else selector
    assert "matchExpressions" not in selector
    return all(labels.get(name) == value for name, value in wanted.items())
