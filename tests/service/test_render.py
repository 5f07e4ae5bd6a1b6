"""Views are built once for each version and viewer, and always say what is so now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moonvale_engine import Options, new_game
from moonvale_engine.events import SPECTATOR
from moonvale_service import render
from moonvale_service.about import About, SeatAbout
from moonvale_service.history import Snapshot
from moonvale_service.store import Ticking

SECRET = bytes(range(32))
ABOUT = About(seats=(SeatAbout("Ann"), SeatAbout("Bob")), labels={"table": "7"})


def snapshot(about: About = ABOUT, game: str = "k5w2q7xw3m6d4c8h2r9t") -> Snapshot:
    state = new_game(Options(players=2), SECRET)
    return Snapshot(game, 0, "aa" * 8, state, about, 1_000, 2_000, Ticking(2_000, 9_000, (5_000, 6_000)))


def test_a_view_is_built_once_for_all_who_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    now = snapshot()
    views = [render.encoded_view(now, viewer, 2_000) for viewer in (0, 1, SPECTATOR)]
    assert len(set(views)) == 3
    with monkeypatch.context() as patch:
        patch.setattr(render, "encode_view", None)
        assert [render.encoded_view(now, viewer, 2_000) for viewer in (0, 1, SPECTATOR)] == views


def test_how_much_time_is_left_is_never_kept() -> None:
    now = snapshot()
    left = [render.view(now, 0, time).time_left.ToMilliseconds() for time in (2_000, 8_999, 9_000, 9_500)]
    assert left == [7_000, 1, 0, 0]
    assert render.view(now, 0, 2_000).seats[1].bank.ToMilliseconds() == 6_000
    assert not render.view(replace(now, ticking=None), 0, 2_000).HasField("time_left")


def test_what_is_kept_of_a_game_goes_with_what_it_was_made_of() -> None:
    first = render.view(snapshot(), 0, 2_000)
    assert (first.name, [seat.name for seat in first.seats]) == ("games/k5w2q7xw3m6d4c8h2r9t", ["Ann", "Bob"])
    other = render.view(snapshot(game="a" * 20), 0, 2_000)
    assert other.name == f"games/{'a' * 20}"
    renamed = render.view(snapshot(ABOUT.with_seat(1, SeatAbout("Cid"))), 0, 2_000)
    assert [seat.name for seat in renamed.seats] == ["Ann", "Cid"]
    assert [seat.name for seat in render.view(snapshot(), 0, 2_000).seats] == ["Ann", "Bob"]
