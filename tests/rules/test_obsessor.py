"""Eye 9: what an Obsessor on top of the pile demands, and what is refused. The four of them: 9.1 even, 9.2 odd, 9.3 at
most 6, 9.4 at least 7.
"""

import pytest

from moonvale_engine.errors import OptionError
from moonvale_engine.events import EVERYBODY, SHOWN_REFUSED
from moonvale_engine.options import DEMANDS, Options
from tests.support.table import Table, table

OTHERS = ["-1", "0", "2", "3", "4", "5", "6", "7", "8", "10", "11", "12", "13"]


def accepted(pile: str, demands: tuple[str, ...] = DEMANDS) -> list[str]:
    """Return the values of cards that a drawer may discard on a pile."""
    another = "9.1" if pile == "9.4" else "9.4"
    fits = []
    for value in [*OTHERS, another]:
        t = table("eye", ann="?5", bob="?8", deck=f"?{value}", pile=pile, demands=demands)
        if t.ann.draws().table.offers("discard"):
            fits.append(value)
    return fits


@pytest.mark.parametrize(
    ("pile", "fits"),
    [
        ("9.1", ["0", "2", "4", "6", "8", "10", "12"]),
        ("9.2", ["-1", "3", "5", "7", "11", "13", "9.4"]),
        ("9.3", ["-1", "0", "2", "3", "4", "5", "6"]),
        ("9.4", ["7", "8", "10", "11", "12", "13", "9.1"]),
    ],
)
def test_the_four_obsessors_demand_even_odd_6_or_lower_7_or_higher(pile: str, fits: list[str]) -> None:  # OBS-1
    assert accepted(pile) == fits


def test_a_table_enters_the_demands_of_its_own_cards() -> None:  # OBS-1
    demands = ("at least 12", "at most -1", "odd", "odd")
    assert accepted("9.1", demands) == ["12", "13"]
    assert accepted("9.2", demands) == ["-1"]
    for wrong in ("most 6", "at most 14", "at most", "prime", "at least  3"):
        with pytest.raises(OptionError) as refused:
            Options(demands=(wrong, "odd", "odd", "odd"))
        assert refused.value.field == "demands"
    with pytest.raises(OptionError):
        Options(demands=("odd",) * 3)


def test_a_demand_holds_from_the_first_card_of_the_round() -> None:  # OBS-2
    t = table("eye", ann="?5", bob="?8", deck="?7", pile="9.1")
    t.ann.draws()
    assert t.choices == ["name 0"]


def test_a_demand_holds_however_the_obsessor_got_there() -> None:  # OBS-2
    t = table("eye", ann="?9.1 ?5", bob="?8", deck="?7 ?7", pile="4")
    t.ann.draws().exchanges(0)
    t.bob.draws()
    assert t.choices == ["name 0"]
    t = table("eye", ann="?9.1 ?5", bob="?8", deck="?7 ?5", pile="4")
    t.ann.draws().uses().picks(t.ann, 0)  # a Ghost puts it there
    t.bob.draws()
    assert t.choices == ["use", "name 0"]
    t = table("eye", ann="?8 ?5", bob="?8", deck="?7", pile="4 9.1")
    t.ann.takes().exchanges(0, 1, keep_at="left")  # uncovered
    t.bob.draws()
    assert t.choices == ["name 0"]


def test_a_facedown_obsessor_demands_nothing() -> None:  # OBS-2
    t = table("eye", ann="?5", bob="?8", deck="?7", pile="?9.1")
    t.ann.draws()
    assert t.offers("discard")


def test_an_obsessor_below_the_top_demands_nothing() -> None:  # OBS-2
    t = table("eye", ann="?5", bob="?8", deck="?7", pile="4 9.1")
    t.ann.draws()
    assert t.offers("discard")


