"""Eye 0, -1 and 13: what faceup Illusionists, Nellys and Mad Bombers do at scoring, and sums below nothing."""

import pytest

from moonvale_engine import play
from tests.support.table import Table, table


def at_scoring(
    cards: str = "eye",
    /,
    *,
    ann: str,
    bob: str,
    cat: str | None = None,
    start: str = "ann",
    caller: str | None = None,
    successful_call: str = "zero",
    left: int = 0,
) -> Table:
    """Set a table and play a last turn: one that depletes the deck, or, if cards are to be left, the last after a call.

    Nobody's village has a free ability that would be asked for.
    """
    if left and caller is None:
        caller = "ann"
    players = ["ann", "bob"] if cat is None else ["ann", "bob", "cat"]
    active = "ann" if caller is None else players[players.index(caller) - 1]
    t = table(
        cards,
        ann=ann,
        bob=bob,
        cat=cat,
        deck="?8",
        deck_count=left + 1,
        pile="12",
        start=start,
        caller=caller,
        active=active,
        successful_call=successful_call,
    )
    t.players[players.index(active)].draws().discards()
    assert t.round_ended
    return t


@pytest.mark.parametrize(
    ("ann", "left", "score"),
    [("0 ?12", 5, 7), ("?0 ?12", 5, 12), ("0 0 ?12", 5, 2), ("0 ?0 ?12", 5, 7), ("0 12", 0, 12), ("0", 9, -9)],
)
def test_a_faceup_illusionist_counts_minus_the_cards_left_in_the_deck(ann: str, left: int, score: int) -> None:  # E00-1
    t = at_scoring(ann="?11", bob=ann, left=left)
    assert t.scores[1] == score


def test_an_illusionist_counts_faceup_and_facedown_cards_of_the_deck() -> None:  # E00-1, E10-1
    t = table("eye", ann="?11", bob="0", deck="?10 ?6", deck_count=2, pile="4 ?7", caller="ann", active="bob")
    t.bob.draws().uses()
    assert t.scores == (21, -3)


def test_a_faceup_nelly_may_be_tucked_under_a_card_that_then_counts_negative() -> None:  # E01-1
    t = at_scoring(ann="-1 ?12 11", bob="?5")
    assert (t.to_act, t.decision) == ("ann", "scoring")
    assert t.choices == ["done", "tuck 0 under a1", "tuck 0 under a2", "tuck 0 under b0"]
    t.ann.tucks(0, t.ann, 1)
    assert t.scores == (11 - 12, 5)  # that Nelly counts nothing herself


def test_a_nelly_may_be_tucked_in_any_village() -> None:  # E01-1
    t = at_scoring(ann="-1 -1 ?12", bob="?5 ?6")
    t.ann.tucks(0, t.bob, 1)
    assert (t.ann.village, t.bob.village) == ("-1 ?12", "?5 ?6/-1")
    t.ann.done()
    assert t.scores == (11, -1)


def test_a_nelly_need_not_be_tucked() -> None:  # E01-1, ABL-1
    t = at_scoring(ann="-1 ?12", bob="?5")
    t.ann.done()
    assert t.scores == (11, 5)


def test_a_facedown_nelly_counts_minus_one_and_is_not_tucked() -> None:  # E01-1, END-1
    t = at_scoring(ann="?-1 ?12", bob="?5")
    assert t.scores == (11, 5)


def test_a_host_has_a_value_above_nothing_and_hosts_no_nelly() -> None:  # E01-1
    t = at_scoring(ann="-1 -1 ?0", bob="?-1 ?5 ?6")
    assert t.choices == ["done", "tuck 0 under b1", "tuck 0 under b2"]  # the leftmost of two that are alike
    t.ann.tucks(0, t.bob, 1)
    assert t.choices == ["done", "tuck 0 under b2"]
    t.ann.tucks(0, t.bob, 2)
    assert t.scores == (0, -1 - 5 - 6)


def test_each_nelly_is_tucked_once() -> None:  # E01-1, END-2
    t = at_scoring(ann="-1 ?12 -1", bob="?5 ?6")
    t.ann.tucks(0, t.ann, 1).tucks(1, t.bob, 0)
    assert t.scores == (-12, 1)


def test_a_tucked_nelly_is_no_card_of_a_village() -> None:  # E01-1, HID-2
    t = at_scoring(ann="-1 13", bob="?5")
    t.ann.tucks(0, t.bob, 0)
    assert t.choices == ["done", "bomb b0 by 0"]
    for viewer in (*t.players, t.spectator):
        assert [viewer.sees(owner) for owner in t.players] == ["13", "?5/-1"]


def test_a_host_that_is_given_away_takes_its_nelly_along() -> None:  # E01-1, C00-1
    t = at_scoring("eye,0=coin", ann="-1 0 ?12", bob="?5")
    t.ann.tucks(0, t.ann, 2).gives(1, by=0, to=t.bob)
    assert t.scores == (0, 5 - 12)
    t = at_scoring("eye,0=coin", ann="-1 0 ?12 ?8", bob="0 ?5")
    t.ann.tucks(0, t.ann, 2).gives(1, by=0, to=t.bob)
    assert t.bob.village == "0 ?5 ?12/-1"


