"""Coin 1..4 and the Coin token: what faceup residents of a village do."""

import pytest

from tests.support.table import table


def test_a_con_artist_turned_facedown_brings_one_more_turn() -> None:  # C01-1
    t = table(ann="1 ?9", bob="?8")
    t.ann.uses(0)
    assert t.ann.village == "?1 ?9"
    t.ann.draws().discards()
    assert t.to_act == "ann"
    t.ann.draws().discards()
    assert t.to_act == "bob"


def test_a_con_artist_may_be_used_at_the_end_of_a_turn() -> None:  # C01-1
    t = table(ann="?9 ?9", bob="?8", pile="1")
    t.ann.takes().exchanges(0).uses(0)  # gained faceup in this very turn
    assert t.ann.village == "?1 ?9"
    t.ann.draws().discards()
    assert t.to_act == "bob"


def test_a_facedown_con_artist_does_nothing() -> None:  # C01-1
    t = table(ann="?1 ?9", bob="?8")
    assert not t.offers("use_resident")


def test_calling_in_the_additional_turn_is_fine() -> None:  # C01-1
    t = table(ann="1 ?9", bob="?8")
    t.ann.uses(0).draws().discards().calls()
    assert t.to_act == "bob"


def test_a_used_con_artist_is_spent_until_another_player_has_begun_a_turn() -> None:  # C01-2
    t = table(ann="1 3 ?9", bob="?8")
    t.ann.uses(0).uses(1).flips(t.ann, 0).draws().discards()
    assert t.ann.village == "1 ?3 ?9"
    assert (t.to_act, t.decision) == ("ann", "turn")  # the additional turn
    assert not t.offers("use 0")
    t.ann.draws().discards()
    t.bob.draws().discards()
    assert t.to_act == "ann"
    assert t.offers("use 0")


def test_a_con_artist_is_spent_even_where_he_comes_back_in_the_additional_turn() -> None:  # C01-2, C03-1
    t = table(ann="1 3 ?9", bob="?8")
    t.ann.uses(0).draws().discards().ends()
    t.ann.uses(1).flips(t.ann, 0)
    assert t.ann.village == "1 ?3 ?9"
    assert t.choices == ["draw", "take p0"]


def test_several_faceup_con_artists_give_several_turns() -> None:  # C01-2
    t = table(ann="1 1 1 ?9", bob="?8")
    t.ann.uses(0).uses(2).draws().discards().uses(1)
    for _ in range(3):
        assert t.to_act == "ann"
        t.ann.draws().discards()
    assert t.to_act == "bob"


def test_a_con_artist_used_by_one_player_works_for_the_next_who_gets_him() -> None:  # C01-2, C12-1
    t = table(ann="1 3 ?9", bob="?8", deck="?2 12")
    t.ann.uses(0).uses(1).flips(t.ann, 0).draws().discards()
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 0).picks(t.bob, 0)
    assert t.bob.village == "1"
    assert t.to_act == "bob"
    assert t.offers("use 0")


def test_a_curator_turns_an_own_card_and_back() -> None:  # C02-1
    t = table(ann="2 2 ?9", bob="2~ ?8")
    t.ann.turns(2, by=0)
    assert t.ann.village == "2 2 ?9~"
    t.ann.turns(2, by=1)
    assert t.ann.village == "2 2 ?9"


def test_a_curator_reaches_the_own_village_alone() -> None:  # C02-1
    t = table(ann="2 ?9", bob="?8~ ?8")
    assert t.choices == ["draw", "take p0", "call", "turn 0 by 0", "turn 1 by 0"]


def test_a_curator_turns_himself() -> None:  # C02-1
    t = table(ann="2 ?9", bob="?8")
    t.ann.turns(0, by=0)
    assert t.ann.village == "2~ ?9"


def test_a_curator_discards_a_sideways_card_faceup_and_upright_on_top() -> None:  # C02-1
    t = table(ann="2 ?9~ ?7", bob="?8", pile="4")
    assert not t.offers("discard 2 by 0")  # an upright card
    t.ann.discards(1, by=0)
    assert t.ann.village == "2 ?7"
    assert t.pile == "9 4"


def test_a_curator_discards_himself() -> None:  # C02-1
    t = table(ann="2~ ?9", bob="?8", pile="4")
    t.ann.discards(0, by=0)
    assert t.ann.village == "?9"
    assert t.pile == "2 4"


def test_each_curator_works_once_per_turn() -> None:  # C02-1, ABL-5
    t = table(ann="2 ?9~ ?7~", bob="?8")
    t.ann.discards(1, by=0).draws().discards()
    assert t.to_act == "bob"
    t.bob.draws().discards()
    t.ann.discards(1, by=0)
    assert t.ann.village == "2"


def test_two_curators_turn_and_then_discard_the_same_card() -> None:  # C02-1
    t = table(ann="2 2 ?9", bob="?8", pile="4")
    t.ann.turns(2, by=0).discards(2, by=1)
    assert t.ann.village == "2 2"
    assert t.pile == "9 4"


