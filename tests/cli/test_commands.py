"""The command line: help, errors in one line, and the subcommands that need no service."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from moonvale_cli.main import COMMANDS, main
from moonvale_engine import Record, commitment, texts, write_record
from moonvale_engine.log import Entry
from moonvale_engine.outcome import result
from moonvale_service.convert.actions import from_proto
from moonvale_service.settings import descriptions
from tests.cli.game import played

SECRET = bytes(range(32))
WHOLE = (
    "coin 2p; round 1 turn 1 a; token a; a ?5 ?10 ?4 ?10 ?1; b ?5 ?12 ?8 ?3 ?13; pile 11; deck ?11 ?8 ?8 ?6 ?9 ?0 ?12"
    " ?2 ?12 ?9 ?12 ?3 ?11 ?10 ?9 ?3 ?2 ?4 ?1 ?8 ?7 ?6 ?6 ?1 ?7x3 ?10 ?11 ?9 ?5; aside ?1 ?2 ?4 ?5 ?2 ?4 ?13 ?6 ?3 ?0;"
    f" frames round.3/a turn.1/a; secret {SECRET.hex()}"
)


def shown(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Run the command and return what it printed: to the standard output, or, if it fails, to the other one."""
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert (err == "") == (code == 0)
    return out if code == 0 else err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_says_what_it_does_and_gives_two_examples(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    examples = printed.partition("\nexamples:\n")[2].partition("\n\n")[0].splitlines()
    assert len([line for line in examples if f"moonvale {command}" in line]) >= 2
    assert all(len(line) <= 100 for line in printed.splitlines())
    assert len(printed.splitlines()) > 10


def test_the_help_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    printed = shown(capsys)
    for command, summary in COMMANDS.items():
        assert f"    {command:<10}{summary}" in printed


def test_the_help_of_serve_lists_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    printed = capsys.readouterr().out
    assert [setting.variable for setting in descriptions() if f"  {setting.variable}" not in printed] == []


def test_help_imports_neither_grpc_nor_rich_nor_the_engine() -> None:
    code = (
        "import sys; from moonvale_cli.main import main; main([]);"
        "print(sorted({'grpc', 'rich', 'moonvale_engine', 'moonvale_service', 'google'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"


def test_the_command_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "moonvale_cli", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("moonvale ")


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["pley"])
    assert ended.value.code == 2
    assert "choose from" in capsys.readouterr().err


def test_cards_lists_the_catalogue(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    printed = shown(capsys, "cards")
    for card in texts.entries():
        assert f"{card.name} " in printed
        assert card.ability in printed


def test_cards_are_found_by_number_name_and_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    lines = shown(capsys, "cards", "7", "Con Artist", "coin/pixie", "village_idiot").splitlines()
    names = ["Nostro", "Ghost", "Con Artist", "Pixie", "Village Idiot"]
    assert [name for name, line in zip(names, lines[1:6], strict=True) if name not in line] == []
    assert lines[6] == ""


def test_a_card_that_is_not_there_is_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    printed = shown(capsys, "cards", "14", code=1)
    assert printed == "moonvale cards: '14' is no card; `moonvale cards` lists them all\n"


def test_a_position_is_drawn_with_its_legal_actions(capsys: pytest.CaptureFixture[str]) -> None:
    printed = shown(capsys, "position", WHOLE)
    assert "│▒ 5│▒10│▒ 4│▒10│▒ 1│" in printed
    assert "Seat a is to act. It is your turn. What do you do?\n" in printed
    assert "  draw      Draw a card from the deck (31 left)\n" in printed
    assert printed.endswith("  take p0   Take the 11 Golem from the pile, for an exchange\n")


def test_a_viewers_position_is_drawn_as_the_viewer_knows_it(capsys: pytest.CaptureFixture[str]) -> None:
    position = next(played(3, 0)).view.position
    printed = shown(capsys, "position", position)
    assert "│▒▒▒│▒▒▒│▒▒▒│▒▒▒│▒▒▒│" in printed


def test_actions_are_carried_out_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    printed = shown(capsys, "position", WHOLE, "draw", "name 1", "name 3", "close", "place 3")
    told = " ".join(printed.partition("\n\n")[0].split())
    assert told == (
        "· Seat a drew an 11 Golem, turned their 2nd card faceup (10 Nosferatu), turned their 4th card faceup"
        " (10 Nosferatu), discarded their 2nd card (10 Nosferatu), discarded their 3rd card (10 Nosferatu) and put the"
        " 11 Golem down as their 3rd card."
    )
    position = next(line for line in printed.splitlines() if line.startswith("coin 2p; "))
    assert "a ?5 ?4 ?11:a ?1; b" in position
    assert "pile 10 10 11;" in position
    assert main(["position", position]) == 0
    assert printed.endswith(capsys.readouterr().out)


def test_a_position_is_read_from_the_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "position.txt"
    file.write_text(f"{WHOLE}\n")
    with file.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert "Seat a is to act" in shown(capsys, "position", "-", "draw")


def test_a_new_position_can_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    position = shown(capsys, "position", "--new", "3")
    assert position.startswith("coin 3p; round 1 turn 0 -;")
    assert "Which two of your cards do you look at?" in shown(capsys, "position", position)


def test_positions_need_nothing_that_the_bare_install_lacks() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extra = [re.match(r"[a-z0-9-]+", needed) for needed in project["project"]["optional-dependencies"]["service"]]
    modules = [
        name[0].replace("grpcio-health-checking", "grpc-health").replace("grpcio", "grpc") for name in extra if name
    ]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({[name.replace('-', '_') for name in modules]}));"
        f"from moonvale_cli.main import main; sys.exit(main(['position', {WHOLE!r}, 'draw']))"
    )
    assert "orjson" in code
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["coin 2p; nonsense"], "round: is missing"),
        (["coin 2p; rules 2; round 1"], "rules: version 2 is not known; this engine knows 1"),
        ([WHOLE, "take p1"], "action 1, 'take p1': the action is not a choice of the open decision"),
        ([WHOLE, "draw", "fly"], "action 2, 'fly': action: 'fly' is not an action"),
        (
            ["coin 2p; as a; " + WHOLE.partition("; ")[2].partition("; secret")[0], "draw"],
            "this is what one viewer knows",
        ),
        ([], "needs a position as text"),
    ],
)
def test_what_is_wrong_with_a_position_is_said_in_one_line(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = shown(capsys, "position", *arguments, code=1)
    assert printed.startswith(f"moonvale position: {error}")
    assert printed.count("\n") == 1


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The record of a game that is over."""
    *moments, last = played(4, rounds=1, players=2)
    state = last.state
    entries = []
    for moment in [*moments[1:], last]:
        acted = moment.entry.events[0].acted.action
        entries.append(Entry(moment.entry.seat, from_proto(acted, "action")))
    path = tmp_path / "game.moonvale"
    text = write_record(
        Record(
            state.options,
            commitment(state.secret),
            state.secret,
            names=("Ann", "Ben\x1b[2J"),
            entries=tuple(entries),
            result=result(state),
        )
    )
    path.write_text(text)
    return path


def test_a_record_is_replayed_and_its_result_printed(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *places = shown(capsys, "record", str(record)).splitlines()
    assert first.endswith("actions: legal, and the secret opens the commitment")
    assert [line.partition(":")[0][3:] for line in sorted(places, key=lambda line: line[3:])] == ["Ann", "Ben?[2J"]


def test_a_record_that_was_tampered_with_is_refused(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = record.read_text()
    places = re.search(r"places (.) (.)", text)
    assert places is not None
    record.write_text(text.replace(places[0], f"places {places[2]} {places[1]}"))
    printed = shown(capsys, "record", str(record), code=1)
    assert printed == f"moonvale record: {record}: result: is not the one that the actions lead to\n"


def test_a_record_that_is_not_there_is_an_error_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = shown(capsys, "record", str(tmp_path / "no"), code=1)
    assert "No such file" in printed
    assert printed.count("\n") == 1
