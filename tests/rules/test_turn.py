"""The turn: free abilities, the main action, the call, and how a round ends."""

import pytest

from moonvale_engine.events import END_BY_CALL, END_BY_DECK, END_BY_LIMIT, TURN_ADDITIONAL, TURN_FINAL
from moonvale_engine.options import Options
from tests.support.table import Table, table


def why_the_round_ended(t: Table) -> int:
    (event,) = t.happened("ROUND_ENDED")
    return event[2]


def test_everybody_is_told_of_turns_calls_and_additional_turns() -> None:  # TURN-1, TURN-3, C01-1, HID-2
    t = table(ann="1 ?9", bob="?8", turn=5)
    t.ann.uses(0).draws().discards().calls()
    for viewer in (t.ann, t.bob, t.spectator):
        assert [event[1:4] for event in viewer.reads("TURN_ADDED")] == [(0, 0, 0)]
        assert [event[1:4] for event in viewer.reads("CALLED")] == [(0, 0, 0)]
        assert [event[1:4] for event in viewer.reads("TURN_BEGAN")] == [(0, 6, TURN_ADDITIONAL), (1, 7, TURN_FINAL)]
    t = table(ann="?1 ?9", bob="?8")
    t.ann.draws().discards()
    assert [event[1:4] for event in t.spectator.reads("TURN_BEGAN")] == [(1, 2, 0)]


def test_a_turn_is_free_abilities_one_main_action_and_free_abilities() -> None:  # TURN-1
    t = table(ann="3 3 2 ?1 ?1", bob="?8 ?7")
    t.ann.uses(0).flips(t.bob, 0)
    assert t.decision == "turn"
    t.ann.draws().discards()
    assert t.decision == "turn_end"
    t.ann.uses(1).flips(t.bob, 1)
    assert t.decision == "turn_end"
    assert not t.offers("draw")
    assert not t.offers("take")
    assert not t.offers("call")
    t.ann.turns(0, by=2)
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_there_is_no_pass_and_a_draw_is_always_possible() -> None:  # TURN-1
    for village in ("?1 ?2", "", "2 3~"):
        for pile in ("", "4"):
            t = table(ann=village, pile=pile)
            assert t.choices[0] == "draw"
            assert not t.offers("end")
    t = table(ann="2", pile="4")
    t.ann.turns(0, by=0)
    assert not t.offers("end")


def test_a_blob_is_a_main_action() -> None:  # TURN-1, C04-1
    t = table(ann="4 2", bob="?8", pile="7")
    t.ann.activates(0).looks(t.bob)
    assert t.decision == "turn_end"
    assert not t.offers("draw")
    assert not t.offers("activate")


def test_con_artist_turns_come_after_the_free_abilities() -> None:  # TURN-1, C01-1
    t = table(ann="1 2 ?9 ?9 ?9", bob="?8")
    t.ann.uses(0).draws().discards()
    assert t.decision == "turn_end"
    t.ann.turns(2, by=1)
    assert (t.to_act, t.decision) == ("ann", "turn")


def test_the_free_abilities_of_a_turn() -> None:  # TURN-2
    t = table(ann="1 2 3 ?9 ?9", bob="1 2 3", token_active=True)
    before = ["use 0", *(f"turn {spot} by 1" for spot in range(5)), "use 2", "token"]
    assert t.choices == ["draw", "take p0", *before]
    t.ann.draws().discards()
    assert t.choices == ["end", *before]


def test_the_curator_alone_may_be_used_at_every_other_own_decision() -> None:  # TURN-2
    t = table(ann="1 2 3 ?9 ?9", bob="?8 ?8", deck="7", token_active=True)
    t.ann.draws()
    assert t.offers("turn_card")
    assert not t.offers("use_resident")
    assert not t.offers("token")
    t.ann.uses()
    assert t.decision == "target"
    assert t.offers("turn 0 by 1")
    assert not t.offers("use_resident")
    assert not t.offers("token")
    t = table(ann="1 2 3 ?9 ?9", bob="?8 ?8", deck="9")
    t.ann.draws().uses()
    assert t.decision == "look"
    assert t.offers("turn 0 by 1")
    assert not t.offers("use_resident")
    t = table(ann="1 2 3 ?9 ?9", bob="?8 ?8", deck="5")
    t.ann.draws().uses()
    assert t.decision == "place"
    assert t.offers("turn 0 by 1")
    assert not t.offers("use_resident")
    t = table(ann="1 2 3 ?9 ?9", bob="?8 ?8", pile="5")
    t.ann.takes()
    assert t.offers("turn 0 by 1")
    assert not t.offers("use_resident")


