"""Scoring: the marks, scoring abilities in their order, sums, calls, the token's award, the end of the game."""

import pytest

from moonvale_engine import outcome
from moonvale_engine.cards.card import COIN, RESIDENT, Card
from moonvale_engine.deck import Types
from moonvale_engine.events import EVERYBODY, NOBODY, OVER_BY_ROUNDS, SHOWN_ROUND_END
from moonvale_engine.options import Options
from moonvale_engine.views import view
from tests.support.table import Table, table


def at_the_last_turn(
    *,
    ann: str,
    bob: str,
    cat: str | None = None,
    dan: str | None = None,
    caller: str | None = None,
    start: str = "ann",
    token_active: bool = False,
    totals: tuple[int, ...] | None = None,
    round: int = 1,
) -> Table:
    """Set a table and play the draw that depletes the deck, after which the villages are scored."""
    t = table(
        ann=ann,
        bob=bob,
        cat=cat,
        dan=dan,
        deck="12",
        deck_count=1,
        pile="12",
        caller=caller,
        start=start,
        token_active=token_active,
        totals=totals,
        round=round,
        active="bob" if caller == "ann" else "ann",
    )
    t.players[t.state.active].draws().discards()
    if t.decision == "turn_end":
        t.players[t.state.active].ends()
    return t


def test_all_villages_are_shown_at_the_end_of_a_round_and_keep_their_marks() -> None:  # END-1
    t = at_the_last_turn(ann="0 ?7 8~", bob="?1 2")
    (shown,) = t.happened("SHOWN")
    handles = [t.ann.handle(0), t.ann.handle(1), t.ann.handle(2), t.bob.handle(0), t.bob.handle(1)]
    assert shown[2] == SHOWN_ROUND_END
    assert shown[4] == EVERYBODY
    assert list(shown[5][::2]) == handles
    assert list(shown[5][1::2]) == [0, 7, 8, 1, 2]
    assert (t.decision, t.ann.village, t.bob.village) == ("scoring", "0 ?7 8~", "?1 2")
    assert t.bob.knows(t.ann, 1)


def test_only_cards_marked_faceup_have_scoring_abilities() -> None:  # END-1, C00-1, C13-1
    t = at_the_last_turn(ann="?0 ?7", bob="1 2", round=4)
    assert t.decision == "over"  # a facedown Regifter gives nothing
    assert at_the_last_turn(ann="?13 2", bob="1 2").scores == (15, 3)
    assert at_the_last_turn(ann="13 2", bob="1 2").scores == (0, 3)


@pytest.mark.parametrize("memory", ["assisted", "table"])
def test_scoring_choices_are_made_with_all_villages_open(memory: str) -> None:  # END-1, HID-3
    t = table(ann="0 ?7", bob="?1 ?2", deck="12", deck_count=1, memory=memory)
    t.ann.draws().discards()
    assert (t.to_act, t.decision) == ("ann", "scoring")
    for viewer in (0, 1, 4):
        seats = view(t.state, viewer).seats
        assert [[card.face for card in seat.village] for seat in seats] == [[0, 7], [1, 2]]
    t.forget_events()
    t.ann.gives(1, by=0, to=t.bob)
    for player in (t.ann, t.bob, t.spectator):
        assert player.reads("MOVED")[0][5][1] == 7


def test_players_resolve_their_cards_once_clockwise_from_the_holder() -> None:  # END-2
    t = at_the_last_turn(ann="0 ?7", bob="?1 3", cat="0 ?2", start="cat")
    assert t.to_act == "cat"
    t.cat.done()
    assert t.to_act == "ann"
    t.ann.done()
    assert t.round_ended
    assert t.round == 2


def test_the_order_of_scoring_is_clockwise() -> None:  # END-2
    t = table(ann="0 ?7", bob="0 ?9", cat="?1 ?2", dan="?3", deck="12", deck_count=1, start="cat")
    t.ann.draws().discards()
    assert t.to_act == "ann"  # cat and dan have nothing to choose
    t.ann.done()
    assert t.to_act == "bob"


def test_free_abilities_are_over_when_villages_are_scored() -> None:  # END-2, TURN-2
    t = table(ann="0 2", bob="?9", deck="12", deck_count=1, token_active=True)
    t.ann.draws().discards().ends()
    assert t.choices == ["done", "give 1 by 0 to b"]


def test_each_player_resolves_all_cards_in_any_order_and_done_is_final() -> None:  # END-2, C00-2
    t = at_the_last_turn(ann="0 0 ?7 ?8", bob="?1")
    t.ann.gives(2, by=1, to=t.bob)
    assert t.to_act == "ann"
    t.ann.gives(2, by=0, to=t.bob)  # each has given: nothing is left to choose
    assert t.scores == (0, 16)
    t = at_the_last_turn(ann="0 0 ?7 ?8", bob="?1")
    t.ann.done()
    assert t.scores == (15, 1)