def test_a_curator_that_became_faceup_this_turn_works() -> None:  # C02-1
    t = table(ann="3 ?2 ?9", bob="?8")
    assert not t.offers("turn_card")
    t.ann.uses(0).flips(t.ann, 1).turns(2, by=1)
    assert t.ann.village == "?3 2 ?9~"
    t = table(ann="?9 ?9", bob="?8", pile="2")
    t.ann.takes().exchanges(0).turns(1, by=0)
    assert t.ann.village == "2 ?9~"


def test_a_card_discarded_by_a_curator_may_be_taken_at_once() -> None:  # C02-1
    t = table(ann="2 ?9 ?7~", bob="?8", pile="4")
    t.ann.discards(2, by=0).takes()
    assert t.hand == "7"


def test_a_curator_works_while_a_drawn_card_is_in_hand() -> None:  # C02-1, TURN-2
    t = table(ann="2 ?9~ ?7", bob="?8", pile="4", deck="?5")
    t.ann.draws().discards(1, by=0)
    assert t.hand == "?5"
    t.ann.exchanges(1)
    assert t.ann.village == "2 ?5"
    assert t.pile == "7 9 4"


def test_a_curator_may_discard_what_was_just_looked_at() -> None:  # C02-1, TURN-2
    t = table(ann="2 ?9~ ?7", bob="?8", pile="4", deck="9")
    t.ann.draws().uses().looks(t.ann, 1).discards(1, by=0)
    assert t.pile == "9 9 4"
    assert (t.to_act, t.decision) == ("ann", "look")
    assert t.choices == ["stop", "pick a1", "pick b0"]


def test_a_curator_may_turn_a_card_in_the_middle_of_a_village_idiot() -> None:  # C02-1, C12-1
    t = table(ann="2 ?9", bob="?8", deck="12")
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 1).turns(1, by=0).picks(t.bob, 0)
    assert t.bob.village == "?9~"
    assert t.ann.village == "2 ?8"


def test_a_curator_may_empty_the_own_village() -> None:  # C02-1, TURN-7
    t = table(ann="2~", bob="?8", pile="4", deck="?9")
    t.ann.draws().discards(0, by=0)
    assert t.ann.village == ""
    assert t.choices == ["discard", "use"]
    t.ann.discards()
    assert t.pile == "9 2 4"


def test_a_curator_may_not_empty_a_village_that_owes_an_exchange() -> None:  # C02-2
    t = table(ann="2~", bob="?8", pile="4")
    assert t.offers("discard 0 by 0")
    t.ann.takes()
    assert t.choices == ["name 0", "turn 0 by 0"]
    t = table(ann="2~", bob="?8", pile="4", deck="10")
    t.ann.draws().uses()
    assert t.offers("discard 0 by 0")
    t.ann.takes(1)
    assert t.choices == ["name 0", "turn 0 by 0"]


def test_a_curator_may_discard_all_but_one_card_while_an_exchange_is_owed() -> None:  # C02-2
    t = table(ann="2~ 2 ?9~", bob="?8", pile="4")
    t.ann.takes().discards(0, by=1)
    assert t.ann.village == "2 ?9~"
    t = table(ann="2 2~", bob="?8", pile="4")
    t.ann.takes().discards(1, by=1)
    assert t.choices == ["name 0", "turn 0 by 0"]


def test_a_nosferatu_whose_user_empties_the_village_can_only_activate() -> None:  # C02-2, C10-1
    t = table(ann="2~", bob="?8", pile="4 7", deck="10")
    t.ann.draws().uses().discards(0, by=0)
    assert t.pile == "2 10 4 7"
    assert t.choices == ["activate p3"]  # still the card below the Nosferatu
    t.ann.activates(3).looks(t.bob)


def test_a_pixie_turned_facedown_flips_any_other_card() -> None:  # C03-1
    t = table(ann="3 ?9", bob="8")
    t.ann.uses(0)
    assert t.choices == ["pick a1", "pick b0"]
    t.ann.flips(t.ann, 1)
    assert t.ann.village == "?3 9"
    t = table(ann="3 ?9", bob="8")
    t.ann.uses(0).flips(t.bob, 0)
    assert t.bob.village == "?8"
    assert t.decision == "turn"


def test_a_pixie_is_not_offered_without_another_card() -> None:  # C03-1
    assert not table(ann="3", bob="").offers("use_resident")
    assert table(ann="3", bob="?8").offers("use 0")
    assert not table(ann="?3", bob="?8").offers("use_resident")


def test_a_pixie_that_turns_another_one_faceup_hands_on() -> None:  # C03-1
    t = table(ann="3 ?3 ?9", bob="?3 8")
    t.ann.uses(0).flips(t.ann, 1).uses(1).flips(t.bob, 0)
    assert t.ann.village == "?3 ?3 ?9"
    assert t.bob.village == "3 8"
    assert not t.offers("use_resident")


