"""The services of the manifests, started as their containers would be, answer the probes as these mean to ask."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import ssl
import subprocess
import sys
from pathlib import Path

import grpc
import grpc.aio
import httpx
import pytest
from grpc_health.v1 import health_pb2

from moonvale_service.credentials import load_keys
from moonvale_service.settings import Settings
from tests.deploy.manifests import Object, environment, named, render
from tests.service.certificates import Authority
from tests.support.servers import StoreServer

SECONDS = 60.0
PAUSE = 0.05

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all addresses of the loopback up")


async def answers(probe: Object, address: str, ports: dict[str, int]) -> bool:
    """Ask as Kubernetes does: gRPC without TLS, HTTPS without a look at the certificate."""
    if "grpc" in probe:
        async with grpc.aio.insecure_channel(f"{address}:{probe['grpc']['port']}") as channel:
            check: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
            request = health_pb2.HealthCheckRequest(service=probe["grpc"].get("service", ""))
            try:
                answer = await check(request.SerializeToString(), timeout=probe["timeoutSeconds"])
            except grpc.aio.AioRpcError:
                return False
            return health_pb2.HealthCheckResponse.FromString(answer).status == health_pb2.HealthCheckResponse.SERVING
    asked = probe["httpGet"]
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    url = f"{asked.get('scheme', 'HTTP').lower()}://{address}:{ports[asked['port']]}{asked['path']}"
    async with httpx.AsyncClient(verify=context, timeout=probe["timeoutSeconds"]) as http:
        try:
            return (await http.get(url)).is_success
        except httpx.TransportError:
            return False


async def until(probe: Object, address: str, ports: dict[str, int], wanted: bool) -> None:
    """Return when a probe is answered so; nothing tells of it."""
    async with asyncio.timeout(SECONDS):
        while await answers(probe, address, ports) is not wanted:  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)


def variables(objects: list[Object], container: Object, address: str, store: str, folder: Path) -> dict[str, str]:
    """The variables of a container, its files and addresses put where they can be here."""
    load_keys(Settings.from_environment({"MOONVALE_DATA": str(folder)}), make=True)
    cert, key = Authority(folder / "authority").sign()
    files = {"tls.crt": cert, "tls.key": key}
    found = {}
    for name, value in environment(objects, container):
        if value is None or name == "MOONVALE_STORE":
            value = store
        elif value.startswith("/"):
            value = str(files.get(Path(value).name, folder / Path(value).name))
        found[name] = value.replace("0.0.0.0:", f"{address}:")
    return found


@pytest.mark.parametrize("overlay", ["dev", "production"])
@pytest.mark.parametrize("name", ["moonvale", "moonvale-steward"])
async def test_a_pod_is_ready_with_its_store_and_lives_without(
    valkey: StoreServer, tmp_path: Path, overlay: str, name: str
) -> None:
    objects = render(overlay)
    workload = named(objects, "Deployment", name)
    assert workload is not None
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    address = f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "moonvale_service"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={
            **{key: value for key, value in os.environ.items() if not key.startswith("MOONVALE_")},
            **variables(objects, container, address, valkey.url, tmp_path),
            "MOONVALE_STORE_TIMEOUT": "500ms",
        },
    )
    live, ready = container["livenessProbe"], container["readinessProbe"]
    try:
        await until(container["startupProbe"], address, ports, True)
        await until(ready, address, ports, True)
        valkey.kill()
        await until(ready, address, ports, False)
        assert await answers(live, address, ports)
        valkey.start()
        await until(ready, address, ports, True)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), SECONDS) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
