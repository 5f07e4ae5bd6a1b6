"""The bench itself: its statistics, its tables, and a tiny run of each part, which depends on no speed and no peer."""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import count
from pathlib import Path

import pytest

from tests.bench import arena, engine, environments, growth, memory, service, services, startup
from tests.bench.__main__ import PAGE, main
from tests.bench.environments import NotInstalledError
from tests.bench.players import Player, PlayerFailedError
from tests.bench.report import BEGIN, END, Figure, Part, Series, Table, number, publish, report, text, to_json
from tests.bench.rounds import Sample, Spread, interleave, ratio, spread
from tests.service import watch_scale


@pytest.fixture(autouse=True)
def no_compiled_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test may be building it."""
    monkeypatch.setattr(environments, "COMPILED", tmp_path)


def silent(_: str) -> None:
    """Tells nobody."""


def test_a_spread_is_the_median_and_the_quartiles() -> None:
    assert spread([5, 1, 2, 4, 3]) == Spread(3, 2, 4)
    assert spread([7]) == Spread(7, 7, 7)
    assert spread([1, 2]) == Spread(1.5, 1.25, 1.75)


def test_a_ratio_is_taken_within_each_round() -> None:
    # The machine is slower from round to round; ours is twice as fast in every one.
    ours = [Sample(count=200, cpu=slow, wall=slow) for slow in (1, 2, 10)]
    theirs = [Sample(count=100, cpu=slow, wall=slow) for slow in (1, 2, 10)]
    assert ratio(ours, theirs) == Spread(2, 2, 2)
    assert ratio(ours, theirs, lambda sample: sample.cost) == Spread(0.5, 0.5, 0.5)


def test_a_ratio_needs_as_many_rounds_of_both() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratio([Sample(1, 1, 1)] * 2, [Sample(1, 1, 1)])


def test_subjects_are_measured_in_turn_and_the_first_round_is_dropped() -> None:
    order: list[str] = []

    def subject(name: str) -> Sample:
        order.append(name)
        return Sample(len(order), 1, 1)

    samples = interleave({"a": lambda: subject("a"), "b": lambda: subject("b")}, 2, silent)
    assert order == ["a", "b"] * 3
    assert [sample.count for sample in samples["a"]] == [3, 5]
    assert [sample.count for sample in samples["b"]] == [4, 6]


@pytest.mark.parametrize(
    ("median", "at_least", "at_most", "verdict"),
    [
        (2.0, 2.0, None, "yes"),
        (1.99, 2.0, None, "no"),
        (1.1, None, 1.1, "yes"),
        (1.11, None, 1.1, "no"),
        (1.0, None, None, ""),
        (None, 1.0, None, "not measured"),
    ],
)
def test_a_verdict_is_of_the_median(
    median: float | None, at_least: float | None, at_most: float | None, verdict: str
) -> None:
    value = None if median is None else Spread(median, 0, 99)
    assert Figure("f", value, at_least=at_least, at_most=at_most).verdict == verdict


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (0.01234, "0.0123"),
        (0.5, "0.50"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (123.4, "123"),
        (123456, "123,000"),
    ],
)
def test_numbers_have_three_digits_that_count(value: float, written: str) -> None:
    assert number(value) == written


def test_a_table_lines_up() -> None:
    table = Table("Sizes", ("what", "bytes"), [("a game", "400"), ("b", "7")])
    assert text(table).splitlines() == [
        "### Sizes",
        "",
        "| what   | bytes |",
        "|--------|-------|",
        "| a game | 400   |",
        "| b      | 7     |",
    ]


def test_a_report_shows_each_target_beside_its_figure() -> None:
    part = Part(
        "Memory", [Figure("state", Spread(380, 370, 390), "bytes", at_most=400), Figure("other", None, note="x")]
    )
    part.plots["sizes"] = [Series("state", [1.0], [380.0])]
    written = report({"cores": "2"}, [part])
    assert "| Memory | state  | 380 (370 to 390) bytes | at most 400 | yes   |" in written
    assert "| other  | -                  |      | x    |" in written
    kept = json.loads(to_json({"cores": "2"}, [part]))
    assert kept["parts"][0]["figures"][0]["value"] == {"median": 380, "low": 370, "high": 390}
    assert kept["parts"][0]["figures"][0]["holds"] == "yes"


def test_a_report_takes_the_place_of_the_one_before() -> None:
    page = f"# Performance\n\n{BEGIN}\n\nold\n\n{END}\n\n## Limits\n"
    once = publish("new\n", page)
    assert once == f"# Performance\n\n{BEGIN}\n\nnew\n\n{END}\n\n## Limits\n"
    assert publish("new\n", once) == once


def test_the_page_has_a_place_for_the_report() -> None:
    assert BEGIN in PAGE.read_text(encoding="utf-8")
    assert END in PAGE.read_text(encoding="utf-8")


def test_only_a_whole_run_is_published(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "engine", "--publish"])
    assert "only a whole run is published" in capsys.readouterr().err


def test_a_part_that_there_is_not_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "engine,speed"])
    parts = "engine, service, memory, growth, arena, bots, startup"
    assert f"there is no part speed; choose of {parts}" in capsys.readouterr().err


def test_what_ends_says_its_last_words() -> None:
    with pytest.raises(PlayerFailedError, match="no such thing"):
        Player([sys.executable, "-c", "raise SystemExit('no such thing')"], core=0)


def test_what_was_made_is_made_again_when_its_origin_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    lock = tmp_path / "peer.txt"
    lock.write_text("peer==1\n")
    made: list[str] = []

    def make(folder: Path) -> None:
        folder.mkdir()
        made.append(lock.read_text())

    for _ in range(2):
        environments.made("peer", [lock, "on 3.11"], make, silent)
    lock.write_text("peer==2\n")
    environments.made("peer", [lock, "on 3.11"], make, silent)
    environments.made("peer", [lock, "on 3.12"], make, silent)
    assert made == ["peer==1\n", "peer==2\n", "peer==2\n"]


def test_what_could_not_be_made_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)

    def fail(folder: Path) -> None:
        folder.mkdir()
        raise NotInstalledError("peer: no network")

    for _ in range(2):
        with pytest.raises(NotInstalledError, match="no network"):
            environments.made("peer", ["1"], fail, silent)


def test_a_peer_that_cannot_be_installed_is_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalledError, match="boardgame_io: there is no node"):
        environments.node_modules("boardgame_io", silent)


def test_the_engine_is_measured_without_peers() -> None:
    part = engine.run(engine.Size(rounds=1, seconds=0.001, short_seconds=0.001), silent, only=("pure",))
    own = part.tables[0]
    assert len(own.rows) == 14
    for name, *cells in own.rows:
        for cell in cells:
            compiled, _, pure = cell.partition(" / ")
            assert compiled == "-"
            assert float(pure.replace(",", "")) > 0, name
    assert {figure.verdict for figure in part.figures if figure.name.startswith("pure")} == {"not measured"}


def test_the_service_is_measured_without_peers() -> None:
    size = service.Size(rounds=1, seconds=0.01, loops=2)
    part = service.run(size, silent, stores=("embedded",), workers=(1,), peers=False)
    rows = {row[0]: row for row in part.tables[0].rows}
    for title in service.TITLES.values():
        assert float(rows[title][1].split(" ")[0].replace(",", "")) > 0, title
    verdicts = {figure.name: figure.verdict for figure in part.figures}
    assert verdicts["SubmitAction, moves of a core"] == "not measured"
    commands = next(figure.value for figure in part.figures if "commands to the store" in figure.name)
    assert commands is not None
    assert commands.median >= 1  # a move can't be kept without the store


def test_moves_that_the_store_does_not_have_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="moonvale-") as short,  # pytest's own folders are too deep for a socket
        services.measured(1, 2, Path(short) / "a", environments.PURE) as measured,
    ):
        assert measured.measure("submit", 0).count > 0
        counts = iter((0, 1))
        monkeypatch.setattr(measured, "versions", lambda: next(counts))
        with pytest.raises(services.MiscountError, match="the store has 1 more"):
            measured.measure("submit", 0)


async def test_what_is_stored_of_a_game_is_measured() -> None:
    found = await memory.play_into_a_store(1, [("mix", 2)])
    (stored,) = found["mix", 2]
    assert stored.moves == len(stored.states) > 100
    assert max(stored.states) < stored.values < stored.memory
    assert stored.values > 10 * stored.moves  # the history is there


def test_watches_are_measured_beside_empty_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_scale, "SETTLE_SECONDS", 0)
    monkeypatch.setattr(watch_scale, "GAMES", 2)
    sizes = count(1000.0, 100.0)
    monkeypatch.setattr(watch_scale, "memory", lambda _: next(sizes))
    figures = {figure.name: figure.value for figure in memory.watches(10)}
    assert figures["a watch"] == figures["an empty stream of grpc.aio"] == Spread(10, 10, 10)
    assert figures["10 idle watches, memory"] == Spread(1, 1, 1)


def test_growth_is_measured_by_games_and_by_moves() -> None:
    size = growth.Size((1, 20), (0, 500), created=5, rounds=1, seconds=0.01, loops=2)
    part = growth.run(size, silent)
    assert [row[0] for row in part.tables[0].rows] == ["1", "20"]
    assert [row[0] for row in part.tables[1].rows] == ["0", "500"]
    assert {name: [len(series.y) for series in plot] for name, plot in part.plots.items()} == {
        "growth by stored games": [2, 2],
        "growth by moves": [2, 2],
    }
    assert sum(["% more" in figure.unit for figure in part.figures]) == 4


def test_a_slope_is_that_of_a_line_through_the_rounds() -> None:
    samples = {f"view at {step}": [Sample(1, slow * (1 + step / 10), 1) for slow in (1, 5)] for step in (0, 1, 2)}
    slope = growth.slope(samples, "view at", (0, 1, 2), float)
    assert slope.median == pytest.approx(10)
    assert slope.low == pytest.approx(slope.high)


def test_start_up_is_measured() -> None:
    part = startup.run(startup.Size(rounds=1), silent, compiled=False)
    figures = {figure.name: figure.value for figure in part.figures}
    assert set(figures) == {startup.SERVE, "python by itself", "import moonvale_engine, pure", "import moonvale_client"}
    assert all(value is not None and value.median > 0 for value in figures.values())


def test_the_arena_and_the_loops_beside_it_play_the_same_number_of_games() -> None:
    part = arena.run(arena.Size(rounds=1, games=6, loops=2), silent, compiled=False)
    assert {way: [sample.count for sample in taken] for way, taken in part.samples.items()} == {
        "arena": [3],
        "client loops": [3],
        "direct loops": [3],
    }
    targets = [figure for figure in part.figures if figure.target]
    assert [figure.at_least for figure in targets] == [0.8, 0.8]
    assert all(figure.value is not None and figure.value.median > 0 for figure in targets)
