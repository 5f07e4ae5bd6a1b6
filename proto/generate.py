"""Rebuilds what is generated from proto/, and checks the contract: style, comments, compatibility, drift.

python proto/generate.py             format the sources, rebuild clients/python/moonvale, clients/typescript/src/gen and
                                     deploy/envoy/moonvale.binpb, and the comments for the OpenAPI document
python proto/generate.py --check     change nothing; fail if anything is not as it should be
python proto/generate.py --baseline  make the present contract the one that --check compares with: at a release
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
PACKAGE = Path("moonvale/v1")
BASELINE = PROTO / "baseline.binpb"
STUBS = ROOT / "clients" / "python"
TYPESCRIPT = ROOT / "clients" / "typescript"
TYPESCRIPT_STUBS = TYPESCRIPT / "src" / "gen"
#: What Envoy translates REST by: descriptors, imports included.
ENVOY_DESCRIPTORS = ROOT / "deploy" / "envoy" / "moonvale.binpb"
#: The comments of the contract by the full names of what they are about, for the OpenAPI document.
COMMENTS = ROOT / "service" / "moonvale_service" / "http" / "comments.json"
#: Of google.rpc, what errors are made of: clients read it, although no file of the contract imports it.
ERROR_DETAILS = "google/rpc/error_details.proto"
SCRIPTS = Path(sysconfig.get_path("scripts"))
#: The only compiler whose code runs on every protobuf that pyproject.toml allows (docs/decisions.md).
COMPILER = "1.71."

#: What clients/typescript/install.py exits with where there is no Node.js.
_NO_NODE = 3
_INIT = '"""Stubs generated from proto/moonvale/v1; `make proto` rebuilds them."""\n'


class GenerateError(Exception):
    """A check failed, or a tool is missing; the message says what to do."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="change nothing; fail if anything is not as it should be")
    mode.add_argument("--baseline", action="store_true", help="make the present contract the baseline")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            workspace = _workspace(scratch)
            if options.check:
                return _check(scratch, workspace)
            if options.baseline:
                _buf(workspace, "build", "--path", str(PACKAGE), "--exclude-source-info", "-o", str(BASELINE))
            else:
                _buf(PROTO, "format", "-w")
                _replace(STUBS / PACKAGE, _build_stubs(scratch, workspace) / PACKAGE)
                shutil.copy(_build_descriptors(scratch, workspace), ENVOY_DESCRIPTORS)
                shutil.copy(_build_comments(scratch, workspace), COMMENTS)
                if _has_node("Not rebuilt: the generated TypeScript."):
                    _replace(TYPESCRIPT_STUBS, _build_typescript(scratch, workspace))
        except GenerateError as failure:
            print(failure, file=sys.stderr)
            return 1
    return 0


def _workspace(scratch: Path) -> Path:
    """Lay the sources beside the google.api files that they import, where buf and protoc find both."""
    workspace = scratch / "workspace"
    shutil.copytree(PROTO / "moonvale", workspace / "moonvale")
    shutil.copy(PROTO / "buf.yaml", workspace)
    google = metadata.distribution("googleapis-common-protos")
    for file in google.files or []:
        if file.match("google/api/*.proto") or file.match(ERROR_DETAILS):
            target = workspace / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(google.locate_file(file)), target)
    return workspace


def _check(scratch: Path, workspace: Path) -> int:
    failed = False
    for what, remedy, arguments in (
        ("Style of the contract", "mend the lines above", ("lint", "--path", str(PACKAGE))),
        ("Format of the contract", "run: make proto", ("format", "--diff", "--exit-code", "--path", str(PACKAGE))),
        (
            "Compatibility of the contract",
            "take the change back; or, if nobody can have relied on it, run: python proto/generate.py --baseline",
            ("breaking", "--exclude-imports", "--path", str(PACKAGE), "--against", str(BASELINE)),
        ),
    ):
        try:
            _buf(workspace, *arguments)
        except GenerateError as failure:
            failed = True
            print(f"{failure}\n{what}: {remedy}", file=sys.stderr)
    for drift in (_drift, _descriptors_drift, _typescript_drift):
        try:
            drifted = drift(scratch, workspace)
        except GenerateError as failure:
            failed = True
            print(failure, file=sys.stderr)
        else:
            for file in drifted:
                failed = True
                print(f"{file.relative_to(ROOT)} is not what proto/ says; run: make proto", file=sys.stderr)
    return 1 if failed else 0


def _drift(scratch: Path, workspace: Path) -> list[Path]:
    """Return the generated Python files that are missing, left over or different."""
    if util.find_spec("grpc_tools") is None and os.environ.get("CI") != "true":
        print("Not checked: whether the generated code is up to date. That needs grpcio-tools, so Python 3.11 to 3.13.")
        return []
    return _differing(_build_stubs(scratch, workspace) / PACKAGE, STUBS / PACKAGE)


def _descriptors_drift(scratch: Path, workspace: Path) -> list[Path]:
    """Return Envoy's descriptors, and the file of comments, if they are missing or different."""
    pairs = {
        ENVOY_DESCRIPTORS: _build_descriptors(scratch, workspace),
        COMMENTS: _build_comments(scratch, workspace),
    }
    return [committed for committed, fresh in pairs.items() if _bytes(fresh) != _bytes(committed)]


