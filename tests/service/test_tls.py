"""TLS: both ports, mutual or not, certificates that are renewed, and a store that is reached by it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import grpc
import httpx
import pytest
import redis
from cryptography.hazmat.primitives import serialization

from moonvale_client import AsyncClient, MoonvaleError, Options, RetryPolicy, play_seat
from moonvale_service.settings import SettingError, Settings
from moonvale_service.store import StoreUnavailableError
from moonvale_service.store.redis_store import RedisStore
from moonvale_service.tls import Certificates, Files, load
from tests.service.certificates import Authority
from tests.service.servers import RunningServer, running_service, start_server
from tests.support.ci import do_without
from tests.support.servers import CLUSTER_SLOTS, StoreServer, redis_program, running

ONCE = RetryPolicy(timeout=3.0, attempt_timeout=3.0, first_pause=6.0, longest_pause=6.0)
SECONDS = 30.0


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def other(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "other")


def files(cert: Path, key: Path, client_ca: Path | None = None) -> dict[str, str]:
    chosen = {"tls_cert": str(cert), "tls_key": str(key)}
    return chosen if client_ca is None else {**chosen, "tls_client_ca": str(client_ca)}


@pytest.fixture
async def server(valkey: StoreServer, authority: Authority, tmp_path: Path) -> AsyncIterator[RunningServer]:
    server = await start_server(valkey.url, tmp_path / "data", **files(*authority.sign()))
    yield server
    await server.stop()


@pytest.fixture
async def mutual(
    valkey: StoreServer, authority: Authority, other: Authority, tmp_path: Path
) -> AsyncIterator[RunningServer]:
    server = await start_server(valkey.url, tmp_path / "data", **files(*authority.sign(), other.file))
    yield server
    await server.stop()


async def over_grpc(address: str, trusted: Authority | None, own: tuple[Path, Path] | None = None) -> str:
    """Call a method, and return OK or the code of the failure."""
    tls = None
    if trusted is not None:
        cert, key = (None, None) if own is None else (path.read_bytes() for path in own)
        tls = grpc.ssl_channel_credentials(trusted.pem, key, cert)
    try:
        async with AsyncClient(address, tls=tls, retry=ONCE) as client:
            await client.get_server_info()
    except MoonvaleError as error:
        return error.code.name
    return "OK"


async def over_http(server: RunningServer, trusted: Authority | None, own: tuple[Path, Path] | None = None) -> str:
    """The same over HTTP; OK or the name of the error."""
    where = f"127.0.0.1:{server.server.http_port}/v1/serverInfo"
    context: ssl.SSLContext | bool = False
    if trusted is not None:
        context = ssl.create_default_context(cafile=str(trusted.file))
        if own is not None:
            context.load_cert_chain(*own)
    try:
        async with httpx.AsyncClient(verify=context, trust_env=False) as client:
            answer = await client.get(f"http{'' if trusted is None else 's'}://{where}")
    except httpx.TransportError as error:
        return type(error).__name__
    return "OK" if answer.status_code == 200 else str(answer.status_code)


async def test_both_ports_serve_who_trusts_the_authority_and_nobody_without_tls(
    server: RunningServer, authority: Authority, other: Authority
) -> None:
    assert await over_grpc(server.address, authority) == "OK"
    assert await over_grpc(server.address, other) == "UNAVAILABLE"
    assert await over_grpc(server.address, None) == "UNAVAILABLE"
    assert await over_http(server, authority) == "OK"
    assert await over_http(server, other) == "ConnectError"
    assert await over_http(server, None) in ("RemoteProtocolError", "ReadError")


async def test_what_is_no_http_is_refused_with_a_reason_over_tls_too(
    server: RunningServer, authority: Authority
) -> None:
    context = ssl.create_default_context(cafile=str(authority.file))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.server.http_port, ssl=context)
    writer.write(b"this is no request\r\n\r\n")
    async with asyncio.timeout(SECONDS):
        head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    writer.transport.abort()


async def test_where_clients_need_a_certificate_only_those_of_the_authority_are_served(
    mutual: RunningServer, authority: Authority, other: Authority
) -> None:
    theirs, ours = other.sign("client"), authority.sign("client")
    assert await over_grpc(mutual.address, authority, theirs) == "OK"
    assert await over_grpc(mutual.address, authority, ours) == "UNAVAILABLE"
    assert await over_grpc(mutual.address, authority) == "UNAVAILABLE"
    assert await over_http(mutual, authority, theirs) == "OK"
    assert await over_http(mutual, authority, ours) != "OK"
    assert await over_http(mutual, authority) != "OK"


async def test_no_session_is_resumed_where_clients_need_a_certificate(
    server: RunningServer, mutual: RunningServer, authority: Authority, other: Authority
) -> None:
    own = other.sign("client")

    def ask(port: int | None, session: ssl.SSLSession | None) -> tuple[ssl.SSLSession | None, bool | None]:
        plain = socket.create_connection(("127.0.0.1", port or 0))
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as tls:
            tls.sendall(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert tls.recv(4096).startswith(b"HTTP/1.1 200 ")
            return tls.session, tls.session_reused

    for running_server, resumed in ((server, True), (mutual, False)):
        context = ssl.create_default_context(cafile=str(authority.file))
        context.load_cert_chain(*own)
        session, _ = await asyncio.to_thread(ask, running_server.server.http_port, None)
        _, reused = await asyncio.to_thread(ask, running_server.server.http_port, session)
        assert reused is resumed


async def test_renewed_files_are_served_without_a_restart_and_connections_stay(
    valkey: StoreServer, authority: Authority, other: Authority, tmp_path: Path
) -> None:
    cert, key, client_ca = (tmp_path / name for name in ("tls.crt", "tls.key", "ca.crt"))

    def renew(by: Authority, clients: Authority) -> None:
        for path, new in zip((cert, key, client_ca), (*by.sign(), clients.file), strict=True):
            draft = path.with_suffix(".new")
            draft.write_bytes(new.read_bytes())
            draft.replace(path)

    renew(authority, authority)
    server = await start_server(valkey.url, tmp_path / "data", **files(cert, key, client_ca))
    own, others = authority.sign("client"), other.sign("client")
    pem = [path.read_bytes() for path in own]
    try:
        async with AsyncClient(
            server.address, tls=grpc.ssl_channel_credentials(authority.pem, pem[1], pem[0])
        ) as before:
            await before.get_server_info()
            assert await over_http(server, other, others) != "OK"
            renew(other, other)
            async with asyncio.timeout(SECONDS):
                while await over_http(server, other, others) != "OK":
                    pass
            assert await over_grpc(server.address, other, others) == "OK"
            assert await over_grpc(server.address, other, own) == "UNAVAILABLE"
            assert await over_http(server, other, own) != "OK"
            assert await over_http(server, authority, own) != "OK"
            await before.get_server_info()
    finally:
        await server.stop()


def test_while_renewed_files_do_not_fit_the_old_ones_serve_on(authority: Authority) -> None:
    cert, key = authority.sign()
    certificates = Certificates(Files(cert, key, None))
    expires = certificates.expires
    _, another = authority.sign("another", days=60)
    key.write_bytes(another.read_bytes())
    certificates.refresh()
    assert certificates.expires == expires
    cert.unlink()
    certificates.refresh()
    assert certificates.expires == expires
    cert.write_bytes((cert.parent / "another.pem").read_bytes())
    certificates.refresh()
    assert certificates.expires > expires


@pytest.mark.parametrize(
    ("cert", "key", "client_ca", "wrong", "says"),
    [
        ("server.pem", "another.key", None, "MOONVALE_TLS_KEY", "is not the key of the certificate"),
        ("server.key", "server.key", None, "MOONVALE_TLS_KEY", "need a certificate and its key"),
        ("server.pem", "locked.key", None, "MOONVALE_TLS_KEY", "without a password"),
        ("server.pem", "nowhere", None, "MOONVALE_TLS_KEY", "can't read"),
        ("nowhere", "server.key", None, "MOONVALE_TLS_CERT", "can't read"),
        ("server.pem", "server.key", "server.key", "MOONVALE_TLS_CLIENT_CA", "certificates of authorities"),
    ],
)
def test_files_that_will_not_do_are_refused_by_their_setting(
    authority: Authority, cert: str, key: str, client_ca: str | None, wrong: str, says: str
) -> None:
    folder = authority.file.parent
    authority.sign()
    authority.sign("another")
    (folder / "locked.key").write_bytes(
        serialization.load_pem_private_key((folder / "server.key").read_bytes(), None).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    with pytest.raises(SettingError) as raised:
        load(Files(folder / cert, folder / key, None if client_ca is None else folder / client_ca))
    assert raised.value.variable == wrong
    assert says in str(raised.value)


@pytest.mark.parametrize(("given", "missing"), [("CERT", "KEY"), ("KEY", "CERT"), ("CLIENT_CA", "CERT")])
def test_half_of_the_settings_is_refused(given: str, missing: str) -> None:
    with pytest.raises(SettingError) as raised:
        Settings.from_environment({f"MOONVALE_TLS_{given}": "/somewhere"})
    assert raised.value.variable == f"MOONVALE_TLS_{missing}"


def test_a_certificate_that_has_expired_is_served_and_told(authority: Authority) -> None:
    cert, key = authority.sign(days=-1)
    program = (
        "import sys; from pathlib import Path; from moonvale_service import logs, tls; logs.configure('info');"
        "tls.Certificates(tls.Files(Path(sys.argv[1]), Path(sys.argv[2]), None))"
    )
    done = subprocess.run([sys.executable, "-c", program, cert, key], capture_output=True, text=True, check=True)
    assert '"event":"tls_certificate_out_of_date"' in done.stderr


def test_a_whole_service_says_how_to_join_and_plays_with_the_command(authority: Authority, other: Authority) -> None:
    with running_service(workers="1", **files(*authority.sign(), other.file)) as service:
        assert f"--address {service.address} --ca FILE --cert FILE --key FILE" in service.printed
        assert service.url.startswith("https://")
        own = other.sign("client")
        command = [
            sys.executable,
            "-m",
            "moonvale_cli",
            "demo",
            "--fast",
            "--rounds",
            "1",
            "--address",
            service.address,
        ]
        trusting = [*command, "--ca", str(authority.file)]
        done = subprocess.run(
            [*trusting, "--cert", str(own[0]), "--key", str(own[1])], capture_output=True, text=True, check=True
        )
        assert "all legal, with the same result" in done.stdout
        assert f" --ca {authority.file} --cert {own[0]} --key {own[1]}" in done.stdout
        quiet = {**os.environ, "GRPC_VERBOSITY": "NONE"}
        refused = subprocess.run(trusting, capture_output=True, text=True, check=False, env=quiet)
        assert refused.returncode == 1
        assert refused.stderr.startswith("moonvale demo: no service that is trusted answers at ")
        assert service.stop() == 0
        assert not [line for line in service.log_lines() if line["level"] == "error"]


@contextlib.contextmanager
def redis_with_tls(authority: Authority, *options: str) -> Iterator[int]:
    """A Redis that wants clients' certificates; yields its port. Skips where there is none."""
    program = redis_program()
    if program is None:  # the Valkey in the wheel is built without TLS
        do_without("no Redis on PATH (Debian and Ubuntu: apt-get install redis-tools)")
    cert, key = authority.sign("redis")
    with socket.socket() as found, socket.socket() as bus:
        found.bind(("127.0.0.1", 0))
        bus.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        if "--cluster-enabled" in options:
            options += ("--cluster-port", str(bus.getsockname()[1]))
    pair = ("--tls-cert-file", str(cert), "--tls-key-file", str(key), "--tls-ca-cert-file", str(authority.file))
    with running(program, options=(*pair, "--tls-port", str(port), *options)) as server:
        with redis.Redis.from_url(server.url) as raw:
            if "--cluster-enabled" in options:
                raw.execute_command("CLUSTER ADDSLOTSRANGE", 0, CLUSTER_SLOTS - 1)
                while raw.cluster("INFO")["cluster_state"] != "ok":
                    time.sleep(0.01)
        yield port


