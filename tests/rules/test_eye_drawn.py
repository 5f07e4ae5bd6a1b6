"""Eye 5..8 and 10..12: what a card does when it is drawn from the deck and used."""

import pytest

from moonvale_engine.events import UNKNOWN
from tests.support.table import table


def test_a_tanner_stays_faceup_at_an_end_and_turns_all_own_facedown_cards_up() -> None:  # E05-1
    t = table("eye", ann="?8 11 ?12~", bob="?7", deck="?5", pile="4")
    t.ann.draws().uses()
    assert t.choices == ["end a left", "end a right"]
    t.ann.places_at("left")
    assert t.ann.village == "5 8 11 12~"
    assert t.bob.village == "?7"
    assert t.pile == "4"  # it was not discarded
    assert t.to_act == "bob"
    assert t.bob.knows(t.ann, 1)


def test_a_tanner_enters_even_an_empty_village() -> None:  # E05-1, TURN-7
    t = table("eye", ann="", bob="?7", deck="?5", pile="4")
    t.ann.draws().uses()
    assert t.choices == ["end a left"]
    t.ann.places_at("left")
    assert t.ann.village == "5"


def test_a_tanner_activated_in_the_pile_only_turns_cards_up() -> None:  # E05-1, ABL-4
    t = table("coin,5=eye", ann="4 ?8", bob="?7", pile="5 11")
    t.ann.activates(0)
    assert t.ann.village == "4 8"
    assert t.pile == "5 11"
    assert not table("coin,5=eye", ann="4 8", bob="?7", pile="5 11").offers("activate")  # nothing to turn


def test_a_curator_may_come_between_a_tanner_and_his_place() -> None:  # E05-1, DEC-2
    t = table("coin,5=eye", ann="2 ?8", bob="?7", deck="?5", pile="4")
    t.ann.draws().uses().turns(1, by=0).places_at("right")
    assert t.ann.village == "2 8~ 5"


def test_a_twister_flips_exactly_as_many_cards_as_the_own_village_has() -> None:  # E06-1
    t = table("eye", ann="?8 11 ?12", bob="?7 8", deck="?6", pile="4")
    t.ann.draws().uses().flips(t.ann, 1).flips(t.bob, 0)
    assert (t.to_act, t.decision) == ("ann", "target")
    assert t.choices == ["pick a0", "pick a2", "pick b1"]  # three different cards, and no stopping
    t.ann.flips(t.bob, 1)
    assert (t.ann.village, t.bob.village) == ("?8 ?11 ?12", "7 ?8")
    assert t.to_act == "bob"


def test_a_twister_flips_no_more_cards_than_there_are() -> None:  # E06-1, ABL-1
    t = table("eye", ann="?8 11", bob="", deck="?6", pile="4")
    t.ann.draws().uses().flips(t.ann, 0).flips(t.ann, 1)
    assert (t.ann.village, t.to_act) == ("8 ?11", "bob")


def test_a_twister_counts_the_village_when_its_ability_begins() -> None:  # E06-1, DEC-2
    t = table("coin,6=eye", ann="2 ?8~", bob="?7 ?9", deck="?6", pile="4")
    t.ann.draws().uses().flips(t.bob, 0).discards(1, by=0).flips(t.bob, 1)  # two flips though one card is left
    assert (t.ann.village, t.bob.village) == ("2", "7 9")
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_a_twister_may_flip_the_same_card_again_in_another_turn() -> None:  # E06-1
    t = table("eye", ann="?8", bob="?7", deck="?6 ?6", pile="4")
    t.ann.draws().uses().flips(t.ann, 0)
    t.bob.draws().uses().flips(t.ann, 0)
    assert t.ann.village == "?8"


def test_without_an_own_card_a_twister_is_not_offered() -> None:  # E06-1, ABL-1
    t = table("eye", ann="", bob="?7", deck="?6", pile="4")
    t.ann.draws()
    assert t.choices == ["discard"]


@pytest.mark.parametrize(("spot", "village", "top"), [(0, "11~", "8"), (1, "?8", "11")])
def test_a_ghost_discards_one_card_of_any_village_to_the_top(spot: int, village: str, top: str) -> None:  # E07-1
    t = table("eye", ann="?5", bob="?8 11~", deck="?7", pile="4")
    t.ann.draws().uses()
    assert t.choices == ["pick a0", "pick b0", "pick b1"]
    t.ann.picks(t.bob, spot)
    assert t.bob.village == village
    assert t.pile == f"{top} 7 4"
    for viewer in (*t.players, t.spectator):
        assert viewer.sees_pile == f"{top} 7 4"


def test_a_ghost_must_discard_once_begun() -> None:  # E07-1, DEC-4
    t = table("eye", ann="?5", bob="", deck="?7", pile="4")
    t.ann.draws().uses()
    assert t.choices == ["pick a0"]


