"""``python -m moonvale_service.probe live|ready``: asks the service beside it, for health checks that run a command.

It asks the HTTP port, as MOONVALE_HTTP_LISTEN says; the exit code is 0 if the service lives, or is ready. Where gRPC or
HTTP can be asked from outside, as in Kubernetes, that is cheaper.
"""

from __future__ import annotations

import http.client
import os
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
    address = Settings.from_environment(environment).http_listen
    if address is None:
        raise SettingError(variable_of("http_listen"), "is off, and the probe asks that port")
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    connection = http.client.HTTPConnection(_ANY.get(host, host), int(port), timeout=_SECONDS)
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
