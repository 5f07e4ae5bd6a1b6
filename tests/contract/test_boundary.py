"""The converters get nothing that isn't made for one viewer: no module of theirs can reach a state."""

import ast
from pathlib import Path

import pytest

from moonvale_service import convert

MODULES = sorted(Path(convert.__path__[0]).glob("*.py"))

# Modules of the engine that hold, make or change states.
OUT_OF_REACH = {"state", "play", "codec", "position", "position_parse", "position_text", "worlds", "moves", "round"}
# What hands out a state from within modules that are in reach.
NAMES_OUT_OF_REACH = {"State", "replay", "replay_record", "history", "enter", "view", "visible_faces"}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.stem))
def test_a_converter_reaches_no_state(module: Path) -> None:
    reached = set[str]()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("moonvale_engine"):
            reached.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            reached.update(alias.name for alias in node.names)
    for name in reached:
        parts = name.split(".")
        assert parts[-1] not in NAMES_OUT_OF_REACH, name
        assert not OUT_OF_REACH.intersection(parts) or name == "moonvale_engine.codec.RULES_VERSION", name
        assert name != "moonvale_engine", "name what is imported"