def test_without_a_village_card_a_ghost_is_not_offered() -> None:  # E07-1, ABL-1
    t = table("eye", ann="", bob="", deck="?7", pile="4")
    t.ann.draws()
    assert t.choices == ["discard"]


def test_a_split_seer_looks_at_one_facedown_card_of_each_village_in_any_order() -> None:  # E08-1
    t = table("eye", ann="?5 ?6", bob="?7 ?8 11", cat="11 12", deck="?8", pile="4")
    t.ann.draws().uses()
    assert t.choices == ["pick a0", "pick a1", "pick b0", "pick b1"]
    t.ann.looks(t.bob, 1)
    assert t.choices == ["pick a0", "pick a1"]  # no stopping
    t.ann.looks(t.ann, 0)
    assert t.to_act == "bob"
    assert [t.ann.sees(owner) for owner in t.players] == ["?5 ?", "? ?8 11", "11 12"]
    assert [t.bob.sees(owner) for owner in t.players] == ["? ?", "? ? 11", "11 12"]


def test_without_a_facedown_card_a_split_seer_is_not_offered() -> None:  # E08-1, ABL-1
    t = table("eye", ann="5", bob="8", deck="?8", pile="4")
    t.ann.draws()
    assert not t.offers("use")


def test_a_dracula_moves_the_five_pile_cards_below_it_to_the_bottom_of_the_deck() -> None:  # E10-1
    t = table("eye", ann="?5", bob="?8", deck="?10 ?6", deck_count=2, pile="4 ?7 3 2 11 12 13")
    t.ann.draws().uses()
    assert t.pile == "10 12 13"
    assert t.deck == "?6 4 ?7 3 2 11"  # the former top uppermost, facing kept


def test_a_dracula_moves_all_cards_if_there_are_fewer() -> None:  # E10-1
    t = table("eye", ann="?5", bob="?8", deck="?10 ?6", deck_count=2, pile="4 ?7")
    t.ann.draws().uses()
    assert t.pile == "10"
    assert t.deck == "?6 4 ?7"


def test_a_dracula_activated_in_the_pile_moves_the_cards_below_itself() -> None:  # E10-1, ABL-4
    t = table("coin,10=eye", ann="4 4", bob="?8", pile="9 10 7 6 5", deck="?3", deck_count=1)
    t.ann.activates(1)
    assert t.pile == "9 10"
    assert t.deck == "?3 7 6 5"


def test_without_a_card_below_it_a_dracula_is_not_offered() -> None:  # E10-1, ABL-1, EXC-7
    t = table("eye", ann="?5", bob="?8", deck="?10", pile="")
    t.ann.draws()
    assert t.choices == ["discard", "name 0"]


def test_a_dracula_as_the_last_card_refills_the_deck_and_play_goes_on() -> None:  # E10-1, TURN-5
    t = table("eye", ann="?5", bob="?8", deck="?10", deck_count=1, pile="4 ?7")
    t.ann.draws().uses()
    assert t.deck == "4 ?7"
    assert (t.round_ended, t.to_act, t.decision) == (False, "bob", "turn")
    assert t.bob.sees_deck_top == "4"
    t.bob.draws()
    assert (t.hand, t.ann.sees_hand) == ("4", "4")
    t.bob.discards()
    t.ann.draws()
    assert t.hand == "?7"


def test_a_dracula_drawn_last_and_not_used_ends_the_round() -> None:  # TURN-5
    t = table("eye", ann="?5", bob="?8", deck="?10", deck_count=1, pile="4 ?7")
    t.ann.draws().discards()
    assert t.round_ended


def test_a_buried_facedown_card_is_seen_by_nobody_new() -> None:  # E10-1, HID-1
    t = table("eye", ann="?5", bob="?8", deck="?10 ?6", deck_count=2, pile="?7 4")
    t.ann.draws().uses()
    for viewer in (*t.players, t.spectator):
        assert [event[5][1] for event in viewer.reads("MOVED")][-2:] == [UNKNOWN, 4]
    t.bob.draws().discards()
    t.ann.draws()
    assert (t.ann.sees_hand, t.bob.sees_hand) == ("?7", "?")


def test_an_underminer_exchanges_two_cards_of_a_village_with_two_pile_cards() -> None:  # E11-1
    t = table("eye", ann="?5", bob="?8 11~ ?12", deck="?11", pile="4 ?7 6")
    t.ann.draws().uses()
    assert t.choices == ["pick b0", "pick b1", "pick b2"]  # a village with two cards
    t.ann.picks(t.bob, 2)
    assert t.choices == ["undermine p1", "undermine p2", "undermine p3"]  # not the Underminer itself
    t.ann.undermines(2)
    assert t.choices == ["pick b0", "pick b1"]
    t.ann.picks(t.bob, 1)
    assert t.choices == ["undermine p1", "undermine p3"]
    assert t.bob.village == "?8 11~ ?12"  # nothing moves before all is named
    t.ann.undermines(1)
    assert t.bob.village == "?8 4 ?7"
    assert t.pile == "11 6 11 ?12"  # left above right, at the bottom, upright


