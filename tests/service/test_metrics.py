"""Metrics: all workers are counted in one, nothing goes back when one ends, and no label is a caller's."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open_metrics
from prometheus_client.parser import text_string_to_metric_families

from moonvale_service import metrics
from moonvale_service.exposition import Report, Totals
from tests.service.client import Client, Failure, Game, play
from tests.service.servers import Service, running_service

SECONDS = 30.0

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running_service(metrics_listen="127.0.0.1:0") as service:
        yield service


def get(service: Service, path: str, **headers: str) -> httpx.Response:
    return httpx.get(service.metrics_url + path, headers=headers, trust_env=False, timeout=SECONDS)


def scrape(service: Service) -> Samples:
    families = text_string_to_metric_families(get(service, "/metrics").text)
    samples = [each for family in families for each in family.samples]
    return {(each.name, tuple(sorted(each.labels.items()))): each.value for each in samples}


def until(is_so: Callable[[], bool]) -> None:
    """Ask again and again, which takes its time, until it is so."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, tuple(sorted(labels.items()))), 0.0)


def total(samples: Samples, name: str) -> float:
    return sum(value for (each, _), value in samples.items() if each == name)


async def play_games(service: Service, count: int) -> list[Game]:
    """Play games to their end, each over a connection of its own, so that both workers get some."""
    games = []
    for seed in range(count):
        async with Client(service.address) as client:
            games.append(await client.create())
            await play(client, games[-1], seed=seed)
    return games


