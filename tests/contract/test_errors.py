"""Reasons of errors: enum, service and documentation say the same."""

import re
from pathlib import Path

from moonvale.v1.errors_pb2 import ErrorReason
from moonvale_service import errors

ROOT = Path(__file__).parent.parent.parent
PREFIX = "ERROR_REASON_"
REASONS = [name.removeprefix(PREFIX) for name in ErrorReason.keys()[1:]]


def raised() -> dict[str, str]:
    """The status code of each reason that the service can give."""
    found: dict[str, str] = {}
    for error in errors.CallError.__subclasses__():
        assert error.reason not in found
        found[error.reason] = error.code.name
    return found


def documented() -> dict[str, str]:
    """The status code of each reason in docs/contract.md's table."""
    text = (ROOT / "docs" / "contract.md").read_text()
    rows = re.findall(r"^\| ([A-Z_]+) \| ([A-Z_]+) \| [^|]+ \|$", text, re.MULTILINE)
    assert len({reason for reason, _ in rows}) == len(rows)
    return dict(rows)


def commented() -> dict[str, str]:
    """The status code that each reason's example in the proto begins with."""
    text = (ROOT / "proto" / "moonvale" / "v1" / "errors.proto").read_text()
    return {name: code for code, name in re.findall(rf"// Example: ([A-Z_]+),[^\n]*\n  {PREFIX}([A-Z_]+) = \d+;", text)}


def test_the_service_gives_every_reason_of_the_contract_and_no_other() -> None:
    assert sorted(raised()) == sorted(REASONS)


def test_the_documentation_lists_every_reason_in_order() -> None:
    assert list(documented()) == REASONS


def test_documentation_and_comments_give_the_service_s_codes() -> None:
    assert documented() == raised()
    assert commented() == raised()


def test_the_documentation_lists_every_method() -> None:
    from tests.contract.test_contract import ROUTES

    text = (ROOT / "docs" / "contract.md").read_text()
    rows = re.findall(r"^\| (\w+) \| `(\w+) ([^`]+)` \|", text, re.MULTILINE)
    listed = {name: (verb.lower(), path) for name, verb, path in rows}
    routes = {name: (verb, re.sub(r"{\w+=(games/\*)}", r"\1", path)) for name, (verb, path) in ROUTES.items()}
    assert listed == routes
