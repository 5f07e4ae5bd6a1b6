"""`moonvale serve`: the service as people start it."""

import shutil
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from moonvale_cli.at_hand import answers, command_name
from tests.cli.terminal import Terminal


def test_it_says_how_to_join_and_ends_with_ctrl_c() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="moonvale-") as folder,
        Terminal(
            "serve",
            columns=200,
            MOONVALE_LISTEN="127.0.0.1:0",
            MOONVALE_HTTP_LISTEN="127.0.0.1:0",
            MOONVALE_WORKERS="1",
            MOONVALE_LOG_LEVEL="warning",
            MOONVALE_DATA=folder,
        ) as terminal,
    ):
        said = terminal.until("Ctrl-C stops the service.")
        address = said.split()[3]
        assert f"{command_name()} play --address {address} " in said
        assert f"{command_name()} demo --address {address} " in said
        assert answers(address)
        terminal.interrupt("\n|$")
        assert terminal.end() == 0


def test_an_address_that_is_taken_is_said_in_a_line() -> None:
    with socket.socket() as taken, tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for grpc, http, wrong in (
            (address, "off", "MOONVALE_LISTEN"),
            ("127.0.0.1:0", address, "MOONVALE_HTTP_LISTEN"),
        ):
            with Terminal(
                "serve", columns=200, MOONVALE_LISTEN=grpc, MOONVALE_HTTP_LISTEN=http, MOONVALE_DATA=folder
            ) as terminal:
                assert terminal.end() != 0
            assert terminal.text.strip() == f"{wrong}: {address} can't be listened on: Address already in use"


def test_the_command_is_called_by_its_path_where_its_name_finds_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = Path(sys.executable).with_name("moonvale")
    assert own.exists()
    monkeypatch.setattr(shutil, "which", lambda name: str(own))
    assert command_name() == "moonvale"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.chdir(tmp_path)
    assert command_name() == str(own)
    monkeypatch.chdir(own.parent.parent)
    assert command_name() == f"{own.parent.name}/moonvale"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert command_name() == "moonvale"
