"""Which tests prove which ruling, read from the tests; run as a program, writes the lists of docs/rulings.md anew.

A test names its rulings in a comment on its `def` line or its decorators.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
DOCUMENT: Final = ROOT / "docs" / "rulings.md"
TESTS: Final = ROOT / "tests" / "rules"

_ID: Final = r"(?:(?:SET|DEC|TURN|EXC|ABL|COIN|EYE|OBS|END|HID)-\d+|[CE]\d\d-\d+)"
_IN_COMMENT: Final = re.compile(rf"\b{_ID}\b")
_RULING: Final = re.compile(rf"^- \*\*({_ID})\*\* .*\n(?:(?:  .+)?\n(?=  )|  .+\n)*", re.MULTILINE)
_TESTS_LINE: Final = re.compile(r"^  - Tests in .+\n", re.MULTILINE)


def documented(document: str) -> list[str]:
    """Return the ids of a document's rulings in their order."""
    return [match[1] for match in _RULING.finditer(document)]


@cache
def provers() -> dict[str, list[tuple[str, str]]]:
    """Return for each ruling that a test names: the files and names of its tests."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(TESTS.glob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                head = lines[first - 1 : node.body[0].lineno - 1]
                for id in _IN_COMMENT.findall(" ".join([line.partition("#")[2] for line in head])):
                    found.setdefault(id, []).append((path.name, node.name))
    return found


def with_tests(document: str) -> str:
    """Return the document with the list of its tests under each ruling."""
    found = provers()

    def rewrite(match: re.Match[str]) -> str:
        by_file: dict[str, list[str]] = {}
        for file, name in found.get(match[1], ()):
            by_file.setdefault(file, []).append(f"`{name}`")
        lines = [f"  - Tests in [{file}](../tests/rules/{file}): {', '.join(by_file[file])}\n" for file in by_file]
        return _TESTS_LINE.sub("", match[0]) + "".join(lines)

    return _RULING.sub(rewrite, document)


if __name__ == "__main__":
    DOCUMENT.write_text(with_tests(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
