"""proto/generate.py finds what is wrong with the contract or its generated code, and says what to run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.node import missing, need_node

ROOT = Path(__file__).parent.parent.parent
PROTO = Path("proto/moonvale/v1/card.proto")
STUBS = Path("clients/python/moonvale/v1")
ENVOY = Path("deploy/envoy")
COMMENTS = Path("service/moonvale_service/http/comments.json")
TYPESCRIPT = Path("clients/typescript")
TYPESCRIPT_STUBS = TYPESCRIPT / "src/gen"

pytest.importorskip("grpc_tools", reason="grpcio-tools has no wheel for this Python")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the contract and of its stubs, which a test may spoil."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / STUBS, tmp_path / STUBS, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / TYPESCRIPT_STUBS, tmp_path / TYPESCRIPT_STUBS)
    shutil.copytree(ROOT / ENVOY, tmp_path / ENVOY)
    (tmp_path / COMMENTS).parent.mkdir(parents=True)
    shutil.copy(ROOT / COMMENTS, tmp_path / COMMENTS)
    for name in ("install.py", "package.json", "package-lock.json", ".npmrc"):
        shutil.copy(ROOT / TYPESCRIPT / name, tmp_path / TYPESCRIPT / name)
    if not missing():
        (tmp_path / TYPESCRIPT / "node_modules").symlink_to(ROOT / TYPESCRIPT / "node_modules")
    return tmp_path


def generate(root: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run generate.py; return its exit code and what it printed, but for what it can't do without Node.js here."""
    done = subprocess.run(
        [sys.executable, str(root / "proto" / "generate.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    lines = done.stdout.splitlines(keepends=True)
    if missing() and not environment:
        lines = [line for line in lines if missing() not in line]
    return done.returncode, "".join(lines)


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


def test_generated_typescript_that_is_not_what_the_contract_says_is_found_and_mended(copy: Path) -> None:
    need_node()
    for name, text in (("moonvale/v1/card_pb.ts", ""), ("moonvale/v1/old_pb.ts", ""), ("old.ts", "")):
        (copy / TYPESCRIPT_STUBS / name).write_text(text)
    (copy / TYPESCRIPT_STUBS / "google/api/http_pb.ts").unlink()
    code, said = generate(copy, "--check")
    assert code == 1
    assert said.splitlines() == [
        f"{TYPESCRIPT_STUBS / name} is not what proto/ says; run: make proto"
        for name in ("google/api/http_pb.ts", "moonvale/v1/card_pb.ts", "moonvale/v1/old_pb.ts", "old.ts")
    ]
    assert generate(copy) == (0, "")
    assert generate(copy, "--check") == (0, "")
    names = {file.relative_to(copy) for file in (copy / TYPESCRIPT_STUBS).rglob("*.ts")}
    assert names == {file.relative_to(ROOT) for file in (ROOT / TYPESCRIPT_STUBS).rglob("*.ts")}


def test_without_node_it_says_what_it_leaves_out_and_under_ci_it_fails(copy: Path) -> None:
    (copy / TYPESCRIPT_STUBS / "moonvale/v1/card_pb.ts").write_text("")
    nowhere = str(copy / "proto")
    said = "The TypeScript client needs Node.js 20.19 or newer, with npm\n"
    for arguments, left_out in (((), "Not rebuilt"), (("--check",), "Not checked")):
        code, printed = generate(copy, *arguments, PATH=nowhere, CI="")
        assert (code, printed.count("\n")) == (0, 1)
        assert printed.startswith(left_out)
        assert printed.endswith(said)
        code, printed = generate(copy, *arguments, PATH=nowhere, CI="true")
        assert (code, printed) == (1, said)


def test_an_addition_becomes_the_baseline(copy: Path) -> None:
    change(copy / PROTO, "  bool spent = 6;\n", "  bool spent = 6;\n  // A new thing.\n  bool marked = 9;\n")
    assert generate(copy) == (0, "")
    assert generate(copy, "--baseline") == (0, "")
    change(copy / PROTO, "  bool marked = 9;\n", "  bool hidden = 9;\n")
    assert generate(copy, "--check")[0] == 1