def test_a_pixie_works_once_per_turn() -> None:  # C03-1, ABL-5
    t = table(ann="3 ?3 ?9", bob="8")
    t.ann.uses(0).flips(t.ann, 1).uses(1).flips(t.ann, 0)
    assert t.ann.village == "3 ?3 ?9"
    assert t.choices == ["draw", "take p0"]


def test_a_curator_may_come_between_pixie_and_her_flip() -> None:  # C03-1, TURN-2
    t = table(ann="3 2 ?9~", bob="", pile="4")
    t.ann.uses(0).discards(2, by=1)
    assert t.choices == ["pick a1"]
    t.ann.flips(t.ann, 1)
    assert t.ann.village == "?3 ?2"


@pytest.mark.parametrize(
    ("village", "offered"),
    [("4 ?1", [0]), ("4 4 ?1", [0, 1]), ("4 4 4", [0, 1, 2]), ("4 ?4 ?1", [0]), ("?4 ?1", [])],
)
def test_as_many_pile_cards_are_in_reach_as_blobs_lie_faceup(village: str, offered: list[int]) -> None:  # C04-1
    t = table(ann=village, bob="?8", pile="7 9 7 9")
    assert [choice for choice in t.choices if choice.startswith("activate")] == [f"activate p{i}" for i in offered]


def test_a_blob_activates_only_faceup_cards_that_have_a_draw_ability_with_effect() -> None:  # C04-1
    t = table(ann="4 4 4 4", bob="?8", pile="?7 2 7 7")
    assert [choice for choice in t.choices if choice.startswith("activate")] == ["activate p2", "activate p3"]
    t = table(ann="4 4 4 4", bob="8", pile="7 9 8 6")  # nothing lies facedown
    assert [choice for choice in t.choices if choice.startswith("activate")] == ["activate p2", "activate p3"]


def test_a_blob_activates_once_and_is_the_main_action() -> None:  # C04-1
    t = table(ann="4 4 2", bob="?8", pile="7 7")
    t.ann.activates(1).looks(t.bob)
    assert t.pile == "7 7"
    assert not t.offers("activate")
    assert not t.offers("draw")
    t = table(ann="4 2", bob="?8", pile="7 7")
    t.ann.draws().discards()
    assert not t.offers("activate")


def test_a_blob_may_activate_a_card_that_a_curator_discarded() -> None:  # C04-1, C02-1
    t = table(ann="4 2 ?7~", bob="?8", pile="3")
    assert not t.offers("activate")
    t.ann.discards(2, by=1).activates(0).looks(t.bob)
    assert t.bob.village == "?8"
    assert t.ann.knows(t.bob, 0)


def test_a_blob_that_activates_a_nosferatu_takes_or_goes_deeper() -> None:  # C04-1, C10-1
    t = table(ann="4 ?1", bob="?8", pile="10 2 7 3")
    t.ann.activates(0)
    assert t.choices == ["take p1", "take p2", "take p3", "activate p2"]
    t.ann.takes(3).exchanges(1)
    assert t.ann.village == "4 3"
    assert t.pile == "1 10 2 7"


def test_the_coin_token_flips_any_one_card() -> None:  # COIN-1
    t = table(ann="?9", bob="8", token_active=True)
    t.ann.uses_token()
    assert t.choices == ["pick a0", "pick b0"]
    t.ann.flips(t.bob, 0)
    assert t.bob.village == "?8"
    assert t.decision == "turn"
    assert not t.offers("call")


def test_the_coin_token_works_on_its_active_side_alone() -> None:  # COIN-1
    assert table(ann="?9", bob="8", token_active=True).offers("token")
    assert not table(ann="?9", bob="8", token_active=False).offers("token")


def test_the_coin_token_works_for_its_holder_alone() -> None:  # COIN-1
    assert not table(ann="?9", bob="8", start="bob", token_active=True).offers("token")
    assert table(ann="?9", bob="8", start="bob", active="bob", token_active=True).offers("token")


def test_the_coin_token_works_once_per_round() -> None:  # COIN-1
    t = table(ann="?9", bob="8", token_active=True)
    t.ann.uses_token().flips(t.bob, 0)
    assert not t.state.token_active
    assert t.choices == ["draw", "take p0"]
    t.ann.draws().discards()
    t.bob.draws().discards()
    assert not t.offers("token")


def test_the_coin_token_may_be_used_after_the_main_action() -> None:  # COIN-1, TURN-2
    t = table(ann="?9", bob="8", token_active=True)
    t.ann.draws().discards()
    assert t.choices == ["end", "token"]


def test_the_coin_token_is_not_offered_where_no_card_lies() -> None:  # COIN-1, ABL-1
    assert not table(ann="", bob="", token_active=True).offers("token")
