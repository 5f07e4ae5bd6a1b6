"""Coin 5..12: what happens when a card is drawn and its ability used."""

import pytest

from moonvale_engine.events import UNKNOWN, seen_by
from tests.support.table import table


@pytest.mark.parametrize(("end", "village"), [("left", "5 ?1 ?2"), ("right", "?1 ?2 5")])
def test_an_apprentice_tanner_is_placed_faceup_at_an_end(end: str, village: str) -> None:  # C05-1
    t = table(ann="?1 ?2", bob="?3", deck="?5", pile="4")
    t.ann.draws().uses().places_at(end).flips(t.bob, 0)
    assert t.ann.village == village
    assert t.bob.village == "3"
    assert t.pile == "4"  # not discarded
    assert t.bob.knows(t.ann, village.split().index("5"))


def test_an_apprentice_tanner_flips_one_other_card() -> None:  # C05-1
    t = table(ann="?1", bob="3", deck="5")
    t.ann.draws().uses().places_at("left")
    assert t.choices == ["pick a1", "pick b0"]  # not himself
    t.ann.flips(t.bob, 0)
    assert t.bob.village == "?3"
    assert t.to_act == "bob"


def test_an_apprentice_tanner_may_be_discarded_or_exchanged_instead() -> None:  # C05-1
    t = table(ann="?1", bob="3", deck="?5", pile="4")
    t.ann.draws().discards()
    assert t.pile == "5 4"
    t = table(ann="?1", bob="3", deck="?5", pile="4")
    t.ann.draws().exchanges(0)
    assert t.ann.village == "?5"


def test_a_huntress_turns_a_faceup_card_down_and_then_a_facedown_one_up() -> None:  # C06-1
    t = table(ann="1 ?2", bob="3 ?4", deck="6")
    t.ann.draws().uses()
    assert t.choices == ["pick a0", "pick b0"]
    t.ann.flips(t.bob, 0)
    assert t.choices == ["pick a1", "pick b1"]  # not the card just turned
    t.ann.flips(t.ann, 1)
    assert (t.ann.village, t.bob.village) == ("1 2", "?3 ?4")


def test_a_nostro_sees_all_facedown_cards_of_one_village() -> None:  # C07-1, HID-1
    t = table(ann="?1 0", bob="?3 4 ?5", cat="6", deck="7")
    t.ann.draws().uses()
    assert t.choices == ["village a", "village b"]  # cat has nothing to see
    t.ann.looks(t.bob)
    assert [t.ann.knows(t.bob, spot) for spot in range(3)] == [True, True, True]
    assert [t.cat.knows(t.bob, spot) for spot in range(3)] == [False, True, False]
    assert not t.ann.knows(t.ann, 0)
    assert t.bob.village == "?3 4 ?5"
    (looked,) = t.happened("LOOKED")
    assert looked[5] == (t.bob.handle(0), 3, t.bob.handle(2), 5)
    assert seen_by(looked, 2)[5] == (t.bob.handle(0), UNKNOWN, t.bob.handle(2), UNKNOWN)


def test_an_assassin_puts_a_faceup_card_faceup_at_the_bottom_of_the_pile() -> None:  # C08-1
    t = table(ann="?1", bob="2 ?3 4", deck="8", pile="9 5")
    t.ann.draws().uses()
    assert t.choices == ["pick b0", "pick b2"]
    t.ann.picks(t.bob, 0)
    assert t.bob.village == "?3 4"
    assert t.pile == "8 9 5 2"


def test_an_assassin_may_empty_a_village() -> None:  # C08-1
    t = table(ann="?1", bob="2", deck="8")
    t.ann.draws().uses().picks(t.bob, 0)
    assert t.bob.village == ""
    assert t.choices == ["draw", "call"]


def test_a_psychic_looks_at_up_to_three_different_facedown_cards_anywhere() -> None:  # C09-1
    t = table(ann="?1 0", bob="?3 ?4", cat="?5 6", deck="9")
    t.ann.draws().uses()
    assert t.choices == ["stop", "pick a0", "pick b0", "pick b1", "pick c0"]
    t.ann.looks(t.bob, 1)
    assert t.choices == ["stop", "pick a0", "pick b0", "pick c0"]
    t.ann.looks(t.cat, 0)
    assert t.choices == ["stop", "pick a0", "pick b0"]
    t.ann.looks(t.ann, 0)
    assert t.to_act == "bob"  # three, no more
    assert [t.ann.knows(t.bob, 0), t.ann.knows(t.bob, 1), t.ann.knows(t.cat, 0)] == [False, True, True]
    assert not t.bob.knows(t.bob, 1)