async def test_what_all_workers_do_is_counted_once_and_labels_are_few(service: Service) -> None:
    before = scrape(service)
    games = await play_games(service, 6)
    async with Client(service.address) as client:
        with pytest.raises(Failure):
            await client.view(games[0].name, "no-credential")
        stream = client.watch(games[0].name, games[0].spectator)
        assert [message async for message in stream]
        await client.delete(games[0].name, games[0].creator)
    text = get(service, "/metrics").text
    after = scrape(service)

    def more(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    assert more("moonvale_calls_total", method="CreateGame", code="OK") == 6
    assert more("moonvale_calls_total", method="GetView", code="UNAUTHENTICATED") == 1
    assert more("moonvale_calls_total", method="WatchGame", code="OK") == 1
    assert more("moonvale_games_created_total", players="2") == 6
    assert more("moonvale_games_finished_total", players="2") == 6
    assert more("moonvale_games_deleted_total") == 1
    moves = more("moonvale_calls_total", method="SubmitAction", code="OK")
    assert more("moonvale_commits_total") == moves > 100
    assert more("moonvale_call_seconds_count", method="SubmitAction") == moves
    assert more("moonvale_call_seconds_bucket", method="SubmitAction", le="+Inf") == moves
    assert more("moonvale_store_step_seconds_count", step="commit") == moves
    assert more("moonvale_store_round_trip_seconds_count") > moves
    assert ("moonvale_call_seconds_count", (("method", "WatchGame"),)) not in after
    for game in games:
        assert game.id not in text
    for worker in "01":
        assert value(after, "moonvale_worker_up", worker=worker) == 1
        assert value(after, "moonvale_store_ready", worker=worker) == 1
        assert value(after, "moonvale_process_cpu_seconds_total", worker=worker) > 0
        assert value(after, "moonvale_process_resident_bytes", worker=worker) > 1e7
    labels = {(name, label) for name, pairs in after for label, _ in pairs}
    assert {label for _, label in labels} <= {
        *("method", "code", "step", "players", "le", "worker", "version", "rules_version", "python", "engine"),
    }


async def test_open_streams_are_counted_as_long_as_they_are_open(service: Service) -> None:
    async with Client(service.address) as client:
        game = await client.create()
        before = scrape(service)
        watch = client.watch(game.name, game.spectator)
        turns = client.turns([(game.name, credential) for credential in game.seats])
        await anext(watch)
        await anext(turns)
        during = scrape(service)
        await watch.aclose()
        await turns.aclose()
    until(lambda: not value(scrape(service), "moonvale_watched_games"))
    after = scrape(service)
    for method in ("WatchGame", "WatchTurns"):
        now, then = (value(samples, "moonvale_open_watches", method=method) for samples in (during, before))
        assert now - then == 1
        assert value(after, "moonvale_open_watches", method=method) == then
    assert value(during, "moonvale_watched_games") >= 1


async def test_a_worker_that_ends_takes_its_gauges_along_and_no_counts() -> None:
    with running_service(metrics_listen="127.0.0.1:0") as service:
        await play_games(service, 4)
        streams = []
        async with Client(service.address) as client:
            game = await client.create()
            streams.append(client.watch(game.name, game.spectator))
            await anext(streams[0])
            before = scrape(service)
            assert value(before, "moonvale_open_watches", method="WatchGame") == 1
            for worker in service.workers():
                worker.kill()
            with pytest.raises(Failure):
                async for _ in streams[0]:
                    pass
        until(
            lambda: all(
                [
                    value(scrape(service), name, worker=worker) == 1
                    for name in ("moonvale_worker_up", "moonvale_worker_restarts_total")
                    for worker in "01"
                ]
            )
        )
        after = scrape(service)
        assert value(after, "moonvale_open_watches", method="WatchGame") == 0
        assert value(after, "moonvale_watched_games") == 0
        for name, labels in before:
            if name.endswith(("_total", "_count", "_sum", "_bucket")) and "worker" not in dict(labels):
                assert after[name, labels] >= before[name, labels], name
        await play_games(service, 1)
        last = scrape(service)
        assert total(last, "moonvale_games_created_total") == total(before, "moonvale_games_created_total") + 1


def test_the_port_speaks_open_metrics_and_answers_probes(service: Service) -> None:
    answer = get(service, "/metrics", accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert "moonvale_calls" in {each.name for each in parse_open_metrics(answer.text)}  # type: ignore[no-untyped-call]
    for probe in ("/livez", "/readyz"):
        assert (get(service, probe).status_code, get(service, probe).json()) == (200, {"ready": True})
    assert get(service, "/v1/serverInfo").status_code == 404
    assert httpx.post(service.metrics_url + "/metrics", trust_env=False).status_code == 405


def test_a_service_whose_store_is_away_is_alive_and_not_ready() -> None:
    with running_service(metrics_listen="127.0.0.1:0", store_timeout="200ms") as service:
        store = service.store()
        store.suspend()
        try:
            until(lambda: get(service, "/readyz").status_code == 503)
            assert get(service, "/livez").status_code == 200
            assert total(scrape(service), "moonvale_store_failures_total") > 0
        finally:
            store.resume()


def test_without_the_setting_nothing_is_counted() -> None:
    program = (
        "from moonvale_service import metrics\n"
        "metrics.calls.add('GetView', 'OK'); metrics.call_seconds.observe(1.0, 'GetView')\n"
        "metrics.deadline_enforced('resignation'); metrics.bot_moved('greedy', 0.1); metrics.open_watches.add('W')\n"
        "families = metrics.FAMILIES.values()\n"
        "print(sum(1 for family in families for value in family.values.values() if value))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def report(process: str, **values: list[tuple[tuple[str, ...], Any]]) -> Report:
    return Report(process, {name: dict(rows) for name, rows in values.items()})


def test_the_counts_of_an_ended_worker_stay_and_one_that_is_busy_keeps_its_own() -> None:
    totals, row = Totals(), [0.0] * (len(metrics.SECONDS) + 1)
    calls, seconds, watches = "moonvale_calls", "moonvale_call_seconds", "moonvale_open_watches"
    first = report("a", moonvale_calls=[(("M", "OK"), 3)], moonvale_call_seconds=[(("M",), [3.0, *row])])
    watching = report("b", moonvale_calls=[(("M", "OK"), 4)], moonvale_open_watches=[(("W",), 2)])
    totals.learn({"0": first, "1": watching})
    assert totals.sums(calls) == {("M", "OK"): 7}
    assert totals.present(watches) == {"1": {("W",): 2}}
    totals.learn({"0": report("c", moonvale_calls=[(("M", "OK"), 1), (("N", "OK"), 1)]), "1": None})
    assert totals.sums(calls) == {("M", "OK"): 8, ("N", "OK"): 1}
    assert totals.sums(seconds) == {("M",): [3.0, *row]}
    assert totals.present(watches) == {}
    assert totals.answers("0")
    assert not totals.answers("1")
    totals.learn({"0": report("c", moonvale_calls=[(("M", "OK"), 2)]), "1": watching})
    assert totals.sums(calls) == {("M", "OK"): 9}