def test_a_wolfman_may_host_a_nelly() -> None:  # E01-1, C13-1
    t = at_scoring("eye,13=coin", ann="-1 13 ?5", bob="?11")
    t.ann.tucks(0, t.ann, 1)
    assert t.scores == (-8, 11)  # the others are 5: nothing, or the total where that is less
    t = at_scoring("eye,13=coin", ann="-1 13 ?12 ?8", bob="?11")
    t.ann.tucks(0, t.ann, 1)
    assert t.scores == (7, 11)  # the others are 20: the total
    t = at_scoring("eye,13=coin", ann="-1 13 ?12 ?8", bob="?11")
    t.ann.tucks(0, t.ann, 2)
    assert t.scores == (0, 11)  # the others are -4, and 9 in all


def test_stages_follow_one_another_nelly_then_0_then_13() -> None:  # END-2
    t = at_scoring("eye,0=coin", ann="0 13 -1 ?12", bob="0 13 -1 ?11")
    asked = []
    while t.decision == "scoring" and t.round == 1:
        asked.append((t.to_act, t.choices[1].split()[0]))
        t.players[play.seat_to_act(t.state)].done()
    assert asked == [(name, verb) for verb in ("tuck", "give", "bomb") for name in ("ann", "bob")]


def test_players_tuck_once_clockwise_from_the_holder() -> None:  # END-2
    t = at_scoring(ann="-1 ?12", bob="?5", cat="-1", start="cat")
    assert t.to_act == "cat"
    t.cat.done()
    assert t.to_act == "ann"
    t.ann.done()
    assert t.scores == (11, 5, -1)  # cat was done for good


def test_a_nelly_that_is_given_away_is_not_tucked_any_more() -> None:  # END-2, C00-1
    t = at_scoring("eye,0=coin", ann="-1 0 ?12", bob="?5")
    t.ann.done().gives(0, by=1, to=t.bob)
    assert t.scores == (12, 4)


def test_a_regifter_is_given_to_a_later_and_to_an_earlier_player() -> None:  # C00-1, END-2
    t = at_scoring("eye,0=coin", ann="?9.1", bob="0 0", cat="?5")
    t.bob.gives(1, by=0, to=t.cat)
    assert t.to_act == "cat"  # a later player: it works for them
    t.cat.gives(0, by=1, to=t.bob)
    assert t.scores == (9, 5, 0)
    t = at_scoring("eye,0=coin", ann="?9.1", bob="0 0", cat="?5")
    t.bob.gives(1, by=0, to=t.ann)
    assert t.round == 2  # an earlier one: it works no more
    assert t.scores == (9, 0, 5)


def test_a_faceup_bomber_given_away_works_for_the_new_owner() -> None:  # C00-1, E13-1
    t = at_scoring("eye,0=coin", ann="0 13", bob="?12")
    t.ann.gives(1, by=0, to=t.bob)
    assert t.to_act == "bob"
    t.bob.bombs(t.bob, 0, by=1)
    assert t.scores == (0, 0)


def test_a_faceup_mad_bomber_takes_itself_and_any_other_card_out_of_the_round() -> None:  # E13-1
    t = at_scoring(ann="13 ?12 11", bob="?5 6")
    assert t.choices == ["done", "bomb a1 by 0", "bomb a2 by 0", "bomb b0 by 0", "bomb b1 by 0"]
    t.ann.bombs(t.ann, 1, by=0)
    assert t.scores == (11, 11)
    t = at_scoring(ann="13 ?12 11", bob="?5 6")
    t.ann.bombs(t.bob, 1, by=0)
    assert t.scores == (23, 5)


def test_a_mad_bomber_need_not_be_used() -> None:  # E13-1, ABL-1
    t = at_scoring(ann="13 ?12", bob="?5")
    t.ann.done()
    assert t.scores == (25, 5)


def test_a_facedown_mad_bomber_counts_13_and_does_nothing() -> None:  # E13-1, END-1
    assert at_scoring(ann="?13 ?12", bob="?5").scores == (25, 5)


def test_a_mad_bomber_that_lies_alone_on_the_table_hits_nothing() -> None:  # E13-1
    assert at_scoring(ann="13", bob="").scores == (13, 0)


def test_a_bomber_that_was_hit_can_not_act() -> None:  # E13-1
    t = at_scoring(ann="13 ?12", bob="13 ?5")
    t.ann.bombs(t.bob, 0, by=0)
    assert t.scores == (12, 5)


def test_a_nelly_tucked_under_a_card_that_is_hit_is_out_of_the_round_too() -> None:  # E13-1, E01-1
    t = at_scoring(ann="13 ?12", bob="-1 ?5 ?6")
    t.bob.tucks(0, t.bob, 1)
    t.ann.bombs(t.bob, 0, by=0)
    assert t.scores == (12, 6)