def test_a_psychic_sees_each_card_before_choosing_the_next() -> None:  # C09-1
    t = table(ann="?1", bob="?3 ?4", deck="9")
    t.ann.draws().uses().looks(t.bob, 0)
    assert t.ann.knows(t.bob, 0)
    assert t.decision == "look"


def test_a_nosferatu_takes_one_of_the_three_cards_below_it() -> None:  # C10-1
    t = table(ann="?1 ?2", bob="?3", deck="10", pile="4 2 3 9")
    t.ann.draws().uses()
    assert t.choices == ["take p1", "take p2", "take p3"]
    t.ann.takes(2)
    assert t.hand == "2"
    assert t.choices == ["name 0", "name 1"]  # an exchange follows
    t.ann.exchanges(0)
    assert t.ann.village == "2 ?2"
    assert t.pile == "1 10 4 3 9"  # the Nosferatu lay in the pile before


def test_a_nosferatu_may_take_for_a_set() -> None:  # C10-1, EXC-3
    t = table(ann="?7 ?7 ?2", bob="?3", deck="10", pile="4")
    t.ann.draws().uses().takes(1).exchanges(0, 1, into=1)
    assert t.ann.village == "4 ?2"
    assert t.pile == "7 7 10"


def test_a_nosferatu_takes_a_facedown_card_unseen_and_cannot_activate_it() -> None:  # C10-1, EXC-1, HID-1
    t = table(ann="?1", bob="?3", deck="10", pile="?7 9")
    t.ann.draws().uses()
    assert t.choices == ["take p1", "take p2", "activate p2"]
    t.ann.takes(1).exchanges(0)
    assert t.ann.village == "?7"
    assert [player.knows(t.ann, 0) for player in t.players] == [False, False]


def test_a_nosferatu_needs_an_own_card_to_take() -> None:  # C10-1
    t = table(ann="", bob="?3", deck="10", pile="4 7 2")
    t.ann.draws().uses()
    assert t.choices == ["activate p2"]


def test_a_nosferatu_reaches_fewer_cards_in_a_small_pile() -> None:  # C10-1
    t = table(ann="?1", bob="?3", deck="10", pile="4 2")
    t.ann.draws().uses()
    assert t.choices == ["take p1", "take p2"]


def test_a_nosferatu_activated_by_a_nosferatu_goes_strictly_deeper() -> None:  # C10-1
    t = table(ann="?1", bob="?3", deck="10", pile="4 10 7 10 2 9 3")
    t.ann.draws().uses()
    assert t.choices == ["take p1", "take p2", "take p3", "activate p2", "activate p3"]
    t.ann.activates(2)
    assert t.choices == ["take p3", "take p4", "take p5", "activate p3", "activate p4"]
    t.ann.activates(4)
    assert t.choices == ["take p5", "take p6", "take p7", "activate p6"]
    t.ann.takes(7).exchanges(0)
    assert t.ann.village == "3"
    assert t.pile == "1 10 4 10 7 10 2 9"


def test_a_nosferatu_without_effect_below_it_is_not_activated() -> None:  # C10-1, ABL-1
    t = table(ann="", bob="?3", deck="10", pile="10 4 2")
    t.ann.draws()
    assert not t.offers("use")
    t = table(ann="?1", bob="?3", deck="10", pile="4 10")
    t.ann.draws().uses()
    assert t.choices == ["take p1", "take p2"]


def test_a_nosferatu_still_finds_the_cards_below_it_when_others_are_put_on_top() -> None:  # C10-1, C02-1
    t = table(ann="2 ?9~", bob="?3", deck="10", pile="4 7")
    t.ann.draws().uses().discards(1, by=0)
    assert t.pile == "9 10 4 7"
    assert t.choices == ["take p2", "take p3", "activate p3"]


def test_a_golem_swaps_the_topmost_other_pile_card_with_a_village_card() -> None:  # C11-1
    t = table(ann="?1", bob="?3 4", deck="11", pile="7 9")
    t.ann.draws().uses()
    assert t.choices == ["pick a0", "pick b0", "pick b1"]
    t.ann.picks(t.bob, 1)
    assert t.bob.village == "?3 7"
    assert t.pile == "11 9 4"


def test_a_golem_keeps_facings_and_shows_nobody_a_facedown_card() -> None:  # C11-1, HID-1
    t = table(ann="?1", bob="?3 ?4", deck="11", pile="?7 9")
    t.ann.draws().uses().picks(t.bob, 0)
    assert t.bob.village == "?7 ?4"
    assert t.pile == "11 9 ?3"
    assert [player.knows(t.bob, 0) for player in t.players] == [False, False]
    assert t.state.known[t.state.pile[0]] == 0


