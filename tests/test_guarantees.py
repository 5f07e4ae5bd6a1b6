"""docs/guarantees.md names a test for each promise; each is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8"))


def defined_in(path: str) -> set[str]:
    """The tests that a module defines."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_a_guarantee_names_exists() -> None:
    assert len(NAMED) > 20
    assert [
        f"{path}::{name}" for path, name in NAMED if not name.startswith("test_") or name not in defined_in(path)
    ] == []


def test_no_guarantee_names_a_test_in_another_form() -> None:
    text = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    assert len(re.findall(r"\btest_\w+(?!\.py|\w)", text)) == len(NAMED)
