"""Eye 2..4: what faceup Simons, Spotters and Gamblers of a village do."""

import pytest

from moonvale_engine.position import observe
from moonvale_engine.position_text import position_text
from tests.support.table import table

MIX = "coin,3=eye"  # Spotters beside Curators


def test_a_simon_answers_the_top_card_of_the_pile_on_another_players_turn() -> None:  # E02-1, E02-2
    t = table("eye", ann="?8 ?11", bob="2 7 ?7", deck="?7", pile="4")
    t.ann.draws().discards()
    assert (t.to_act, t.decision) == ("bob", "reaction")
    assert t.choices == ["pass", "discard 1 by 0"]
    t.bob.discards(1, by=0)
    assert t.bob.village == "2 ?7"
    assert t.pile == "7 7 4"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_a_player_may_leave_a_card_unanswered() -> None:  # E02-1, E02-2
    t = table("eye", ann="?8 ?11", bob="2 7", deck="?7", pile="4")
    t.ann.draws().discards()
    t.bob.passes()
    assert t.bob.village == "2 7"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_a_simon_discards_a_simon_himself_included() -> None:  # E02-1
    t = table("eye", ann="?8 ?11", bob="2 2 ?2", deck="?2", pile="4")
    t.ann.draws().discards()
    assert t.choices == ["pass", "discard 0 by 0", "discard 1 by 0", "discard 0 by 1", "discard 1 by 1"]
    t.bob.discards(0, by=0)
    assert t.bob.village == "2 ?2"
    assert t.choices == ["pass", "discard 0 by 0"]


@pytest.mark.parametrize(
    ("bob", "pile"),
    [
        ("2 ?7 8", "7"),  # the card that matches lies facedown
        ("?2 7 8", "7"),  # Simon lies facedown
        ("3 7 8", "7"),  # no Simon
        ("2 7 8", "?7"),  # the top of the pile lies facedown
        ("2 7 8", "4 7"),  # a card below the top
    ],
)
def test_a_faceup_simon_a_faceup_card_and_a_faceup_top_card_are_needed(bob: str, pile: str) -> None:  # E02-1
    t = table("eye", ann="?8", bob=bob, active="bob", pile=pile)
    assert not t.offers("discard_resident")


def test_a_simon_matches_printed_values() -> None:  # E02-1, E01-1
    t = table("eye", ann="?8", bob="2 -1 12", active="bob", pile="-1")
    assert [choice for choice in t.choices if choice.startswith("discard")] == ["discard 1 by 0"]


def test_one_simon_and_three_matching_cards_are_one_discard() -> None:  # E02-1, E02-2
    t = table("eye", ann="?8 ?11", bob="7 2 7 7", deck="?7", pile="4")
    t.ann.draws().discards()
    assert t.choices == ["pass", "discard 0 by 1", "discard 2 by 1", "discard 3 by 1"]
    t.bob.discards(2, by=1)
    assert t.bob.village == "7 2 7"
    assert (t.to_act, t.decision) == ("bob", "turn")
    assert t.offers("discard 0 by 1")  # a turn of his own has begun


def test_several_simons_discard_one_card_each() -> None:  # E02-1, E02-2
    t = table("eye", ann="?8 ?11", bob="7 2 7 2 7", deck="?7", pile="4")
    t.ann.draws().discards()
    t.bob.discards(0, by=1).discards(1, by=2)
    assert t.bob.village == "2 2 7"
    assert t.pile == "7 7 7 4"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_each_simon_works_once_per_turn_whoevers_it_is() -> None:  # E02-1, ABL-5
    t = table("eye", ann="4 4 ?8", bob="2 7 7", deck="7 7 ?8", pile="12")
    t.ann.gambles(7).declines()
    t.bob.discards(1, by=0)
    t.ann.gambles(7).declines()  # the second 7 of this turn
    assert t.bob.village == "2 7"
    assert (t.to_act, t.decision) == ("bob", "turn")
    t.bob.discards(1, by=0)
    assert t.bob.village == "2"


