"""What every object of deploy/kubernetes has to be like: each policy yields what is wrong in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from moonvale_service import supervisor
from moonvale_service.settings import SettingError, Settings, descriptions
from tests.deploy.manifests import (
    Object,
    containers,
    environment,
    named,
    of_kind,
    ours,
    pod_of,
    selects,
    title,
    variables_of,
    workloads,
)
from tests.deploy.traffic import ports_line_up, routes_belong_to_a_listener, the_network_is_closed

Policy = Callable[[list[Object]], Iterator[str]]

#: What exists beside the overlays; docs/operations.md says how each is made.
GIVEN: Final = {
    "Secret": {
        "moonvale-keys": {"keys", "creator_key", "operator_key"},
        "moonvale-store": {"url"},
        "moonvale-tls": {"tls.crt", "tls.key"},
        "moonvale-gateway-tls": {"tls.crt", "tls.key"},
    },
    "ConfigMap": {"moonvale-ca": {"ca.crt"}},
}
SERVICE: Final = "moonvale.v1.GameService"
LABELS: Final = ("app.kubernetes.io/name", "app.kubernetes.io/component")
NAMESPACE: Final = "moonvale"
LEAST_MARGIN: Final = 5  # seconds of the termination grace that nothing is planned for
_TAG: Final = re.compile(r".+(?::(?P<tag>[^/:@]+)|@sha256:[0-9a-f]{64})")


def all_are_labelled(objects: list[Object]) -> Iterator[str]:
    """Objects say what they are of, and lie in the one namespace."""
    for each in objects:
        labels = each["metadata"].get("labels", {})
        if LABELS[0] not in labels:
            yield f"{title(each)} lacks {LABELS[0]}"
        if each["kind"] != "Namespace" and each["metadata"].get("namespace") != NAMESPACE:
            yield f"{title(each)} is not in the namespace {NAMESPACE}"


def pods_are_restricted(objects: list[Object]) -> Iterator[str]:
    """Pods meet the restricted standard of pod security, and change nothing on their root."""
    for workload in workloads(objects):
        pod = pod_of(workload)["spec"]
        security = pod.get("securityContext", {})
        if security.get("runAsNonRoot") is not True or not security.get("runAsUser"):
            yield f"{title(workload)} may run as root"
        if security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield f"{title(workload)} has no seccomp profile"
        if any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")):
            yield f"{title(workload)} shares what is the host's"
        if any("hostPath" in volume for volume in pod.get("volumes", ())):
            yield f"{title(workload)} mounts a folder of the host's"
        for container in containers(workload):
            own = container.get("securityContext", {})
            if own.get("allowPrivilegeEscalation") is not False or own.get("privileged"):
                yield f"{title(workload)} may gain privileges"
            if own.get("readOnlyRootFilesystem") is not True:
                yield f"{title(workload)} may write to its root"
            if own.get("capabilities") != {"drop": ["ALL"]}:
                yield f"{title(workload)} has capabilities"
            if any("hostPort" in port for port in container.get("ports", ())):
                yield f"{title(workload)} takes a port of the host's"


def the_namespace_enforces_it(objects: list[Object]) -> Iterator[str]:
    """The namespace refuses pods that don't meet that standard."""
    for each in of_kind(objects, "Namespace"):
        if each["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
            yield f"{title(each)} does not enforce restricted pods"
    if not of_kind(objects, "Namespace"):
        yield "there is no Namespace"


def pods_have_no_token(objects: list[Object]) -> Iterator[str]:
    """Nobody may ask Kubernetes for anything, nor gets variables that look like settings."""
    for account in of_kind(objects, "ServiceAccount"):
        if account.get("automountServiceAccountToken") is not False:
            yield f"{title(account)} mounts its token"
    for workload in workloads(objects):
        pod = pod_of(workload)["spec"]
        if pod.get("automountServiceAccountToken") is not False:
            yield f"{title(workload)} mounts a token"
        if pod.get("enableServiceLinks") is not False:
            yield f"{title(workload)} gets variables named after Services"
        account = pod.get("serviceAccountName")
        if account is not None and named(objects, "ServiceAccount", account) is None:
            yield f"{title(workload)} runs as {account}, which isn't there"
        if ours(workload) and account is None:
            yield f"{title(workload)} runs as the default account"


def images_are_pinned(objects: list[Object]) -> Iterator[str]:
    """Images have a tag that stays, or a digest."""
    for workload in workloads(objects):
        for container in containers(workload):
            match = _TAG.fullmatch(container["image"])
            if match is None or match["tag"] == "latest":
                yield f"{title(workload)} has the image {container['image']}"
            if container.get("imagePullPolicy") == "Always":
                yield f"{title(workload)} pulls what may have changed"


def resources_are_bounded(objects: list[Object]) -> Iterator[str]:
    """Containers ask for what they need, and have limits that are no less."""
    for workload in workloads(objects):
        for container in containers(workload):
            resources = container.get("resources", {})
            for name in ("cpu", "memory"):
                asked, most = resources.get("requests", {}).get(name), resources.get("limits", {}).get(name)
                if asked is None or most is None:
                    yield f"{title(workload)} has no request or limit of {name}"
                elif _quantity(asked) > _quantity(most):
                    yield f"{title(workload)} asks for more {name} than its limit"
        for volume in pod_of(workload)["spec"].get("volumes", ()):
            if "emptyDir" in volume and "sizeLimit" not in volume["emptyDir"]:
                yield f"{title(workload)} has a folder without a limit"


def probes_ask_the_right_thing(objects: list[Object]) -> Iterator[str]:
    """Whether a pod is ready follows the store; whether it lives does not, and only a slow start may take long."""
    for workload in workloads(objects):
        for container in containers(workload):
            probes = {name: container.get(f"{name}Probe") for name in ("startup", "liveness", "readiness")}
            missing = [name for name, probe in probes.items() if not probe]
            if missing:
                yield f"{title(workload)} has no probe of {' and '.join(missing)}"
                continue
            if not ours(workload):
                continue
            if _asks(probes["readiness"]) not in (SERVICE, "/readyz"):
                yield f"{title(workload)} is ready without its store"
            for name in ("startup", "liveness"):
                if _asks(probes[name]) not in ("", "/livez"):
                    yield f"{title(workload)} is restarted when its store is away ({name})"
            tls = dict(environment(objects, container)).get("MOONVALE_TLS_CERT")
            for name, probe in probes.items():
                if tls and "grpc" in (probe or {}):
                    yield f"{title(workload)} has TLS, which probes of gRPC don't speak ({name})"


def pods_end_in_good_order(objects: list[Object]) -> Iterator[str]:
    """A pod has the time to say that it is about to end, to drain, and to kill what doesn't."""
    for workload in filter(ours, workloads(objects)):
        pod = pod_of(workload)["spec"]
        for container in containers(workload):
            settings = Settings.from_environment(variables_of(objects, container))
            command = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
            assert command[0] == "sleep"
            if _serves(container) and float(command[1]) < 2 * container["readinessProbe"]["periodSeconds"]:
                yield f"{title(workload)} ends before anybody can know of it"
            needed = float(command[1]) + settings.grace + supervisor._KILL_SECONDS + LEAST_MARGIN
            if pod.get("terminationGracePeriodSeconds", 30) < needed:
                yield f"{title(workload)} is killed while it drains, which may take {needed:g} s"


def selectors_find_something(objects: list[Object]) -> Iterator[str]:
    """Selectors of workloads, services, policies, budgets and spreads match labels of pods that there are."""
    pods = [pod_of(workload)["metadata"]["labels"] for workload in workloads(objects)]
    for workload in workloads(objects):
        labels = pod_of(workload)["metadata"]["labels"]
        if not selects(workload["spec"]["selector"], labels):
            yield f"{title(workload)} does not select its own pods"
        others = [other for other in workloads(objects) if other is not workload]
        for other in others:
            if selects(workload["spec"]["selector"], pod_of(other)["metadata"]["labels"]):
                yield f"{title(workload)} selects the pods of {title(other)}"
        for spread in pod_of(workload)["spec"].get("topologySpreadConstraints", ()):
            if not selects(spread["labelSelector"], labels):
                yield f"{title(workload)} spreads other pods"
        if ours(workload) and workload["spec"].get("replicas") != 1:
            spreads = pod_of(workload)["spec"].get("topologySpreadConstraints", ())
            if not {"kubernetes.io/hostname", "topology.kubernetes.io/zone"} <= {
                each["topologyKey"] for each in spreads
            }:
                yield f"{title(workload)} is not spread over nodes and zones"
    for each in of_kind(objects, "Service"):
        if not any(selects(each["spec"]["selector"], labels) for labels in pods):
            yield f"{title(each)} selects no pod"
    for each in of_kind(objects, "NetworkPolicy"):
        selector = each["spec"]["podSelector"]
        client = selector.get("matchLabels") == {"moonvale-client": "true"}  # pods of others
        if not client and not any(selects(selector, labels) for labels in pods):
            yield f"{title(each)} selects no pod"


def budgets_and_scalers_point_at_what_exists(objects: list[Object]) -> Iterator[str]:
    """Each of our workloads has a budget; scalers name Deployments that leave replicas to them."""
    budgets = of_kind(objects, "PodDisruptionBudget")
    for budget in budgets:
        found = [w for w in workloads(objects) if selects(budget["spec"]["selector"], pod_of(w)["metadata"]["labels"])]
        if len(found) != 1:
            yield f"{title(budget)} is of {len(found)} workloads"
        if not any(budget["spec"].get(name) for name in ("maxUnavailable", "minAvailable")):
            yield f"{title(budget)} lets no pod go"
    for workload in filter(ours, workloads(objects)):
        labels = pod_of(workload)["metadata"]["labels"]
        if not any(selects(budget["spec"]["selector"], labels) for budget in budgets):
            yield f"{title(workload)} has no PodDisruptionBudget"
    for scaler in of_kind(objects, "HorizontalPodAutoscaler"):
        target = scaler["spec"]["scaleTargetRef"]
        workload_ = named(objects, target["kind"], target["name"])
        if workload_ is None or workload_["apiVersion"] != target["apiVersion"]:
            yield f"{title(scaler)} scales what isn't there"
        elif "replicas" in workload_["spec"]:
            yield f"{title(workload_)} says how many pods it has, as its scaler does"
        if scaler["spec"]["minReplicas"] < 2:
            yield f"{title(scaler)} may leave one pod alone"


def what_is_referred_to_exists(objects: list[Object]) -> Iterator[str]:
    """Secrets and ConfigMaps are in the overlay or among those given; volumes that are mounted exist."""
    for kind, name, keys in _references(objects):
        found = named(objects, kind, name)
        known = GIVEN[kind].get(name) if found is None else set(found.get("data", {}))
        if known is None:
            yield f"there is no {kind} {name}"
        elif not keys <= known:
            yield f"{kind} {name} has no {', '.join(sorted(keys - known))}"
    for workload in workloads(objects):
        volumes = {volume["name"] for volume in pod_of(workload)["spec"].get("volumes", ())}
        volumes |= {claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", ())}
        for container in containers(workload):
            for mount in container.get("volumeMounts", ()):
                if mount["name"] not in volumes:
                    yield f"{title(workload)} mounts {mount['name']}, which isn't there"


def variables_are_settings(objects: list[Object]) -> Iterator[str]:
    """Each variable is a setting, all of them together are ones that the service starts with, and files are mounted."""
    known = {each.variable for each in descriptions()}
    for workload in filter(ours, workloads(objects)):
        for container in containers(workload):
            variables = dict(environment(objects, container))
            for name in variables.keys() - known:
                yield f"{title(workload)} sets {name}, which is no setting"
            try:
                settings = Settings.from_environment(variables_of(objects, container))
            except SettingError as error:
                yield f"{title(workload)}: {error}"
                continue
            if settings.embedded:
                yield f"{title(workload)} has a store of its own in each pod"
            mounts = [mount["mountPath"] for mount in container.get("volumeMounts", ())]
            for name, value in variables.items():
                if (value or "").startswith("/") and not any((value or "").startswith(f"{path}/") for path in mounts):
                    yield f"{title(workload)}: {name} names a file that is not mounted"


def both_roles_are_there(objects: list[Object]) -> Iterator[str]:
    """Pods either serve or attend to clocks and bots; there are both, and Services lead to those that serve."""
    roles = set()
    for workload in filter(ours, workloads(objects)):
        for container in containers(workload):
            settings = Settings.from_environment(variables_of(objects, container))
            roles.add((settings.workers > 0, settings.stewards > 0))
            labels = pod_of(workload)["metadata"]["labels"]
            for service in of_kind(objects, "Service"):
                if not settings.workers and selects(service["spec"]["selector"], labels):
                    yield f"{title(service)} leads to {title(workload)}, which serves nothing"
    if roles != {(True, False), (False, True)}:
        yield "pods don't either serve or attend to clocks"


POLICIES: Final[tuple[Policy, ...]] = (
    all_are_labelled,
    pods_are_restricted,
    the_namespace_enforces_it,
    pods_have_no_token,
    images_are_pinned,
    resources_are_bounded,
    probes_ask_the_right_thing,
    pods_end_in_good_order,
    selectors_find_something,
    budgets_and_scalers_point_at_what_exists,
    ports_line_up,
    routes_belong_to_a_listener,
    what_is_referred_to_exists,
    variables_are_settings,
    both_roles_are_there,
    the_network_is_closed,
)

_UNITS: Final = {"": 1.0, "m": 0.001, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


def _quantity(text: object) -> float:
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text))
    assert match is not None
    return float(match[1]) * _UNITS[match[2]]


def _asks(probe: Object | None) -> str:
    """Return what a probe asks for: the service of gRPC, or the path of HTTP."""
    assert probe is not None
    asked: str = probe["grpc"].get("service", "") if "grpc" in probe else probe.get("httpGet", {}).get("path", "?")
    return asked


def _serves(container: Object) -> bool:
    return any(port["name"] == "grpc" for port in container.get("ports", ())) and "lifecycle" in container


def _references(objects: list[Object]) -> Iterator[tuple[str, str, set[str]]]:
    """Yield kind, name and keys of all Secrets and ConfigMaps that are referred to."""
    for workload in workloads(objects):
        for volume in pod_of(workload)["spec"].get("volumes", ()):
            if "secret" in volume:
                yield (
                    "Secret",
                    volume["secret"]["secretName"],
                    {item["key"] for item in volume["secret"].get("items", ())},
                )
        for container in containers(workload):
            for source in container.get("envFrom", ()):
                yield "ConfigMap", source["configMapRef"]["name"], set()
            for each in container.get("env", ()):
                if "secretKeyRef" in each.get("valueFrom", {}):
                    reference = each["valueFrom"]["secretKeyRef"]
                    yield "Secret", reference["name"], {reference["key"]}
    for gateway in of_kind(objects, "Gateway"):
        for listener in gateway["spec"]["listeners"]:
            for reference in listener["tls"]["certificateRefs"]:
                yield reference["kind"], reference["name"], {"tls.crt", "tls.key"}
    for policy in of_kind(objects, "BackendTLSPolicy"):
        for reference in policy["spec"]["validation"]["caCertificateRefs"]:
            yield reference["kind"], reference["name"], {"ca.crt"}
