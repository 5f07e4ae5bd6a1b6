"""Draw, take, exchange: single cards and sets, what matches and what fails."""

import pytest

from moonvale_engine.events import EVERYBODY
from tests.support.table import table


def test_a_card_drawn_facedown_goes_into_the_village_facedown_seen_by_its_drawer_alone() -> None:  # EXC-1
    t = table(ann="?1 ?2", bob="?3", cat="?4", deck="?9")
    t.ann.draws().exchanges(1)
    assert t.ann.village == "?1 ?9"
    assert t.pile.startswith("2 ")
    assert [player.knows(t.ann, 1) for player in t.players] == [True, False, False]


def test_a_faceup_card_on_top_of_the_deck_is_drawn_openly_and_stays_faceup() -> None:  # EXC-1
    t = table(ann="?1 ?2", bob="?3", deck="9")
    t.ann.draws().exchanges(1)
    assert t.ann.village == "?1 9"
    assert t.bob.knows(t.ann, 1)


def test_a_card_taken_from_the_pile_stays_faceup() -> None:  # EXC-1
    t = table(ann="?1 ?2", pile="9 4")
    t.ann.takes().exchanges(0)
    assert t.ann.village == "9 ?2"
    assert t.pile == "1 4"


def test_a_facedown_card_on_top_of_the_pile_may_be_taken_unseen_and_stays_facedown() -> None:  # EXC-1
    t = table(ann="?1 ?2", bob="?3", pile="?9 4")
    t.ann.takes()
    assert t.state.known[t.state.hand] == 0
    t.ann.exchanges(0)
    assert t.ann.village == "?9 ?2"
    assert not t.ann.knows(t.ann, 0)


def test_a_take_needs_a_card_in_the_pile_and_one_in_the_own_village() -> None:  # EXC-2
    assert table(ann="?1", pile="4").offers("take p0")
    assert not table(ann="?1", pile="").offers("take")
    assert not table(ann="", pile="4").offers("take")


def test_an_exchange_follows_a_take() -> None:  # EXC-2
    t = table(ann="?1 ?2", pile="7 4")
    t.ann.takes()
    assert t.choices == ["name 0", "name 1"]  # neither discarded nor used


def test_one_card_is_exchanged_into_its_own_spot() -> None:  # EXC-3
    t = table(ann="?1 ?2 ?3", pile="9")
    t.ann.takes().exchanges(1)
    assert t.ann.village == "?1 9 ?3"
    assert t.pile == "2"


def test_a_set_of_equal_cards_is_discarded_faceup_for_one_new_card() -> None:  # EXC-3
    t = table(ann="?7 ?1 7 ?7", pile="9", deck="?8")
    t.ann.draws().exchanges(0, 2, 3, into=2)
    assert t.pile == "7 7 7 9"
    assert t.ann.village == "?1 ?8"


@pytest.mark.parametrize(("into", "village"), [(0, "9 ?1 ?2 ?3"), (2, "?1 9 ?2 ?3"), (4, "?1 ?2 9 ?3")])
def test_the_new_card_takes_one_of_the_emptied_spots_and_gaps_close(into: int, village: str) -> None:  # EXC-3
    t = table(ann="?7 ?1 ?7 ?2 ?7 ?3", pile="9")
    t.ann.takes().names(0, 2, 4).closes()
    assert t.choices == ["place 0", "place 2", "place 4"]
    t.ann.places(into)
    assert t.ann.village == village


def test_a_set_that_matches_is_turned_faceup_before_the_spot_is_chosen() -> None:  # EXC-3
    t = table(ann="?7 ?1 7~ ?7", bob="?3", pile="9")
    t.ann.takes().names(0, 2, 3).closes()
    assert (t.decision, t.ann.village) == ("place", "7 ?1 7~ 7")
    assert t.bob.sees(t.ann) == "7 ? 7~ 7"


def test_a_set_has_at_most_four_cards() -> None:  # EXC-3
    t = table(ann="?7 ?7 ?7 ?7 ?1", deck="9")
    t.ann.draws().names(0, 1, 2, 3)
    assert t.choices == ["close"]
    t.ann.closes().places(0)
    assert t.ann.village == "9 ?1"


