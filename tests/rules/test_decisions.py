"""Decisions: who is asked, what for, and the order of the choices."""

import random

import pytest

from moonvale_engine import play
from moonvale_engine.actions import CALL, pack
from moonvale_engine.errors import GameOverError, IllegalActionError
from moonvale_engine.options import Options
from tests.support.table import table


@pytest.mark.parametrize("players", [2, 3, 4])
def test_exactly_one_seat_is_to_act_until_the_game_is_over(players: int) -> None:  # DEC-1
    rng = random.Random(players)
    s = play.new_game(Options(players=players), rng.randbytes(32))
    while play.decision_kind(s) >= 0:
        assert 0 <= play.seat_to_act(s) < players
        choices = play.legal_actions(s)
        assert choices
        assert len(set(choices)) == len(choices)
        play.apply(s, rng.choice(choices))
    assert play.legal_actions(s) == []
    assert play.seat_to_act(s) == 255
    with pytest.raises(GameOverError):
        play.apply(s, pack(CALL))


def test_an_action_that_is_not_a_choice_changes_nothing() -> None:  # DEC-1
    t = table(ann="?1 ?2 ?3 ?4 ?5")
    before = t.choices
    with pytest.raises(IllegalActionError):
        t.ann.calls()
    assert t.choices == before
    assert t.happened("ACTED") == []
    assert t.to_act == "ann"


def test_a_single_forced_choice_is_still_put() -> None:  # DEC-1
    t = table(ann="3 ?9", bob="")
    t.ann.uses(0)
    assert t.decision == "target"
    assert t.choices == ["pick a1"]


def test_a_choice_with_no_possible_target_is_skipped() -> None:  # DEC-1
    t = table(ann="3", bob="", deck="6")
    t.ann.draws().uses().picks(t.ann, 0)
    assert t.ann.village == "?3"
    assert t.to_act == "bob"


def test_a_list_with_nothing_but_passing_is_not_put() -> None:  # DEC-1
    t = table(ann="?1 ?2", bob="3")
    t.ann.draws().discards()
    assert (t.to_act, t.decision) == ("bob", "turn")  # ann has no free ability: her turn is over
    t = table(ann="?1 9 9", bob="8", deck="9")
    t.ann.draws().uses().looks(t.ann, 0)
    assert (t.to_act, t.decision) == ("bob", "turn")  # nothing is left to look at


def test_a_decision_is_put_if_public_facts_allow_a_choice() -> None:  # DEC-1
    t = table(ann="?1 2", bob="3")
    t.ann.draws().discards()
    assert (t.to_act, t.decision) == ("ann", "turn_end")  # her Curator could still do something
    t = table(ann="?1 ?1", bob="3")
    t.ann.draws().names(0)
    assert t.decision == "set"
    t.ann.names(1)
    assert (t.decision, t.choices) == ("set", ["close"])  # closing is no passing


def test_the_choices_of_a_turn_come_in_order() -> None:  # DEC-2, DEC-3
    t = table(ann="1 4 3 4", bob="?8", pile="7 9 6", token_active=True)
    assert t.decision == "turn"
    assert t.choices == [
        *("draw", "take p0", "call", "activate p0", "activate p1"),
        *("use 0", "use 2", "token"),
    ]


def test_the_choices_for_a_card_in_hand_come_in_order() -> None:  # DEC-2, DEC-3
    t = table(ann="?1 2 ?3", bob="?8", deck="7")
    t.ann.draws()
    assert t.decision == "hand"
    assert t.choices == [
        *("discard", "use", "name 0", "name 1", "name 2"),
        *("turn 0 by 1", "turn 1 by 1", "turn 2 by 1"),
    ]


def test_a_hand_is_one_kind_of_decision_however_the_card_came() -> None:  # DEC-2
    t = table(ann="?1 ?3", pile="4")
    t.ann.takes()
    assert t.decision == "hand"
    assert t.choices == ["name 0", "name 1"]
    t = table(ann="?1 ?3", deck="5")
    t.ann.draws()
    assert t.decision == "hand"
    assert t.choices == ["discard", "use", "name 0", "name 1"]


def test_closing_comes_first_in_a_set() -> None:  # DEC-2, DEC-3
    t = table(ann="?1 ?3 ?5")
    t.ann.draws().names(0)
    assert t.decision == "set"
    assert t.choices == ["close", "name 1", "name 2"]


def test_kinds_of_the_other_decisions() -> None:  # DEC-2
    t = table(ann="?1 ?1 2", bob="0 0 1", pile="4", active="bob", caller="ann")
    t.bob.takes().exchanges(0, 1)
    assert t.decision == "place"
    t = table(ann="?1 2", deck="9")
    t.ann.draws().uses()
    assert t.decision == "look"
    t.ann.stops()
    assert t.decision == "turn_end"
    t = table(ann="0 2", deck="12", deck_count=1)
    t.ann.draws().discards().ends()
    assert t.decision == "scoring"


