"""proto/generate.py finds what is wrong with the contract or its generated code, and says what to run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROTO = Path("proto/moonvale/v1/card.proto")
STUBS = Path("clients/python/moonvale/v1")

pytest.importorskip("grpc_tools", reason="grpcio-tools has no wheel for this Python")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the contract and of its stubs, which a test may spoil."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / STUBS, tmp_path / STUBS, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def generate(root: Path, *arguments: str) -> tuple[int, str]:
    """Run generate.py; return its exit code and what it printed."""
    command = [sys.executable, str(root / "proto" / "generate.py"), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_the_contract_is_as_it_should_be() -> None:
    assert generate(ROOT, "--check") == (0, "")


def test_an_element_without_a_comment_is_found(copy: Path) -> None:
    change(copy / PROTO, "  // The top of the deck.\n", "")
    code, said = generate(copy, "--check")
    assert code == 1
    assert 'Enum value "ZONE_DECK_TOP" should have a non-empty comment' in said
    assert "Style of the contract: mend the lines above" in said


def test_a_change_that_breaks_clients_is_found(copy: Path) -> None:
    change(copy / PROTO, "bool faceup = 3;", "bool open = 3;")
    code, said = generate(copy, "--check")
    assert code == 1
    assert 'with name "open"' in said
    assert "Compatibility of the contract: take the change back" in said
    assert "python proto/generate.py --baseline" in said


def test_bad_format_is_found_and_mended(copy: Path) -> None:
    change(copy / PROTO, "  bool faceup = 3;", "    bool faceup=3;")
    code, said = generate(copy, "--check")
    assert (code, "Format of the contract: run: make proto" in said) == (1, True)
    assert generate(copy) == (0, "")
    assert (copy / PROTO).read_text() == (ROOT / PROTO).read_text()


def test_generated_code_that_is_not_what_the_contract_says_is_found_and_mended(copy: Path) -> None:
    for name, text in (("card_pb2.py", ""), ("old_pb2.py", "")):
        (copy / STUBS / name).write_text(text)
    (copy / STUBS / "view_pb2.pyi").unlink()
    code, said = generate(copy, "--check")
    assert code == 1
    assert said.splitlines() == [
        f"{STUBS / name} is not what proto/ says; run: make proto"
        for name in ("card_pb2.py", "old_pb2.py", "view_pb2.pyi")
    ]
    assert generate(copy) == (0, "")
    assert [(copy / STUBS / name).exists() for name in ("old_pb2.py", "view_pb2.pyi")] == [False, True]
    assert (copy / STUBS / "card_pb2.py").read_bytes() == (ROOT / STUBS / "card_pb2.py").read_bytes()


def test_an_addition_becomes_the_baseline(copy: Path) -> None:
    change(copy / PROTO, "  bool spent = 6;\n", "  bool spent = 6;\n  // A new thing.\n  bool marked = 9;\n")
    assert generate(copy) == (0, "")
    assert generate(copy, "--baseline") == (0, "")
    change(copy / PROTO, "  bool marked = 9;\n", "  bool hidden = 9;\n")
    assert generate(copy, "--check")[0] == 1