def test_a_golem_swaps_what_lies_topmost_when_the_village_card_is_named() -> None:  # C11-1, C02-1
    t = table(ann="2 ?9~", bob="?3", deck="11", pile="7 4")
    t.ann.draws().uses().discards(1, by=0).picks(t.bob, 0)
    assert t.bob.village == "9"
    assert t.pile == "11 7 4 ?3"


def test_a_golem_activated_deeper_swaps_the_top_card() -> None:  # C11-1, C10-1
    t = table(ann="?1", bob="?3", deck="10", pile="7 11 4")
    t.ann.draws().uses().activates(2).picks(t.bob, 0)
    assert t.bob.village == "10"
    assert t.pile == "7 11 4 ?3"


def test_a_village_idiot_moves_one_card_of_every_village_clockwise() -> None:  # C12-1
    t = table(ann="?1 ?2", bob="3 4", cat="?5 ?6 7", deck="12")
    t.ann.draws().uses().rotates("clockwise")
    assert t.choices == ["pick a0", "pick a1"]
    t.ann.picks(t.ann, 1)
    assert t.choices == ["pick b0", "pick b1"]
    t.ann.picks(t.bob, 0)
    assert t.choices == ["pick c0", "pick c1", "pick c2"]
    t.ann.picks(t.cat, 1)
    # Each card comes to the spot that the card leaving there vacated.
    assert (t.ann.village, t.bob.village, t.cat.village) == ("?1 ?6", "?2 4", "?5 3 7")
    assert not t.ann.knows(t.ann, 1)


def test_a_village_idiot_moves_cards_counterclockwise() -> None:  # C12-1
    t = table(ann="?1 ?2", bob="3 4", cat="?5 ?6 7", deck="12")
    t.ann.draws().uses().rotates("counterclockwise").picks(t.ann, 1).picks(t.bob, 0).picks(t.cat, 1)
    assert (t.ann.village, t.bob.village, t.cat.village) == ("?1 3", "?6 4", "?5 ?2 7")


def test_a_village_idiot_asks_clockwise_from_the_own_village() -> None:  # C12-1, DEC-3
    t = table(ann="?1", bob="3", cat="?5", active="bob", deck="12")
    t.bob.draws().uses().rotates("counterclockwise").picks(t.bob, 0).picks(t.cat, 0).picks(t.ann, 0)
    assert (t.ann.village, t.bob.village, t.cat.village) == ("3", "?5", "?1")


def test_a_village_idiot_skips_empty_villages() -> None:  # C12-1
    t = table(ann="?1", bob="", cat="5", dan="?6", deck="12")
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 0).picks(t.cat, 0).picks(t.dan, 0)
    assert [player.village for player in t.players] == ["?6", "", "?1", "5"]
    t = table(ann="", bob="3", cat="5", deck="12")  # the own one, too
    t.ann.draws().uses().rotates("clockwise").picks(t.bob, 0).picks(t.cat, 0)
    assert [player.village for player in t.players] == ["", "5", "3"]


def test_a_card_chosen_for_a_village_idiot_that_a_curator_removed_is_chosen_anew() -> None:  # C12-1, C02-1
    t = table(ann="2 ?9~ ?1", bob="3", cat="5", deck="12", pile="4")
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 1).picks(t.bob, 0).discards(1, by=0)
    assert t.choices == ["pick a0", "pick a1"]
    t.ann.picks(t.ann, 1).picks(t.cat, 0)
    assert [player.village for player in t.players] == ["2 5", "?1", "3"]
    assert t.pile == "9 12 4"


def test_a_village_emptied_meanwhile_drops_out_of_a_village_idiot() -> None:  # C12-1, C02-1
    t = table(ann="2~", bob="3", cat="5", deck="12")
    t.ann.draws().uses().rotates("clockwise").discards(0, by=0)
    t.ann.picks(t.bob, 0).picks(t.cat, 0)
    assert [player.village for player in t.players] == ["", "5", "3"]
    t = table(ann="2~", bob="3", cat="5", deck="12")
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 0).picks(t.bob, 0).discards(0, by=0).picks(t.cat, 0)
    assert [player.village for player in t.players] == ["", "5", "3"]


@pytest.mark.parametrize("begun", [False, True])
def test_with_fewer_than_two_villages_left_a_village_idiot_has_no_effect(begun: bool) -> None:  # C12-1, C02-1
    t = table(ann="2~", bob="3 ?4", deck="12")
    t.ann.draws().uses()
    if begun:
        t.ann.rotates("counterclockwise").picks(t.ann, 0)
    t.ann.discards(0, by=0)
    assert (t.ann.village, t.bob.village) == ("", "3 ?4")
    assert t.to_act == "bob"
