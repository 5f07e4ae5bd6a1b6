"""Coin 0 and 13: what faceup Regifters and Wolfmen do at scoring."""

import pytest

from tests.support.table import Table, table


def at_scoring(*, ann: str, bob: str, cat: str | None = None, start: str = "ann") -> Table:
    """Set a table and play the draw that depletes the deck; nobody's village has a free ability."""
    t = table(ann=ann, bob=bob, cat=cat, deck="12", deck_count=1, pile="12", start=start)
    t.ann.draws().discards()
    return t


def test_a_regifter_gives_another_own_card_to_another_player() -> None:  # C00-1
    t = at_scoring(ann="0 ?7 8", bob="?1", cat="?2")
    assert t.choices == [
        "done",
        *("give 1 by 0 to b", "give 2 by 0 to b", "give 1 by 0 to c", "give 2 by 0 to c"),
    ]
    t.ann.gives(2, by=0, to=t.cat)
    assert t.scores == (7, 1, 10)


def test_a_regifter_need_not_give() -> None:  # C00-1, ABL-1
    t = at_scoring(ann="0 ?7", bob="?1")
    t.ann.done()
    assert t.scores == (7, 1)


def test_a_gift_goes_to_the_right_end_and_keeps_its_mark() -> None:  # C00-1, END-1
    t = at_scoring(ann="0 ?7~ 8", bob="?1", cat="0 2")
    t.ann.gives(1, by=0, to=t.cat)
    assert t.ann.village == "0 8"
    assert t.cat.village == "0 2 ?7~"
    t = at_scoring(ann="0 ?7 8", bob="?1", cat="0 2")
    t.ann.gives(2, by=0, to=t.cat)
    assert t.cat.village == "0 2 8"


def test_a_regifter_that_lies_alone_gives_nothing() -> None:  # C00-1
    t = at_scoring(ann="0", bob="?1")
    assert t.scores == (0, 1)


def test_a_regifter_given_to_a_later_player_works_for_them() -> None:  # C00-1
    t = at_scoring(ann="0 0", bob="?9", cat="?2")
    t.ann.gives(1, by=0, to=t.bob)
    assert t.to_act == "bob"
    assert t.bob.village == "?9 0"
    t.bob.gives(0, by=1, to=t.cat)
    assert t.scores == (0, 0, 11)


def test_a_regifter_given_to_an_earlier_player_works_no_more() -> None:  # C00-1, END-2
    t = at_scoring(ann="?9", bob="0 0", cat="?2")
    t.bob.gives(1, by=0, to=t.ann)
    assert t.round == 2  # bob's other one lies alone; ann's turn has passed
    assert t.scores == (9, 0, 2)


def test_a_regifter_given_facedown_has_no_ability() -> None:  # C00-1, END-1
    t = at_scoring(ann="0 ?0", bob="?9", cat="?2")
    t.ann.gives(1, by=0, to=t.bob)
    assert t.round == 2
    assert t.scores == (0, 9, 2)


def test_the_later_player_is_counted_from_the_holder() -> None:  # C00-1, END-2
    t = at_scoring(ann="?9", bob="0 0", cat="?2", start="bob")
    t.bob.gives(1, by=0, to=t.ann)
    assert t.to_act == "ann"
    t.ann.gives(0, by=1, to=t.cat)
    assert t.scores == (0, 0, 11)


def test_each_physical_regifter_gives_once_per_round() -> None:  # C00-2
    t = at_scoring(ann="0 ?7 ?8", bob="?1")
    t.ann.gives(1, by=0, to=t.bob)
    assert t.scores == (8, 8)


def test_a_regifter_that_has_given_gives_no_more_for_a_new_owner() -> None:  # C00-2
    t = at_scoring(ann="0 0 ?8", bob="?9")
    t.ann.gives(2, by=0, to=t.bob).gives(0, by=1, to=t.bob)  # the second Regifter gives away the first
    assert t.round == 2  # which has given already: bob is not asked
    assert t.scores == (0, 17)


def test_a_faceup_wolfman_given_away_works_for_the_new_owner() -> None:  # C00-1, C13-1
    t = at_scoring(ann="0 13", bob="?12")
    t.ann.gives(1, by=0, to=t.bob)
    assert t.scores == (0, 0)
    t = at_scoring(ann="0 ?13", bob="?12")
    t.ann.gives(1, by=0, to=t.bob)
    assert t.scores == (0, 25)


@pytest.mark.parametrize(
    ("village", "score"),
    [
        ("13", 0),
        ("13 ?12", 0),
        ("13 ?12 ?1", 26),  # the others are 13
        ("13 ?5 7~ 0", 0),
        ("13 13", 26),  # each is among the other's others
        ("13 ?13", 26),
        ("?13", 13),
        ("?13 ?1", 14),
        ("?13 ?13", 26),
        ("?12 ?1", 13),
    ],
)
def test_a_wolfman_counts_a_village_of_less_than_13_others_as_nothing(village: str, score: int) -> None:  # C13-1
    t = table(ann=village, bob="?9", deck="?2", deck_count=1, rounds=1)
    t.ann.draws().discards()
    if t.decision == "scoring":
        t.ann.done()
    assert t.scores == (score, 9)


def test_a_wolfman_makes_a_call_succeed() -> None:  # C13-1, END-4
    t = table(ann="13 ?12", bob="?1", active="bob", caller="ann", rounds=1)
    t.bob.draws().discards()
    assert t.scores == (0, 1)
