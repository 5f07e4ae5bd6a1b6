"""The TypeScript client: its own tests, against a live service too; its package in an empty project; its examples."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.service.servers import Service, running_service
from tests.support.node import TYPESCRIPT, need_node

ROOT = TYPESCRIPT.parent.parent
MODULES = TYPESCRIPT / "node_modules"
ADDRESS = "127.0.0.1:7350"
COMPILE = ["--strict", "--module", "nodenext", "--target", "es2022", "--typeRoots", str(MODULES / "@types")]

WAYS = [
    "gRPC",
    "connect over Node's own HTTP",
    "connect over fetch",
    "grpc-web over Node's own HTTP",
    "grpc-web over fetch",
]

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A whole service of one worker, whose rates are low enough to be reached."""
    with running_service(workers="1", call_rate="30") as service:
        yield service


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it would be published, in an empty project, on the newest releases that it allows."""
    need_node()
    source, project = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("project")
    for name in ("package.json", "README.md", "LICENSE", "tsconfig.json", "tsconfig.build.json"):
        shutil.copy(TYPESCRIPT / name, source)
    shutil.copytree(TYPESCRIPT / "src", source / "src")
    (source / "node_modules").symlink_to(MODULES)
    run(["npm", "run", "build"], source)
    packed = json.loads(run(["npm", "pack", "--json", "--pack-destination", str(project)], source))
    (project / "package.json").write_text(json.dumps({"name": "project", "private": True, "type": "module"}))
    options = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    run(["npm", "install", *options, f"./{packed[0]['filename']}"], project)
    return project


def run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it prints; fail with all that it printed if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def vitest(*arguments: str, **environment: str) -> set[str]:
    """Run tests with Vitest, none of which may be skipped; return their names."""
    need_node()
    command = [str(MODULES / ".bin" / "vitest"), "run", "--reporter=json", *arguments]
    report = json.loads(run(command, TYPESCRIPT, environment))
    results = [result for file in report["testResults"] for result in file["assertionResults"]]
    assert {result["status"] for result in results} == {"passed"}
    return {result["fullName"] for result in results}


def environment(service: Service) -> dict[str, str]:
    """Where the service is, in the words of the tests for Vitest."""
    creator_key = (service.folder / "data" / "creator_key").read_text().strip()
    return {"MOONVALE_ADDRESS": service.address, "MOONVALE_URL": service.url, "MOONVALE_CREATOR_KEY": creator_key}


def example(heading: str) -> str:
    """The program below a heading of the page on clients."""
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    return page.partition(f"{heading}\n")[2].partition("```ts\n")[2].partition("```")[0]


def compile_program(program: str, project: Path, name: str) -> None:
    """Compile a program in a project as its author would."""
    (project / f"{name}.ts").write_text(program, encoding="utf-8")
    run([str(MODULES / ".bin" / "tsc"), *COMPILE, f"{name}.ts"], project)


def compile_and_run(program: str, project: Path, name: str, *arguments: str) -> str:
    """Compile a program in a project as its author would, and return what it prints."""
    compile_program(program, project, name)
    return run(["node", f"{name}.js", *arguments], project)


def test_retries_watches_agents_and_what_a_browser_gets() -> None:
    assert len(vitest(*(f"--exclude=tests/{name}.test.ts" for name in ("exchanges", "live", "same")))) > 40


@pytest.mark.parametrize("over", WAYS)
def test_it_plays(service: Service, over: str) -> None:
    names = vitest("tests/live.test.ts", **environment(service), MOONVALE_OVER=over)
    assert len([name for name in names if name.startswith(f"{over} ")]) == len(names) >= 9


def test_positions_and_answers_are_the_same_over_every_transport(service: Service) -> None:
    names = vitest("tests/same.test.ts", "tests/exchanges.test.ts", **environment(service))
    assert names == {
        f"a position is the same message over {', '.join(WAYS)}",
        *(f"the calls of the vectors have their answers over {way}" for way in WAYS),
    }


def test_the_package_in_an_empty_project_compiles_and_plays(package: Path, service: Service) -> None:
    bot = (TYPESCRIPT / "examples" / "bot.ts").read_text(encoding="utf-8")
    printed = compile_and_run(bot, package, "bot", service.address)
    lines = printed.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r"places [01] [01], totals -?\d+ -?\d+", lines[0])
    assert lines[0] == lines[1]


def test_bots_and_watches_outlive_a_restart_of_the_service(package: Path) -> None:
    program = """
        import { once } from "node:events";
        import { createClient, playSeats } from "moonvale/node";
        const client = createClient({ address: process.argv[2]! });
        const { name: game, seatCredentials, spectatorCredential } = await client.createGame({
          options: { players: 2, rounds: 1 },
        });
        const versions: bigint[] = [];
        const watching = (async () => {
          for await (const update of client.watch(game, spectatorCredential)) {
            if (update.case === "entry") {
              versions.push(update.value.version!);
            }
          }
        })();
        let decisions = 0;
        await playSeats(client, seatCredentials.map((credential) => ({ game, credential })), async (view) => {
          decisions += 1;
          if (decisions === 5) {
            console.log("restart");
            await once(process.stdin, "data");
          }
          return view.decision.legalActions.at(-1)!;
        });
        await watching;
        console.log(versions.length > 5 && versions.every((version, index) => version === BigInt(index + 1)));
        client.close();
        process.stdin.destroy();
    """
    compile_program(program, package, "restart")
    with (
        running_service() as service,
        subprocess.Popen(
            ["node", "restart.js", service.address],
            cwd=package,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as bot,
    ):
        assert bot.stdin is not None
        assert bot.stdout is not None
        try:
            assert bot.stdout.readline() == "restart\n"
            service.stop()
            service.start()
            bot.stdin.write("done\n")
            bot.stdin.flush()
            assert bot.stdout.read() == "true\n"
            assert bot.wait() == 0
        finally:
            bot.kill()


def test_the_package_holds_what_it_needs_and_no_more(package: Path) -> None:
    installed = package / "node_modules" / "moonvale"
    assert {path.name for path in installed.iterdir()} == {"LICENSE", "README.md", "dist", "package.json", "src"}
    assert {path.suffix for path in (installed / "dist").rglob("*") if path.is_file()} == {".js", ".ts", ".map"}
    assert (installed / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_readme_shows_the_bot_of_the_examples() -> None:
    bot = (TYPESCRIPT / "examples" / "bot.ts").read_text(encoding="utf-8")
    shown = re.findall(r"```ts\n(.*?)```", (TYPESCRIPT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown[0] == bot.partition("\n\n")[2]
    assert ADDRESS in bot


def test_the_page_for_node_plays_with_one_bot(package: Path, service: Service) -> None:
    printed = compile_and_run(example("### In Node.js").replace(ADDRESS, service.address), package, "node")
    assert "places: [" in printed
    assert "totals: [" in printed


def test_the_page_for_browsers_follows_a_game_and_that_for_fetch_reads_a_view(package: Path, service: Service) -> None:
    for name, heading in (("browser", "### In a browser"), ("rest", "### REST from TypeScript")):
        (package / f"{name}.ts").write_text(example(heading), encoding="utf-8")
    program = """
        import { createClient } from "moonvale";
        import { view } from "./rest.js";
        const [url] = process.argv.slice(2) as [string];
        Object.assign(globalThis, { location: { origin: url } });
        const { follow } = await import("./browser.js");
        const client = createClient({ baseUrl: url });
        const game = await client.createGame({ options: { players: 2 } });
        const before = await view(url, game.name, game.seatCredentials[1]!);
        const following = follow(game.name, game.spectatorCredential, AbortSignal.timeout(60_000));
        console.log(before.view?.version, before.view?.viewerSeat, before.view?.seats?.[0]?.total);
        await client.resign(game.name, game.seatCredentials[0]!);
        await following;
    """
    lines = compile_and_run(program, package, "pages", service.url).splitlines()
    assert lines[0] == "0 1 0"
    assert "round 1, version 0" in lines or "round 1, version 1" in lines


def test_the_page_for_code_of_ones_own_generates_it(tmp_path: Path) -> None:
    need_node()
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    recipe = re.findall(r"```sh\n(buf generate .*?)```", page, re.DOTALL)[0]
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    tools = f"{MODULES / '.bin'}{os.pathsep}{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    run(["sh", "-c", recipe], tmp_path, {"PATH": tools})
    assert (tmp_path / "gen" / "moonvale" / "v1" / "game_service_pb.ts").is_file()
    assert (tmp_path / "gen" / "google" / "api" / "annotations_pb.ts").is_file()


def test_the_lock_names_no_host_and_pins_everything_with_a_hash() -> None:
    lock = json.loads((TYPESCRIPT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    pinned = {name: entry for name, entry in lock.items() if name}
    assert len(pinned) > 20
    assert [name for name, entry in pinned.items() if "resolved" in entry or "integrity" not in entry] == []


def test_it_is_of_the_projects_version_and_connect_is_of_one() -> None:
    package = json.loads((TYPESCRIPT / "package.json").read_text(encoding="utf-8"))
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert package["version"] == version[1]
    connect = {release for name, release in package["dependencies"].items() if name.startswith("@connectrpc/")}
    assert len(connect) == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+", connect.pop())


def test_every_dependency_is_explained() -> None:
    package = json.loads((TYPESCRIPT / "package.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `([a-z0-9@/-]+)` \|", page, re.MULTILINE))
    assert explained == {*package["dependencies"], *package["devDependencies"]}
