"""Abilities in general: when they are offered, where they reach, how often."""

import pytest

from tests.support.table import table

ABILITIES = ("5", "6", "7", "8", "9", "10", "11", "12")  # Coin's draw abilities


@pytest.mark.parametrize("number", ABILITIES)
def test_a_draw_ability_is_optional(number: str) -> None:  # ABL-1
    t = table(ann="1 ?2", bob="?3", deck=number, pile="4")
    t.ann.draws()
    assert t.choices[:2] == ["discard", "use"]
    t.ann.discards()
    assert t.pile == f"{number} 4"
    assert t.ann.village == "1 ?2"


@pytest.mark.parametrize("number", ["0", "1", "2", "3", "4", "13"])
def test_other_cards_have_no_draw_ability(number: str) -> None:  # ABL-1, ABL-3
    t = table(ann="1 ?2", bob="?3", deck=number, pile="4")
    t.ann.draws()
    assert not t.offers("use")


@pytest.mark.parametrize(
    ("number", "ann", "bob", "pile", "offered"),
    [
        ("5", "", "", "", True),  # it enters the village
        ("6", "?1", "?2", "4", False),  # no faceup card
        ("6", "?1", "2", "4", True),
        ("6", "1", "", "4", True),
        ("7", "1", "2", "4", False),  # no facedown card
        ("7", "1", "?2", "4", True),
        ("8", "?1", "?2", "4", False),  # no faceup card
        ("8", "?1", "2", "4", True),
        ("9", "1", "2", "4", False),  # no facedown card
        ("9", "?1", "2", "4", True),
        ("10", "?1", "2", "", False),  # no card below it
        ("10", "?1", "?2", "4", True),  # to take
        ("10", "", "?2", "4", False),  # no own card to exchange, nothing to activate
        ("10", "", "?2", "4 3 2 7", False),  # out of reach
        ("10", "", "?2", "4 3 7", True),  # to activate
        ("10", "", "?2", "?7", False),  # facedown
        ("10", "", "?2", "8", False),  # to activate, but without effect
        ("10", "", "2", "8", True),
        ("11", "?1", "2", "", False),  # no other pile card
        ("11", "?1", "", "4", True),
        ("11", "", "", "4", False),  # no village card
        ("12", "?1", "", "4", False),  # one village alone
        ("12", "?1", "2", "4", True),
    ],
)
def test_an_ability_without_possible_effect_is_not_offered(
    number: str, ann: str, bob: str, pile: str, offered: bool
) -> None:  # ABL-1
    t = table(ann=ann, bob=bob, pile=pile, deck=number)
    t.ann.draws()
    assert t.offers("use") is offered


def test_an_ability_is_judged_as_if_its_card_lay_on_the_pile() -> None:  # ABL-1, C11-1
    # With the Nosferatu on the pile, the Golem below it has another pile card to swap: the Nosferatu.
    t = table(ann="", bob="?3", deck="10", pile="11")
    t.ann.draws()
    assert t.offers("use")
    t.ann.uses()
    assert t.choices == ["activate p1"]
    t.ann.activates(1).picks(t.bob, 0)
    assert t.bob.village == "10"
    assert t.pile == "11 ?3"


def test_mandatory_parts_are_carried_out_as_far_as_possible() -> None:  # ABL-1
    t = table(ann="3 8", bob="2", deck="6")
    t.ann.draws().uses().flips(t.ann, 1)
    assert t.ann.village == "3 ?8"  # nothing else lies facedown, so nothing more happens
    assert t.decision == "turn_end"


def test_any_village_includes_the_own_one() -> None:  # ABL-2
    for number, choice in (
        *(("6", "pick a0"), ("7", "village a"), ("8", "pick a0"), ("9", "pick a1")),
        *(("11", "pick a0"), ("11", "pick a1")),
    ):
        t = table(ann="1 ?2", bob="1 ?2", deck=number, pile="4")
        t.ann.draws().uses()
        assert t.offers(choice)
        assert t.offers(choice.replace("ann", "bob"))


def test_a_moved_card_keeps_facing_and_rotation() -> None:  # ABL-2, C12-1
    t = table(ann="?1~", bob="2~", cat="?3", deck="12")
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 0).picks(t.bob, 0).picks(t.cat, 0)
    assert (t.ann.village, t.bob.village, t.cat.village) == ("?3", "?1~", "2~")


