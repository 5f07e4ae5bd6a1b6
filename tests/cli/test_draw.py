"""Drawings, as text: what a table looks like at several widths, without colours and with them."""

import io
from itertools import islice

from rich.console import Console, RenderableType

from moonvale.v1.view_pb2 import View
from moonvale_cli.draw import LEGEND, TableDrawing, scores
from moonvale_engine.events import SPECTATOR
from tests.cli.game import played, view_of_text

TURN = (
    "coin 3p; as a; round 2 turn 7 b; token c+; caller c; a ?8:a ? 3 ?~; b ? ?12:ab 2~ ? ? 11; c 0; pile 9 4 ?7:a ?x7;"
    " deck ?x25; aside ?x5; hand ?; scores 12 3 20; resigned a; frames round.3/b turn.2/b hand.0/b"
)
WIDE = """\
Round 2 of 4, turn 7
Deck  25 cards   Coin token  lies with Cleo, can be used
Pile  9 Psychic on 4 ▒7 ▒ ▒ ▒ ▒ ▒ ▒ …
Hand  Ben holds a facedown card

▸ Ben, 3 points                       Cleo, 20 points, has called
┌───┬───┬───┬───┬───┬───┐             ┌───┐
│▒▒▒│▒12│  2│▒▒▒│▒▒▒│ 11│             │  0│
└───┴───┴───┴───┴───┴───┘             └───┘
  1   2   3~  4   5   6                 1

Ann (you), 12 points, has resigned
┌───┬───┬───┬───┐
│▒ 8│▒▒▒│  3│▒▒▒│
└───┴───┴───┴───┘
  1   2   3   4~"""
NARROW = """\
Round 2 of 4, turn 7
Deck  25 cards
Coin token  lies
with Cleo, can be
used
Pile  9 Psychic on 4
▒7 ▒ ▒ ▒ ▒ ▒ ▒ …
Hand  Ben holds a
facedown card

▸ Ben, 3 points
┌───┬───┬───┬───┐
│▒▒▒│▒12│  2│▒▒▒│
└───┴───┴───┴───┘
  1   2   3~  4
┌───┬───┐
│▒▒▒│ 11│
└───┴───┘
  5   6

Cleo, 20 points, has
called
┌───┐
│  0│
└───┘
  1

Ann (you), 12
points, has resigned
┌───┬───┬───┬───┐
│▒ 8│▒▒▒│  3│▒▒▒│
└───┴───┴───┴───┘
  1   2   3   4~"""


def drawn(what: RenderableType, width: int = 80, **options: bool) -> str:
    file = io.StringIO()
    Console(file=file, width=width, **options).print(what)  # type: ignore[arg-type]  # flags alone
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_a_table_at_80_columns() -> None:
    assert drawn(TableDrawing(view_of_text(TURN))) == WIDE


def test_a_table_wider_than_the_terminal_is_stacked_and_cut_into_rows() -> None:
    assert drawn(TableDrawing(view_of_text(TURN)), 20) == NARROW


def test_spots_can_be_counted_as_the_notation_counts_them() -> None:
    lines = drawn(TableDrawing(view_of_text(TURN), first_spot=0)).splitlines()
    assert lines[-1] == "  0   1   2   3~"


def test_an_empty_village_an_empty_pile_and_the_last_card_of_the_deck() -> None:
    text = "coin 2p; as spectator; round 1 turn 3 a; token a; a -; b ?x40; pile -; deck ?; aside ?x11;"
    text += " frames round.3/a turn.1/a"
    drawing = drawn(TableDrawing(view_of_text(text)))
    assert "Deck  1 card   Coin token  lies with Ann, can't be used in this round" in drawing
    assert "Pile  empty" in drawing
    assert "▸ Ann, 0 points\nno cards\n" in drawing


def test_every_table_of_a_game_fits_80_columns_unless_a_name_does_not() -> None:
    for seed in range(4):
        for moment in islice(played(seed, SPECTATOR), 0, None, 9):
            assert all(len(line) <= 80 for line in drawn(TableDrawing(moment.view)).splitlines())


def test_colours_say_nothing_that_the_signs_do_not() -> None:
    view = view_of_text(TURN)
    plain = drawn(TableDrawing(view), force_terminal=True, no_color=True)
    coloured = drawn(TableDrawing(view), force_terminal=True, color_system="truecolor")  # type: ignore[arg-type]
    assert "\x1b[" in coloured
    assert "38;" not in plain
    assert "93m" in coloured
    assert "93m" not in plain
    assert LEGEND == "▒▒▒ facedown   ▒ 7 facedown, but known   7 faceup   ~ sideways"


def over() -> View:
    *_, last = played(5, 0, players=3, rounds=2)
    return last.view


def test_the_points_are_listed_by_place_when_the_game_is_over() -> None:
    view = over()
    lines = drawn(scores(view)).splitlines()
    assert lines[0].split() == ["Place", "┃", "Player", "┃", "Round", "1", "┃", "Round", "2", "┃", "Points"]
    names = ["Ann (you)", "Ben", "Cleo"]
    for place, (line, seat) in enumerate(zip(lines[2:], view.result.places, strict=True), 1):
        first, second = view.seats[seat].scores
        cells = [cell.strip() for cell in line.split("│")]
        assert cells == [str(place), names[seat], str(first), str(second), str(first + second)]


def test_the_points_are_listed_by_seat_before_that() -> None:
    lines = drawn(scores(view_of_text(TURN))).splitlines()
    assert [line.split("│")[0].strip() for line in lines[2:]] == ["Ann (you), resigned", "Ben", "Cleo"]
