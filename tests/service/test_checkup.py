"""The checkup behind `moonvale doctor`, and what the service says of its store when it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis

from moonvale_cli.main import main
from moonvale_service.checkup import Finding, Judgement, _server, examine
from moonvale_service.credentials import load_keys
from moonvale_service.settings import Settings
from moonvale_service.store.condition import Condition
from tests.service.certificates import Authority
from tests.service.servers import running_service
from tests.support.servers import StoreServer, running, running_cluster, running_pair, valkey_program


def findings(environment: Mapping[str, str]) -> list[Finding]:
    async def collect() -> list[Finding]:
        return [finding async for finding in examine(environment)]

    return asyncio.run(collect())


def bad(environment: Mapping[str, str]) -> dict[str, str]:
    """What is wrong, and what to change."""
    return {each.found: each.change for each in findings(environment) if each.judgement is Judgement.WRONG}


def notes(environment: Mapping[str, str]) -> dict[str, str]:
    return {each.found: each.change for each in findings(environment) if each.judgement is Judgement.NOTE}


@pytest.fixture
def environment(valkey: StoreServer, tmp_path: Path) -> dict[str, str]:
    """Of a service that is well."""
    environment = {"MOONVALE_STORE": valkey.url, "MOONVALE_DATA": str(tmp_path)}
    load_keys(Settings.from_environment(environment), make=True)
    return environment


@pytest.fixture
def raw(valkey: StoreServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(valkey.url) as raw:
        yield raw


def test_where_all_is_well_nothing_is_wrong(environment: dict[str, str], raw: redis.Redis) -> None:
    raw.config_set("maxmemory", "100mb")
    assert bad(environment) == {}
    assert notes(environment) == {}
    assert {each.found.partition(" ")[0] for each in findings(environment)} >= {"Valkey", "logs", "throws", "uses"}


def test_a_store_that_evicts_or_persists_nothing_is_wrong(environment: dict[str, str], raw: redis.Redis) -> None:
    raw.config_set("maxmemory-policy", "allkeys-lru")
    raw.config_set("appendonly", "no")
    changes = bad(environment)
    assert "maxmemory-policy noeviction" in changes["throws games away when it is full (allkeys-lru)"]
    assert "appendonly yes" in changes["a restart loses all games: it writes nothing to disk"]


@pytest.mark.parametrize(
    ("option", "value", "note"),
    [
        ("appendfsync", "everysec", "logs to disk (appendfsync everysec): a power cut loses the last second or two"),
        ("maxmemory", "0", "without a limit"),
    ],
)
def test_what_some_choose_is_noted(
    environment: dict[str, str], raw: redis.Redis, option: str, value: str, note: str
) -> None:
    raw.config_set(option, value)
    assert [found for found in notes(environment) if note in found]


def test_snapshots_alone_are_noted(environment: dict[str, str], raw: redis.Redis) -> None:
    raw.config_set("appendonly", "no")
    raw.config_set("save", "3600 1")
    assert "a restart loses what came after its last snapshot" in notes(environment)


def test_a_store_that_is_nearly_full_is_wrong(environment: dict[str, str], raw: redis.Redis) -> None:
    raw.config_set("maxmemory", raw.info("memory")["used_memory"] + 4096)
    (found,) = bad(environment)
    assert "of its limit" in found


def test_a_store_that_forbids_config_says_less(environment: dict[str, str]) -> None:
    with running(
        valkey_program(),
        tcp=True,
        options=("--rename-command", "CONFIG", ""),
    ) as rented:
        environment["MOONVALE_STORE"] = rented.url
        assert bad(environment) == {}
        assert "logs to disk (appendfsync unknown)" in {each.found for each in findings(environment)}
    options = ("--rename-command", "CONFIG", "", "--appendonly", "no")
    with running(valkey_program(), tcp=True, options=options) as rented:
        environment["MOONVALE_STORE"] = rented.url
        assert bad(environment) == {}
        assert "says nothing of snapshots (CONFIG is forbidden)" in notes(environment)


def test_a_password_is_in_no_finding(environment: dict[str, str], valkey: StoreServer) -> None:
    with running(valkey_program(), tcp=True) as server, redis.Redis.from_url(server.url) as raw:
        raw.acl_setuser("player", enabled=True, passwords=["+hunter2"], keys=["*"], categories=["+@all"])
        environment["MOONVALE_STORE"] = server.url.replace("redis://", "redis://player:hunter2@")
        told = findings(environment)
        assert "hunter2" not in str(told)
        assert [each for each in told if each.found.startswith("Valkey")]
        environment["MOONVALE_STORE"] = server.url.replace("redis://", "redis://player:hunter3@")
        assert "does not answer (AuthenticationError)" in bad(environment)
        assert "hunter3" not in str(findings(environment))


def test_a_replica_and_a_missing_replica_are_wrong(environment: dict[str, str]) -> None:
    with running_pair(valkey_program()) as (master, replica):
        environment |= {"MOONVALE_STORE": master.url, "MOONVALE_DURABILITY": "replicated"}
        assert bad(environment) == {}
        assert "1 replica connected" in {each.found for each in findings(environment)}
        environment["MOONVALE_STORE"] = replica.url
        assert set(bad(environment)) == {
            "is a replica, which takes no changes",
            "no replica is connected, so that each change fails",
        }


WELL = Condition(
    address="store:6379",
    name="Redis 7.0.15",
    version=(7, 0),
    is_replica=False,
    replicas=0,
    policy="noeviction",
    used=1 << 20,
    limit=1 << 30,
    has_log=True,
    snapshots=False,
    sync="always",
    writes_fail=False,
    latency=0.001,
    slowest=0.002,
    skew=0.01,
)


@pytest.mark.parametrize(
    ("differs", "judgement", "found"),
    [
        ({"version": (6, 2), "name": "Redis 6.2.1"}, Judgement.WRONG, "Redis 6.2.1 lacks sharded channels"),
        ({"writes_fail": True}, Judgement.WRONG, "its last write to disk has failed"),
        ({"sync": "no"}, Judgement.NOTE, "logs to disk (appendfsync no): a power cut loses some half a minute"),
        ({"latency": 0.02, "slowest": 0.03}, Judgement.NOTE, "answers in 20.00 ms, at worst 30.00 ms"),
        ({"slowest": 3.0}, Judgement.WRONG, "answers in 1.00 ms, at worst 3000.00 ms"),
        ({"skew": 5.0}, Judgement.NOTE, "its clock is 5.0 s ahead of this machine's"),
        ({"skew": -5.0}, Judgement.NOTE, "its clock is 5.0 s behind this machine's"),
        ({}, Judgement.GOOD, "answers in 1.00 ms, at worst 2.00 ms"),
    ],
)
def test_what_no_server_here_does_is_judged_too(differs: dict[str, Any], judgement: Judgement, found: str) -> None:
    told = list(_server(replace(WELL, **differs), Settings.from_environment({"MOONVALE_STORE": "redis://store"})))
    assert (judgement, found) in [(each.judgement, each.found) for each in told]
    assert len([each for each in told if each.judgement is not Judgement.GOOD]) == (1 if differs else 0)
    assert all(each.change for each in told if each.judgement is not Judgement.GOOD)


def test_every_server_of_a_cluster_is_looked_at(environment: dict[str, str]) -> None:
    with running_cluster(valkey_program()) as servers:
        with redis.Redis.from_url(servers[2].url) as raw:
            raw.config_set("maxmemory-policy", "volatile-ttl")
        environment["MOONVALE_STORE"] = servers[0].url.replace("redis://", "redis+cluster://")
        told = findings(environment)
        assert len({each.what for each in told if each.what.startswith("store 127.0.0.1:")}) == 3
        assert [each.what for each in told if each.judgement is Judgement.WRONG] == [
            f"store {servers[2].url.removeprefix('redis://').removesuffix('/0')}"
        ]


def test_a_store_that_is_away_is_wrong(environment: dict[str, str], valkey: StoreServer) -> None:
    valkey.kill()
    (found,) = bad(environment)
    assert found.startswith("does not answer (")


def test_settings_that_are_wrong_or_none_are_told(environment: dict[str, str], tmp_path: Path) -> None:
    assert bad({"MOONVALE_WORKERS": "two"}) == {
        "one can't be read": "MOONVALE_WORKERS: needs a whole number of 0 to 256"
    }
    environment |= {"MOONVALE_WORKER": "3", "MOONVALE_ADDRESS": "127.0.0.1:1", "MOONVALE_LISTEN": "0.0.0.0:7350"}
    assert notes(environment)["MOONVALE_WORKER is none and does nothing"] == "perhaps MOONVALE_WORKERS is meant"
    assert "MOONVALE_LISTEN is reached from elsewhere without TLS" in notes(environment)
    assert [found for found in notes(environment) if "ADDRESS" in found] == []


def test_keys_that_are_missing_or_wrong_or_lie_open_are_wrong(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "keys").chmod(0o644)
    (tmp_path / "creator_key").chmod(0o640)
    keys = tmp_path / "keys"
    assert bad(environment) == {f"everybody on this machine can read {keys}": f"chmod 600 {keys}"}
    assert f"a group can read {tmp_path / 'creator_key'}" in notes(environment)
    keys.write_text("too short\n")
    assert bad(environment)["the service would not start"].startswith("MOONVALE_KEYS_FILE: ")
    keys.unlink()
    assert "one that all replicas share" in bad(environment)["the service would not start"]


def test_certificates_are_tried_and_their_end_is_told(environment: dict[str, str], tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")

    def chosen(days: int) -> dict[str, str]:
        cert, key = authority.sign(f"server{days}", days=days)
        return {**environment, "MOONVALE_TLS_CERT": str(cert), "MOONVALE_TLS_KEY": str(key)}

    assert [
        each for each in findings(chosen(60)) if each.found.startswith("a certificate for localhost, 127.0.0.1 until")
    ]
    assert [found for found in notes(chosen(5)) if found.startswith("the certificate expires in ")]
    assert [found for found in bad(chosen(-5)) if found.startswith("the certificate has expired")]
    wrong = {**chosen(60), "MOONVALE_TLS_KEY": chosen(61)["MOONVALE_TLS_KEY"]}
    assert "is not the key of the certificate" in bad(wrong)["the service would not start"]


def test_the_embedded_store_is_looked_at_while_it_runs_and_not_missed_before(tmp_path: Path) -> None:
    environment = {"MOONVALE_DATA": str(tmp_path / "data")}
    assert bad(environment) == {}
    assert "does not run: the service starts it" in {each.found for each in findings(environment)}
    with running_service(workers="1") as service:
        environment["MOONVALE_DATA"] = str(service.folder / "data")
        assert bad(environment) == {}
        assert "logs to disk (appendfsync always)" in {each.found for each in findings(environment)}


def test_the_command_says_what_to_change_and_how_it_ended(
    environment: dict[str, str], raw: redis.Redis, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    raw.config_set("maxmemory", "100mb")
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("\nAll is well.\n")
    raw.config_set("maxmemory-policy", "allkeys-lru")
    assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "wrong  store /" in printed
    assert "\n       -> put `maxmemory-policy noeviction` into its configuration, or CONFIG SET it\n" in printed
    assert printed.endswith("\n1 wrong, 0 to think about.\n")


def test_a_service_warns_of_its_store_when_it_starts(tmp_path: Path) -> None:
    options = ("--appendonly", "no", "--maxmemory-policy", "allkeys-lru")
    with running(valkey_program(), tcp=True, options=options) as store, running(valkey_program(), tcp=True) as well:
        data = tmp_path / "data"
        for server, warned in ((store, {"store_evicts_games", "store_does_not_persist"}), (well, set())):
            load_keys(Settings.from_environment({"MOONVALE_DATA": str(data)}), make=True)
            with running_service(workers="1", store=server.url, keys_file=str(data / "keys")) as service:
                service.stop()
                lines = [line for line in service.log_lines() if line["event"].startswith("store_")]
                assert {line["event"] for line in lines} == warned
                assert all(line["level"] == "warning" and line["address"].startswith("127.0.0.1:") for line in lines)