def test_a_simon_used_in_the_own_free_time_answers_no_more_in_that_turn() -> None:  # E02-1, E02-3
    t = table("eye", ann="2 7 8", bob="?11", deck="?8", pile="7")
    t.ann.discards(1, by=0).draws().discards()
    assert (t.to_act, t.decision) == ("bob", "turn")
    assert t.ann.village == "2 8"


def test_the_window_goes_round_clockwise_beginning_with_the_active_player() -> None:  # E02-2
    t = table("eye", ann="2 7", bob="2 7", cat="2 7", deck="?7", pile="4", active="bob")
    t.bob.draws().discards()
    assert t.to_act == "bob"
    t.bob.discards(1, by=0)
    assert t.to_act == "cat"
    t.cat.passes()
    assert t.to_act == "ann"
    t.ann.discards(1, by=0)
    assert (t.to_act, t.decision) == ("cat", "turn")
    assert (t.ann.village, t.bob.village, t.cat.village) == ("2", "2", "2 7")


def test_who_has_passed_is_not_asked_again_for_a_simons_discard() -> None:  # E02-2
    t = table("eye", ann="?8", bob="2 7", cat="2 7", deck="?7", pile="4")
    t.ann.draws().discards()
    t.bob.passes()
    t.cat.discards(1, by=0)
    assert (t.to_act, t.decision) == ("bob", "turn")  # no further window
    assert t.bob.village == "2 7"


def test_a_card_drawn_and_discarded_opens_a_window() -> None:  # E02-2
    t = table("eye", ann="?8", bob="2 11", deck="?11", pile="4")
    t.ann.draws().discards()
    assert (t.to_act, t.decision, t.ann.sees_decision.value) == ("bob", "reaction", 11)


def test_an_exchange_opens_one_window_for_the_card_on_top() -> None:  # E02-2
    t = table("eye", ann="?8 8 ?11", bob="2 8 11", deck="?5", pile="4")
    t.ann.draws().exchanges(0, 1, into=0)
    assert t.choices == ["pass", "discard 1 by 0"]
    t.bob.passes()
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_a_take_opens_a_window_for_what_was_exchanged() -> None:  # E02-2
    t = table("eye", ann="?8 ?11", bob="2 8 11 7", pile="7 11")
    t.ann.takes().exchanges(0)
    assert t.choices == ["pass", "discard 1 by 0"]


def test_the_window_of_a_drawn_card_opens_after_its_ability() -> None:  # E02-2
    t = table("eye", ann="?8 ?11", bob="2 6 ?7", deck="6", pile="4")
    t.ann.draws().uses()
    assert t.decision == "target"
    t.ann.flips(t.bob, 2).flips(t.ann, 0)
    assert (t.to_act, t.decision) == ("bob", "reaction")
    assert t.choices == ["pass", "discard 1 by 0"]


def test_a_simon_turned_up_by_the_action_itself_may_answer_it() -> None:  # E02-2
    t = table("eye", ann="?8", bob="?2 6", deck="6", pile="4")
    t.ann.draws().uses().flips(t.bob, 0)
    assert (t.to_act, t.decision) == ("bob", "reaction")


def test_a_ghosts_discard_decides_which_value_simon_may_answer() -> None:  # E02-2, E07-1
    t = table("eye", ann="?8 ?11", bob="2 7 11 ?12", deck="?7", pile="4")
    t.ann.draws().uses().picks(t.ann, 1)
    assert t.pile == "11 7 4"
    assert (t.to_act, t.decision) == ("bob", "reaction")
    assert t.choices == ["pass", "discard 2 by 0"]  # the 11, no longer the Ghost
    assert t.bob.sees_decision.value == 11


def test_each_prediction_opens_a_window() -> None:  # E02-2, E04-1
    t = table("eye", ann="4 4 ?8", bob="2 7 11", deck="7 11 ?8", pile="12")
    t.ann.gambles(7).declines()
    assert t.choices == ["pass", "discard 1 by 0"]
    t.bob.passes()
    t.ann.gambles(11).declines()
    assert t.choices == ["pass", "discard 2 by 0"]


