"""The embedded store: one owner for its folder, everything on disk, back after a crash, and no orphan for long."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis.asyncio as aioredis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff

from moonvale_service.embedded import EmbeddedStore, url
from moonvale_service.settings import SettingError, Settings


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:
        yield Path(folder) / "data"


def client(data: Path) -> aioredis.Redis:
    """A client as patient as the service's own."""
    patience = Retry(ExponentialWithJitterBackoff(base=0.01, cap=0.2), 100)
    return aioredis.Redis.from_url(url(Settings.from_environment({"MOONVALE_DATA": str(data)})), retry=patience)


async def test_it_keeps_what_it_was_given_and_leaves_no_process(data: Path) -> None:
    for value in (b"first", b"second"):
        store = EmbeddedStore(data)
        await store.start()
        process = psutil.Process(store.process_id)
        async with client(data) as raw:
            assert await raw.get("key") == (None if value == b"first" else b"first")
            await raw.set("key", value)
            config = await raw.config_get("append*")
            assert (config["appendonly"], config["appendfsync"]) == ("yes", "always")
            assert (await raw.config_get("port"))["port"] == "0"
        assert os.getsid(process.pid) == process.pid  # a Ctrl-C at the terminal does not reach it
        await store.stop()
        assert not process.is_running()


async def test_only_its_owner_reaches_its_socket_and_files(data: Path) -> None:
    store = EmbeddedStore(data)
    await store.start()
    for folder in (data, data / "run", data / "store"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((data / "run" / "store.sock").stat().st_mode) == 0o700
    await store.stop()


async def test_a_second_service_is_refused_the_folder(data: Path) -> None:
    store, second = EmbeddedStore(data), EmbeddedStore(data)
    await store.start()
    with pytest.raises(SettingError, match=f"MOONVALE_DATA: .* is in use by another service, process {os.getpid()}"):
        await second.start()
    async with client(data) as raw:
        assert await raw.ping()
    await store.stop()
    await second.start()
    await second.stop()


async def test_it_is_back_after_a_crash_with_all_it_had_answered(data: Path) -> None:
    store = EmbeddedStore(data)
    await store.start()
    for round in range(3):
        before = store.process_id
        assert before is not None
        async with client(data) as raw:
            await raw.rpush("list", round)
        os.kill(before, signal.SIGKILL)
        await replaced(store, before)
        async with client(data) as raw:
            assert await raw.lrange("list", 0, -1) == [b"%d" % i for i in range(round + 1)]
    await store.stop()


async def replaced(store: EmbeddedStore, process: int) -> None:
    """Wait until another process has taken the place of this one, which nothing tells."""
    for _ in range(1000):
        if store.process_id not in (process, None):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the store was not started again")


async def test_what_a_killed_supervisor_left_behind_is_ended_by_the_next(data: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from moonvale_service.embedded import EmbeddedStore\n"
        "async def main():\n"
        "    store = EmbeddedStore(Path(sys.argv[1]))\n"
        "    await store.start()\n"
        "    print(store.process_id, flush=True)\n"
        "    await asyncio.sleep(3600)\n"
        "asyncio.run(main())\n"
    )
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", program, data, stdout=asyncio.subprocess.PIPE)
    assert owner.stdout is not None
    orphan = psutil.Process(int(await owner.stdout.readline()))
    async with client(data) as raw:
        await raw.set("key", "kept")
    owner.kill()
    await owner.wait()
    assert orphan.is_running()
    store = EmbeddedStore(data)
    await store.start()
    assert store.process_id != orphan.pid
    psutil.wait_procs([orphan], 10)
    assert not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE
    async with client(data) as raw:
        assert await raw.get("key") == b"kept"
    await store.stop()


async def test_a_folder_that_will_not_do_is_refused_by_the_setting(data: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, right in ((tmp_path / "file", "can't be used"), (tmp_path / ("x" * 100), "too long a path")):
        with pytest.raises(SettingError, match=f"MOONVALE_DATA: .*{right}"):
            await EmbeddedStore(folder).start()


async def test_damaged_files_are_reported_and_the_folder_is_free_again(data: Path) -> None:
    store = EmbeddedStore(data)
    await store.start()
    await store.stop()
    manifest = next((data / "store").rglob("*.manifest"))
    manifest.write_text(json.dumps("not a manifest"))
    with pytest.raises(Exception, match=r"ended with code 1 at its start; see .*store\.log"):
        await EmbeddedStore(data).start()
    manifest.unlink()
    again = EmbeddedStore(data)
    await again.start()
    await again.stop()


async def test_a_stop_while_it_is_started_again_leaves_no_process(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = EmbeddedStore(data)
    await store.start()
    spawn = asyncio.create_subprocess_exec
    spawned: list[asyncio.subprocess.Process] = []
    began, go_on = asyncio.Event(), asyncio.Event()

    async def slow_spawn(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:  # noqa: ANN401  # whatever it takes
        spawned.append(await spawn(*arguments, **options))
        began.set()
        await go_on.wait()
        return spawned[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", slow_spawn)
    assert store.process_id is not None
    os.kill(store.process_id, signal.SIGKILL)
    await began.wait()
    stopping = asyncio.create_task(store.stop())
    asyncio.get_running_loop().call_soon(go_on.set)
    await stopping
    assert spawned[-1].returncode is not None


async def test_a_stop_while_it_does_not_answer_yet_waits_for_its_process(data: Path) -> None:
    store = EmbeddedStore(data)
    await store.start()
    before = store.process_id
    assert before is not None
    os.kill(before, signal.SIGKILL)
    await replaced(store, before)
    assert store.process_id is not None
    process = psutil.Process(store.process_id)
    os.kill(store.process_id, signal.SIGSTOP)  # so that its end takes longer than one cancellation does
    asyncio.get_running_loop().call_later(0.3, process.resume)
    await store.stop()
    assert not process.is_running()