def test_faceup_cards_of_different_value_are_not_offered_together() -> None:  # EXC-3
    t = table(ann="?7 3 ?3 4 3")
    t.ann.draws().names(0)
    assert t.choices == ["close", "name 1", "name 2", "name 3", "name 4"]
    t.ann.names(1)
    assert t.choices == ["close", "name 2", "name 4"]
    t.ann.names(2)
    assert t.choices == ["close", "name 4"]


def test_a_facedown_card_is_always_offered() -> None:  # EXC-3
    t = table(ann="3 ?3 ?4")
    t.ann.draws().names(0)
    assert t.choices == ["close", "name 1", "name 2"]  # though one of them would fail


def test_all_named_cards_must_match() -> None:  # EXC-3, EXC-4
    t = table(ann="?7 ?7 ?8", pile="4", deck="?9")
    t.ann.draws().exchanges(0, 1, 2, keep_at="left", penalty_at="right")
    assert t.pile == "4"


def test_a_failed_set_is_seen_by_all_and_goes_back_facedown() -> None:  # EXC-4
    t = table(ann="?7 3~ ?5 ?6~", bob="?8", pile="4", deck="?9")
    t.ann.draws().exchanges(0, 1, keep_at="right")
    assert t.ann.village == "?7 ?3~ ?5 ?6~ ?9"
    assert t.pile == "4"
    assert [t.bob.knows(t.ann, spot) for spot in range(5)] == [True, True, False, False, False]
    (shown,) = t.happened("SHOWN")
    assert shown[4] == EVERYBODY
    assert shown[5] == (t.ann.handle(0), 7, t.ann.handle(1), 3)


@pytest.mark.parametrize(("end", "village"), [("left", "{} ?7 ?3"), ("right", "?7 ?3 {}")])
def test_the_new_card_of_a_failed_set_goes_to_an_end_as_drawn_or_taken(end: str, village: str) -> None:  # EXC-4
    t = table(ann="?7 ?3", pile="4", deck="?9")
    t.ann.draws().exchanges(0, 1, keep_at=end)
    assert t.ann.village == village.format("?9")
    t = table(ann="?7 ?3", pile="4", deck="?9")
    t.ann.takes().exchanges(0, 1, keep_at=end)
    assert t.ann.village == village.format("4")
    t = table(ann="?7 ?3", pile="?4", deck="?9")
    t.ann.takes().exchanges(0, 1, keep_at=end)
    assert t.ann.village == village.format("?4")


def test_a_failed_set_of_three_draws_a_penalty_card() -> None:  # EXC-4, EXC-5
    t = table(ann="?7 ?7 ?3 ?1 ?2", deck="?9 ?5", pile="4")
    t.ann.draws().exchanges(0, 1, 2, keep_at="right")
    assert t.ann.village == "?7 ?7 ?3 ?1 ?2 ?9 ?5"
    assert t.pile == "4"


def test_the_penalty_card_is_unseen_and_goes_to_an_end_of_choice_in_its_facing() -> None:  # EXC-5
    t = table(ann="?7 ?7 ?3 ?1", deck="?9 ?5", pile="4")
    t.ann.draws().exchanges(0, 1, 2, 3, keep_at="right", penalty_at="left")
    assert t.ann.village == "?5 ?7 ?7 ?3 ?1 ?9"
    assert not t.ann.knows(t.ann, 0)
    t = table(ann="?7 ?7 ?3 ?1", deck="?9 5", pile="4")
    t.ann.draws().exchanges(0, 1, 2, keep_at="left", penalty_at="right")
    assert t.ann.village == "?9 ?7 ?7 ?3 ?1 5"


def test_a_failed_set_of_two_draws_no_penalty_card() -> None:  # EXC-5
    t = table(ann="?7 ?3 ?1", deck="?9 ?5", pile="4")
    t.ann.draws().exchanges(0, 1, keep_at="right")
    assert t.ann.village == "?7 ?3 ?1 ?9"
    assert t.to_act == "bob"


