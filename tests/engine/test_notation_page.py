"""docs/notation.md says all that there is: what it shows can be read, and what the engine writes is explained there."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from moonvale_engine import NotationError, action_text, legal_actions, observe, parse_action, parse_position
from moonvale_engine import actions as act
from moonvale_engine.options import Options
from moonvale_engine.position_parse import parse_game
from moonvale_engine.position_text import MARKS, game_text, position_text
from tests.support.playing import positions, random_setup

MOST_SEEDS = 100
PAGE = (Path(__file__).parent.parent.parent / "docs" / "notation.md").read_text()


def section(title: str) -> str:
    """The part of the page below a heading."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def column(text: str, number: int) -> list[str]:
    """What stands between backticks in a column of a part's table."""
    rows = [line.split("|") for line in text.splitlines() if line.startswith("|")]
    return [found for row in rows for found in re.findall(r"`([^`]+)`", row[number])]


def examples() -> list[str]:
    """The positions that the page shows as blocks."""
    return [block.replace("\n", " ").strip() for block in re.findall(r"```\n(\w+ \dp;[^`]+)```", PAGE)]


def test_the_actions_of_the_page_are_actions_of_every_verb() -> None:
    shown = column(section("Actions"), 2)
    verbs = {act.verb_of(parse_action(text)) for text in shown}
    assert verbs == set(range(len(act.FIELDS)))
    assert [action_text(parse_action(text)) for text in shown] == shown


@pytest.mark.parametrize("text", examples())
def test_the_positions_of_the_page_are_positions(text: str) -> None:
    position = parse_position(text)
    assert position_text(position) == text
    assert legal_actions(position.state)


def test_the_page_shows_positions_of_both_decks() -> None:
    assert [text.split()[0] for text in examples()] == ["coin", "eye"]


def test_the_reaction_of_the_page_is_the_one_that_it_says() -> None:
    assert [action_text(action) for action in legal_actions(parse_position(examples()[1]).state)] == [
        "pass",
        "discard 1 by 0",
    ]


def test_every_mark_of_a_card_is_on_the_page() -> None:
    marks = [mark for mark in column(section("Seats, places, cards"), 1) if len(mark) == 1 and not mark.isalnum()]
    assert marks == ["?", *(mark for _, mark in MARKS)]


def test_every_field_of_a_position_is_on_the_page() -> None:
    explained = {words.split()[0] for words in column(section("Positions"), 1)} | {"b", "c"}
    rare = {"pool", "tucked", "excluded", "put", "hand", "caller", "scores", "extra", "handles"}
    written = set[str]()
    for seed in range(MOST_SEEDS):
        for s in positions(random_setup(seed, rounds=2)):
            for viewer in range(s.options.players):
                written |= {field.split()[0] for field in position_text(observe(s, viewer)).split("; ")[1:]}
        if rare <= written:
            break
    assert rare <= written
    assert written <= explained


def test_every_option_is_on_the_page() -> None:
    options = Options(
        players=2,
        deck=parse_game("coin,2=eye 2p").deck,
        token="eye",
        rounds=2,
        turn_limit=9,
        memory="table",
        successful_call="lower",
        demands=("odd", "at most -1", "at least 13", "even"),
        villages=(1, 0),
        deal_supplied=True,
    )
    names = [name for name in Options.__dataclass_fields__ if name != "rules"]  # which have a field of their own
    assert not [name for name in names if getattr(options, name) == getattr(Options(), name)]
    text = game_text(options)
    assert parse_game(text) == options
    explained = column(section("Positions"), 2)
    for word in text.split()[2:]:
        name = word.split("=")[0]
        assert any(shown.split("=")[0] == name for shown in explained), name


@pytest.mark.parametrize("demand", ["even", "at most 0", "at least -1", "at most -1", "at least 13"])
def test_demands_are_written_with_dashes(demand: str) -> None:
    options = replace(Options(players=3), demands=(demand, "odd", "odd", "odd"))
    assert f"demands={demand.replace(' ', '-')},odd,odd,odd" in game_text(options)
    assert parse_game(game_text(options)) == options


@pytest.mark.parametrize(
    "demands", ["even,odd", "even,odd,at-most-6,at-least-14", "even,odd,at-most-6,", "even,odd,most-6,odd"]
)
def test_demands_that_cannot_be_are_refused_with_the_field(demands: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_game(f"eye 2p demands={demands}")
    assert caught.value.field == "demands"
