"""The overlays of deploy/kubernetes render without a network, are valid, and keep to policies that would notice."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import kubernetes_validate
import pytest
import yaml

from moonvale_service.credentials import load_keys
from moonvale_service.settings import Settings, descriptions
from tests.deploy import policies, traffic
from tests.deploy.gateway_schemas import SCHEMAS
from tests.deploy.manifests import KUBERNETES, OVERLAYS, Object, environment, named, of_kind, ours, render, workloads
from tests.deploy.policies import POLICIES, Policy

OLDEST, NEWEST = "1.27", "1.37"
GATEWAY_API = "gateway.networking.k8s.io/v1"

#: Settings that no manifest names, and why their defaults are right in a cluster.
LEFT_OUT = {
    "MOONVALE_CORS_ORIGINS": "no page of another origin may call until you name it",
    "MOONVALE_PIN_WORKERS": "a pod's share of a node's cores is the scheduler's to give",
    "MOONVALE_DATA": "there is no store in the pods, and the keys have files of their own",
    "MOONVALE_FINISHED_EXPIRY": "yours to choose",
    "MOONVALE_IDLE_EXPIRY": "yours to choose",
    "MOONVALE_MESSAGE_LIMIT": "as documented",
    "MOONVALE_CALL_RATE": "as documented",
    "MOONVALE_SPECTATOR_CALL_RATE": "as documented",
    "MOONVALE_CREATE_RATE": "as documented",
    "MOONVALE_WATCHES": "as documented",
    "MOONVALE_SPECTATOR_WATCHES": "as documented",
    "MOONVALE_STORE_TIMEOUT": "as documented",
    "MOONVALE_HEARTBEAT": "as documented",
    "MOONVALE_POLL": "as documented",
    "MOONVALE_READER_TIMEOUT": "as documented",
    "MOONVALE_CLOCK_GRACE": "as documented",
    "MOONVALE_REVEAL_TIME": "as documented",
    "MOONVALE_BOTS": "yours to name; the pods of stewards need a way to them",
    "MOONVALE_BOT_TIMEOUT": "as documented",
    "MOONVALE_LOG_LEVEL": "info has a line for each call",
    "MOONVALE_TLS_CLIENT_CA": "mutual TLS is yours to choose",
}


def is_valid(of: Object, version: str) -> None:
    """Raise an error of its validator if an object is not what its schema says."""
    if of["apiVersion"] == GATEWAY_API:
        jsonschema_rs.validator_for(SCHEMAS[of["kind"]]).validate(of)
    else:
        assert str(kubernetes_validate.validate(of, version, strict=True)) == version


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_every_object_is_valid_for_the_oldest_and_the_newest_kubernetes(overlay: str, version: str) -> None:
    objects = render(overlay)
    assert len(objects) > 12
    for each in objects:
        is_valid(each, version)


@pytest.mark.parametrize("kind", ["Deployment", "Service", "NetworkPolicy", "HorizontalPodAutoscaler"])
def test_a_field_that_kubernetes_does_not_know_is_noticed(kind: str) -> None:
    each = of_kind(render("production"), kind)[0]
    each["spec"]["colour"] = "green"
    with pytest.raises(kubernetes_validate.ValidationError):
        is_valid(each, OLDEST)


@pytest.mark.parametrize("kind", list(SCHEMAS))
def test_a_field_that_the_gateway_api_does_not_know_is_noticed(kind: str) -> None:
    each = of_kind(render("production"), kind)[0]
    each["spec"]["colour"] = "green"
    with pytest.raises(jsonschema_rs.ValidationError):
        is_valid(each, OLDEST)


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_every_overlay_keeps_to_the_policies(overlay: str, policy: Policy) -> None:
    assert list(policy(render(overlay))) == []


def test_every_setting_is_set_or_left_out_for_a_reason() -> None:
    used = {
        name
        for overlay in OVERLAYS
        for objects in [render(overlay)]
        for workload in workloads(objects)
        for container in workload["spec"]["template"]["spec"]["containers"]
        for name, _ in environment(objects, container)
    }
    assert used.isdisjoint(LEFT_OUT)
    assert {each.variable for each in descriptions()} == used | LEFT_OUT.keys()


def test_prometheus_finds_the_pods() -> None:
    text = (KUBERNETES.parent / "monitoring/kubernetes.yaml").read_text(encoding="utf-8")
    (scraped,) = yaml.safe_load(text)["scrape_configs"]
    assert scraped["kubernetes_sd_configs"] == [{"role": "pod", "namespaces": {"names": [policies.NAMESPACE]}}]
    kept = {each["source_labels"][0]: each["regex"] for each in scraped["relabel_configs"] if "regex" in each}
    for workload in filter(ours, workloads(render("production"))):
        template = workload["spec"]["template"]
        annotation = template["metadata"]["annotations"]["prometheus.io/scrape"]
        assert kept["__meta_kubernetes_pod_annotation_prometheus_io_scrape"] == annotation
        ports = [port["name"] for port in template["spec"]["containers"][0]["ports"]]
        assert ports.count(kept["__meta_kubernetes_pod_container_port_name"]) == 1


def test_the_secret_that_is_made_is_good_for_the_service(tmp_path: Path) -> None:
    made = [
        json.loads(
            subprocess.run([sys.executable, KUBERNETES / "make_secret.py"], capture_output=True, check=True).stdout
        )
        for _ in range(2)
    ]
    secret = made[0]
    is_valid(secret, OLDEST)
    assert all(made[0]["stringData"][name] != made[1]["stringData"][name] for name in secret["stringData"])
    assert secret["stringData"].keys() == policies.GIVEN["Secret"][secret["metadata"]["name"]]
    assert secret["metadata"]["namespace"] == policies.NAMESPACE
    for name, text in secret["stringData"].items():
        (tmp_path / name).write_text(text, encoding="ascii")
    files = {f"MOONVALE_{name.upper()}_FILE": str(tmp_path / name) for name in secret["stringData"]}
    keys = load_keys(Settings.from_environment({**files, "MOONVALE_STORE": "redis://example.org"}), make=False)
    assert keys.is_creator_key(secret["stringData"]["creator_key"].strip())


def server(objects: list[Object]) -> Object:
    """The Deployment that serves."""
    found = named(objects, "Deployment", "moonvale")
    assert found is not None
    return found


def steward(objects: list[Object]) -> Object:
    """The Deployment that enforces clocks."""
    found = named(objects, "Deployment", "moonvale-steward")
    assert found is not None
    return found


def pod(objects: list[Object]) -> Object:
    spec: Object = server(objects)["spec"]["template"]["spec"]
    return spec


def container(objects: list[Object]) -> Object:
    first: Object = pod(objects)["containers"][0]
    return first


def one(objects: list[Object], kind: str, name: str = "moonvale") -> Object:
    found = named(objects, kind, name)
    assert found is not None
    spec: Object = found["spec"]
    return spec


def config(objects: list[Object]) -> Object:
    data: Object = of_kind(objects, "ConfigMap")[0]["data"]
    return data


Mutation = Callable[[list[Object]], object]

#: What each policy has to notice.
MUTATIONS: dict[Policy, list[Mutation]] = {
    policies.all_are_labelled: [
        lambda them: server(them)["metadata"].pop("labels"),
        lambda them: server(them)["metadata"].update(namespace="default"),
    ],
    policies.pods_are_restricted: [
        lambda them: pod(them)["securityContext"].update(runAsUser=0),
        lambda them: pod(them)["securityContext"].pop("runAsNonRoot"),
        lambda them: pod(them)["securityContext"].pop("seccompProfile"),
        lambda them: pod(them).update(hostNetwork=True),
        lambda them: pod(them)["volumes"].append({"name": "disk", "hostPath": {"path": "/"}}),
        lambda them: container(them)["securityContext"].update(privileged=True),
        lambda them: container(them)["securityContext"].pop("readOnlyRootFilesystem"),
        lambda them: container(them)["securityContext"]["capabilities"].update(add=["NET_ADMIN"]),
        lambda them: container(them)["ports"][0].update(hostPort=80),
        lambda them: pod(them).update(initContainers=[{"name": "first", "image": "moonvale:1"}]),
    ],
    policies.the_namespace_enforces_it: [
        lambda them: of_kind(them, "Namespace")[0]["metadata"]["labels"].clear(),
        lambda them: them.remove(of_kind(them, "Namespace")[0]),
    ],
    policies.pods_have_no_token: [
        lambda them: of_kind(them, "ServiceAccount")[0].pop("automountServiceAccountToken"),
        lambda them: pod(them).pop("automountServiceAccountToken"),
        lambda them: pod(them).pop("enableServiceLinks"),
        lambda them: pod(them).update(serviceAccountName="somebody"),
        lambda them: pod(them).pop("serviceAccountName"),
    ],
    policies.images_are_pinned: [
        lambda them: container(them).update(image="moonvale"),
        lambda them: container(them).update(image="registry.example.org:5000/moonvale"),
        lambda them: container(them).update(image="moonvale:latest"),
        lambda them: container(them).update(imagePullPolicy="Always"),
    ],
    policies.resources_are_bounded: [
        lambda them: container(them)["resources"]["limits"].pop("memory"),
        lambda them: container(them)["resources"]["requests"].pop("cpu"),
        lambda them: container(them)["resources"]["requests"].update(cpu="2500m"),
        lambda them: container(them)["resources"]["requests"].update(memory="10Gi"),
        lambda them: next(each for each in pod(them)["volumes"] if "emptyDir" in each).update(emptyDir={}),
    ],
    policies.probes_ask_the_right_thing: [
        lambda them: container(them).pop("startupProbe"),
        lambda them: container(them).update(readinessProbe={"grpc": {"port": 7350}}),
        lambda them: container(them).update(livenessProbe={"grpc": {"port": 7350, "service": policies.SERVICE}}),
        lambda them: container(them).update(livenessProbe={"httpGet": {"port": "http", "path": "/readyz"}}),
        lambda them: container(them).update(readinessProbe={"tcpSocket": {"port": "grpc"}}),
        lambda them: (
            config(them).update(MOONVALE_TLS_CERT="/run/moonvale/keys/keys"),
            container(them).update(livenessProbe={"grpc": {"port": 7350}}),
        ),
    ],
    policies.pods_end_in_good_order: [
        lambda them: pod(them).update(terminationGracePeriodSeconds=20),
        lambda them: config(them).update(MOONVALE_GRACE="30s"),
        lambda them: container(them)["lifecycle"]["preStop"]["exec"].update(command=["sleep", "0"]),
    ],
    policies.selectors_find_something: [
        lambda them: server(them)["spec"]["template"]["metadata"]["labels"].update({policies.LABELS[1]: "other"}),
        lambda them: one(them, "Service")["selector"].update(role="server"),
        lambda them: one(them, "NetworkPolicy", "clients")["podSelector"]["matchLabels"].update(role="server"),
        lambda them: pod(them)["topologySpreadConstraints"].pop(),
        lambda them: pod(them)["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"].update(role="server"),
        lambda them: them.append(copy.deepcopy(server(them))),
    ],
    policies.budgets_and_scalers_point_at_what_exists: [
        lambda them: one(them, "HorizontalPodAutoscaler")["scaleTargetRef"].update(name="other"),
        lambda them: one(them, "HorizontalPodAutoscaler")["scaleTargetRef"].update(apiVersion="apps/v2"),
        lambda them: one(them, "HorizontalPodAutoscaler").update(minReplicas=1),
        lambda them: server(them)["spec"].update(replicas=2),
        lambda them: one(them, "PodDisruptionBudget")["selector"]["matchLabels"].update(role="server"),
        lambda them: one(them, "PodDisruptionBudget").update(maxUnavailable=0),
        lambda them: them.remove(of_kind(them, "PodDisruptionBudget")[0]),
    ],
    traffic.ports_line_up: [
        lambda them: one(them, "Service")["ports"][0].update(targetPort="rpc"),
        lambda them: container(them)["ports"][0].update(containerPort=7360),
        lambda them: config(them).update(MOONVALE_LISTEN="127.0.0.1:7350"),
        lambda them: config(them).pop("MOONVALE_METRICS_LISTEN"),
        lambda them: server(them)["spec"]["template"]["metadata"].pop("annotations"),
        lambda them: container(them)["livenessProbe"].update(httpGet={"port": 80, "path": "/livez"}),
        lambda them: one(them, "NetworkPolicy", "clients")["ingress"][0]["ports"][0].update(port="rpc"),
        lambda them: one(them, "NetworkPolicy", "to-server")["egress"][0]["ports"][0].update(port="rpc"),
        lambda them: one(them, "GRPCRoute")["rules"][0]["backendRefs"][0].update(port=7352),
        lambda them: one(them, "HTTPRoute")["rules"][0]["backendRefs"][0].update(name="other"),
    ],
    traffic.routes_belong_to_a_listener: [
        lambda them: one(them, "HTTPRoute")["parentRefs"][0].update(sectionName="other"),
        lambda them: one(them, "HTTPRoute")["parentRefs"][0].update(name="other"),
        lambda them: one(them, "HTTPRoute").update(hostnames=["grpc.moonvale.example.org"]),
        lambda them: one(them, "Gateway")["listeners"][0]["allowedRoutes"].update(kinds=[{"kind": "HTTPRoute"}]),
        lambda them: one(them, "BackendTLSPolicy")["targetRefs"][0].update(name="other"),
    ],
    policies.what_is_referred_to_exists: [
        lambda them: container(them)["envFrom"][0]["configMapRef"].update(name="other"),
        lambda them: container(them)["env"][0]["valueFrom"]["secretKeyRef"].update(name="other"),
        lambda them: container(them)["env"][0]["valueFrom"]["secretKeyRef"].update(key="address"),
        lambda them: container(them)["volumeMounts"][0].update(name="other"),
        lambda them: pod(them)["volumes"][0]["secret"].update(secretName="other"),
        lambda them: one(them, "Gateway")["listeners"][0]["tls"]["certificateRefs"][0].update(name="other"),
    ],
    policies.variables_are_settings: [
        lambda them: config(them).update(MOONVALE_COLOUR="green"),
        lambda them: config(them).update(MOONVALE_GRACE="soon"),
        lambda them: config(them).update(MOONVALE_KEYS_FILE="/etc/keys"),
        lambda them: container(them).pop("env"),
    ],
    policies.both_roles_are_there: [
        lambda them: them.remove(server(them)),
        lambda them: them.remove(steward(them)),
        lambda them: config(them).update(MOONVALE_STEWARDS="1"),
        lambda them: steward(them)["spec"]["template"]["spec"]["containers"][0]["env"].clear(),
        lambda them: one(them, "Service")["selector"].pop(policies.LABELS[1]),
    ],
    traffic.the_network_is_closed: [
        lambda them: them.remove(named(them, "NetworkPolicy", "default-deny")),  # type: ignore[arg-type]
        lambda them: one(them, "NetworkPolicy", "default-deny").update(ingress=[{}]),
        lambda them: one(them, "NetworkPolicy", "clients")["ingress"][0].pop("from"),
        lambda them: one(them, "NetworkPolicy", "clients")["ingress"][0].pop("ports"),
    ],
}


def test_each_policy_has_something_to_notice() -> None:
    assert MUTATIONS.keys() == set(POLICIES)


@pytest.mark.parametrize(
    ("policy", "mutation"),
    [
        pytest.param(policy, mutation, id=f"{policy.__name__}-{number}")
        for policy, mutations in MUTATIONS.items()
        for number, mutation in enumerate(mutations)
    ],
)
def test_each_policy_notices_what_is_against_it(policy: Policy, mutation: Mutation) -> None:
    objects = render("production")
    mutation(objects)
    assert list(policy(objects)) != []
