"""Every ruling has a test that names it, and docs/rulings.md says which."""

import re

import pytest

from tests.support.rulings import DOCUMENT, documented, provers, with_tests

#: Rulings that wait for Silver Eye; as soon as a test names one, it has to leave this set.
NOT_BUILT_YET = frozenset(
    {
        *("E00-1", "E01-1", "E02-1", "E02-2", "E02-3", "E03-1", "E04-1", "E05-1", "E06-1", "E07-1", "E08-1"),
        *("E10-1", "E11-1", "E12-1", "E13-1", "EYE-1", "OBS-1", "OBS-2", "OBS-3", "OBS-4", "OBS-5"),
    }
)
#: How many rulings each group has; a ruling that was lost from the page would otherwise not be missed.
COUNTS = {"SET": 6, "DEC": 4, "TURN": 7, "EXC": 8, "ABL": 5, "COIN": 1, "EYE": 1, "OBS": 5, "END": 7, "HID": 5}
COUNTS |= {f"C{number:02}": 2 if number < 3 else 1 for number in range(14)}
COUNTS |= {f"E{number:02}": 3 if number == 2 else 1 for number in range(14) if number != 9}


@pytest.fixture(scope="module")
def page() -> str:
    return DOCUMENT.read_text(encoding="utf-8")


def test_the_page_has_every_ruling_once(page: str) -> None:
    ids = documented(page)
    assert len(set(ids)) == len(ids)
    assert set(ids) == {f"{group}-{n}" for group, count in COUNTS.items() for n in range(1, count + 1)}
    assert len(re.findall(r"^- \*\*", page, re.MULTILINE)) == len(ids)


def test_every_ruling_has_a_test_that_names_it(page: str) -> None:
    untested = [id for id in documented(page) if id not in provers() and id not in NOT_BUILT_YET]
    assert untested == []


def test_what_is_not_built_yet_has_no_test(page: str) -> None:
    assert set(documented(page)) >= NOT_BUILT_YET
    assert [id for id in sorted(NOT_BUILT_YET) if id in provers()] == []


def test_tests_name_only_rulings_that_exist(page: str) -> None:
    assert [id for id in provers() if id not in documented(page)] == []


def test_the_page_lists_the_tests_of_each_ruling(page: str) -> None:
    assert page == with_tests(page), "out of date: run `python -m tests.support.rulings`"
