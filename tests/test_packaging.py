"""The distribution keeps its word: locks are whole and name no host, dependencies are explained, imports go one way."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = ROOT / "deploy" / "requirements"
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)

# Package of ours: the packages of ours that it may import. The command may import everything.
MAY_IMPORT = {
    "engine/moonvale_engine": set[str](),
    "engine/moonvale_agents": {"moonvale_engine"},
    "service/moonvale_service": {"moonvale_engine", "moonvale_agents", "moonvale"},
    "clients/python/moonvale": set[str](),
    "clients/python/moonvale_client": {"moonvale"},
    "clients/python/moonvale_arena": {"moonvale", "moonvale_client", "moonvale_engine", "moonvale_agents"},
    "clients/python/moonvale_verify": set[str](),
}


def pins(lock: str) -> dict[str, str]:
    return dict(PIN.findall((LOCKS / lock).read_text()))


def direct_dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lists = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    names = (re.match(r"[a-z0-9-]+", requirement) for requirements in lists for requirement in requirements)
    return {name[0] for name in names if name is not None}


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it the import stands."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("lock", ["service.txt", "compile.txt", "image.txt", "dev.txt"])
def test_a_lock_names_no_host_and_every_pin_has_a_hash(lock: str) -> None:
    text = (LOCKS / lock).read_text()
    assert "://" not in text
    assert not re.search(r"^-", text, re.MULTILINE)
    entries = re.split(r"\n(?=[a-z0-9])", text)[1:]
    assert len(entries) == len(pins(lock)) > 0
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_all_locks_pin_the_same_releases() -> None:
    fewer, dev = pins("service.txt") | pins("compile.txt") | pins("image.txt"), pins("dev.txt")
    assert {name: dev.get(name) for name in fewer} == fewer


def test_every_direct_dependency_is_locked_and_explained() -> None:
    explained = set(re.findall(r"^\| ([a-z0-9-]+) \|", (ROOT / "docs" / "dependencies.md").read_text(), re.MULTILINE))
    assert explained - {"package"} == direct_dependencies()
    assert direct_dependencies() <= pins("dev.txt").keys()


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_one_way(package: str) -> None:
    allowed = MAY_IMPORT[package] | {Path(package).name}
    modules = sorted((ROOT / package).rglob("*.py"))
    ours = {module: {name for name in imported(module) if name.startswith("moonvale")} for module in modules}
    assert modules
    assert {module: names - allowed for module, names in ours.items() if names - allowed} == {}


@pytest.mark.parametrize("package", ["engine/moonvale_engine", "engine/moonvale_agents"])
def test_engine_and_agents_need_the_standard_library_alone(package: str) -> None:
    allowed = sys.stdlib_module_names | {"moonvale_engine", "moonvale_agents"}
    foreign = {module: imported(module) - allowed for module in (ROOT / package).rglob("*.py")}
    assert {module: names for module, names in foreign.items() if names} == {}


def test_the_verifier_is_one_file_that_needs_the_standard_library_alone() -> None:
    folder = ROOT / "clients" / "python" / "moonvale_verify"
    assert imported(folder / "verify.py") <= sys.stdlib_module_names
    assert sorted(path.name for path in folder.glob("*.py")) == ["__init__.py", "verify.py"]
    assert imported(folder / "__init__.py") == set()