def test_a_reward_decides_which_value_simon_may_answer() -> None:  # E02-2, E04-1
    t = table("eye", ann="4 ?8 ?11", bob="2 7 8", deck="7 ?8", pile="12")
    t.ann.gambles(7).wins(1)
    assert t.choices == ["pass", "discard 2 by 0"]


def test_an_answer_may_declare_spotters_and_opens_no_window_with_what_they_find() -> None:  # E02-2, E03-1
    t = table("eye", ann="?8 ?7 2 7", bob="2 7 3 ?11", deck="?7", pile="4")
    t.ann.draws().discards().passes()
    assert t.choices == ["pass", "discard 1 by 0", "discard 1 by 0 spotters 1"]
    t.bob.discards(1, by=0, spotters=1).searches(t.ann).looks(t.ann, 1)
    assert t.ann.village == "?8 2 7"
    assert t.pile == "7 7 7 4"
    assert t.decision == "turn_end"  # no window: ann may answer in her own free time
    assert t.to_act == "ann"


def test_the_window_stays_about_its_value_when_its_cards_are_answered() -> None:  # E02-2, HID-2
    t = table("eye", ann="?8", bob="2 7", cat="2 7", deck="?7", pile="4")
    t.ann.draws().discards()
    t.bob.discards(1, by=0)
    assert t.to_act == "cat"
    for viewer in (*t.players, t.spectator):
        assert viewer.sees_decision.value == 7


def test_no_window_for_a_card_at_the_bottom_of_the_pile() -> None:  # E02-3, C08-1
    t = table("eye,8=coin", ann="7 ?5", bob="2 7", deck="8", pile="4")
    t.ann.draws().uses().picks(t.ann, 0)
    assert t.pile == "8 4 7"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_no_window_for_a_flip() -> None:  # E02-3
    t = table("eye", ann="?7 ?6", bob="2 7", deck="6", pile="4")
    t.ann.draws().uses().flips(t.ann, 0).flips(t.ann, 1)
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_no_window_for_a_card_uncovered_by_a_take() -> None:  # E02-3
    t = table("eye", ann="?8 ?11", bob="2 7", pile="4 7")
    t.ann.takes().exchanges(0, 1, keep_at="left")
    assert t.pile == "7"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_no_window_for_the_first_card_of_the_round() -> None:  # E02-3
    t = table("eye", ann="?8", bob="2 7", pile="7")
    assert (t.to_act, t.decision) == ("ann", "turn")


def test_no_window_at_the_end_of_the_round() -> None:  # E02-3
    t = table("eye", ann="?8", bob="2 7 13", deck="11", deck_count=1, pile="7")
    t.ann.draws().discards()
    assert (t.to_act, t.decision) == ("bob", "scoring")


def test_on_the_own_turn_simon_is_a_free_ability_whatever_lies_on_top() -> None:  # E02-3, TURN-2
    t = table("eye", ann="2 7 8", bob="?11", deck="?8", pile="7")  # the first card of the round
    assert t.choices == ["draw", "take p0", "call", "discard 1 by 0"]
    t.ann.discards(1, by=0)
    assert t.decision == "turn"
    assert not t.offers("call")  # an ability was used
    t = table("eye", ann="2 7 8 ?11", bob="?11", pile="4 7")
    t.ann.takes().exchanges(2, 3, keep_at="left")  # uncovers a 7
    assert t.decision == "turn_end"
    assert t.choices == ["end", "discard 2 by 1"]


def test_after_passing_simon_may_still_be_used_before_the_turn_ends() -> None:  # E02-3
    t = table("eye", ann="2 7", bob="?11", deck="?7", pile="4")
    t.ann.draws().discards().passes()
    assert (t.to_act, t.decision) == ("ann", "turn_end")
    t.ann.discards(1, by=0)
    assert t.to_act == "bob"