def test_wolfmen_are_counted_after_the_regifters_gifts() -> None:  # END-2, C13-1
    t = at_the_last_turn(ann="0 13 ?7 ?8", bob="?1")
    t.ann.gives(3, by=0, to=t.bob)
    assert t.scores == (0, 9)


def test_a_village_counts_the_sum_of_its_values() -> None:  # END-3
    assert at_the_last_turn(ann="?7 3 2~", bob="?9 ?10 11").scores == (12, 30)


def test_an_empty_village_counts_nothing() -> None:  # END-3
    assert at_the_last_turn(ann="", bob="?9").scores == (0, 9)


def test_a_successful_caller_scores_nothing() -> None:  # END-4
    assert at_the_last_turn(ann="?7", bob="?9", cat="?8", caller="ann").scores == (0, 9, 8)


def test_a_call_succeeds_on_a_tie() -> None:  # END-4
    assert at_the_last_turn(ann="?7", bob="?5 2", cat="?8", caller="ann").scores == (0, 7, 8)


def test_a_call_fails_if_anybody_has_less() -> None:  # END-4
    assert at_the_last_turn(ann="?7", bob="?6", cat="?8", caller="ann").scores == (17, 6, 8)


def below_zero(
    *, ann: str, bob: str, caller: str | None = None, successful_call: str = "zero", value: int = -1
) -> Table:
    """Play the last turn with cards 1 worth less than 0, as Nellys are."""
    t = table(
        ann=ann,
        bob=bob,
        caller=caller,
        active="bob" if caller == "ann" else "ann",
        deck="12",
        deck_count=1,
        successful_call=successful_call,
    )
    cards = list(t.state.cards)
    cards[1] = Card("stand_in", id=cards[1].id, number=1, deck=COIN, ability=RESIDENT, value=value)
    t.state.types = Types(tuple(cards))
    t.players[t.state.active].draws().discards()
    return t


def test_a_sum_may_be_negative() -> None:  # END-3
    assert below_zero(ann="?1 ?1", bob="?9").scores == (-2, 9)


def test_a_successful_caller_scores_0_even_with_a_negative_sum() -> None:  # END-4
    t = below_zero(ann="?1 ?1", bob="?1", caller="ann")
    assert t.scores == (0, -1)
    # The lowest score gets the token, but its active side belongs to a successful caller alone.
    assert (t.holder, t.state.token_active) == ("bob", False)


def test_with_the_option_lower_a_successful_caller_keeps_a_negative_sum() -> None:  # END-4, END-5
    t = below_zero(ann="?1 ?1", bob="?1", caller="ann", successful_call="lower")
    assert t.scores == (-2, -1)
    assert (t.holder, t.state.token_active) == ("ann", True)
    assert below_zero(ann="?5", bob="?6", caller="ann", successful_call="lower").scores == (0, 6)


def test_an_unsuccessful_caller_scores_10_more_but_0_with_no_card_left() -> None:  # END-4
    assert below_zero(ann="?1", bob="?1 ?1", caller="ann").scores == (9, -2)
    assert below_zero(ann="", bob="?1 ?1", caller="ann").scores == (0, -2)


def test_a_wolfman_does_not_raise_a_negative_sum() -> None:  # C13-1
    assert below_zero(ann="13 ?1", bob="?9", value=-20).scores == (-7, 9)
    assert below_zero(ann="13 ?1", bob="?9", value=-2).scores == (0, 9)


def test_the_sum_after_all_gifts_decides_a_call() -> None:  # END-4, C00-1
    t = at_the_last_turn(ann="?7", bob="0 ?5 ?4", caller="ann")
    t.bob.gives(1, by=0, to=t.ann)
    assert t.scores == (22, 4)


def test_the_token_goes_to_the_lowest_score_of_the_round() -> None:  # END-5
    t = at_the_last_turn(ann="?7", bob="?9", cat="?5", start="bob", round=2, totals=(0, 0, 90))
    assert t.holder == "cat"
    assert not t.state.token_active
    assert t.to_act == "cat"  # who begins the next round


def test_the_token_lies_active_after_a_successful_call_alone() -> None:  # END-5
    t = at_the_last_turn(ann="?7", bob="?9", caller="ann")
    assert (t.holder, t.state.token_active) == ("ann", True)
    t = at_the_last_turn(ann="?9", bob="?7", caller="ann", start="bob", token_active=True)
    assert (t.holder, t.state.token_active) == ("bob", False)
    t = at_the_last_turn(ann="?7", bob="?9", token_active=True)
    assert (t.holder, t.state.token_active) == ("ann", False)


