"""deploy/compose.yaml keeps to the Compose specification, and its parts fit each other and Envoy's configuration."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from moonvale_service import keys, supervisor
from moonvale_service.credentials import load_keys
from moonvale_service.server import EXIT_SETTING
from moonvale_service.settings import Settings, descriptions
from tests.deploy import promtool
from tests.deploy.manifests import ROOT, render, workloads

DEPLOY = ROOT / "deploy"
OURS = "moonvale"

Compose = dict[str, Any]


def compose() -> Compose:
    loaded: Compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def _seconds(text: str) -> float:
    assert text.endswith("s")
    return float(text[:-1])


def violations(of: Compose) -> Iterator[str]:
    """Yield what doesn't fit."""
    services = of["services"]
    for name, service in services.items():
        if service["image"].rpartition(":")[2] in ("latest", service["image"]):
            yield f"{name} has an image without a tag that stays"
        if service.get("read_only") is not True or service.get("cap_drop") != ["ALL"]:
            yield f"{name} may change its root, or has capabilities"
        if "no-new-privileges:true" not in service.get("security_opt", ()):
            yield f"{name} may gain privileges"
        if name != "keys" and "mem_limit" not in service:
            yield f"{name} has no limit of memory"
        for other in service.get("depends_on", {}):
            if other not in services:
                yield f"{name} waits for {other}, which isn't there"
            elif (
                service["depends_on"][other]["condition"] == "service_healthy" and "healthcheck" not in services[other]
            ):
                yield f"{name} waits for the health of {other}, which is not checked"
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            if source.startswith("."):
                if not (DEPLOY / source).exists():
                    yield f"{name} mounts {source}, which isn't there"
            elif source not in of["volumes"]:
                yield f"{name} mounts {source}, which isn't there"
        for port in service.get("ports", ()):
            if not port.startswith("127.0.0.1:"):
                yield f"{name} is open to more than this machine"
    ours = services[OURS]
    known = {each.variable for each in descriptions()}
    for variable in ours["environment"].keys() - known:
        yield f"{variable} is no setting"
    settings = Settings.from_environment(ours["environment"])
    if _seconds(ours["stop_grace_period"]) < settings.grace + supervisor._KILL_SECONDS + 5:
        yield "replicas are killed while they drain"
    if settings.store != "redis://store:6379/0":
        yield "replicas look for their store elsewhere"
    mounted = ours["volumes"][0].split(":")[1]
    if {settings.keys_file, settings.creator_key_file, settings.operator_key_file} != {
        Path(mounted) / name for name in ("keys", "creator_key", "operator_key")
    }:
        yield "replicas look for their keys elsewhere"
    if ours["deploy"]["replicas"] < 2:
        yield "there is one replica"
    scraped = yaml.safe_load((DEPLOY / "monitoring/compose.yaml").read_text(encoding="utf-8"))["scrape_configs"][0]
    (found,) = scraped["dns_sd_configs"]
    if (found["names"], f"0.0.0.0:{found['port']}") != ([OURS], settings.metrics_listen):
        yield "Prometheus looks for the replicas elsewhere"
    envoy = yaml.safe_load((DEPLOY / "envoy/envoy.yaml").read_text(encoding="utf-8"))["static_resources"]
    (cluster,) = envoy["clusters"]
    ((upstream,),) = [
        [each["endpoint"]["address"]["socket_address"] for each in endpoints["lb_endpoints"]]
        for endpoints in cluster["load_assignment"]["endpoints"]
    ]
    if cluster["type"] != "STRICT_DNS" or upstream != {
        "address": OURS,
        "port_value": int(settings.listen.rpartition(":")[2]),
    }:
        yield "Envoy looks for the replicas elsewhere"
    listener = envoy["listeners"][0]["address"]["socket_address"]["port_value"]
    if services["envoy"]["ports"] != [f"127.0.0.1:{listener}:{listener}"]:
        yield "Envoy listens elsewhere"


def test_it_fits() -> None:
    assert list(violations(compose())) == []


@pytest.mark.skipif(sys.platform != "linux", reason="compose-spec is installed on Linux alone")
def test_it_is_what_the_specification_says_and_an_unknown_key_is_noticed() -> None:
    from compose_spec import PyCompose

    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert set(PyCompose.from_yaml(text).service_names()) == compose()["services"].keys()
    with pytest.raises(ValueError, match="colour"):
        PyCompose.from_yaml(text.replace("    restart: unless-stopped\n", "    colour: green\n", 1))