def test_simon_is_no_ability_of_the_middle_of_a_turn() -> None:  # TURN-2, E02-3
    t = table("eye", ann="2 7 ?8", bob="?11", deck="?8", pile="7")
    t.ann.draws()
    assert t.choices == ["discard", "use", "name 0", "name 1", "name 2"]


def test_a_spotter_finds_a_card_of_the_discarded_value() -> None:  # E03-1
    t = table("eye", ann="3 ?7 ?8", bob="?11 ?12 ?7", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=1)
    assert t.pile == "7 4"
    assert t.ann.village == "3 ?5 ?8"
    assert t.choices == ["village a", "village b"]
    t.ann.searches(t.bob).looks(t.bob, 1).looks(t.bob, 2)
    assert t.bob.village == "?11 ?12"
    assert t.pile == "7 7 4"
    assert t.to_act == "bob"


def test_a_spotter_may_find_a_card_of_the_own_village() -> None:  # E03-1
    t = table("eye", ann="3 ?7 ?8 ?7", bob="?11", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=1).searches(t.ann).looks(t.ann, 3)
    assert t.ann.village == "3 ?5 ?8"
    assert t.pile == "7 7 4"


def test_a_spotters_owner_may_stop_and_the_discard_stands() -> None:  # E03-1, DEC-4
    t = table("eye", ann="3 ?7", bob="?11 ?12 ?7", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=1).searches(t.bob)
    assert t.choices == ["stop", "pick b0", "pick b1", "pick b2"]
    t.ann.looks(t.bob, 0)
    assert t.choices == ["stop", "pick b1", "pick b2"]
    t.ann.stops()
    assert t.pile == "7 4"
    assert t.bob.village == "?11 ?12 ?7"
    assert t.to_act == "bob"


def test_a_spotter_that_finds_nothing_leaves_it_at_that() -> None:  # E03-1
    t = table("eye", ann="3 ?7", bob="?11 ?12", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=1).searches(t.bob).looks(t.bob, 0)
    assert "b ?&:a ?;" in position_text(observe(t.state, t.bob.seat))  # looked at
    t.ann.looks(t.bob, 1)
    assert "&" not in position_text(observe(t.state, t.bob.seat))
    assert t.pile == "7 4"
    assert t.to_act == "bob"


def test_each_faceup_spotter_looks_into_one_village() -> None:  # E03-1
    t = table("eye", ann="3 ?7 3 ?3", bob="?11 ?7", cat="?7", deck="?5", pile="4")
    t.ann.draws().names(1)
    assert t.choices == ["close", "name 2", "name 3", "declare spotters 1", "declare spotters 2"]
    t.ann.declares(2).closes()
    t.ann.searches(t.cat).looks(t.cat, 0)
    assert t.choices == ["village a", "village b"]  # nothing lies facedown in cat's any more
    t.ann.searches(t.bob).looks(t.bob, 1)
    assert (t.bob.village, t.cat.village, t.pile) == ("?11", "", "7 7 7 4")


def test_two_spotters_may_look_into_the_same_village() -> None:  # E03-1
    t = table("eye", ann="3 ?7 3", bob="?11 ?7 ?7", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=2).searches(t.bob).looks(t.bob, 0).looks(t.bob, 1)
    t.ann.searches(t.bob)
    assert t.choices == ["stop", "pick b0", "pick b1"]  # the 11 too: another Spotter looks
    t.ann.looks(t.bob, 1)
    assert t.bob.village == "?11"


def test_a_spotter_that_is_discarded_counts() -> None:  # E03-1
    t = table("eye", ann="3 ?7", bob="?3", deck="?5", pile="4")
    t.ann.draws().names(0)
    assert t.offers("declare spotters 1")
    t.ann.declares(1).closes().searches(t.bob).looks(t.bob, 0)
    assert t.pile == "3 3 4"
    assert t.bob.village == ""


