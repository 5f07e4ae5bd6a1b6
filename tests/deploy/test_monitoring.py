"""Alerts and dashboard: they are PromQL, and name nothing but what a running service tells."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import grpc
import httpx
import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from moonvale_client import Action, AsyncClient, Options, View, play_seat
from moonvale_service.metrics import FAMILIES
from tests.deploy import promtool
from tests.service.certificates import Authority
from tests.service.servers import running_service

ROOT = Path(__file__).parent.parent.parent
MONITORING = ROOT / "deploy" / "monitoring"
PAGE = ROOT / "docs" / "telemetry.md"

#: What Prometheus itself adds to each sample.
ADDED = {"instance", "job"}


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions() -> dict[str, str]:
    """Every expression, by where it stands."""
    found = {f"alert {rule['alert']}": rule["expr"] for rule in alerts()}
    for panel in panels():
        for target in panel["targets"]:
            written = target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*")
            found[f"panel {panel['title']} {target['refId']}"] = written
    return found


async def play_one(address: str, tls: grpc.ChannelCredentials) -> None:
    async with AsyncClient(address, tls=tls) as client:
        game = await client.create_game(Options(players=2, rounds=1))

        def choose(view: View) -> Action:
            return view.decision.legal_actions[-1]

        await asyncio.gather(*[play_seat(client, game.name, each, choose) for each in game.seat_credentials])
        await client.delete_game(game.name, game.creator_credential)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The labels of all samples that a service tells after a game, by their names.

    Of a family that has no sample yet, as nothing of the kind has happened, the names are those that it would have.
    """
    authority = Authority(tmp_path_factory.mktemp("tls") / "authority")
    cert, key = authority.sign()
    with running_service(workers="1", metrics_listen="127.0.0.1:0", tls_cert=str(cert), tls_key=str(key)) as service:
        asyncio.run(play_one(service.address, grpc.ssl_channel_credentials(authority.pem)))
        url = f"{service.metrics_url}/metrics"
        text = httpx.get(url, trust_env=False).text
        while "moonvale_games_kept" not in text:  # which a worker counts when it has begun
            text = httpx.get(url, trust_env=False).text
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
        if not family.samples:
            suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(family.type, ("",))
            labels = {*FAMILIES[family.name].labels, *(("le",) if family.type == "histogram" else ())}
            found.update({f"{family.name}{suffix}": labels for suffix in suffixes})
    return found


@pytest.mark.parametrize("where", expressions())
def test_each_is_an_expression_of_what_a_service_tells(where: str, told: dict[str, set[str]]) -> None:
    tree = promql_parser.parse(expressions()[where])
    named: list[promql_parser.VectorSelector] = []
    grouped: set[str] = set()

    def visit(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            named.append(node)
        elif isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
            grouped.update(node.modifier.labels)

    promql_parser.walk(tree, visit)
    names = [each.name or "" for each in named]
    assert names
    assert [name for name in names if name not in told] == []
    for name, each in zip(names, named, strict=True):
        assert {matcher.name for matcher in each.matchers.matchers} <= told[name] | ADDED
    assert grouped <= set[str]().union(*[told[name] for name in names]) | ADDED


def test_each_alert_fires_when_it_should_and_else_does_not() -> None:
    promtool.check("test", "rules", Path(__file__).with_name("alerts_test.yaml"))


def test_there_are_ten_alerts_and_the_page_says_of_each_what_to_look_at() -> None:
    rules = alerts()
    assert len(rules) == 10
    assert {rule["labels"]["severity"] for rule in rules} == {"page", "ticket"}
    assert all(rule["annotations"]["summary"] for rule in rules)
    assert re.findall(r"^\| `(Moonvale\w+)` \|", PAGE.read_text(), re.MULTILINE) == [rule["alert"] for rule in rules]


def test_the_page_lists_every_family_and_no_other(told: dict[str, set[str]]) -> None:
    listed = set(re.findall(r"`(moonvale_\w+)(?:\{[\w, ]+\})?`", PAGE.read_text()))
    families = {re.sub("_(bucket|count|sum)$", "", name) for name in told}
    assert listed == families


def test_the_panels_lie_beside_each_other_and_have_ids_of_their_own() -> None:
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    taken: set[tuple[int, int]] = set()
    for place in [panel["gridPos"] for panel in dashboard["panels"]]:
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        taken |= cells
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(dashboard["panels"])))
    assert used <= variables