def test_free_abilities_are_the_active_players() -> None:  # TURN-2
    t = table(ann="?9 ?9", bob="1 2 3", start="bob", token_active=True)
    assert t.choices == ["draw", "take p0", "call"]
    t.ann.draws().discards()
    assert t.to_act == "bob"


def test_a_call_needs_four_or_fewer_cards() -> None:  # TURN-3
    assert not table(ann="?1 ?2 ?3 ?4 ?5").offers("call")
    assert table(ann="?1 ?2 ?3 ?4").offers("call")
    assert table(ann="?1").offers("call")


def test_only_one_call_is_made_in_a_round() -> None:  # TURN-3, TURN-4
    t = table(ann="?1 ?2", bob="?3", cat="?4")
    t.ann.calls()
    assert t.to_act == "bob"
    assert not t.offers("call")
    t.bob.draws().discards()
    assert t.to_act == "cat"
    assert not t.offers("call")


def test_no_call_in_a_turn_in_which_an_ability_or_the_token_was_used() -> None:  # TURN-3, COIN-1
    t = table(ann="3 2 ?9", bob="?8")
    assert t.offers("call")
    assert not t.ann.uses(0).flips(t.bob, 0).table.offers("call")
    t = table(ann="3 2 ?9", bob="?8")
    assert not t.ann.turns(0, by=1).table.offers("call")
    t = table(ann="1 ?9", bob="?8")
    assert not t.ann.uses(0).table.offers("call")
    t = table(ann="?1 ?9", bob="?8", token_active=True)
    assert t.offers("call")
    assert not t.ann.uses_token().flips(t.bob, 0).table.offers("call")


def test_an_ability_used_in_an_earlier_turn_does_not_forbid_a_call() -> None:  # TURN-3
    t = table(ann="2 ?9", bob="?8")
    t.ann.turns(0, by=0).draws().discards()
    t.bob.draws().discards()
    assert t.offers("call")


def test_a_call_ends_the_turn_at_once() -> None:  # TURN-3
    t = table(ann="1 2 3 ?9", bob="?8", token_active=True)
    t.ann.calls()
    assert (t.to_act, t.decision) == ("bob", "turn")


def test_additional_turns_still_owed_to_a_caller_lapse() -> None:  # TURN-3
    t = table(ann="1 1 ?9", bob="?8", cat="?7")
    t.ann.uses(0).uses(1).draws().discards()
    assert t.to_act == "ann"
    t.ann.calls()
    assert t.to_act == "bob"
    t.bob.draws().discards()
    assert t.to_act == "cat"
    t.cat.draws().discards()
    assert why_the_round_ended(t) == END_BY_CALL


def test_after_a_call_every_other_player_gets_one_more_turn() -> None:  # TURN-4
    t = table(ann="?1 ?2", bob="?3", cat="?4", dan="?5", active="cat")
    t.cat.calls()
    t.dan.draws().discards()
    t.ann.draws().discards()
    assert not t.round_ended
    t.bob.draws().discards()
    assert why_the_round_ended(t) == END_BY_CALL
    finals = [event[1] for event in t.happened("TURN_BEGAN") if event[3] & TURN_FINAL]
    assert finals == [3, 0, 1]


def test_a_final_turn_may_bring_con_artist_turns() -> None:  # TURN-4, C01-1
    t = table(ann="?9", bob="1 1 ?3", cat="?4", active="bob", caller="ann")
    t.bob.uses(0).draws().discards().uses(1)
    for _ in range(2):
        assert t.to_act == "bob"
        assert not t.offers("call")
        t.bob.draws().discards()
    assert t.to_act == "cat"
    t.cat.draws().discards()
    assert why_the_round_ended(t) == END_BY_CALL
    kinds = [(event[1], event[3]) for event in t.happened("TURN_BEGAN")]
    assert kinds == [(1, TURN_FINAL | TURN_ADDITIONAL)] * 2 + [(2, TURN_FINAL)]


def test_the_last_final_turn_may_bring_con_artist_turns() -> None:  # TURN-4, C01-1
    t = table(ann="?9", bob="1 ?3", active="bob", caller="ann")
    t.bob.draws().discards().uses(0)
    assert not t.round_ended
    t.bob.draws().discards()
    assert t.round_ended


def test_a_depleted_deck_ends_the_round() -> None:  # TURN-5
    t = table(ann="?1 ?2", bob="?3", deck="9 9", deck_count=2)
    t.ann.draws().discards()
    assert not t.round_ended
    t.bob.draws().discards()
    assert why_the_round_ended(t) == END_BY_DECK