def test_spotters_are_declared_once_and_before_any_card_is_turned() -> None:  # E03-1, EXC-8
    t = table("eye", ann="3 ?7 ?7 3", bob="?3", deck="?5", pile="4")
    t.ann.draws().names(1).declares(1)
    assert t.choices == ["close", "name 2", "name 3"]
    assert [viewer.sees_decision.declared for viewer in (t.ann, t.bob, t.spectator)] == [1, 1, 1]
    assert t.happened("SHOWN") == []
    t.ann.names(2).closes()
    assert t.decision == "place"
    assert not t.offers("declare")


def test_a_facedown_spotter_is_not_declared() -> None:  # E03-1
    t = table("eye", ann="?3 ?7", bob="?7", deck="?5", pile="4")
    t.ann.draws().names(1)
    assert t.choices == ["close"]


def test_a_spotter_does_not_look_at_the_new_card() -> None:  # E03-1
    t = table("eye", ann="3 ?7 ?8", bob="?7", deck="?7", pile="4")
    t.ann.draws().exchanges(1, spotters=1).searches(t.ann)
    assert t.ann.village == "3 ?7 ?8"
    assert t.choices == ["stop", "pick a2"]
    t = table("eye", ann="3 ?7", bob="?7", deck="?7", pile="4")
    t.ann.draws().exchanges(1, spotters=1)
    assert t.choices == ["village b"]  # the new card alone lies facedown in the own village


def test_a_drawn_card_that_is_discarded_declares_no_spotter() -> None:  # E03-1
    t = table("eye", ann="3 ?8", bob="?7", deck="?7", pile="4")
    t.ann.draws().discards()
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_a_declared_spotter_whose_set_mismatches_does_nothing() -> None:  # E03-1, EXC-4
    t = table("eye", ann="3 ?7 ?8", bob="?7", deck="?5", pile="4")
    t.ann.draws().exchanges(1, 2, keep_at="right", spotters=1)
    assert (t.to_act, t.decision) == ("bob", "turn")
    assert t.bob.village == "?7"
    assert t.pile == "4"


def test_a_curators_discard_may_declare_spotters() -> None:  # E03-1, C02-1, DEC-2
    t = table(MIX, ann="2 3 3 ?7~", bob="?7 ?7", pile="4")
    assert t.choices[-3:] == ["discard 3 by 0", "discard 3 by 0 spotters 1", "discard 3 by 0 spotters 2"]
    t.ann.discards(3, by=0, spotters=2).searches(t.bob).looks(t.bob, 0).searches(t.bob).looks(t.bob, 0)
    assert t.pile == "7 7 7 4"
    assert t.bob.village == ""
    assert (t.to_act, t.decision) == ("ann", "turn")


def test_a_reward_may_declare_spotters() -> None:  # E03-1, E04-1, DEC-2
    t = table("eye", ann="4 3 ?7", bob="?7", deck="8 ?5", pile="12")
    t.ann.gambles(8)
    assert t.choices == [
        "decline",
        *("pick a0", "pick a0 spotters 1", "pick a1", "pick a1 spotters 1", "pick a2", "pick a2 spotters 1"),
    ]
    t.ann.wins(2, spotters=1).searches(t.bob).looks(t.bob, 0)
    assert t.pile == "7 7 8 12"


def test_a_ghost_on_an_own_card_may_declare_spotters_but_not_on_anothers() -> None:  # E03-1, E07-1, DEC-2
    t = table("eye", ann="3 ?8", bob="3 ?8", deck="7 ?5", pile="12")
    t.ann.draws().uses()
    assert t.choices == ["pick a0", "pick a0 spotters 1", "pick a1", "pick a1 spotters 1", "pick b0", "pick b1"]
    t.ann.picks(t.ann, 1, spotters=1).searches(t.bob).looks(t.bob, 1)
    assert t.pile == "8 8 7 12"


def test_a_spotters_own_discard_declares_no_spotter() -> None:  # E03-1
    t = table("eye", ann="3 3 ?7 ?7", bob="?7", deck="?5", pile="4")
    t.ann.draws().exchanges(2, spotters=1).searches(t.ann).looks(t.ann, 3)
    assert t.pile == "7 7 4"
    assert t.to_act == "bob"  # the second Spotter was not declared and can't be now


