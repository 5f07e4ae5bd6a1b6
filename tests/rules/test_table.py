"""The table of the rules tests: it refuses what can't be, so that a test of a rule can't pass by mistake."""

import pytest

from moonvale_engine.errors import IllegalActionError
from tests.support.table import table


def test_a_table_has_all_52_cards_and_lays_them_as_written() -> None:
    t = table(ann="?7 3~ ?2~", bob="1", cat="", deck="?9 5", pile="4 ?8", deck_count=20)
    assert (t.ann.village, t.bob.village, t.cat.village) == ("?7 3~ ?2~", "1", "")
    assert t.pile == "4 ?8"
    assert t.deck.startswith("?9 5 ?")
    s = t.state
    assert t.deck_count == 20
    assert sorted([*s.deck, *s.pile, *s.aside, *s.villages[0], *s.villages[1]]) == list(range(52))
    assert sorted(s.identity) == sorted(face for face in range(14) for _ in range(2 if face in (0, 13) else 4))


def test_a_deck_has_no_fifth_card_of_a_number() -> None:
    with pytest.raises(ValueError, match="no more cards of number 7"):
        table(ann="?7 ?7 ?7", bob="7", pile="7")


def test_a_step_that_the_rules_do_not_allow_fails() -> None:
    with pytest.raises(IllegalActionError):
        table(ann="?1 ?2 ?3 ?4 ?5").ann.calls()


def test_a_step_out_of_turn_fails() -> None:
    with pytest.raises(AssertionError, match="ann is to act"):
        table().bob.draws()


def test_the_open_choices_are_told_as_texts() -> None:
    t = table(ann="?7 ?3", bob="2 1", pile="4", active="bob")
    assert t.decision == "turn"
    assert t.choices[:3] == ["draw", "take p0", "call"]
    assert t.offers("take")
    assert not t.offers("take p1")
    with pytest.raises(ValueError, match="not an action"):
        t.offers("takes")


def test_eyes_cards_are_laid_and_told_as_written() -> None:
    t = table("eye", ann="?-1 9.3~ ?0", bob="9.1", deck="?9.2 5", pile="-1 ?13")
    assert (t.ann.village, t.bob.village, t.pile) == ("?-1 9.3~ ?0", "9.1", "-1 ?13")
    assert t.deck.startswith("?9.2 5 ?")
    assert (t.ann.sees(t.ann), t.ann.sees_pile) == ("? 9.3~ ?", "-1 ?")
    with pytest.raises(ValueError, match="9' is no card of this deck"):
        table("eye", ann="9")
    with pytest.raises(ValueError, match=r"no more cards of number 9\.1"):
        table("eye", ann="9.1", bob="?9.1")
    with pytest.raises(ValueError, match="-1' is no card of this deck"):
        table("coin", ann="-1")


def test_a_tucked_card_is_told_with_its_host() -> None:
    t = table("eye", ann="-1 ?7~ -1", bob="?8", deck="12", deck_count=1, pile="12")
    t.ann.draws().discards().tucks(0, t.ann, 1)
    assert t.ann.village == "?7~/-1 -1"
    assert t.bob.sees(t.ann) == "?7~/-1 -1"