def test_the_turn_in_which_the_deck_is_depleted_is_played_to_its_end() -> None:  # TURN-5
    t = table(ann="2 ?2 ?3", bob="?3", deck="9", deck_count=1)
    t.ann.draws().uses().looks(t.bob, 0).stops()
    assert (t.to_act, t.decision) == ("ann", "turn_end")
    t.ann.turns(1, by=0)
    assert why_the_round_ended(t) == END_BY_DECK


def test_a_depleted_deck_ends_the_round_before_a_con_artist_turn() -> None:  # TURN-5, C01-1
    t = table(ann="1 ?2", bob="?3", deck="9", deck_count=1)
    t.ann.uses(0).draws().discards()
    assert why_the_round_ended(t) == END_BY_DECK
    t = table(ann="1 0 ?2", bob="?3", deck="9", deck_count=1)
    t.ann.uses(0).draws().discards()
    assert t.decision == "scoring"
    assert t.ann.view.extra_turns == 0  # it is owed no more


def test_a_depleted_deck_ends_the_round_even_if_final_turns_are_owed() -> None:  # TURN-5
    t = table(ann="?2", bob="?3", cat="?4", deck="9", deck_count=1, active="bob", caller="ann")
    t.bob.draws().discards()
    assert why_the_round_ended(t) == END_BY_DECK


def test_a_deck_depleted_by_a_penalty_card_ends_the_round() -> None:  # TURN-5
    t = table(ann="?2 ?3 ?4", bob="?3", pile="5", deck="9", deck_count=1)
    t.ann.takes().exchanges(0, 1, 2, keep_at="right")
    assert why_the_round_ended(t) == END_BY_DECK


def test_a_round_ends_after_the_turn_limit() -> None:  # TURN-6
    t = table(ann="1 ?2", bob="?3", turn=9, turn_limit=10)
    t.ann.draws().discards().ends()
    assert not t.round_ended
    t.bob.takes().exchanges(0)
    assert why_the_round_ended(t) == END_BY_LIMIT


def test_the_turn_limit_leaves_no_con_artist_turn() -> None:  # TURN-6, C01-1
    t = table(ann="1 ?2", bob="?3", turn=10, turn_limit=10)
    t.ann.uses(0).draws().discards()
    assert why_the_round_ended(t) == END_BY_LIMIT


def test_a_call_made_within_the_turn_limit_keeps_its_final_turns() -> None:  # TURN-6
    t = table(ann="1 ?2", bob="?3", cat="?4", turn=10, turn_limit=10)
    t.ann.calls()
    t.bob.draws().discards()
    assert not t.round_ended
    t.cat.draws().discards()
    assert why_the_round_ended(t) == END_BY_CALL


def test_a_game_ends_even_if_everybody_only_takes() -> None:  # TURN-6
    assert Options().turn_limit == 200
    t = table(ann="?2", bob="?3", rounds=1)
    turns = 0
    while not t.round_ended:
        player = t.players[t.state.active].takes().exchanges(0)
        turns += 1
        if t.decision == "turn_end":
            player.ends()
    assert why_the_round_ended(t) == END_BY_LIMIT
    assert turns == 200


@pytest.mark.parametrize("pile", ["", "4", "?4"])
def test_with_an_empty_village_one_may_draw_or_call_but_not_take(pile: str) -> None:  # TURN-7
    t = table(ann="", bob="?3", pile=pile)
    assert t.choices == ["draw", "call"]


def test_with_an_empty_village_a_drawn_card_is_discarded_with_or_without_its_ability() -> None:  # TURN-7
    t = table(ann="", bob="?3", deck="7")
    t.ann.draws()
    assert t.choices == ["discard", "use"]
    t.ann.uses().looks(t.bob)
    assert t.ann.village == ""
    t = table(ann="", bob="?3", deck="2")
    t.ann.draws()
    assert t.choices == ["discard"]


def test_a_drawn_5_may_enter_an_empty_village_by_its_ability() -> None:  # TURN-7, C05-1
    t = table(ann="", bob="?3", deck="5")
    t.ann.draws().uses()
    assert t.choices == ["end a left"]  # an empty village has one end
    t.ann.places_at("left").flips(t.bob, 0)
    assert t.ann.village == "5"


def test_a_player_with_an_empty_village_may_call() -> None:  # TURN-7
    t = table(ann="", bob="?3")
    t.ann.calls()
    t.bob.draws().discards()
    assert why_the_round_ended(t) == END_BY_CALL
