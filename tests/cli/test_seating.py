"""Seats and clocks in words: who comes and goes, how long they may think, and why a seat did not choose itself."""

import pytest
from google.protobuf.text_format import Parse

from moonvale.v1 import clock_pb2, view_pb2
from moonvale.v1.event_pb2 import LogEntry
from moonvale.v1.view_pb2 import View
from moonvale_cli.draw import TableDrawing
from moonvale_cli.evidence import Evidence
from moonvale_cli.story import Story
from moonvale_cli.words.clocks import clock_words, read_clock, time_words
from moonvale_cli.words.seating import Seating
from moonvale_cli.words.table import Table, changed_cards
from moonvale_client import Replay
from moonvale_engine import Options, new_game
from tests.cli.game import view_of
from tests.cli.test_draw import drawn


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("30s", "30 s for each decision"),
        ("0.5s", "0.5 s for each decision"),
        ("1h30m", "1:30:00 for each decision"),
        ("5m+2s", "5:00 for all decisions of a player, 2 s more with each"),
        ("90s+0s", "1:30 for all decisions of a player"),
    ],
)
def test_clocks_are_read_and_said(text: str, words: str) -> None:
    clock = read_clock(text)
    assert clock_words(clock) == f"{words}; whoever runs out of time resigns"
    clock.on_time_out = clock_pb2.TIME_OUT_AGENT_DECIDES
    assert clock_words(clock) == f"{words}; an agent decides for whoever runs out of time"


@pytest.mark.parametrize("text", ["", "5", "s", "-5s", "5m+", "+2s", "1m1h", "40d", "5 m"])
def test_what_is_no_clock_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no time such as"):
        read_clock(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0 s"), (0.3, "0.3 s"), (28.9, "28 s"), (60.0, "1:00"), (3599.0, "59:59"), (3661.0, "1:01:01")],
)
def test_times_are_said_as_a_clock_shows_them(seconds: float, words: str) -> None:
    assert time_words(seconds) == words


def waiting(*seats: tuple[str, view_pb2.SeatStatus.ValueType], phase: view_pb2.Phase.ValueType) -> View:
    """A view of seat 0 while the game waits."""
    view = View(viewer_seat=0, phase=phase)
    for number, (name, status) in enumerate(seats):
        view.seats.add(seat=number, name=name, status=status)
    return view


def test_who_comes_and_goes_is_told() -> None:
    is_open, kept, taken = view_pb2.SEAT_STATUS_OPEN, view_pb2.SEAT_STATUS_KEPT, view_pb2.SEAT_STATUS_TAKEN
    waits, reveals = view_pb2.PHASE_WAITING, view_pb2.PHASE_REVEALING
    seating = Seating()
    ann = ("Ann", taken)
    assert seating.news(waiting(ann, ("", is_open), ("Cleo", kept), phase=waits)) == [
        "At the table: Ann (you), an open seat and a seat kept for Cleo.",
        "Waiting for Cleo and one more player.",
    ]
    assert seating.news(waiting(ann, ("Ben", taken), ("Cleo", kept), phase=waits)) == [
        "Ben sat down.",
        "Waiting for Cleo.",
    ]
    assert seating.news(waiting(ann, ("Ben", taken), ("", is_open), phase=waits)) == [
        "Cleo left. The seat is open.",
        "Waiting for one more player.",
    ]
    assert seating.news(waiting(ann, ("", is_open), ("", is_open), phase=waits)) == [
        "Ben left. The seat is open.",
        "Waiting for 2 more players.",
    ]
    assert seating.news(waiting(ann, ("Ben", taken), ("Ben", taken), phase=reveals)) == [
        "Ben 2 sat down.",
        "Ben 3 sat down.",
        "All are here. Everybody now reveals what they add to the shuffles.",
    ]
    assert seating.news(waiting(ann, ("Ben", taken), ("Ben", taken), phase=reveals)) == []


CALL = "events {seat: 1 acted {action {call {}}}} events {seat: 1 called {}}"


@pytest.mark.parametrize(
    ("entries", "lines"),
    [
        (["cause: CAUSE_TIME_OUT events {seat: 1 resigned {}}"], ["Ben ran out of time and resigned."]),
        (["cause: CAUSE_RESIGNATION events {seat: 1 resigned {}}"], ["Ben resigned."]),
        ([f"cause: CAUSE_TIME_OUT {CALL}"], ["Ben ran out of time.", "Ben's agent called for the vote."]),
        ([f"cause: CAUSE_BOT_FAILED {CALL}"], ["Ben failed as a bot.", "Ben's agent called for the vote."]),
        ([f"cause: CAUSE_BOT {CALL}"], ["Ben called for the vote."]),
        (
            [
                "cause: CAUSE_TIME_OUT events {seat: 1 away {}}",
                f"cause: CAUSE_TIME_OUT {CALL}",
                f"cause: CAUSE_AGENT {CALL}",
                "cause: CAUSE_PLAYER events {seat: 1 returned {}}",
                f"cause: CAUSE_PLAYER {CALL}",
                f"cause: CAUSE_TIME_OUT {CALL} events {{seat: 1 scored {{sum: 3 score: 3}}}}",
            ],
            [
                "Ben ran out of time and left the seat to an agent.",
                "Ben's agent called for the vote and called for the vote.",
                "Ben came back and called for the vote.",
                "Ben ran out of time.",
                "Ben's agent called for the vote.",
                "Ben scored 3 points.",
            ],
        ),
    ],
)
def test_why_a_seat_did_not_choose_itself_is_told(entries: list[str], lines: list[str]) -> None:
    table = Table(view_of(new_game(Options(players=2), bytes(32)), 0))
    story = Story(6)
    for version, entry in enumerate(entries, 7):
        story.add(Parse(f"version: {version} seat: 1 {entry}", LogEntry()), table)
    assert story.tell(table) == lines


def test_an_agent_of_ones_own_is_told_as_such() -> None:
    table = Table(view_of(new_game(Options(players=2), bytes(32)), 1))
    story = Story(6)
    story.add(Parse(f"version: 7 seat: 1 cause: CAUSE_AGENT {CALL}", LogEntry()), table)
    assert story.tell(table) == ["Your agent called for the vote."]


def test_bots_players_who_are_away_and_banks_are_drawn() -> None:
    view = view_of(new_game(Options(players=3), bytes(32)), 0)
    view.seats[1].bot = "greedy"
    view.seats[2].away = True
    view.seats[2].bank.seconds = 125
    text = drawn(TableDrawing(view))
    assert "Ben (bot), 0 points" in text
    assert "Cleo, 0 points, 2:05 left, away" in text


def test_the_cards_of_the_other_deck_are_named() -> None:
    assert changed_cards("coin,2=eye,9=eye") == ["2 Simon", "9 Obsessor"]
    assert changed_cards("eye") == []


def test_a_record_that_is_not_what_was_promised_is_said_loudly() -> None:
    table = Table(View())
    words = Evidence().check(Replay(record="moonvale record 1\noptions: coin 2p\ncommitment: 00\nsecret: 00\n"), table)
    assert words == ("The cards do NOT lie as was promised before the deal: the secret does not open the commitment.")
