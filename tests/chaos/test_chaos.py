"""A short chaos run on every change: nothing acknowledged is lost, whatever breaks. And the checker would notice."""

from __future__ import annotations

import asyncio
import re
import tempfile
from dataclasses import replace
from importlib import resources
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from tests.chaos.faults import KINDS, schedule
from tests.chaos.mutant import mutated
from tests.chaos.progress import ACKNOWLEDGED
from tests.chaos.run import Plan, Report, Run
from tests.support.ci import UNDER_CI
from tests.support.servers import Program, redis_program, valkey_program


def program() -> Program:
    """Redis; where there is none, Valkey, but not under CI."""
    found = redis_program()
    assert found is not None or not UNDER_CI, "no Redis 7.0 or newer on PATH"
    return found or valkey_program()


def run(plan: Plan) -> Report:
    with tempfile.TemporaryDirectory(prefix="moonvale-") as folder:  # pytest's own are too deep for sockets
        return asyncio.run(Run(plan, Path(folder), print).run())


@pytest.mark.timeout(300)
def test_every_fault_is_survived() -> None:
    report = run(Plan(seed=4, program=program(), at_once=12, faults=len(KINDS), calm=(5, 30)))
    assert report.violations == []
    assert min(report.faults.values()) >= 1
    assert report.counts["games over"] >= 12  # all of them, in the end by resignations
    assert report.counts[ACKNOWLEDGED] > 100


@pytest.mark.timeout(300)
def test_workers_that_do_not_compare_versions_are_found_out() -> None:
    plan = Plan(
        seed=4,
        program=program(),
        at_once=8,
        workers=2,
        games=1_000_000,
        violations=8,
        kinds=("delays before the store",),
    )
    report = run(replace(plan, module="tests.chaos.mutant"))
    found = re.compile(r"games/\w{20} version \d+: .*(both acknowledged|other answers|two marks|not in the replay)")
    assert any(found.match(violation) for violation in report.violations)


def test_the_mutation_meets_the_comparisons_alone() -> None:
    script = (resources.files("moonvale_service.store") / "scripts" / "commit.lua").read_bytes()
    assert mutated(script).count(b"if false then") == script.count(b"~= ARGV[1]") + script.count(
        b"~= tonumber(ARGV[1])"
    )
    assert mutated(b"return 1") == b"return 1"
    with pytest.raises(ValueError, match="look what compares versions now"):
        mutated(script.replace(b"present[2] ~= ARGV[2]", b"false"))


def test_a_schedule_follows_from_its_seed_and_has_every_kind_before_any_again() -> None:
    kinds = tuple(KINDS)
    first, again = (list(islice(schedule(Random(7), kinds, 3), 2 * len(kinds))) for _ in range(2))
    assert first == again
    for half in (first[: len(kinds)], first[len(kinds) :]):
        assert sorted(fault.kind for fault in half) == sorted(kinds)