def test_a_spotter_is_not_used_up() -> None:  # E03-1
    t = table(MIX, ann="2 3 ?7~ ?8", bob="?7 ?8", deck="?5", pile="4")
    t.ann.discards(2, by=0, spotters=1).searches(t.bob).looks(t.bob, 0)
    t.ann.draws().exchanges(2, spotters=1).searches(t.bob).looks(t.bob, 0)
    assert t.pile == "8 8 7 7 4"


def test_a_curator_may_come_between_the_looks_of_a_spotter() -> None:  # E03-1, TURN-2, DEC-2
    t = table(MIX, ann="2 3 ?7 ?8", bob="?11 ?7", deck="?5", pile="4")
    t.ann.draws().exchanges(2, spotters=1).searches(t.bob).looks(t.bob, 0).turns(3, by=0).looks(t.bob, 1)
    assert t.ann.village == "2 3 ?5 ?8~"
    assert t.pile == "7 7 4"


def test_a_curators_spotter_in_the_middle_of_anothers_looks_sees_all_facedown_cards() -> None:  # E03-1, TURN-2
    t = table(MIX, ann="2 3 ?7 ?8~", bob="?8 ?7", deck="?5", pile="4")
    t.ann.draws().exchanges(2, spotters=1).searches(t.bob).looks(t.bob, 0)  # no 7 but an 8
    t.ann.discards(3, by=0, spotters=1).searches(t.bob)
    assert [choice for choice in t.choices if choice.startswith("pick")] == ["pick b0", "pick b1"]
    t.ann.looks(t.bob, 0)  # found
    assert t.pile == "8 8 7 4"
    t.ann.looks(t.bob, 0)  # and the first Spotter goes on looking for a 7
    assert t.pile == "7 8 8 7 4"
    assert t.bob.village == ""


def test_a_gambler_predicts_the_top_card_of_the_deck_as_the_main_action() -> None:  # E04-1, TURN-1
    t = table("eye", ann="4 ?8", bob="?11", deck="?7 ?5", pile="12")
    assert t.choices == ["draw", "take p0", "call", "gamble"]
    t.ann.gambles()
    assert t.decision == "predict"
    t.ann.predicts(7)
    assert t.pile == "7 12"
    assert t.deck.startswith("?5")
    assert t.decision == "reward"
    t.ann.declines()
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_all_fourteen_values_in_play_are_offered() -> None:  # E04-1, DEC-3
    t = table("eye", ann="4 ?8", bob="?11")
    t.ann.gambles()
    assert t.choices == [f"predict {value}" for value in (-1, 0, *range(2, 14))]
    t = table("eye,1=coin", ann="4 ?8", bob="?11")
    t.ann.gambles()
    assert t.choices == [f"predict {value}" for value in range(14)]


@pytest.mark.parametrize(("spot", "village", "top"), [(0, "?8 11", "4"), (1, "4 11", "8"), (2, "4 ?8", "11")])
def test_a_right_prediction_may_discard_any_own_card(spot: int, village: str, top: str) -> None:  # E04-1
    t = table("eye", ann="4 ?8 11", bob="?11", deck="?7", pile="12")
    t.ann.gambles(7).wins(spot)
    assert t.ann.village == village
    assert t.pile == f"{top} 7 12"


def test_a_reward_may_be_declined() -> None:  # E04-1, DEC-4
    t = table("eye", ann="4 ?8", bob="?11", deck="?7", pile="12")
    t.ann.gambles(7)
    assert t.choices == ["decline", "pick a0", "pick a1"]
    t.ann.declines()
    assert t.ann.village == "4 ?8"


