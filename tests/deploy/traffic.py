"""What traffic to and between the objects of deploy/kubernetes has to be like: policies that policies.py lists."""

from __future__ import annotations

from collections.abc import Iterator

from moonvale_service.settings import Settings
from tests.deploy.manifests import (
    Object,
    containers,
    named,
    of_kind,
    ours,
    pod_of,
    selects,
    title,
    variables_of,
    workloads,
)


def ports_line_up(objects: list[Object]) -> Iterator[str]:
    """Ports of services, probes, policies and routes are those of containers, and those that settings name."""
    for each in of_kind(objects, "Service"):
        for workload in workloads(objects):
            if selects(each["spec"]["selector"], pod_of(workload)["metadata"]["labels"]):
                names = {port["name"] for container in containers(workload) for port in container.get("ports", ())}
                for port in each["spec"]["ports"]:
                    if port["targetPort"] not in names:
                        yield f"{title(each)} leads to the port {port['targetPort']}, which {title(workload)} lacks"
    for workload in workloads(objects):
        for container in containers(workload):
            yield from _probed_ports(workload, container)
            if ours(workload):
                yield from _settings_ports(objects, workload, container)
    for policy in of_kind(objects, "NetworkPolicy"):
        yield from _policy_ports(objects, policy)
    for route in of_kind(objects, "HTTPRoute", "GRPCRoute"):
        for rule in route["spec"]["rules"]:
            for backend in rule["backendRefs"]:
                service = named(objects, "Service", backend["name"])
                if service is None or backend["port"] not in [port["port"] for port in service["spec"]["ports"]]:
                    yield f"{title(route)} leads to {backend['name']}:{backend['port']}, which isn't there"


def routes_belong_to_a_listener(objects: list[Object]) -> Iterator[str]:
    """Each route names a listener of a Gateway that takes its kind and host; no host has routes of two kinds."""
    kinds: dict[str, str] = {}
    for route in of_kind(objects, "HTTPRoute", "GRPCRoute"):
        for parent in route["spec"]["parentRefs"]:
            gateway = named(objects, "Gateway", parent["name"])
            listeners = [] if gateway is None else gateway["spec"]["listeners"]
            listener = next((each for each in listeners if each["name"] == parent["sectionName"]), None)
            if listener is None:
                yield f"{title(route)} has no listener"
                continue
            if {"kind": route["kind"]} not in listener["allowedRoutes"]["kinds"]:
                yield f"{title(route)} is not taken by its listener"
            if route["spec"]["hostnames"] != [listener["hostname"]]:
                yield f"{title(route)} is of another host than its listener"
        for host in route["spec"]["hostnames"]:
            if kinds.setdefault(host, route["kind"]) != route["kind"]:
                yield f"{host} has routes of two kinds"
    for policy in of_kind(objects, "BackendTLSPolicy"):
        for target in policy["spec"]["targetRefs"]:
            if named(objects, target["kind"], target["name"]) is None:
                yield f"{title(policy)} is for what isn't there"


def the_network_is_closed(objects: list[Object]) -> Iterator[str]:
    """All traffic is denied but what is allowed, and what is allowed names who and which ports."""
    policies = of_kind(objects, "NetworkPolicy")
    if not any(
        policy["spec"]["podSelector"] == {}
        and set(policy["spec"]["policyTypes"]) == {"Ingress", "Egress"}
        and not policy["spec"].get("ingress")
        and not policy["spec"].get("egress")
        for policy in policies
    ):
        yield "nothing denies what isn't allowed"
    for policy in policies:
        for rule in (*policy["spec"].get("ingress", ()), *policy["spec"].get("egress", ())):
            if not rule.get("ports") or not (rule.get("from") or rule.get("to")):
                yield f"{title(policy)} allows everybody or every port"


def _probed_ports(workload: Object, container: Object) -> Iterator[str]:
    ports = {value for port in container.get("ports", ()) for value in (port["name"], port["containerPort"])}
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        for how in ("grpc", "httpGet", "tcpSocket"):
            asked = container.get(name, {}).get(how)
            if asked is not None and asked["port"] not in ports:
                yield f"{title(workload)} is asked at the port {asked['port']}, which it lacks ({name})"


def _settings_ports(objects: list[Object], workload: Object, container: Object) -> Iterator[str]:
    settings = Settings.from_environment(variables_of(objects, container))
    ports = {port["name"]: port["containerPort"] for port in container.get("ports", ())}
    listens = {
        "grpc": settings.listen,
        "health": settings.listen,
        "http": settings.http_listen,
        "metrics": settings.metrics_listen,
    }
    for name, address in listens.items():
        if name in ports and address != f"0.0.0.0:{ports[name]}":
            yield f"{title(workload)} listens on {address}, and its port {name} is {ports[name]}"
    scraped = pod_of(workload)["metadata"].get("annotations", {}).get("prometheus.io/port")
    if scraped != str(ports.get("metrics")):
        yield f"{title(workload)} is scraped at the port {scraped}, and tells its metrics elsewhere"


def _policy_ports(objects: list[Object], policy: Object) -> Iterator[str]:
    """Named ports of a policy are ports of the pods that it lets in, or lets others reach."""
    spec = policy["spec"]
    ends = [(spec["podSelector"], rule) for rule in spec.get("ingress", ())]
    ends += [
        (peer["podSelector"], rule) for rule in spec.get("egress", ()) for peer in rule["to"] if "podSelector" in peer
    ]
    for selector, rule in ends:
        found = [w for w in workloads(objects) if selects(selector, pod_of(w)["metadata"]["labels"])]
        names = {port["name"] for w in found for container in containers(w) for port in container.get("ports", ())}
        for port in rule["ports"]:
            if isinstance(port["port"], str) and port["port"] not in names:
                yield f"{title(policy)} allows the port {port['port']}, which those pods lack"