def test_a_demand_does_not_bind_the_bottom_of_the_pile() -> None:  # OBS-2, C08-1, E11-1
    t = table("eye,8=coin", ann="7 ?5", bob="?8", deck="8 ?11", pile="9.1 4")
    t.ann.draws().uses().picks(t.ann, 0)
    assert t.pile == "8 9.1 4 7"
    t = table("coin,9=eye,11=eye", ann="4 4 ?8", bob="?7 ?5", pile="9.1 11 4 6")
    t.ann.activates(1).picks(t.bob, 0).undermines(2).picks(t.bob, 1).undermines(3)
    assert t.pile == "9.1 11 ?7 ?5"


def test_a_demand_does_not_bind_penalties_or_a_5_that_stays() -> None:  # OBS-2
    t = table("eye", ann="4 ?8", bob="?8", deck="?7 ?5", pile="9.1")
    t.ann.gambles(12).places_at("left")  # the refused 7 itself
    assert t.ann.village == "7 4 ?8"
    t = table("eye", ann="?4 ?8", bob="?8", deck="?5", pile="9.1")
    t.ann.draws()
    assert not t.offers("discard")
    t.ann.uses().places_at("left")
    assert t.ann.village == "5 4 8"


def test_an_obsessor_that_a_take_uncovers_binds_the_exchange() -> None:  # EXC-2, OBS-2
    t = table("eye", ann="?5 7 8", bob="?8", pile="4 9.1")
    t.ann.takes()
    assert t.choices == ["name 0", "name 2"]  # the faceup 7 would not do
    t.ann.exchanges(0, keep_at="right")
    assert t.ann.village == "?5 7 8 4"
    assert t.pile == "9.1"


def test_an_obsessor_that_is_taken_binds_nothing() -> None:  # EXC-2, OBS-2
    t = table("eye", ann="?5 7 8", bob="?8", pile="9.1 4")
    t.ann.takes()
    assert t.choices == ["name 0", "name 1", "name 2"]
    t.ann.exchanges(1)
    assert (t.ann.village, t.pile) == ("?5 9.1 8", "7 4")


def test_a_drawn_card_that_fails_may_not_be_discarded_nor_used() -> None:  # OBS-3
    t = table("eye", ann="?8", bob="?8", deck="?7", pile="9.1")
    t.ann.draws()
    assert t.choices == ["name 0"]


def test_a_faceup_card_that_fails_is_not_offered_alone_or_in_a_set() -> None:  # OBS-3
    t = table("eye", ann="?7 7 8 ?7", bob="?8", deck="?4", pile="9.1")
    t.ann.draws()
    assert t.choices == ["discard", "name 0", "name 2", "name 3"]
    t.ann.names(0)
    assert t.choices == ["close", "name 2", "name 3"]


def test_facedown_cards_are_always_offered() -> None:  # OBS-3, HID-4
    for hidden in ("?7", "?8"):
        t = table("eye", ann=f"{hidden} {hidden}", bob="?4", deck="?4", pile="9.1")
        t.ann.draws()
        assert t.choices == ["discard", "name 0", "name 1"]
        t.ann.names(0)
        assert t.choices == ["close", "name 1"]


def refused(t: Table) -> list[tuple[int, ...]]:
    """Return what the refusals since the table was set have shown to everybody."""
    shown = [event for event in t.happened("SHOWN") if event[2] == SHOWN_REFUSED]
    assert {event[4] for event in shown} <= {EVERYBODY}
    return [event[5][1::2] for event in shown]


