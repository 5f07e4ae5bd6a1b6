"""Cards that meet: each of these follows from the rulings of its cards, without one knowing of the other."""

from moonvale_engine.events import UNKNOWN
from tests.support.table import table


def test_a_set_of_three_fails_with_an_empty_deck() -> None:  # EXC-5, TURN-5
    t = table("eye", ann="?7 ?8 ?3", bob="?8", deck="?4", deck_count=1, pile="12", rounds=1)
    t.ann.draws().exchanges(0, 1, 2, keep_at="left")
    assert t.ann.village == "?4 ?7 ?8 ?3"  # no penalty card
    assert (t.round_ended, t.scores) == (True, (22, 8))


def test_the_sole_pile_card_is_taken_and_the_set_fails() -> None:  # EXC-7, OBS-2, E02-3
    t = table("eye", ann="2 ?7 ?8", bob="4 2 ?3", deck="?10 ?6", pile="9.1")
    t.ann.takes().exchanges(1, 2, keep_at="right")
    assert (t.ann.village, t.pile) == ("2 ?7 ?8 9.1", "")
    assert t.to_act == "bob"
    assert t.choices == ["draw", "call", "gamble"]  # no take, nothing for Simon to answer, no demand
    t.bob.draws()
    assert t.choices == ["discard", "name 0", "name 1", "name 2"]  # a Dracula with nothing below it


def test_the_curator_acts_in_the_middle_of_a_village_idiot() -> None:  # C12-1, C02-1, TURN-2
    t = table("coin", ann="2 ?9~ ?5", bob="?8", cat="?7", deck="12")
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 1).discards(1, by=0)
    assert t.choices == ["pick a0", "pick a1"]  # the card chosen is gone: chosen anew
    t.ann.picks(t.ann, 1).picks(t.bob, 0).picks(t.cat, 0)
    assert (t.ann.village, t.bob.village, t.cat.village) == ("2 ?7", "?5", "?8")


def test_a_con_artist_turned_up_again_by_a_pixie_in_the_additional_turn_is_spent() -> None:  # C01-2, C03-1
    t = table("eye,1=coin,3=coin", ann="1 3 ?9.1", bob="?8", deck="?4 ?4", pile="12")
    t.ann.uses(0).draws().discards().ends().uses(1).flips(t.ann, 0)
    assert t.ann.village == "1 ?3 ?9.1"
    assert not t.offers("use 0")
    t.ann.draws().discards()
    assert t.to_act == "bob"


def test_a_nosferatu_activates_a_golem_below_it() -> None:  # C10-1, C11-1, ABL-4
    t = table("coin", ann="?5", bob="?8", deck="10", pile="11 4 6")
    t.ann.draws().uses().activates(1).picks(t.bob, 0)
    assert t.bob.village == "10"  # the topmost pile card other than the Golem: the Nosferatu itself
    assert t.pile == "11 4 6 ?8"


def test_simon_answers_no_card_that_the_action_did_not_put_on_top() -> None:  # E02-2, C11-1
    t = table("coin,2=eye", ann="?5", bob="2 10 11 ?8", deck="10", pile="11 4 6")
    t.ann.draws().uses().activates(1).picks(t.bob, 3)
    assert t.pile == "11 4 6 ?8"
    assert (t.to_act, t.decision) == ("bob", "turn")  # the Golem lay there before
    t = table("coin,2=eye", ann="?5", bob="2 10 ?8", deck="10", pile="10 11 6")
    t.ann.draws().uses().activates(2).picks(t.bob, 2)
    assert (t.bob.village, t.pile) == ("2 10 10", "10 11 6 ?8")
    assert (t.to_act, t.decision) == ("bob", "turn")  # nor is this the 10 that was played


def test_an_obsessor_binds_a_spotter_declared_by_a_curator() -> None:  # OBS-2, E03-1, C02-1
    t = table("coin,3=eye,9=eye", ann="2 3 ?9.1~", bob="?9.2", pile="12")
    t.ann.discards(2, by=0, spotters=1).searches(t.bob).looks(t.bob, 0)
    assert t.pile == "9.1 12"
    assert t.bob.village == "?9.2"


def test_a_curator_puts_an_obsessor_on_the_pile_while_a_card_is_in_hand() -> None:  # OBS-2, OBS-4, C02-1
    t = table("coin,9=eye", ann="2 ?9.2~ 2", bob="?8", deck="?12", pile="4")
    t.ann.draws().discards(1, by=0)
    assert t.choices == ["keep", "turn 0 by 1", "turn 1 by 1"]
    t.ann.keeps("right")
    assert t.ann.village == "2 2 ?12"


def test_a_curator_frees_the_way_for_a_card_that_would_not_fit() -> None:  # OBS-4, C02-1
    t = table("coin,9=eye", ann="2 8~ 7", bob="?8", deck="?7", pile="9.1")
    t.ann.draws()
    assert t.choices == ["name 0", "name 1", "turn 0 by 0", "turn 1 by 0", "turn 2 by 0", "discard 1 by 0"]
    t.ann.discards(1, by=0).discards()
    assert t.pile == "7 8 9.1"


