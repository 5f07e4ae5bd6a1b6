"""The servers that other tests stand on: they start empty, keep what they answered, and leave nothing behind."""

import subprocess
import threading
from pathlib import Path

import psutil
import pytest
import redis
import redis.asyncio

from tests.support.servers import Program, ServerFailedError, StoreServer, redis_program, running, valkey_program


def client(server: StoreServer) -> redis.Redis:
    return redis.Redis.from_url(server.url, socket_timeout=20, retry=None, decode_responses=True)


async def test_store_url_leads_to_an_empty_server(store_url: str) -> None:
    async with redis.asyncio.Redis.from_url(store_url) as connection:
        assert await connection.dbsize() == 0
        assert await connection.set("key", b"\x00\xff")
        assert await connection.get("key") == b"\x00\xff"


def test_an_answered_write_survives_a_kill(store_server: StoreServer) -> None:
    with client(store_server) as connection:
        connection.set("key", "kept")
    store_server.kill()
    store_server.start()
    with client(store_server) as connection:
        assert connection.get("key") == "kept"


def test_a_stopped_server_answers_nothing_and_comes_back(store_server: StoreServer) -> None:
    with client(store_server) as connection:
        connection.set("key", "kept")
    store_server.stop()
    with client(store_server) as connection, pytest.raises(redis.ConnectionError):
        connection.ping()
    store_server.start()
    with client(store_server) as connection:
        assert connection.get("key") == "kept"


def test_a_paused_server_answers_when_it_goes_on(valkey: StoreServer) -> None:
    answers: list[str] = []
    with client(valkey) as connection:
        connection.ping()
        valkey.pause()
        assert psutil.Process(valkey.pid).status() == psutil.STATUS_STOPPED
        caller = threading.Thread(target=lambda: answers.append(connection.echo("late")))
        caller.start()
        assert answers == []
        valkey.resume()
        caller.join(20)
    assert answers == ["late"]


def test_nothing_is_left_behind() -> None:
    with running(valkey_program()) as server:
        pid, folder = server.pid, server.folder
        assert psutil.pid_exists(pid)
        assert (folder / "store.sock").stat().st_mode & 0o077 == 0
    assert not psutil.pid_exists(pid)
    assert not folder.exists()


def test_tcp_listens_on_the_loopback_alone() -> None:
    with running(valkey_program(), tcp=True) as server:
        with client(server) as connection:
            assert connection.ping()
        listening = {(c.laddr.ip, c.status) for c in psutil.Process(server.pid).net_connections("tcp")}
        assert {ip for ip, status in listening if status == psutil.CONN_LISTEN} == {"127.0.0.1"}


def test_the_default_server_has_no_tcp_port(valkey: StoreServer) -> None:
    assert psutil.Process(valkey.pid).net_connections("tcp") == []


def test_a_server_that_cannot_start_says_what_it_printed(tmp_path: Path) -> None:
    in_the_way = tmp_path / "appendonlydir"
    in_the_way.write_text("a file where the server wants its folder")
    server = StoreServer(valkey_program(), tmp_path)
    with pytest.raises(ServerFailedError, match=r"ended with code 1 at its start(?s:.*)appendonlydir"):
        server.start()
    with pytest.raises(ServerFailedError, match="start it first"):
        server.pid  # noqa: B018


def test_a_redis_that_is_too_old_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "redis-server"
    old.write_text("#!/bin/sh\necho 'Redis server v=6.2.7 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64'\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert redis_program() is None
    old.write_text("#!/bin/sh\necho 'Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64'\n")
    assert redis_program() == Program("redis-server", old)


def test_installing_redis_does_nothing_where_it_is_there(tmp_path: Path) -> None:
    there = tmp_path / "redis-server"
    there.write_text("#!/bin/sh\nexit 0\n")
    there.chmod(0o755)
    script = Path(__file__).parent / "support" / "install_redis.sh"
    done = subprocess.run(
        ["/bin/sh", str(script)], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