def test_a_refused_facedown_exchange_is_shown_and_the_card_in_hand_joins_the_village() -> None:  # OBS-3
    t = table("eye", ann="?7~ ?8", bob="?8", deck="?4 ?6", pile="9.1")
    t.ann.draws().exchanges(0, keep_at="right")
    assert t.ann.village == "?7~ ?8 ?4"
    assert t.pile == "9.1"
    assert refused(t) == [(7,)]
    assert t.bob.sees(t.ann) == "?7~ ? ?"
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_a_refused_set_goes_back_as_it_lay_and_costs_no_card() -> None:  # OBS-3, EXC-4, EXC-5
    t = table("eye", ann="?7 ?8 ?7 ?7", bob="?8", deck="?4 ?6", pile="9.1")
    t.ann.draws().exchanges(0, 2, 3, keep_at="left")
    assert t.ann.village == "?4 ?7 ?8 ?7 ?7"
    assert refused(t) == [(7, 7, 7)]
    assert t.to_act == "bob"


def test_values_are_compared_before_the_demand() -> None:  # EXC-3, OBS-3
    t = table("eye", ann="?7 ?8 ?5", bob="?8", deck="?4 ?6", pile="9.1")
    t.ann.draws().exchanges(0, 1, 2, keep_at="left", penalty_at="right")
    assert t.ann.village == "?4 ?7 ?8 ?5 ?6"  # a failed set, with its penalty
    assert refused(t) == []


def test_an_exchange_that_meets_the_demand_goes_through() -> None:  # OBS-3
    t = table("eye", ann="?8 8 ?5", bob="?8", deck="?7", pile="9.1")
    t.ann.draws().exchanges(0, 1, into=0)
    assert (t.ann.village, t.pile) == ("?7 ?5", "8 8 9.1")


@pytest.mark.parametrize(("end", "village"), [("left", "?7 5 7"), ("right", "5 7 ?7")])
def test_a_drawn_card_that_fits_nowhere_joins_the_village(end: str, village: str) -> None:  # OBS-4
    t = table("eye", ann="5 7", bob="?8", deck="?7", pile="9.1")
    t.ann.draws()
    assert t.choices == ["keep"]
    t.ann.keeps(end)
    assert t.ann.village == village
    assert t.pile == "9.1"
    assert t.ann.knows(t.ann, village.split().index("?7"))
    assert not t.bob.knows(t.ann, village.split().index("?7"))
    assert t.to_act == "bob"


def test_a_taken_card_that_fits_nowhere_joins_the_village_as_taken() -> None:  # OBS-4, EXC-2
    t = table("eye", ann="5 7", bob="?8", pile="4 9.1")
    t.ann.takes()
    assert t.choices == ["keep"]
    t.ann.keeps("left")
    assert t.ann.village == "4 5 7"


def test_a_drawn_card_that_fits_nowhere_enters_an_empty_village() -> None:  # OBS-4, TURN-7
    t = table("eye", ann="", bob="?8", deck="7", pile="9.1")
    t.ann.draws()
    assert t.choices == ["keep"]
    t.ann.keeps("left")
    assert t.ann.village == "7"


def test_a_5_that_fits_nowhere_may_be_used_or_kept() -> None:  # OBS-4
    t = table("eye", ann="11 7", bob="?8", deck="?5", pile="9.1")
    t.ann.draws()
    assert t.choices == ["use", "keep"]
    t.ann.keeps("left")
    assert t.ann.village == "?5 11 7"


def test_a_hand_is_not_kept_where_a_card_is_offered() -> None:  # OBS-4
    t = table("eye", ann="5 ?7", bob="?8", deck="?7", pile="9.1")
    t.ann.draws()
    assert t.choices == ["name 1"]


def test_a_refused_reward_is_shown_and_stays_and_the_use_is_spent() -> None:  # OBS-5, E04-1
    t = table("eye", ann="4 ?7 ?8 5", bob="?8", deck="9.1 ?6", pile="12")
    t.ann.gambles(9)
    assert t.pile == "9.1 12"
    assert t.choices == ["decline", "pick a0", "pick a1", "pick a2"]  # not the faceup 5
    t.ann.wins(1)
    assert t.ann.village == "4 ?7 ?8 5"
    assert refused(t) == [(7,)]
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_a_refused_curator_is_shown_and_stays_and_the_use_is_spent() -> None:  # OBS-5, C02-1
    t = table("coin,9=eye", ann="2 ?7~ 5~", bob="?8", pile="9.1")
    assert t.offers("discard 1 by 0")
    assert not t.offers("discard 2 by 0")
    t.ann.discards(1, by=0)
    assert t.ann.village == "2 ?7~ 5~"
    assert refused(t) == [(7,)]
    assert t.choices == ["draw", "take p0"]  # no call either: an ability was used