def test_an_underminer_shows_nobody_a_facedown_card() -> None:  # E11-1, HID-1
    t = table("eye", ann="?5", bob="?8 ?12", deck="?11", pile="?4 ?7 6")
    t.ann.draws().uses().picks(t.bob, 0).undermines(1).picks(t.bob, 1).undermines(2)
    assert (t.bob.village, t.pile) == ("?4 ?7", "11 6 ?8 ?12")
    for viewer in (*t.players, t.spectator):
        assert (viewer.sees(t.bob), viewer.sees_pile) == ("? ?", "11 6 ? ?")
        assert {event[5][1] for event in viewer.reads("MOVED")[-4:]} == {UNKNOWN}


@pytest.mark.parametrize(("ann", "pile"), [("?5", "4 ?7 6"), ("?5 ?8", "4"), ("", "4 ?7 6")])
def test_an_underminer_needs_two_cards_of_a_village_and_two_of_the_pile(ann: str, pile: str) -> None:  # E11-1, ABL-1
    t = table("eye", ann=ann, bob="?8", deck="?11", pile=pile)
    t.ann.draws()
    assert not t.offers("use")
    t = table("eye", ann="?5 ?8", bob="?8", deck="?11", pile="4 6")
    t.ann.draws()
    assert t.offers("use")


def test_no_curator_from_the_first_spot_named_for_an_underminer() -> None:  # TURN-2, E11-1
    t = table("coin,11=eye", ann="2 ?5", bob="?8", deck="?11", pile="4 ?7 6")
    t.ann.draws().uses()
    assert t.offers("turn 0 by 0")
    t.ann.picks(t.ann, 0)
    assert t.choices == ["undermine p1", "undermine p2", "undermine p3"]
    t.ann.undermines(1)
    assert t.choices == ["pick a1"]
    t.ann.picks(t.ann, 1)
    assert t.choices == ["undermine p2", "undermine p3"]


def test_an_underminer_whose_user_leaves_no_two_cards_does_nothing() -> None:  # ABL-1, E11-1
    t = table("coin,11=eye", ann="2 ?9~", bob="?8", deck="?11", pile="4 ?7 6")
    t.ann.draws().uses().discards(1, by=0)
    assert t.pile == "9 11 4 ?7 6"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_the_cards_of_an_underminer_keep_their_depth_from_the_top_when_it_is_activated_below() -> None:  # ABL-4, E11-1
    t = table("coin,11=eye", ann="4 4", bob="?8 ?9", pile="9 11 7 6")
    t.ann.activates(1).picks(t.bob, 0)
    assert t.choices == ["undermine p0", "undermine p2", "undermine p3"]  # the top card too
    t.ann.undermines(0).picks(t.bob, 1).undermines(3)
    assert t.bob.village == "9 6"
    assert t.pile == "11 7 ?8 ?9"


@pytest.mark.parametrize(("end", "village"), [("left", "?6 ?8 11"), ("right", "?8 11 ?6")])
def test_a_drunk_gives_the_top_card_of_the_deck_to_an_end_of_any_village(end: str, village: str) -> None:  # E12-1
    t = table("eye", ann="?5", bob="?8 11", cat="", deck="?12 ?6", pile="4")
    t.ann.draws().uses()
    assert t.choices == ["end a left", "end a right", "end b left", "end b right", "end c left"]
    t.ann.places_at(end, t.bob)
    assert t.bob.village == village
    for player in t.players:
        assert not player.knows(t.bob, village.split().index("?6"))


def test_a_drunk_keeps_the_facing_of_the_card() -> None:  # E12-1
    t = table("eye", ann="?5", bob="?8", deck="?12 6", pile="4")
    t.ann.draws().uses().places_at("left", t.ann)
    assert t.ann.village == "6 ?5"


def test_without_a_deck_a_drunk_is_not_offered() -> None:  # E12-1, ABL-1
    t = table("eye", ann="?5", bob="?8", deck="?12", deck_count=1, pile="4")
    t.ann.draws()
    assert t.choices == ["discard", "name 0"]


def test_eye_cards_not_drawn_bring_no_ability() -> None:  # ABL-3
    t = table("eye", ann="?6 ?8", bob="?8", pile="7 4")
    t.ann.takes().exchanges(0)  # neither the 7 taken nor the 6 exchanged away
    assert t.to_act == "bob"
    t = table("eye", ann="4 ?8", bob="?11", deck="?7 ?6", pile="12")
    t.ann.gambles(7).declines()  # nor a 7 flipped by a Gambler
    assert t.to_act == "bob"


def test_a_nosferatu_activates_eyes_abilities() -> None:  # C10-1, ABL-4
    t = table("coin,7=eye", ann="?5", bob="?8 9", deck="?10", pile="7 4 6")
    t.ann.draws().uses()
    assert t.offers("activate p1")
    t.ann.activates(1).picks(t.bob, 1)
    assert t.pile == "9 10 7 4 6"