@pytest.mark.parametrize(("end", "village"), [("left", "?5 4 ?8"), ("right", "4 ?8 ?5")])
def test_a_wrong_prediction_takes_the_next_card_of_the_deck_unseen(end: str, village: str) -> None:  # E04-1
    t = table("eye", ann="4 ?8", bob="?11", deck="?7 ?5 ?6", pile="12")
    t.ann.gambles(8)
    assert t.choices == ["end a left", "end a right"]
    t.ann.places_at(end)
    assert t.ann.village == village
    assert t.pile == "7 12"
    assert t.deck.startswith("?6")
    assert not t.ann.knows(t.ann, 0 if end == "left" else 2)


def test_a_penalty_of_a_gambler_keeps_its_facing() -> None:  # E04-1
    t = table("eye", ann="4 ?8", bob="?11", deck="?7 5 ?6", pile="12")
    t.ann.gambles(8).places_at("right")
    assert t.ann.village == "4 ?8 5"


def test_an_empty_deck_gives_a_gambler_no_penalty() -> None:  # E04-1, TURN-5
    t = table("eye", ann="4 4 ?8", bob="?11", deck="?7", deck_count=1, pile="12")
    t.ann.gambles(8)
    assert t.round_ended  # nor a second prediction
    assert t.scores == (16, 11)


def test_each_further_faceup_gambler_may_predict_as_well() -> None:  # E04-1
    t = table("eye", ann="4 4 ?4 ?8", bob="?11", deck="?7 ?5 ?6 ?6", pile="12")
    t.ann.gambles(7).declines()
    assert t.choices == ["end", "gamble"]
    t.ann.gambles(8).places_at("left")  # wrong
    assert t.ann.village == "?6 4 4 ?4 ?8"
    assert (t.to_act, t.decision) == ("bob", "turn")  # the third one lies facedown


def test_a_further_gambler_need_not_predict() -> None:  # E04-1
    t = table("eye", ann="4 4 ?8", bob="?11", deck="?7", pile="12")
    t.ann.gambles(7).declines().ends()
    assert t.to_act == "bob"


def test_a_gambler_used_this_turn_does_not_predict_again() -> None:  # E04-1, ABL-5
    t = table("eye,1=coin", ann="4 1 ?8", bob="?11", deck="?7 ?7", pile="12")
    t.ann.gambles(7).declines()
    assert t.choices == ["end", "use 1"]
    t.ann.uses(1)
    assert (t.to_act, t.decision) == ("ann", "turn")  # a new turn
    assert t.offers("gamble")


def test_free_abilities_may_come_between_predictions() -> None:  # E04-1, TURN-2
    t = table("eye,3=coin", ann="4 ?4 3", bob="?11", deck="?7 ?8 ?5", pile="12")
    t.ann.gambles(7).declines().uses(2).flips(t.ann, 1)  # a Pixie turns the second one up
    assert t.choices == ["end", "gamble"]
    t.ann.gambles(8)
    assert t.pile == "8 7 12"


def test_a_gambler_does_not_follow_another_main_action() -> None:  # E04-1, TURN-1
    t = table("eye,3=coin", ann="4 3 ?8", bob="?11", deck="?7 ?8 ?5", pile="12")
    t.ann.draws().discards()
    assert t.choices == ["end", "use 1"]


def test_a_facedown_gambler_does_nothing() -> None:  # E04-1
    assert not table("eye", ann="?4 ?8", bob="?11").offers("gamble")


def test_a_faceup_card_on_top_of_the_deck_may_be_predicted() -> None:  # E04-1
    t = table("eye", ann="4 ?8", bob="?11", deck="7 ?8", pile="12")
    assert t.ann.sees_deck_top == "7"
    t.ann.gambles(7).wins(1)
    assert t.pile == "8 7 12"


def test_a_curator_may_come_between_a_gamble_and_its_value() -> None:  # DEC-2, TURN-2, E04-1
    t = table("coin,4=eye", ann="4 2 ?8", bob="?11", deck="?7 ?8", pile="12")
    t.ann.gambles().turns(2, by=1).predicts(7)
    assert t.ann.village == "4 2 ?8~"
    assert t.offers("pick a2")