def test_a_curator_puts_an_obsessor_on_the_pile_between_a_gamble_and_its_value() -> None:  # E04-1, OBS-5, C02-1
    t = table("coin,4=eye,9=eye", ann="4 2 ?9.1~", bob="?8", deck="7 ?6", pile="4")
    t.ann.gambles().discards(2, by=1).predicts(7)
    assert t.pile == "9.1 4"
    assert t.deck.startswith("7 ?6")  # refused, though it was offered
    t.ann.wins(1)
    assert t.ann.village == "4"


def test_a_ghost_may_put_an_obsessor_on_top_for_the_next_player() -> None:  # E07-1, OBS-2
    t = table("eye", ann="?5", bob="?9.2", deck="?7 ?12", pile="9.1 7", demands=("at least 7", "odd", "odd", "odd"))
    t.ann.draws().uses().picks(t.bob, 0)
    assert t.pile == "9.2 7 9.1 7"
    t.bob.draws()
    assert t.choices == ["keep"]


def test_a_gamblers_reward_may_be_the_gambler_who_is_a_spotters_find_too() -> None:  # E04-1, E03-1
    t = table("eye", ann="4 3 ?4", bob="?8", deck="?7 ?6", pile="12")
    t.ann.gambles(7).wins(0, spotters=1).searches(t.ann).looks(t.ann, 1)
    assert t.ann.village == "3"
    assert t.pile == "4 4 7 12"


def test_a_dracula_buries_an_obsessor_with_its_demand() -> None:  # E10-1, OBS-2
    t = table("eye", ann="?5", bob="?8", deck="?10 ?7", deck_count=2, pile="9.1 4")
    t.ann.draws().uses()
    assert t.deck == "?7 9.1 4"
    t.bob.draws().discards()
    assert t.pile == "7 10"
    t.ann.draws()
    assert t.hand == "9.1"


def test_a_drunk_gives_a_card_that_dracula_buried_faceup() -> None:  # E12-1, E10-1, EXC-1
    t = table("eye", ann="?5", bob="?8", deck="?10 ?12", deck_count=2, pile="4 6")
    t.ann.draws().uses()
    t.bob.draws().uses().places_at("left", t.ann)
    assert t.ann.village == "4 ?5"


def test_a_penalty_card_that_dracula_buried_facedown_stays_hidden() -> None:  # EXC-5, E10-1, HID-1
    t = table("eye", ann="?5", bob="?8 ?7 ?6", deck="?10 ?12", deck_count=2, pile="?4 6")
    t.ann.draws().uses()
    t.bob.draws().exchanges(0, 1, 2, keep_at="right")
    assert t.bob.village == "?8 ?7 ?6 ?12 ?4"
    for viewer in (*t.players, t.spectator):
        assert viewer.reads("MOVED")[-1][5][1] == UNKNOWN


def test_a_twister_turns_a_spotter_up_for_a_later_discard() -> None:  # E06-1, E03-1
    t = table("eye", ann="?3", bob="?11", deck="?6 ?8 ?5", pile="12")
    t.ann.draws().uses().flips(t.ann, 0)
    t.bob.draws().discards()
    t.ann.draws().names(0)
    assert t.choices == ["close", "declare spotters 1"]


def test_a_tanner_turns_simons_up_that_may_answer_at_once_in_the_own_free_time() -> None:  # E05-1, E02-3
    t = table("eye", ann="?2 ?7", bob="?11", deck="?5", pile="7")
    t.ann.draws().uses().places_at("left")
    assert t.decision == "turn_end"
    t.ann.discards(2, by=1)
    assert (t.ann.village, t.pile) == ("5 2", "7 7")


def test_an_underminer_may_uncover_nothing_but_an_obsessor_to_the_bottom_demands_nothing() -> None:  # E11-1, OBS-2
    t = table("eye", ann="9.1 8", bob="?8", deck="?11 ?7", pile="4 6")
    t.ann.draws().uses().picks(t.ann, 0).undermines(1).picks(t.ann, 1).undermines(2)
    assert t.pile == "11 9.1 8"
    t.bob.draws()
    assert t.offers("discard")


def test_a_resigned_seat_passes_in_a_window_and_in_an_additional_prediction() -> None:  # END-7, E02-2, E04-1
    t = table("eye", ann="?8", bob="2 7", cat="?11", deck="?7 ?6", pile="4")
    t.ann.draws()
    t.bob.resigns()
    t.ann.discards()
    assert t.bob.village == "2 7"
    assert t.to_act == "cat"
    t = table("eye", ann="4 4 ?8", bob="?8", cat="?11", deck="?7 ?6", pile="12")
    t.ann.gambles(7)
    t.ann.resigns()
    assert (t.ann.village, t.to_act) == ("4 4 ?8", "bob")


def test_a_seat_that_resigns_in_an_open_window_passes() -> None:  # END-7, E02-2
    t = table("eye", ann="?8", bob="2 7", cat="2 7", deck="?7 ?6", pile="4")
    t.ann.draws().discards()
    assert t.to_act == "bob"
    t.bob.resigns()
    assert (t.to_act, t.decision) == ("cat", "reaction")


def test_a_seat_that_resigns_in_a_spotters_search_looks_no_further() -> None:  # END-7, E03-1
    t = table("eye", ann="3 ?7", bob="?8", cat="?11", deck="?4", pile="12")
    t.ann.draws().exchanges(1, spotters=1)
    t.ann.resigns()  # the village is mandatory, the looks are not
    assert t.to_act == "bob"
    assert not t.ann.knows(t.bob, 0)