@pytest.mark.parametrize("number", ["?9~", "9~"])
def test_a_card_that_leaves_for_the_pile_is_upright(number: str) -> None:  # ABL-2
    t = table(ann=f"{number} ?1", pile="4 5")
    t.ann.takes().exchanges(0)
    assert t.ann.village == "4 ?1"
    assert t.pile == "9 5"
    t = table(ann=f"{number} ?1", deck="11", pile="4 5")
    t.ann.draws().uses().picks(t.ann, 0)
    assert t.ann.village == "4 ?1"
    assert t.pile == f"11 5 {number.removesuffix('~')}"


def test_a_sideways_set_is_upright_in_the_pile_and_the_new_card_upright_in_the_village() -> None:  # ABL-2
    t = table(ann="?9~ 9~ ?1", deck="?8", pile="4")
    t.ann.draws().exchanges(0, 1, into=0)
    assert t.pile == "9 9 4"
    assert t.ann.village == "?8 ?1"


def test_an_assassins_card_is_upright_in_the_pile() -> None:  # ABL-2
    t = table(ann="9~ ?1", deck="8", pile="4")
    t.ann.draws().uses().picks(t.ann, 0)
    assert t.pile == "8 4 9"


def test_no_draw_ability_for_a_card_taken_from_the_pile() -> None:  # ABL-3
    t = table(ann="?1 ?2", bob="?3", pile="7 9")
    t.ann.takes()
    assert not t.offers("use")


def test_no_draw_ability_for_a_card_exchanged_away() -> None:  # ABL-3
    t = table(ann="?7 ?2", bob="?3", pile="9", deck="8")
    t.ann.draws().exchanges(0)
    assert t.pile == "7 9"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_no_draw_ability_for_a_card_that_a_curator_discards() -> None:  # ABL-3
    t = table(ann="?7~ 2", bob="?3", pile="9")
    t.ann.discards(0, by=1)
    assert t.pile == "7 9"
    assert t.decision == "turn"
    assert not t.offers("use")


def test_a_card_activated_in_the_pile_keeps_its_place() -> None:  # ABL-4
    t = table(ann="?1 4 4", bob="?3", pile="9 7 2")
    t.ann.activates(1).looks(t.bob)
    assert t.pile == "9 7 2"
    t = table(ann="?1", bob="?3", deck="10", pile="9 7 2")
    t.ann.draws().uses().activates(2).looks(t.bob)
    assert t.pile == "10 9 7 2"


def test_a_5_activated_in_the_pile_flips_any_one_card() -> None:  # ABL-4, C05-1
    t = table(ann="4 ?1", bob="?3", pile="5 2")
    t.ann.activates(0)
    assert t.choices == ["pick a0", "pick a1", "pick b0"]
    t.ann.flips(t.ann, 0)
    assert t.ann.village == "?4 ?1"
    assert t.pile == "5 2"


def test_the_card_just_played_is_the_activated_one() -> None:  # ABL-4, C11-1
    t = table(ann="4 4 ?1", bob="?3", pile="9 11 2")
    t.ann.activates(1).picks(t.bob, 0)
    assert t.bob.village == "9"
    assert t.pile == "11 2 ?3"


def test_once_per_turn_is_per_physical_card_even_if_it_is_flipped_back() -> None:  # ABL-5, C03-1
    t = table(ann="3 3 ?1", bob="?8", token_active=True)
    t.ann.uses(0).flips(t.bob, 0).uses_token().flips(t.ann, 0)
    assert t.ann.village == "3 3 ?1"
    assert not t.offers("use 0")
    assert t.offers("use 1")
    t.ann.draws().discards()
    assert not t.offers("use 0")
    t = table(ann="2 2 ?1", bob="?8")
    t.ann.turns(2, by=0)
    assert not t.offers("turn 0 by 0")
    assert t.offers("turn 0 by 1")


def test_a_con_artist_turn_is_a_new_turn() -> None:  # ABL-5
    t = table(ann="1 3 2 ?9 ?9", bob="?8", token_active=True)
    t.ann.uses(0).uses(1).flips(t.bob, 0).turns(0, by=2).draws().discards().uses_token().flips(t.ann, 1)
    assert (t.to_act, t.decision) == ("ann", "turn")
    assert t.offers("use 1")
    assert t.offers("turn 0 by 2")


def test_once_per_turn_follows_the_card_not_the_spot() -> None:  # ABL-5
    t = table(ann="?7 2 2 ?7", bob="?8", pile="4")
    t.ann.turns(0, by=2).takes().exchanges(0, 3, into=3)
    assert t.ann.village == "2 2 4"
    assert t.offers("turn 0 by 0")
    assert not t.offers("turn 0 by 1")
