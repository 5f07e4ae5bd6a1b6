"""The schedule: who meets whom, on which deals, in which order, and that it follows from the seed."""

from __future__ import annotations

from collections import Counter

import pytest

from moonvale_arena import Event
from moonvale_arena.schedule import LOOK_GAMES, Game, Schedule, lineups, pairs
from tests.arena.playing import event

FIVE = ("random", "greedy", "Steady", "Hasty", "a=greedy:feed=0")


def games_of(event: Event) -> list[Game]:
    """All games, in the order of play."""
    schedule, games = Schedule(event), list[Game]()
    while look := schedule.next_look():
        games += look
    return games


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("entrants", [2, 3, 5])
@pytest.mark.parametrize("independent", [False, True])
def test_every_deal_is_played_in_all_seatings(seats: int, entrants: int, independent: bool) -> None:
    chosen = event(*FIVE[:entrants], seats=seats, games=120, independent=independent)
    games = games_of(chosen)
    assert sorted(game.number for game in games) == list(range(120))
    for block in range(120 // seats):
        played = [game for game in games if game.block == block]
        assert len(played) == seats
        for seat in range(seats):
            assert sorted(game.seats[seat] for game in played) == sorted(played[0].lineup)
        assert len({game.secret for game in played}) == (seats if independent else 1)
        assert len({game.seeds for game in played}) == seats
    assert len({game.secret for game in games}) == (120 if independent else 120 // seats)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_round_robin_has_every_table_equally_often(seats: int) -> None:
    chosen = event(*FIVE, seats=seats, games=len(lineups(event(*FIVE, seats=seats))) * seats * 4)
    tables = Counter(game.lineup for game in games_of(chosen))
    assert set(tables) == set(lineups(chosen))
    assert set(tables.values()) == {4 * seats}
    assert pairs(chosen) == [(a, b) for a in range(5) for b in range(a + 1, 5)]


def test_a_gauntlet_seats_the_first_entrant_everywhere() -> None:
    assert lineups(event(*FIVE, seats=3, format="gauntlet")) == [
        (0, a, b) for a in range(1, 5) for b in range(a + 1, 5)
    ]
    assert lineups(event("random", "greedy", seats=4, format="gauntlet")) == [(0, 1, 1, 1)]
    assert pairs(event(*FIVE, seats=2, format="gauntlet")) == [(0, a) for a in range(1, 5)]


def test_fewer_entrants_than_seats_share_them_evenly() -> None:
    assert lineups(event("random", "greedy", seats=4)) == [(0, 0, 1, 1)]
    assert lineups(event("random", "greedy", seats=3)) == [(0, 0, 1), (0, 1, 1)]
    assert lineups(event("random", "greedy", "Steady", seats=4)) == [(0, 0, 1, 2), (0, 1, 1, 2), (0, 1, 2, 2)]


def test_the_same_seed_gives_the_same_games_and_another_one_others() -> None:
    chosen = {"games": 100, "seats": 4, "deck": "mix"}
    once, again = (games_of(event(*FIVE, **chosen)) for _ in range(2))
    assert once == again
    other = games_of(event(*FIVE, **{**chosen, "seed": "other"}))
    assert not {game.secret for game in once} & {game.secret for game in other}
    assert [game.number for game in once] != [game.number for game in other]
    assert len({game.options.deck for game in once}) > 20


def test_games_of_a_deal_lie_apart_in_an_order_that_tells_nothing() -> None:
    games = games_of(event("random", "greedy", games=1000))
    places = {game.number: place for place, game in enumerate(games)}
    apart = [abs(places[2 * block] - places[2 * block + 1]) for block in range(500)]
    assert sum(apart) / len(apart) > LOOK_GAMES / 4
    first = sum(places[2 * block] < places[2 * block + 1] for block in range(500))
    assert 200 < first < 300


def test_a_lineup_that_is_left_out_is_played_no_more_and_its_games_go_to_the_others() -> None:
    schedule = Schedule(event("random", "greedy", "Steady", games=200))
    assert {game.lineup for game in schedule.next_look()} == {(0, 1), (0, 2), (1, 2)}
    look = schedule.next_look({(0, 1), (0, 2)})
    assert {game.lineup for game in look} == {(1, 2)}
    assert len(look) >= LOOK_GAMES
    assert schedule.next_look({(0, 1), (0, 2), (1, 2)}) == []