def test_each_flip_and_each_look_is_a_decision_of_its_own() -> None:  # DEC-2
    t = table(ann="?1 2 2 2 2", bob="?8 ?7", deck="9")
    t.ann.draws().uses().turns(0, by=1).looks(t.bob, 0).turns(0, by=2).looks(t.bob, 1).turns(0, by=3).stops()
    assert t.ann.village == "?1~ 2 2 2 2"
    t = table(ann="?1 2 2 9", bob="?8 ?7", deck="6")
    t.ann.draws().uses().turns(0, by=1).flips(t.ann, 3).turns(3, by=2).flips(t.bob, 1)
    assert t.ann.village == "?1~ 2 2 ?9~"
    t = table(ann="3 2", bob="?8", token_active=True)
    t.ann.uses(0).turns(0, by=1).flips(t.bob, 0)
    assert t.ann.village == "?3~ 2"
    t = table(ann="?3 2", bob="?8", token_active=True)
    t.ann.uses_token().turns(0, by=1).flips(t.bob, 0)
    assert t.ann.village == "?3~ 2"
    t = table(ann="?3 2 2", bob="?8", deck="5")
    t.ann.draws().uses().turns(0, by=1).places_at("left").turns(0, by=3).flips(t.bob, 0)
    assert t.ann.village == "5~ ?3~ 2 2"


def test_a_pile_card_and_what_is_done_with_it_are_one_decision() -> None:  # DEC-2, DEC-3
    t = table(ann="?1 4", bob="?8", deck="10", pile="7 ?3 9 2")
    assert t.offers("activate p0")
    t.ann.draws().uses()
    assert t.choices == ["take p1", "take p2", "take p3", "activate p1", "activate p3"]


def test_a_curators_use_and_its_card_are_one_decision() -> None:  # DEC-2, DEC-3
    t = table(ann="?1 2 ?3~", bob="?8")
    assert t.choices[-4:] == ["turn 0 by 1", "turn 1 by 1", "turn 2 by 1", "discard 2 by 1"]


def test_targets_come_by_seat_clockwise_from_the_one_to_act_and_by_spot() -> None:  # DEC-3
    t = table(ann="?1 ?3", bob="3 ?8", cat="?2", active="bob")
    t.bob.uses(0)
    assert t.choices == ["pick b1", "pick c0", "pick a0", "pick a1"]
    t = table(ann="?1 ?3", bob="4 ?8", cat="?2", deck="7", active="bob")
    t.bob.draws().uses()
    assert t.choices == ["village b", "village c", "village a"]


def test_left_comes_before_right_and_clockwise_first() -> None:  # DEC-3
    t = table(ann="?1 ?3", deck="5")
    t.ann.draws().uses()
    assert t.choices == ["end a left", "end a right"]
    t = table(bob="?1 ?3", deck="5", active="bob")
    t.bob.draws().uses()
    assert t.choices == ["end b left", "end b right"]
    t = table(ann="?1 ?3", deck="12")
    t.ann.draws().uses()
    assert t.choices == ["clockwise", "counterclockwise"]


def test_what_stops_or_ends_comes_first() -> None:  # DEC-3
    t = table(ann="?1 2", bob="?3", deck="9")
    t.ann.draws().uses()
    assert t.choices == ["stop", "pick a0", "pick b0", "turn 0 by 1", "turn 1 by 1"]
    t.ann.stops()
    assert t.choices == ["end", "turn 0 by 1", "turn 1 by 1"]
    t = table(ann="0 ?3", bob="", cat="", deck="12", deck_count=1)
    t.ann.draws().discards()
    assert t.choices == ["done", "give 1 by 0 to b", "give 1 by 0 to c"]


def test_the_order_of_choices_does_not_follow_hidden_cards() -> None:  # DEC-3
    for village in ("?1 ?2 ?3", "?3 ?2 ?1", "?2 ?2 ?2"):
        t = table(ann=village, bob="?9", deck="9")
        t.ann.draws()
        assert t.choices == ["discard", "use", "name 0", "name 1", "name 2"]
        t.ann.names(0)
        assert t.choices == ["close", "name 1", "name 2"]


def test_looks_are_optional_once_begun() -> None:  # DEC-4
    t = table(ann="?1 ?2 ?3 ?4", deck="9")
    t.ann.draws().uses()
    assert t.offers("stop")
    t.ann.looks(t.ann, 0)
    assert t.offers("stop")
    t.ann.stops()
    assert t.to_act == "bob"
    assert [t.ann.knows(t.ann, spot) for spot in range(4)] == [True, False, False, False]


def test_everything_else_is_mandatory_once_begun() -> None:  # DEC-4
    steps = []
    t = table(ann="3 ?1", bob="?8")
    steps.append(t.ann.uses(0))  # Pixie's flip
    t = table(ann="1 ?1", bob="?8", deck="6")
    steps.append(t.ann.draws().uses())  # Huntress' first card
    t = table(ann="1 ?1", bob="?8", deck="6")
    steps.append(t.ann.draws().uses().flips(t.ann, 0))  # and her second
    for number in ("5", "7", "8", "10", "11", "12"):
        t = table(ann="1 ?1", bob="?8", deck=number, pile="4")
        steps.append(t.ann.draws().uses())
    t = table(ann="1 ?1", bob="?8", deck="5")
    steps.append(t.ann.draws().uses().places_at("left"))
    t = table(ann="1 ?1", bob="?8", deck="12")
    steps.append(t.ann.draws().uses().rotates("clockwise"))
    t = table(ann="1 ?1", bob="?8", token_active=True)
    steps.append(t.ann.uses_token())
    for player in steps:
        t = player.table
        assert t.to_act == "ann"
        assert not t.offers("stop")
        assert not t.offers("end")
        assert not t.offers("done")