def test_a_refused_ghost_is_shown_and_stays_and_the_use_is_spent() -> None:  # OBS-5, E07-1
    t = table("coin,7=eye,9=eye", ann="4 4", bob="?11 7 8", pile="9.1 7")
    t.ann.activates(1)
    assert t.choices == ["pick a0", "pick a1", "pick b0", "pick b2"]
    t.ann.picks(t.bob, 0)
    assert t.bob.village == "?11 7 8"
    assert refused(t) == [(11,)]
    assert t.to_act == "bob"


def test_a_ghost_that_could_only_be_refused_openly_is_not_offered() -> None:  # OBS-3, ABL-1, E07-1
    t = table("coin,7=eye,9=eye", ann="4 4", bob="11 7", pile="9.2 7", demands=("even", "at most 2", "odd", "odd"))
    assert not t.offers("activate")


def test_a_card_that_a_spotter_found_may_be_refused() -> None:  # OBS-5, E03-1
    t = table("eye", ann="3 ?9.1 3", bob="?9.2 ?9.3", deck="?4", pile="12")
    t.ann.draws().exchanges(1, spotters=2).searches(t.bob).looks(t.bob, 0)
    assert t.bob.village == "?9.2 ?9.3"  # 9 is not even
    assert t.pile == "9.1 12"
    assert refused(t) == [(9 | 1 << 4,)]
    assert t.decision == "target"  # the first use is spent, the second Spotter goes on
    t.ann.searches(t.bob).looks(t.bob, 1)
    assert t.bob.village == "?9.2 ?9.3"
    assert t.to_act == "bob"


def test_a_discard_that_is_refused_declares_no_spotter() -> None:  # E03-1, OBS-5
    t = table("eye", ann="3 ?7", bob="?7", deck="?4", pile="9.1")
    t.ann.draws().exchanges(1, keep_at="left", spotters=1)
    assert (t.to_act, t.decision) == ("bob", "turn")
    assert t.bob.village == "?7"


def test_a_gambler_may_flip_an_obsessor() -> None:  # E04-1, OBS-2
    t = table("eye", ann="4 ?8", bob="?8", deck="?9.1 ?7", pile="12")
    t.ann.gambles(9).wins(1)
    assert t.pile == "8 9.1 12"
    t = table("eye", ann="4 4 ?8", bob="?8", deck="?9.1 ?6 ?8", pile="12")
    t.ann.gambles(7).places_at("left")  # wrong; the Obsessor lies on top
    assert t.pile == "9.1 12"
    t.ann.gambles(8)  # and the 8 may follow it
    assert t.pile == "8 9.1 12"


def test_a_refused_flip_counts_as_a_prediction_and_lies_on_the_deck_faceup() -> None:  # OBS-5, E04-1
    t = table("eye", ann="4 ?8 ?5", bob="?8", deck="?7 ?6", pile="9.1")
    t.ann.gambles(7)
    assert t.pile == "9.1"
    assert t.deck.startswith("7 ?6")
    assert refused(t) == [(7,)]
    for viewer in (*t.players, t.spectator):
        assert viewer.sees_deck_top == "7"
    t.ann.wins(1)  # right: the reward
    assert t.pile == "8 9.1"
    assert t.deck.startswith("7 ?6")


def test_after_a_refused_flip_and_a_wrong_prediction_that_very_card_joins_the_village() -> None:  # OBS-5, E04-1
    t = table("eye", ann="4 ?8", bob="?8", deck="?7 ?6", pile="9.1")
    t.ann.gambles(8).places_at("right")
    assert t.ann.village == "4 ?8 7"
    assert t.deck.startswith("?6")


