"""TLS of the ports: a certificate, its key and who may call, read anew when the files are renewed.

Whether files do is found out by a handshake in memory with them, so nothing is served that no client could take.
"""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import grpc

from moonvale_service import logs, metrics
from moonvale_service.settings import SettingError, Settings, variable_of

#: OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which the ssl module has no name for: dates are told, not judged.
_NO_CHECK_TIME: Final = 0x200000

_Signature = tuple[tuple[int, int, int], ...]


class Files(NamedTuple):
    """Where the certificate (with its chain), its key and the authorities of clients lie, in PEM."""

    cert: Path
    key: Path
    client_ca: Path | None


@dataclass(frozen=True, slots=True)
class Material:
    """What the files hold. ``begins`` and ``expires``: of the certificate, seconds since the epoch.

    ``names``: the hosts and addresses that it is good for.
    """

    context: ssl.SSLContext
    config: grpc.ServerCertificateConfiguration
    begins: float
    expires: float
    names: tuple[str, ...]


def files_of(settings: Settings) -> Files | None:
    """Return the files that the settings name, or None: the ports go without TLS."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return Files(settings.tls_cert, settings.tls_key, settings.tls_client_ca)


def load(files: Files) -> Material:
    """Read the files. Raises SettingError, which names the setting of the one that is wrong."""
    read = {
        name: _read(name, path)
        for name, path in zip(("tls_cert", "tls_key", "tls_client_ca"), files, strict=True)
        if path is not None
    }
    context = _context(files)
    try:
        found = _handshake(context, files.cert)
    except ssl.SSLError:
        raise SettingError(variable_of("tls_cert"), f"{files.cert} is not a certificate that clients accept") from None
    if files.client_ca is not None:
        try:
            context.load_verify_locations(files.client_ca)
        except ssl.SSLError:
            message = f"{files.client_ca} needs the certificates of authorities in PEM"
            raise SettingError(variable_of("tls_client_ca"), message) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return Material(
        context,
        grpc.ssl_server_certificate_configuration(
            [(read["tls_key"], read["tls_cert"])], root_certificates=read.get("tls_client_ca")
        ),
        ssl.cert_time_to_seconds(str(found["notBefore"])),
        ssl.cert_time_to_seconds(str(found["notAfter"])),
        tuple([str(value) for _, value in found.get("subjectAltName", ())]),
    )


def certificates(settings: Settings) -> Certificates | None:
    """Return what the ports serve with, or None if they have no TLS. Raises SettingError."""
    files = files_of(settings)
    return None if files is None else Certificates(files)


def add_port(server: grpc.aio.Server, address: str, certificates: Certificates | None) -> int:
    """Have a server listen on an address, and return the port. Sockets (``unix:``) have no TLS. Raises SettingError."""
    try:
        if certificates is None or address.startswith("unix:"):
            return server.add_insecure_port(address)
        return server.add_secure_port(address, certificates.grpc_credentials())
    except RuntimeError:
        raise SettingError(variable_of("listen"), f"{address} can't be listened on") from None


class Certificates:
    """What the ports serve with; ``refresh`` it from time to time."""

    def __init__(self, files: Files) -> None:
        """Raises SettingError."""
        self._files = files
        self._signature = _signature(files)
        self._material = load(files)
        #: For servers that take a context once: it hands each connection on to what is there now.
        self.context: Final = _context(files)
        self.context.verify_mode = self._material.context.verify_mode
        self.context.sni_callback = self._hand_on
        if files.client_ca is not None:
            # A session that is resumed isn't verified again, even where its authority is trusted no more. TLS 1.2 keeps
            # sessions in a way that the ssl module has no switch for.
            self.context.num_tickets = 0
            self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._tell_dates()

    @property
    def expires(self) -> float:
        """When the certificate expires, in seconds since the epoch."""
        return self._material.expires

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """Return credentials of a gRPC port, which asks for what is new before each handshake."""
        given = self._material.config

        def renewed() -> grpc.ServerCertificateConfiguration | None:
            nonlocal given
            if given is self._material.config:
                return None
            given = self._material.config
            return given

        return grpc.dynamic_ssl_server_credentials(
            given,
            renewed,  # type: ignore[arg-type]  # None is "no change"
            require_client_authentication=self._files.client_ca is not None,
        )

    def refresh(self) -> None:
        """Read the files again if they have changed. While they won't do, what was read before is served."""
        try:
            signature = _signature(self._files)
        except OSError:  # amid a renewal; who asks next sees what came of it
            return
        if signature == self._signature:
            return
        try:
            material = load(self._files)
            if _signature(self._files) != signature:
                return  # they were changed while they were read
        except (SettingError, OSError) as error:
            logs.event("error", "tls_not_renewed", error=error)
        else:
            self._material = material
            logs.event("info", "tls_renewed")
            self._tell_dates()
        self._signature = signature

    def _tell_dates(self) -> None:
        metrics.certificate_expiry.set(self._material.expires)
        if not self._material.begins <= time.time() <= self._material.expires:
            logs.event("error", "tls_certificate_out_of_date")

    def _hand_on(self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._material.context


def _context(files: Files) -> ssl.SSLContext:
    """Return a context for HTTP/1.1 with the certificate. Raises SettingError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(files.cert, files.key, password="")  # a text, so that nobody is asked for one
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            message = f"{files.key} is not the key of the certificate in {files.cert}"
        else:
            message = f"{files.cert} and {files.key} need a certificate and its key in PEM, the key without a password"
        raise SettingError(variable_of("tls_key"), message) from None
    except OSError as error:
        raise SettingError(variable_of("tls_cert"), f"can't read {files.cert} ({type(error).__name__})") from None
    return context


def _handshake(server_context: ssl.SSLContext, certificate: Path) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return what a client learns of the certificate that a server has. Raises SSLError if it would not take it."""
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    client_context.load_verify_locations(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    client = client_context.wrap_bio(to_client, to_server)
    while not all([_advance(side) for side in (client, server)]):
        pass
    return client.getpeercert() or {}  # type: ignore[return-value]  # of a certificate that was verified it has these


def _advance(side: ssl.SSLObject) -> bool:
    """Go on with a handshake as far as the other side has answered; say whether it is done. Raises SSLError."""
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


def _read(name: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingError(variable_of(name), f"can't read {path} ({type(error).__name__})") from None


def _signature(files: Files) -> _Signature:
    """Return what differs when a file was replaced. Raises OSError."""
    found = [path.stat() for path in files if path is not None]
    return tuple([(each.st_ino, each.st_mtime_ns, each.st_size) for each in found])
