"""Resignation: a seat gives up, is played on by the fixed policy, and is placed last."""

import pytest

from moonvale_engine import outcome
from moonvale_engine.errors import GameOverError, IllegalActionError
from moonvale_engine.events import BY_PLAYER, BY_POLICY, OVER_BY_RESIGNATION
from tests.support.table import Table, table


def places(t: Table) -> list[str]:
    result = outcome.result(t.state)
    assert result is not None
    return [t.players[seat].name for seat in result.places]


def policy_choices(t: Table) -> list[tuple[int, int]]:
    return [(event[1], event[2]) for event in t.happened("ACTED") if event[3] == BY_POLICY]


def test_a_seat_may_resign_at_any_time() -> None:  # END-7
    t = table(ann="?1 ?2", bob="?3", cat="?4")
    t.cat.resigns()  # not to act
    assert t.to_act == "ann"
    t = table(ann="?1 ?2", bob="?3", cat="?4")
    t.ann.draws().resigns()  # with a card in hand
    assert t.to_act == "bob"
    t = table(ann="?1 ?2", bob="?3", cat="?4")
    t.ann.draws().names(0, 1).resigns()  # within a set
    assert t.to_act == "bob"


def test_a_seat_resigns_once() -> None:  # END-7
    t = table(ann="?1 ?2", bob="?3", cat="?4")
    t.cat.resigns()
    with pytest.raises(IllegalActionError, match="has resigned"):
        t.cat.resigns()


def test_with_one_other_seat_left_the_game_is_over() -> None:  # END-7
    t = table(ann="?1 ?2", bob="?3")
    t.bob.resigns()
    assert t.decision == "over"
    assert t.state.over == OVER_BY_RESIGNATION
    assert places(t) == ["ann", "bob"]
    with pytest.raises(GameOverError):
        t.ann.resigns()
    t = table(ann="?1 ?2", bob="?3", cat="?4")
    t.bob.resigns()
    assert t.decision == "turn"
    t.ann.resigns()
    assert t.decision == "over"


def test_finished_rounds_count_and_the_present_one_does_not() -> None:  # END-7
    t = table(ann="?1 ?2", bob="?13 ?12", round=3, totals=(40, 12))
    t.bob.resigns()
    assert t.totals == (40, 12)
    assert places(t) == ["ann", "bob"]


def test_a_resigned_seat_is_placed_last_whatever_its_total() -> None:  # END-7
    t = table(ann="?9", bob="?8", cat="?7", deck="?2", deck_count=1, round=4, totals=(50, 5, 60))
    t.bob.resigns()
    t.ann.draws().discards()
    assert t.totals == (59, 13, 67)
    assert places(t) == ["ann", "cat", "bob"]


def test_several_resigned_seats_are_placed_in_reverse_order_of_resigning() -> None:  # END-7
    t = table(ann="?9", bob="?8", cat="?7", dan="?6")
    t.cat.resigns()
    t.ann.resigns()
    t.dan.resigns()
    assert places(t) == ["bob", "dan", "ann", "cat"]


def test_a_resigned_seat_draws_and_discards_without_ability() -> None:  # END-7
    t = table(ann="?1 2 3 4", bob="?3", cat="?4", deck="?7 ?8", pile="9", token_active=True)
    t.ann.resigns()
    assert t.to_act == "bob"
    assert t.pile == "7 9"
    assert t.ann.village == "?1 2 3 4"
    assert t.state.token_active
    assert [event[3] for event in t.happened("ACTED")] == [BY_POLICY] * 3  # draw, discard, end of the turn


def test_a_resigned_seat_does_not_call_and_still_gets_its_final_turn() -> None:  # END-7, TURN-4
    t = table(ann="?1", bob="?3", cat="?4", deck="?7 ?8", pile="9")
    t.bob.resigns()
    t.ann.calls()
    assert t.to_act == "cat"
    assert t.pile == "7 9"


def test_a_resigned_seat_in_mid_ability_stops_where_it_may() -> None:  # END-7
    t = table(ann="?1", bob="?3", cat="?4", deck="9")
    t.ann.draws().uses().looks(t.bob, 0).resigns()
    assert t.to_act == "bob"
    assert not t.ann.knows(t.cat, 0)


def test_a_resigned_seat_in_mid_ability_takes_the_first_choice_where_it_must() -> None:  # END-7
    t = table(ann="3 ?1", bob="?3", cat="?4")
    t.ann.uses(0).resigns()
    assert t.ann.village == "?3 1"
    t = table(ann="?1 ?2", bob="?3", cat="?4", pile="9")
    t.ann.takes().resigns()
    assert t.ann.village == "9 ?2"


def test_a_resigned_seat_closes_a_set_that_it_has_begun() -> None:  # END-7
    t = table(ann="?7 ?7 ?7", bob="?3", cat="?4", pile="9")
    t.ann.takes().names(0, 1).resigns()
    assert t.ann.village == "9 ?7"
    assert t.pile == "7 7"


def test_a_resigned_seat_uses_no_scoring_ability() -> None:  # END-7
    t = table(ann="?1", bob="0 ?9", cat="0 ?4", deck="?2", deck_count=1)
    t.bob.resigns()
    t.ann.draws().discards()
    assert t.to_act == "cat"
    assert t.bob.village == "0 ?9"


def test_a_resigned_seat_goes_on_in_the_next_round() -> None:  # END-7
    t = table(ann="?9", bob="?8", cat="?1", deck="?2", deck_count=1)
    t.cat.resigns()
    t.ann.draws().discards()
    assert t.holder == "cat"
    t.forget_events()
    assert (t.round, t.to_act) == (2, "ann")  # cat's looks were chosen for her
    t.ann.peeks(0, 1)
    t.bob.peeks(0, 1)
    assert t.to_act == "ann"  # and cat, who began, has drawn and discarded
    assert {event[3] for event in t.happened("ACTED") if event[1] == 2} == {BY_POLICY}
    assert {event[3] for event in t.happened("ACTED") if event[1] != 2} == {BY_PLAYER}