@pytest.mark.parametrize("start", ["ann", "bob", "cat"])
def test_a_successful_caller_wins_a_tie_for_the_token(start: str) -> None:  # END-5
    t = at_the_last_turn(ann="0", bob="13", cat="13", caller="ann", start=start)
    assert t.scores == (0, 0, 0)
    assert (t.holder, t.state.token_active) == ("ann", True)


def test_the_present_holder_wins_a_tie_for_the_token() -> None:  # END-5
    t = at_the_last_turn(ann="?5", bob="?8", cat="?3 2", start="cat")
    assert t.holder == "cat"


@pytest.mark.parametrize(("start", "holder"), [("bob", "cat"), ("dan", "ann")])
def test_else_the_first_one_clockwise_from_the_holder_wins_a_tie_for_the_token(
    start: str, holder: str
) -> None:  # END-5
    t = at_the_last_turn(ann="?5", bob="?8", cat="?3 2", dan="?9", start=start)
    assert t.holder == holder


def test_everybody_is_told_sums_scores_and_who_gets_the_token() -> None:  # END-4, END-5, HID-2
    t = at_the_last_turn(ann="?9", bob="?8", cat="?7", caller="ann")
    for viewer in (t.ann, t.bob, t.spectator):
        assert [event[1:4] for event in viewer.reads("SCORED")] == [(0, 9, 19), (1, 8, 8), (2, 7, 7)]
        assert [event[1:4] for event in viewer.reads("TOKEN_AWARDED")] == [(2, 0, 0)]
        assert viewer.reads("GAME_OVER") == []
    t = at_the_last_turn(ann="?5", bob="?8", cat="?7", caller="ann", round=4)
    for viewer in (t.ann, t.bob, t.spectator):
        assert [event[1:4] for event in viewer.reads("TOKEN_AWARDED")] == [(0, 1, 0)]
        assert [event[1:] for event in viewer.reads("GAME_OVER")] == [(NOBODY, OVER_BY_ROUNDS, 0, EVERYBODY, (0, 2, 1))]


def test_a_game_has_four_rounds() -> None:  # END-6
    assert Options().rounds == 4
    t = at_the_last_turn(ann="?7", bob="?9", round=3, totals=(10, 20))
    assert (t.round, t.decision, t.totals) == (4, "peek", (17, 29))
    t = at_the_last_turn(ann="?7", bob="?9", round=4, totals=(10, 20))
    assert (t.round, t.decision, t.totals) == (4, "over", (17, 29))
    assert t.to_act == "nobody"


def test_the_lowest_total_wins_and_all_places_are_ordered_so() -> None:  # END-6
    t = at_the_last_turn(ann="?7", bob="?9", cat="?5", dan="?1", round=4, totals=(30, 10, 20, 40))
    assert t.totals == (37, 19, 25, 41)
    assert places(t) == ["bob", "cat", "ann", "dan"]
    result = outcome.result(t.state)
    assert result is not None
    assert result.totals == (37, 19, 25, 41)
    assert result.scores == ((0, 0, 0, 0), (0, 0, 0, 0), (30, 10, 20, 40), (7, 9, 5, 1))


@pytest.mark.parametrize(
    ("ann", "bob", "cat", "dan", "expected"),
    [
        ("?1", "?9", "?8", "?7", ["ann", "bob", "cat", "dan"]),  # ann, the holder after the award, comes first
        ("?9", "?8", "?1", "?7", ["cat", "dan", "ann", "bob"]),  # then clockwise from the holder
    ],
)
def test_a_tied_game_goes_to_the_holder_and_then_clockwise(
    ann: str, bob: str, cat: str, dan: str, expected: list[str]
) -> None:  # END-6
    numbers = [int(village[1:]) for village in (ann, bob, cat, dan)]
    totals = tuple(50 - number for number in numbers)
    t = at_the_last_turn(ann=ann, bob=bob, cat=cat, dan=dan, start="bob", round=4, totals=totals)
    assert t.totals == (50, 50, 50, 50)
    assert places(t) == expected


def test_of_tied_players_without_the_token_the_nearest_clockwise_from_the_holder_wins() -> None:  # END-6
    t = at_the_last_turn(ann="?9", bob="?8", cat="?1", dan="?7", round=4, totals=(1, 2, 90, 43))
    assert t.totals == (10, 10, 91, 50)
    assert t.holder == "cat"
    assert places(t) == ["ann", "bob", "dan", "cat"]


def places(t: Table) -> list[str]:
    result = outcome.result(t.state)
    assert result is not None
    return [t.players[seat].name for seat in result.places]