@pytest.mark.parametrize(
    "mutation",
    [
        lambda them: them["services"]["store"].update(image="docker.io/valkey/valkey"),
        lambda them: them["services"]["store"].update(image="docker.io/valkey/valkey:latest"),
        lambda them: them["services"]["envoy"].pop("read_only"),
        lambda them: them["services"]["envoy"].pop("security_opt"),
        lambda them: them["services"]["envoy"].pop("mem_limit"),
        lambda them: them["services"]["envoy"].update(ports=["8080:8080"]),
        lambda them: them["services"]["envoy"].update(ports=["127.0.0.1:80:80"]),
        lambda them: them["services"]["moonvale"].pop("healthcheck"),
        lambda them: them["services"].pop("keys"),
        lambda them: them["volumes"].pop("store"),
        lambda them: them["services"]["moonvale"]["environment"].update(MOONVALE_COLOUR="green"),
        lambda them: them["services"]["moonvale"]["environment"].update(MOONVALE_GRACE="30s"),
        lambda them: them["services"]["moonvale"]["environment"].update(MOONVALE_STORE="redis://redis:6379/0"),
        lambda them: them["services"]["moonvale"]["environment"].update(MOONVALE_KEYS_FILE="/run/keys"),
        lambda them: them["services"]["moonvale"]["environment"].update(MOONVALE_LISTEN="0.0.0.0:7360"),
        lambda them: them["services"]["moonvale"]["environment"].pop("MOONVALE_METRICS_LISTEN"),
        lambda them: them["services"]["moonvale"]["deploy"].update(replicas=1),
    ],
)
def test_what_does_not_fit_is_noticed(mutation: Callable[[Compose], object]) -> None:
    changed = compose()
    mutation(changed)
    assert list(violations(changed)) != []


def test_all_images_of_ours_are_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert compose()["services"][OURS]["image"] == f"moonvale:${{MOONVALE_VERSION:-{version}}}"
    images = {
        container["image"]
        for workload in workloads(render("production"))
        for container in workload["spec"]["template"]["spec"]["containers"]
    }
    assert images == {f"moonvale:{version}"}


def test_prometheus_and_grafana_are_given_what_they_are_told_to_read() -> None:
    services = compose()["services"]
    inside = {
        volume.split(":")[1]: DEPLOY / volume.split(":")[0]
        for name in ("prometheus", "grafana")
        for volume in services[name]["volumes"]
        if volume.startswith(".")
    }
    assert services["prometheus"]["profiles"] == services["grafana"]["profiles"] == ["monitoring"]
    (rules,) = yaml.safe_load(inside["/etc/prometheus/prometheus.yml"].read_text(encoding="utf-8"))["rule_files"]
    assert inside[rules].name == "alerts.yaml"
    (source,) = yaml.safe_load((DEPLOY / "monitoring/grafana-datasources.yaml").read_text(encoding="utf-8"))[
        "datasources"
    ]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = yaml.safe_load((DEPLOY / "monitoring/grafana-dashboards.yaml").read_text(encoding="utf-8"))[
        "providers"
    ]
    home = services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home.startswith(provider["options"]["path"])
    assert inside[home].name == "dashboard.json"


def test_prometheus_takes_its_configuration(tmp_path: Path) -> None:
    text = (DEPLOY / "monitoring/compose.yaml").read_text(encoding="utf-8")
    here = tmp_path / "prometheus.yml"
    here.write_text(text.replace("/etc/prometheus/", f"{DEPLOY}/monitoring/"), encoding="utf-8")
    promtool.check("check", "config", here)


def test_keys_are_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {"MOONVALE_DATA": str(tmp_path / "data")}
    assert keys.main(environment) == 0
    made = {path.name: path.read_text(encoding="ascii") for path in (tmp_path / "data").iterdir()}
    assert made.keys() == {"keys", "creator_key", "operator_key"}
    load_keys(Settings.from_environment(environment), make=False)
    assert keys.main(environment) == 0
    assert {path.name: path.read_text(encoding="ascii") for path in (tmp_path / "data").iterdir()} == made
    (tmp_path / "file").touch()
    assert keys.main({"MOONVALE_DATA": str(tmp_path / "file")}) == EXIT_SETTING
    assert "MOONVALE_DATA" in capsys.readouterr().err
