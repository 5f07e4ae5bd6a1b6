"""Every ruling has a test that names it, and docs/rulings.md says which."""

import re

import pytest

from tests.support.rulings import DOCUMENT, documented, provers, with_tests

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
    untested = [id for id in documented(page) if id not in provers()]
    assert untested == []


def test_tests_name_only_rulings_that_exist(page: str) -> None:
    assert [id for id in provers() if id not in documented(page)] == []


def test_the_page_lists_the_tests_of_each_ruling(page: str) -> None:
    assert page == with_tests(page), "out of date: run `python -m tests.support.rulings`"
