"""The Dockerfile and all YAML of deploy/ are in good style, and what is bad style is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.manifests import ROOT

BIN = Path(sys.executable).parent
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="hadolint is installed on Linux alone")


def check(program: str, *arguments: str | Path) -> tuple[int, str]:
    done = subprocess.run([BIN / program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_dockerfile_is_in_good_style(tmp_path: Path) -> None:
    assert check("hadolint", "deploy/Dockerfile") == (0, "")
    bad = tmp_path / "Dockerfile"
    text = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
    bad.write_text(text.replace('ENTRYPOINT ["moonvale"]', "ENTRYPOINT moonvale"), encoding="utf-8")
    code, printed = check("hadolint", bad)
    assert code == 1
    assert "DL3025" in printed


def test_base_images_are_named_by_their_digests() -> None:
    lines = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8").splitlines()
    bases = [line for line in lines if line.startswith("ARG ") and "_IMAGE=" in line]
    assert len(bases) == 2
    assert all(len(base.partition("@sha256:")[2]) == 64 for base in bases)
    assert [line.split()[1] for line in lines if line.startswith("FROM ")] == ["${BUILD_IMAGE}", "${RUN_IMAGE}"]


def test_all_yaml_is_in_good_style(tmp_path: Path) -> None:
    assert check("yamllint", "--strict", "deploy") == (0, "")
    bad = tmp_path / "bad.yaml"
    bad.write_text("a: 1\na: 2\n", encoding="utf-8")
    code, printed = check("yamllint", "--strict", "-c", ROOT / ".yamllint", bad)
    assert code == 1
    assert "duplication" in printed
