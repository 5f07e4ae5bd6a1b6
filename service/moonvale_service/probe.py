"""``python -m moonvale_service.probe live|ready``: asks the service beside it, for health checks that run a command.

It asks the HTTP port, as MOONVALE_HTTP_LISTEN says, or, where that is off or wants certificates, the port of metrics;
the exit code is 0 if the service lives, or is ready. Where gRPC or HTTP can be asked from outside, as in Kubernetes,
that is cheaper.
"""

from __future__ import annotations

import http.client
import os
import ssl
import sys
from collections.abc import Mapping
from typing import Final

from moonvale_service.settings import SettingError, Settings, variable_of

EXIT_NO: Final = 1
EXIT_USAGE: Final = 2

_PATHS: Final = {"live": "/livez", "ready": "/readyz"}
_SECONDS: Final = 2.0
_ANY: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # addresses to listen on, not to call


def probe(environment: Mapping[str, str], what: str) -> bool:
    """Return whether the service lives (``live``) or can answer calls (``ready``). Raises SettingError."""
    settings = Settings.from_environment(environment)
    asks_http = settings.http_listen is not None and settings.tls_client_ca is None
    address = settings.http_listen if asks_http else settings.metrics_listen
    if address is None:
        message = "is off: without it, or where clients need certificates, the probe asks MOONVALE_METRICS_LISTEN"
        raise SettingError(variable_of("http_listen"), message)
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    where = _ANY.get(host, host), int(port)
    connection: http.client.HTTPConnection
    if asks_http and settings.tls_cert is not None:
        context = ssl.create_default_context()
        context.check_hostname = False  # it asks itself, by an address
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(*where, timeout=_SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(*where, timeout=_SECONDS)
    try:
        connection.request("GET", _PATHS[what])
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main(environment: Mapping[str, str], arguments: list[str]) -> int:
    """Run as a command and return the exit code."""
    if len(arguments) != 1 or arguments[0] not in _PATHS:
        sys.stderr.write(f"say which of: {', '.join(_PATHS)}\n")
        return EXIT_USAGE
    try:
        return 0 if probe(environment, arguments[0]) else EXIT_NO
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main(os.environ, sys.argv[1:]))