def _typescript_drift(scratch: Path, workspace: Path) -> list[Path]:
    """Return the generated TypeScript files that are missing, left over or different."""
    if not _has_node("Not checked: whether the generated TypeScript is up to date."):
        return []
    return _differing(_build_typescript(scratch, workspace), TYPESCRIPT_STUBS)


def _differing(fresh: Path, committed: Path) -> list[Path]:
    names = {
        file.relative_to(folder)
        for folder in (fresh, committed)
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    return [committed / name for name in sorted(names) if _bytes(fresh / name) != _bytes(committed / name)]


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _replace(committed: Path, fresh: Path) -> None:
    shutil.rmtree(committed, ignore_errors=True)
    shutil.copytree(fresh, committed)


def _has_node(otherwise: str) -> bool:
    """Return whether the plugin for TypeScript is there, installed if need be; say so if not, but under CI fail."""
    command = [sys.executable, str(TYPESCRIPT / "install.py")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == _NO_NODE and os.environ.get("CI") != "true":
        print(f"{otherwise} {done.stdout.strip()}")
        return False
    if done.returncode:
        raise GenerateError(done.stdout.strip())
    return True


def _build_descriptors(scratch: Path, workspace: Path) -> Path:
    target = scratch / ENVOY_DESCRIPTORS.name
    paths = ("--path", str(PACKAGE), "--path", ERROR_DETAILS)
    _buf(workspace, "build", *paths, "--as-file-descriptor-set", "--exclude-source-info", "-o", str(target))
    return target


def _build_comments(scratch: Path, workspace: Path) -> Path:
    image = scratch / "comments.json"
    _buf(workspace, "build", "--path", str(PACKAGE), "--exclude-imports", "--as-file-descriptor-set", "-o", str(image))
    found: dict[str, str] = {}
    for file in json.loads(image.read_text(encoding="utf-8"))["file"]:
        for location in file["sourceCodeInfo"]["location"]:
            name = _name_at(file, location.get("path", []))
            if name and "leadingComments" in location:
                lines = [line.strip() for line in location["leadingComments"].strip().split("\n")]
                found[f"{file['package']}.{name}"] = "\n".join(lines)
    target = scratch / COMMENTS.name
    target.write_text(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


#: By the numbers of descriptor.proto: what a FileDescriptorProto, and what its parts, hold by name.
_PARTS = {4: "messageType", 5: "enumType", 6: "service"}
_PARTS_OF = {"messageType": {2: "field", 8: "oneofDecl"}, "enumType": {2: "value"}, "service": {2: "method"}}


def _name_at(file: dict[str, Any], path: Sequence[int]) -> str:
    """Return the name of what lies at a path of a file's source info, or nothing if that has no name of its own."""
    if len(path) not in (2, 4) or path[0] not in _PARTS:
        return ""
    kind = _PARTS[path[0]]
    outer = file[kind][path[1]]
    if len(path) == 2:
        return str(outer["name"])
    inner = _PARTS_OF[kind].get(path[2])
    return "" if inner is None else f"{outer['name']}.{outer[inner][path[3]]['name']}"


def _build_typescript(scratch: Path, workspace: Path) -> Path:
    target = scratch / "typescript"
    plugin = {
        "local": str(TYPESCRIPT / "node_modules" / ".bin" / "protoc-gen-es"),
        "out": str(target),
        "opt": ["target=ts", "import_extension=js", "json_types=true"],
        "include_imports": True,
    }
    template = json.dumps({"version": "v2", "plugins": [plugin]})
    _buf(workspace, "generate", "--template", template, "--path", str(PACKAGE), "--path", ERROR_DETAILS)
    return target


def _build_stubs(scratch: Path, workspace: Path) -> Path:
    if util.find_spec("grpc_tools") is None:
        raise GenerateError("grpcio-tools is missing; run: make proto, with Python 3.11 to 3.13")
    version = metadata.version("grpcio-tools")
    if not version.startswith(COMPILER):
        raise GenerateError(f"grpcio-tools is {version}, but the stubs are made with {COMPILER}*; run: make proto")
    target = scratch / "stubs"
    (target / PACKAGE).mkdir(parents=True)
    files = sorted(str(PACKAGE / file.name) for file in (workspace / PACKAGE).glob("*.proto"))
    services = [file for file in files if file.endswith("_service.proto")]
    protoc = [sys.executable, "-m", "grpc_tools.protoc", f"-I{workspace}"]
    protoc += [f"--plugin={plugin}={SCRIPTS / plugin}" for plugin in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    _run([*protoc, f"--python_out={target}", f"--mypy_out={target}", *files], workspace)
    _run([*protoc, f"--grpc_python_out={target}", f"--mypy_grpc_out={target}", *services], workspace)
    (target / PACKAGE / "__init__.py").write_text(_INIT, encoding="utf-8")
    return target


def _buf(folder: Path, *arguments: str) -> None:
    _run([str(SCRIPTS / "buf"), *arguments], folder)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise GenerateError(done.stdout.strip() or f"{command[0]} failed with {done.returncode}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