@pytest.mark.parametrize(
    ("scheme", "options"),
    [("rediss", ()), ("rediss+cluster", ("--cluster-enabled", "yes", "--tls-cluster", "yes"))],
)
async def test_a_store_is_reached_by_tls_with_a_certificate_of_ones_own(
    scheme: str, options: tuple[str, ...], authority: Authority, tmp_path: Path
) -> None:
    cert, key = authority.sign("client")
    with redis_with_tls(authority, *options) as port:
        url = f"{scheme}://127.0.0.1:{port}?ssl_ca_certs={authority.file}&ssl_certfile={cert}&ssl_keyfile={key}"
        server = await start_server(url, tmp_path / "data")
        try:
            async with AsyncClient(server.address) as client:
                game = await client.create_game(Options(players=2, rounds=1))
                seats = [
                    play_seat(client, game.name, credential, lambda view: view.decision.legal_actions[-1])
                    for credential in game.seat_credentials
                ]
                first, second = await asyncio.gather(*seats)
        finally:
            await server.stop()
    assert first == second


async def test_a_store_that_is_not_who_it_should_be_or_trusts_nobody_is_not_used(
    authority: Authority, other: Authority
) -> None:
    cert, key = authority.sign("client")
    with redis_with_tls(authority) as port:
        for query in (
            f"ssl_ca_certs={other.file}&ssl_certfile={cert}&ssl_keyfile={key}",
            f"ssl_ca_certs={authority.file}",
        ):
            store = RedisStore(f"rediss://127.0.0.1:{port}?{query}", 0.5)
            with pytest.raises(StoreUnavailableError):
                await store.ping()
            await store.close()
