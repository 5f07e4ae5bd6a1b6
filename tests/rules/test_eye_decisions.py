"""Decisions and turns with Eye's cards: their kinds, their order, what is one decision and what is several."""

import pytest

from moonvale_engine.decisions import KINDS
from tests.support.table import table


def test_the_choices_of_a_turn_come_in_order() -> None:  # DEC-2, DEC-3
    t = table("eye,1=coin", ann="1 4 2 ?8", bob="?8", pile="4", token="eye", token_active=True)
    assert t.choices == ["draw", "draw with token", "take p0", "call", "gamble", "use 0", "discard 1 by 2"]


def test_the_choices_of_a_hand_come_in_order() -> None:  # DEC-2, DEC-3
    t = table("coin,9=eye,5=eye", ann="2 7", bob="?8", deck="?5", pile="9.3")
    t.ann.draws()
    assert t.choices == ["discard", "use", "name 0", "turn 0 by 0", "turn 1 by 0"]
    t = table("coin,9=eye,5=eye", ann="2 7", bob="?8", deck="?5", pile="9.4")
    t.ann.draws()
    assert t.choices == ["use", "name 1", "turn 0 by 0", "turn 1 by 0"]
    t = table("coin,9=eye,5=eye", ann="2 4", bob="?8", deck="?5", pile="9.4")
    t.ann.draws()
    assert t.choices == ["use", "keep", "turn 0 by 0", "turn 1 by 0"]


def test_the_choices_of_a_set_come_in_order() -> None:  # DEC-2, DEC-3
    t = table("eye", ann="3 ?8 3 ?7", bob="?8", deck="?5")
    t.ann.draws().names(1)
    assert t.choices == ["close", "name 2", "name 3", "declare spotters 1", "declare spotters 2"]


def test_the_choices_of_a_reward_come_in_order() -> None:  # DEC-2, DEC-3
    t = table("coin,3=eye,4=eye", ann="4 3 2", bob="?8", deck="?7")
    t.ann.gambles(7)
    assert t.choices == [
        *("decline", "pick a0", "pick a0 spotters 1", "pick a1", "pick a1 spotters 1", "pick a2"),
        *("pick a2 spotters 1", "turn 0 by 2", "turn 1 by 2", "turn 2 by 2"),
    ]


def test_the_choices_of_a_reaction_come_in_order() -> None:  # DEC-2, DEC-3
    t = table("eye", ann="?8", bob="7 2 3 7", deck="?7", pile="4")
    t.ann.draws().discards()
    assert t.choices == [
        *("pass", "discard 0 by 1", "discard 0 by 1 spotters 1", "discard 3 by 1", "discard 3 by 1 spotters 1"),
    ]


def test_the_choices_of_the_end_of_a_turn_come_in_order() -> None:  # DEC-2, DEC-3
    t = table("eye,1=coin", ann="1 4 4 2 7", bob="?8", deck="?7 ?8", pile="12")
    t.ann.gambles(7).declines().passes()
    assert t.decision == "turn_end"
    assert t.choices == ["end", "gamble", "use 0", "discard 4 by 3"]


def test_what_is_tucked_or_bombed_and_where_is_one_decision() -> None:  # DEC-2, DEC-3
    t = table("eye", ann="?8", bob="-1 ?7", cat="13 -1", deck="12", deck_count=1, pile="12", start="cat")
    t.ann.draws().discards()
    assert t.to_act == "cat"
    assert t.choices == ["done", "tuck 1 under c0", "tuck 1 under a0", "tuck 1 under b1"]
    t.cat.done()
    t.bob.done()
    assert t.choices == ["done", "bomb c1 by 0", "bomb a0 by 0", "bomb b0 by 0", "bomb b1 by 0"]


def test_a_drunks_village_and_end_are_one_decision() -> None:  # DEC-2, E12-1
    t = table("eye", ann="?8", bob="?7", deck="?12 ?5", pile="4")
    t.ann.draws().uses().places_at("left", t.bob)
    assert t.to_act == "bob"


def test_each_look_and_each_flip_is_a_decision_of_its_own() -> None:  # DEC-2
    t = table("coin,8=eye", ann="2 ?8", bob="?7", deck="?8 ?5", pile="4")
    t.ann.draws().uses().turns(1, by=0)
    assert t.choices == ["pick a1", "pick b0"]
    t.ann.looks(t.bob, 0).looks(t.ann, 1)
    t = table("coin,6=eye", ann="2 2 ?8", bob="?7", deck="?6 ?5", pile="4")
    t.ann.draws().uses().flips(t.bob, 0).turns(2, by=0).flips(t.ann, 2).turns(2, by=1).flips(t.ann, 0)
    assert (t.ann.village, t.bob.village) == ("?2 2 8", "7")


def test_a_gamble_and_its_value_are_two_decisions() -> None:  # DEC-2, E04-1
    t = table("eye", ann="4 ?8", bob="?7")
    t.ann.gambles()
    assert t.decision == "predict"


def test_a_spotters_village_and_each_of_its_looks_are_decisions_of_their_own() -> None:  # DEC-2, E03-1
    t = table("eye", ann="3 ?7", bob="?8 ?11", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=1)
    assert (t.decision, t.choices) == ("target", ["village b"])  # a single choice is still put
    t.ann.searches(t.bob)
    assert t.decision == "look"
    t.ann.looks(t.bob, 0)
    assert t.decision == "look"