def test_a_gambler_is_not_offered_where_the_open_card_on_the_deck_would_be_refused() -> None:  # E04-1, OBS-5
    assert not table("eye", ann="4 ?8", bob="?8", deck="7 ?6", pile="9.1").offers("gamble")
    assert table("eye", ann="4 ?8", bob="?8", deck="8 ?6", pile="9.1").offers("gamble")
    assert table("eye", ann="4 ?8", bob="?8", deck="?7 ?6", pile="9.1").offers("gamble")
    t = table("eye", ann="4 4 ?8", bob="?8", deck="?7 ?6", pile="9.1")
    t.ann.gambles(7).declines()
    assert (t.to_act, t.decision) == ("bob", "turn")  # nor a second time: the 7 lies open on the deck


def test_an_obsessor_binds_simons_discards() -> None:  # OBS-2, OBS-3, E02-1
    t = table("eye", ann="?9.1 ?8", bob="2 9.2", deck="?4", pile="12")
    t.ann.draws().exchanges(0)
    assert (t.to_act, t.decision) == ("bob", "turn")  # 9 is not even
    t = table("eye", ann="?9.2 ?8", bob="2 9.1", deck="?4", pile="12")
    t.ann.draws().exchanges(0)
    assert t.choices == ["pass", "discard 1 by 0"]


@pytest.mark.parametrize(("top", "pile"), [(0, "9.2 9.3 9.4 12"), (2, "9.4 9.3 9.2 12"), (3, "9.3 9.4 9.2 12")])
def test_of_several_obsessors_the_player_chooses_which_lies_on_top(top: int, pile: str) -> None:  # EXC-6, EXC-8
    t = table("eye", ann="?9.2 ?5 9.4 ?9.3", bob="?8", deck="?4", pile="12")
    t.ann.draws().names(0, 2, 3).closes()
    assert t.decision == "obsessor"  # before the spot of the new card
    assert t.choices == ["pick a0", "pick a2", "pick a3"]
    t.ann.puts_on_top(top)
    assert t.decision == "place"
    t.ann.places(2)
    assert t.ann.village == "?5 ?4"
    assert t.pile == pile


def test_cards_of_a_set_do_not_bind_one_another() -> None:  # EXC-6, OBS-2
    t = table("eye", ann="?9.1 ?9.2", bob="?8", deck="?4", pile="12")
    t.ann.draws().exchanges(0, 1).puts_on_top(1).places(0)  # the 9.1 below it demands an even card
    assert t.pile == "9.2 9.1 12"


def test_other_sets_leave_no_choice_of_the_top() -> None:  # EXC-6
    t = table("eye", ann="?8 ?8", bob="?8", deck="?4", pile="12")
    t.ann.draws().exchanges(0, 1)
    assert t.decision == "place"


def test_a_single_obsessor_leaves_no_choice() -> None:  # EXC-6
    t = table("eye", ann="?9.1 ?8", bob="?8", deck="?4", pile="12")
    t.ann.draws().exchanges(0)
    assert (t.pile, t.to_act) == ("9.1 12", "bob")


def test_an_obsessor_binds_the_card_that_a_resigned_seat_draws() -> None:  # OBS-3, OBS-4, END-7
    t = table("eye", ann="7 5", bob="?8", cat="?8", deck="?4 ?8 ?7", pile="9.1")
    t.cat.resigns()
    t.ann.draws().discards()
    assert t.pile == "4 9.1"
    t = table("eye", ann="?4", bob="?8", cat="7 5", deck="?11 ?11 ?7", pile="9.1", active="cat")
    t.cat.resigns()
    assert t.cat.village == "?11 7 5"  # kept: it fits nowhere
    assert t.to_act == "ann"