def test_a_nelly_tucked_under_the_bomber_is_out_of_the_round_too() -> None:  # E13-1, E01-1
    t = at_scoring(ann="-1 13 ?12", bob="?5 ?6")
    t.ann.tucks(0, t.ann, 1).bombs(t.bob, 0, by=0)
    assert t.scores == (12, 6)


def test_a_bomber_hits_a_bomber_that_hosts_a_nelly() -> None:  # E13-1, E01-1
    t = at_scoring(ann="13 ?12", bob="-1 13 ?6")
    t.bob.tucks(0, t.bob, 1)
    assert t.bob.village == "13/-1 ?6"
    t.ann.bombs(t.bob, 0, by=0)
    assert t.scores == (12, 6)


def test_a_bomber_may_hit_an_illusionist() -> None:  # E13-1, E00-1, END-2
    t = at_scoring(ann="13 ?12", bob="0 ?5", left=4)
    t.ann.bombs(t.bob, 0, by=0)
    assert t.scores == (22, 5)


def test_all_three_cards_of_a_bomb_lie_out_of_the_round() -> None:  # E13-1, E01-1
    t = at_scoring(ann="13 ?12", bob="-1 13 ?6", start="bob")
    t.bob.tucks(0, t.bob, 1)
    before = set(t.state.aside)
    bomber, hit = t.bob.handle(0), t.ann.handle(1)
    nelly = t.state.tucked[1]
    t.bob.bombs(t.ann, 1, by=0)
    assert t.ann.village == "13"
    assert set(t.state.aside) - before == {bomber, hit, nelly}
    assert t.state.tucked == b""
    t.ann.bombs(t.bob, 0, by=0)
    assert t.scores == (0, 0)


def test_a_sum_may_be_below_nothing() -> None:  # END-3
    assert at_scoring(ann="?-1 ?-1", bob="0", left=3).scores == (8, -3)


def test_a_caller_with_a_negative_sum_who_is_the_lowest_scores_nothing() -> None:  # END-4
    t = at_scoring(ann="0 ?5", bob="?6", caller="ann", left=9)
    assert t.scores == (0, 6)
    assert (t.holder, t.state.token_active) == ("ann", True)


def test_with_the_option_lower_such_a_caller_scores_the_negative_sum() -> None:  # END-4
    t = at_scoring(ann="0 ?5", bob="?6", caller="ann", left=9, successful_call="lower")
    assert t.scores == (-4, 6)
    t = at_scoring(ann="?5", bob="?6", caller="ann", left=9, successful_call="lower")
    assert t.scores == (0, 6)


@pytest.mark.parametrize("successful_call", ["zero", "lower"])
def test_a_caller_with_a_negative_sum_who_is_not_the_lowest_scores_ten_more(successful_call: str) -> None:  # END-4
    t = at_scoring(ann="0 ?5", bob="0 ?4", caller="ann", left=9, successful_call=successful_call)
    assert t.scores == (6, -5)
    assert (t.holder, t.state.token_active) == ("bob", False)


def test_a_caller_with_no_card_left_at_scoring_scores_nothing_more() -> None:  # END-4, E13-1
    t = at_scoring(ann="13", bob="13 0", caller="ann", left=9)
    t.ann.bombs(t.bob, 0, by=0)
    assert t.scores == (0, -9)  # not the lowest, yet no 10 points
    t = at_scoring(ann="-1", bob="?5 0", caller="ann", left=9)
    t.ann.tucks(0, t.bob, 0)
    assert t.scores == (0, -14)


def test_what_is_tucked_or_bombed_decides_a_call() -> None:  # END-4, END-2
    t = at_scoring(ann="?5", bob="-1 ?6", caller="ann", left=3)
    t.bob.tucks(0, t.bob, 1)
    assert t.scores == (15, -6)
    t = at_scoring(ann="13 ?5", bob="?6", caller="ann", left=3)
    t.ann.bombs(t.ann, 1, by=0)
    assert t.scores == (0, 6)


def test_the_lowest_score_of_a_round_gets_the_token_even_below_a_successful_caller() -> None:  # END-5
    t = at_scoring(ann="0", bob="?-1", cat="?6", caller="ann", left=9)
    assert t.scores == (0, -1, 6)
    assert (t.holder, t.state.token_active) == ("bob", False)
    t = at_scoring(ann="0", bob="?-1", cat="?6", caller="ann", left=9, successful_call="lower")
    assert t.scores == (-9, -1, 6)
    assert (t.holder, t.state.token_active) == ("ann", True)


def test_all_cards_of_a_round_are_reshuffled_those_tucked_and_bombed_included() -> None:  # SET-3, E01-1, E13-1
    t = at_scoring(ann="-1 13 ?12", bob="?5 ?6")
    t.ann.tucks(0, t.ann, 2).bombs(t.bob, 0, by=0)
    s = t.state
    assert t.round == 2
    assert s.tucked == b""
    assert sorted([*s.deck, *s.pile, *s.aside, *s.villages[0], *s.villages[1]]) == list(range(52))