@pytest.mark.parametrize(
    ("ann", "deck", "steps", "kind"),
    [
        ("4 ?8", "?7", "gambles", "predict"),
        ("?8", "?7 ?5", "draws uses", "target"),
        ("?8", "?8 ?5", "draws uses", "look"),
        ("?8", "?12 ?5", "draws uses", "place"),
    ],
)
def test_kinds_of_decision_are_public(ann: str, deck: str, steps: str, kind: str) -> None:  # DEC-2, HID-2
    t = table("eye", ann=ann, bob="?7", deck=deck, pile="4")
    for step in steps.split():
        getattr(t.ann, step)()
    for viewer in (*t.players, t.spectator):
        assert KINDS[viewer.sees_decision.kind].lower() == kind


def test_what_is_optional_inside_an_ability() -> None:  # DEC-4
    t = table("eye", ann="3 4 ?7", bob="?8", deck="?7 ?5 ?5", pile="12")
    t.ann.gambles(7)
    assert t.choices[0] == "decline"
    t.ann.wins(2, spotters=1).searches(t.bob)
    assert t.choices[0] == "stop"


def test_all_else_is_mandatory_once_begun() -> None:  # DEC-4
    for number in ("5", "6", "7", "8", "11", "12"):
        t = table("eye", ann="?8 ?8", bob="?7", deck=f"?{number} ?5", pile="4 3 2")
        t.ann.draws().uses()
        assert t.to_act == "ann"
        for leave in ("stop", "end", "decline", "pass", "done"):
            assert not t.offers(leave)


def test_a_turn_has_one_main_action_a_gamble_or_a_search_included() -> None:  # TURN-1
    t = table("eye,3=coin", ann="4 3 ?8", bob="?7", deck="?7 ?5", pile="12", token="eye", token_active=True)
    t.ann.gambles(7).declines()
    assert t.choices == ["end", "use 1"]
    t = table("eye,3=coin", ann="4 3 ?8", bob="?7", deck="?7 ?5", pile="12", token="eye", token_active=True)
    t.ann.draws_with_token("?5").exchanges(2)
    assert t.choices == ["end", "use 1"]


def test_a_used_simon_forbids_a_call_in_the_same_turn() -> None:  # TURN-3, E02-1
    t = table("eye", ann="2 7 ?8", bob="?7", pile="7")
    assert t.offers("call")
    t.ann.discards(1, by=0)
    assert not t.offers("call")


def test_a_simon_used_in_anothers_turn_does_not_forbid_a_call() -> None:  # TURN-3, E02-1
    t = table("eye", ann="?8", bob="2 7 ?8", deck="?7", pile="4")
    t.ann.draws().discards()
    t.bob.discards(1, by=0).calls()
    assert t.state.caller == t.bob.seat


def test_the_deck_is_judged_after_reactions_and_free_abilities() -> None:  # TURN-5, E02-2
    t = table("eye", ann="2 11 11 ?8", bob="2 11 ?8", deck="?11", deck_count=1, pile="4")
    t.ann.draws().discards().passes()
    assert (t.to_act, t.decision) == ("bob", "reaction")
    t.bob.discards(1, by=0)
    assert (t.to_act, t.decision) == ("ann", "turn_end")
    t.ann.discards(1, by=0)
    assert t.round_ended
    assert t.scores == (21, 10)


def test_a_penalty_that_depletes_the_deck_ends_the_round() -> None:  # TURN-5, E04-1
    t = table("eye", ann="4 ?8", bob="?11", deck="?7 ?5", deck_count=2, pile="12")
    t.ann.gambles(8).places_at("left")
    assert t.round_ended
    assert t.scores == (17, 11)


def test_a_deck_depleted_by_a_gift_ends_the_round() -> None:  # TURN-5, E12-1
    t = table("eye", ann="?8", bob="?11", deck="?12 ?5", deck_count=2, pile="4")
    t.ann.draws().uses().places_at("left", t.bob)
    assert t.scores == (8, 16)


def test_a_refilled_deck_ends_by_the_turn_limit_at_last() -> None:  # TURN-6, E10-1
    t = table("eye", ann="?8", bob="?11", deck="?10", deck_count=1, pile="4", turn_limit=4, rounds=1)
    t.ann.draws().uses()
    assert t.to_act == "bob"
    t.bob.takes().exchanges(0)
    t.ann.takes().exchanges(0)
    t.bob.takes().exchanges(0)
    assert t.round_ended
    assert t.deck_count == 1


def test_final_turns_may_gamble_and_search() -> None:  # TURN-4, E04-1, EYE-1
    t = table("eye", ann="?8", bob="4 ?8", active="bob", caller="ann", start="bob", token="eye", token_active=True)
    assert t.choices == ["draw", "draw with token", "take p0", "gamble"]


def test_a_player_with_an_empty_village_may_search() -> None:  # TURN-7, EYE-1
    t = table("eye", ann="", bob="?8", deck="?7 ?5", deck_count=2, token="eye", token_active=True)
    assert t.choices == ["draw", "draw with token", "call"]
    t.ann.draws_with_token("?7")
    assert t.choices == ["discard", "use"]


def test_a_window_is_not_put_to_who_could_only_pass() -> None:  # DEC-1, E02-2
    t = table("eye", ann="2 ?7", bob="2 ?7", cat="7", deck="?7", pile="4")
    t.ann.draws().discards()
    assert (t.to_act, t.decision) == ("bob", "turn")