def test_an_empty_deck_gives_no_penalty_card() -> None:  # EXC-5
    t = table(ann="?7 ?3 ?1", bob="?8", deck="?9", deck_count=1, pile="4", rounds=1)
    t.ann.draws().exchanges(0, 1, 2, keep_at="right")
    assert t.ann.village == "?7 ?3 ?1 ?9"
    assert t.round_ended


@pytest.mark.parametrize("into", [0, 1, 3])
def test_of_a_set_the_rightmost_card_ends_on_top(into: int) -> None:  # EXC-6
    t = table(ann="?7 7 ?1 ?7", pile="4")
    left, middle, right = t.ann.handle(0), t.ann.handle(1), t.ann.handle(3)
    t.ann.takes().exchanges(0, 1, 3, into=into)
    assert list(t.state.pile) == [left, middle, right]


def test_the_pile_can_become_empty() -> None:  # EXC-7
    t = table(ann="?7 ?3", bob="4 4 ?9", pile="8", deck="10 ?1")
    t.ann.takes().exchanges(0, 1, keep_at="left")
    assert t.pile == ""
    assert t.ann.village == "8 ?7 ?3"
    assert t.to_act == "bob"
    assert t.choices == ["draw", "call"]  # no take, no Blob


@pytest.mark.parametrize("number", ["10", "11"])
def test_with_an_empty_pile_no_ability_that_needs_a_pile_card_is_offered(number: str) -> None:  # EXC-7, ABL-1
    t = table(ann="?7 ?3", pile="", deck=number)
    t.ann.draws()
    assert t.choices == ["discard", "name 0", "name 1"]
    t = table(ann="?7 ?3", pile="2", deck=number)
    t.ann.draws()
    assert t.choices == ["discard", "use", "name 0", "name 1"]


def test_a_set_is_named_left_to_right() -> None:  # EXC-8
    t = table(ann="?7 ?7 ?7 ?7")
    t.ann.draws().names(1)
    assert t.choices == ["close", "name 2", "name 3"]
    t.ann.names(3)
    assert t.choices == ["close"]


def test_nothing_is_revealed_before_a_set_is_closed() -> None:  # EXC-8
    t = table(ann="?7 ?3 ?7", bob="?8")
    t.ann.draws()
    t.forget_events()
    t.ann.names(0, 1, 2)
    acted = t.happened("ACTED")
    assert len(acted) == 3
    assert t.events == acted
    assert {event[4] for event in acted} == {EVERYBODY}  # what was named is public
    assert [t.bob.knows(t.ann, spot) for spot in range(3)] == [False, False, False]
    assert t.ann.village == "?7 ?3 ?7"


def test_no_curator_from_the_first_card_named_until_the_new_card_lies() -> None:  # EXC-8, TURN-2
    t = table(ann="?7 2 ?7", deck="9")
    t.ann.draws()
    assert t.offers("turn_card")
    t.ann.names(0)
    assert t.choices == ["close", "name 1", "name 2"]
    t.ann.names(2).closes()
    assert t.choices == ["place 0", "place 2"]
    t.ann.places(0)
    assert t.decision == "turn_end"
    assert t.offers("turn_card")


def test_no_curator_until_the_penalty_card_lies() -> None:  # EXC-8, TURN-2
    t = table(ann="?7 ?8 ?3 2", deck="?9 ?9")
    t.ann.draws().names(0, 1, 2).closes()
    assert t.choices == ["end a left", "end a right"]
    t.ann.places_at("left")
    assert t.choices == ["end a left", "end a right"]
    t.ann.places_at("left")
    assert t.decision == "turn_end"
    assert t.offers("turn_card")


def test_a_drawn_card_can_not_be_part_of_the_set() -> None:  # EXC-3
    t = table(ann="?7 ?7 ?1", deck="?7", pile="4")
    t.ann.draws().exchanges(0, 1, into=0)
    assert t.ann.village == "?7 ?1"
    assert t.pile == "7 7 4"
