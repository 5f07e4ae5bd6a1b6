"""Hidden information with Eye's cards: who learns what, and that nothing else tells one game from another."""

import pytest

from moonvale_engine.events import SPECTATOR, UNKNOWN, seen_by
from moonvale_engine.inference import excluded_numbers
from moonvale_engine.position import observe
from moonvale_engine.position_text import position_text
from moonvale_engine.views import view
from tests.support.table import Table, Viewer, table


def all_but(t: Table, *players: Viewer) -> list[Viewer]:
    return [viewer for viewer in (*t.players, t.spectator) if viewer not in players]


def twins(a: Table, b: Table, *viewers: int) -> None:
    """Assert that viewers can't tell two games apart, which must differ."""
    assert a.state.identity != b.state.identity
    for viewer in viewers:
        assert view(a.state, viewer) == view(b.state, viewer)
        assert position_text(observe(a.state, viewer)) == position_text(observe(b.state, viewer))
        assert [seen_by(event, viewer) for event in a.events] == [seen_by(event, viewer) for event in b.events]


def test_a_spotters_owner_alone_learns_what_it_looks_at_in_vain() -> None:  # HID-1, E03-1
    t = table("eye", ann="3 ?7", bob="?11 ?12", cat="?8", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=1).searches(t.bob).looks(t.bob, 1)
    assert t.ann.sees(t.bob) == "? ?12"
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.bob) == "? ?"
        (looked,) = viewer.reads("LOOKED")
        assert looked[5] == (t.bob.handle(1), UNKNOWN)  # all see which card it was


def test_a_split_seer_alone_learns_what_it_looks_at() -> None:  # HID-1, E08-1
    t = table("eye", ann="?5", bob="?7 ?6", deck="?8", pile="4")
    t.ann.draws().uses().looks(t.bob, 0)
    assert t.ann.sees(t.bob) == "?7 ?"
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.bob) == "? ?"


def test_everybody_learns_a_refused_discard_which_lies_facedown_again() -> None:  # HID-1, OBS-3, OBS-5
    t = table("eye", ann="?7 ?8", bob="?8", deck="?4", pile="9.1")
    t.ann.draws().exchanges(0, keep_at="right")
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.ann) == "?7 ? ?"
    t = table("eye", ann="4 ?7", bob="?8", deck="?9.1 ?6", pile="12")
    t.ann.gambles(9).wins(1)
    for viewer in all_but(t):
        assert viewer.sees(t.ann) == "4 ?7"


def test_everybody_learns_a_gamblers_flip() -> None:  # HID-1, E04-1
    t = table("eye", ann="4 ?8", bob="?8", deck="?7 ?6", pile="12")
    t.ann.gambles(7)
    for viewer in all_but(t):
        assert viewer.sees_pile == "7 12"
        assert [event[5][1] for event in viewer.reads("MOVED")] == [7]


def test_nobody_learns_a_penalty_or_a_facedown_gift() -> None:  # HID-1, E04-1, E12-1
    t = table("eye", ann="4 ?8", bob="?8", deck="?7 ?6", pile="12")
    t.ann.gambles(8).places_at("left")
    for viewer in all_but(t):
        assert viewer.sees(t.ann).split()[0] == "?"
        assert viewer.reads("MOVED")[-1][5][1] == UNKNOWN
    t = table("eye", ann="?5", bob="?8", deck="?12 ?6", pile="4")
    t.ann.draws().uses().places_at("left", t.bob)
    for viewer in all_but(t):
        assert viewer.sees(t.bob) == "? ?"
        assert viewer.reads("MOVED")[-1][5][1] == UNKNOWN


def test_the_drawer_alone_learns_a_card_that_is_kept() -> None:  # HID-1, OBS-4
    t = table("eye", ann="7", bob="?8", deck="?5", pile="9.1")
    t.ann.draws().keeps("left")
    assert t.ann.sees(t.ann) == "?5 7"
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.ann) == "? 7"


def test_a_buried_card_that_was_seen_stays_known_in_the_deck() -> None:  # HID-3, E10-1
    t = table("eye", ann="?5", bob="?8", deck="?10 ?6", deck_count=2, pile="?7 4", memory="assisted")
    s = t.state
    s.known[s.pile[-1]] = 2  # bob has seen the 7
    t.ann.draws().uses()
    assert t.deck == "?6 ?7 4"
    assert [observe(s, 1).state.identity[h] for h in reversed(s.deck)] == [UNKNOWN, 7, 4]
    assert [observe(s, 0).state.identity[h] for h in reversed(s.deck)] == [UNKNOWN, UNKNOWN, 4]


def test_at_the_table_a_buried_card_is_forgotten_until_it_lies_on_top() -> None:  # HID-3, HID-2, E10-1
    t = table("eye", ann="?5", bob="?8", deck="?10 ?6", deck_count=2, pile="?7 4", memory="table")
    s = t.state
    s.known[s.pile[-1]] = 2
    t.ann.draws().uses()
    for viewer in all_but(t):
        masked = observe(s, viewer.seat).state
        assert {masked.identity[h] for h in s.deck} == {UNKNOWN}
        assert {masked.flags[h] & 1 for h in s.deck} == {0}  # nor how it lies there
    t.bob.draws().discards()
    t.ann.draws().discards()
    for viewer in all_but(t):
        assert viewer.sees_deck_top == "4"
        assert position_text(observe(s, viewer.seat)).find("deck 4;") > 0


def test_at_the_table_conclusions_are_not_remembered() -> None:  # HID-3, E03-1, OBS-4
    for memory, kept in (("assisted", True), ("table", False)):
        t = table("eye", ann="3 ?7", bob="?11", deck="?5", pile="4", memory=memory)
        t.ann.draws().exchanges(1, spotters=1).searches(t.bob).looks(t.bob, 0)
        for viewer in all_but(t):
            assert ("excluded" in position_text(observe(t.state, viewer.seat))) == kept


def test_at_the_table_a_search_is_seen_while_it_lasts() -> None:  # HID-3, EYE-1
    t = table("eye", ann="?5", bob="?8", deck="?10 ?6", deck_count=2, token="eye", token_active=True, memory="table")
    t.ann.draws_with_token()
    assert t.ann.sees_pool == "?6 ?10"
    t.ann.chooses("?6")
    assert (t.ann.sees_pool, t.ann.sees_hand, t.bob.sees_hand) == ("", "?6", "?")


@pytest.mark.parametrize("memory", ["assisted", "table"])
def test_which_of_the_obsessors_a_hidden_card_is_tells_nothing(memory: str) -> None:  # HID-4
    a = table("eye", ann="?9.1 3", bob="?9.2 ?4", deck="?9.3 ?7", pile="9.4", memory=memory)
    b = table("eye", ann="?9.2 3", bob="?9.3 ?4", deck="?9.1 ?7", pile="9.4", memory=memory)
    twins(a, b, 0, 1, SPECTATOR)
    for t in (a, b):
        t.ann.draws()
    twins(a, b, 1, SPECTATOR)
    assert a.choices == b.choices
    for t in (a, b):
        t.ann.names(0)
    twins(a, b, 1, SPECTATOR)
    for t in (a, b):
        t.ann.closes()  # 9.1 or 9.2 lies open now
    assert (a.pile, b.pile) == ("9.1 9.4", "9.2 9.4")


def test_whether_a_drawn_card_fits_is_its_drawers_to_know() -> None:  # HID-4, OBS-3
    a = table("eye", ann="?5 ?8", bob="?8", deck="?7", pile="9.1")
    b = table("eye", ann="?5 ?8", bob="?8", deck="?4", pile="9.1")
    for t in (a, b):
        t.ann.draws()
    assert a.choices != b.choices
    twins(a, b, 1, SPECTATOR)
    for t in (a, b):
        t.ann.names(0).closes()  # a 5 is refused
        t.ann.places_at("left")
    twins(a, b, 1, SPECTATOR)


def test_a_kept_card_tells_that_it_fits_nowhere_and_no_more() -> None:  # HID-4, OBS-4
    a = table("eye", ann="7", bob="?8", deck="?5", pile="9.1")
    b = table("eye", ann="7", bob="?8", deck="?9.3", pile="9.1")
    for t in (a, b):
        t.ann.draws().keeps("left")
    twins(a, b, 1, SPECTATOR)


def test_how_many_facedown_cards_match_is_told_by_no_window() -> None:  # HID-4, E02-2
    a = table("eye", ann="?8", bob="2 ?7 ?11", deck="?7", pile="4")
    b = table("eye", ann="?8", bob="2 ?12 ?5", deck="?7", pile="4")
    for t in (a, b):
        t.ann.draws().discards()
        assert (t.to_act, t.decision) == ("bob", "turn")
    twins(a, b, 0, 1, SPECTATOR)


def test_a_prediction_shows_nothing_of_the_card_before_it_is_made() -> None:  # HID-4, E04-1
    a = table("eye", ann="4 ?8", bob="?8", deck="?7 ?6", pile="9.1")
    b = table("eye", ann="4 ?8", bob="?8", deck="?8 ?6", pile="9.1")
    for t in (a, b):
        t.ann.gambles()  # one will be refused
    assert a.choices == b.choices
    twins(a, b, 0, 1, SPECTATOR)


def test_a_spotters_search_is_the_same_whatever_lies_hidden() -> None:  # HID-4, E03-1
    a = table("eye", ann="3 7", bob="?7 ?12", deck="?5", pile="4")
    b = table("eye", ann="3 7", bob="?12 ?11", deck="?8", pile="4")
    for t in (a, b):
        t.ann.draws().exchanges(1, spotters=1).searches(t.bob)
    assert a.choices == b.choices
    twins(a, b, 1, SPECTATOR)


def test_the_open_decision_says_what_it_is_about() -> None:  # HID-2, E02-2, E03-1
    t = table("eye", ann="3 ?7", bob="2 7 ?8", deck="?5", pile="4")
    t.ann.draws().exchanges(1, spotters=1)
    for viewer in all_but(t):
        assert viewer.sees_decision.value == 7
    t.ann.searches(t.bob).stops()
    for viewer in all_but(t):
        assert (viewer.sees_decision.value, viewer.sees_decision.seat) == (7, 1)


def test_declared_spotters_are_public() -> None:  # HID-2, EXC-8
    t = table("eye", ann="3 ?7 3", bob="?8", deck="?5", pile="4")
    t.ann.draws().names(1)
    assert t.bob.sees_decision.declared == 0
    t.ann.declares(2)
    for viewer in all_but(t):
        assert viewer.sees_decision.declared == 2
        assert viewer.reads("ACTED")[-1][2] >= 0


def test_what_a_resigned_seat_keeps_or_exchanges_is_no_card_that_its_policy_would_use() -> None:  # END-7, OBS-4, HID-4
    fits = [0, 2, 4, 6, 8, 10, 12]
    for village in ("7 11", "?7 11"):  # kept; or exchanged, refused, and put down
        t = table("eye", ann="?4", bob="?8", cat=village, deck="?13", pile="9.1", active="cat")
        t.cat.resigns()
        assert t.cat.village == f"?13 {village}"
        mask = excluded_numbers(t.state, t.cat.handle(0))
        assert [number for number in range(14) if mask >> number & 1] == sorted([*fits, 5])
    t = table("eye", ann="?4", bob="?8", cat="7 11", deck="?5", pile="9.1", active="cat")
    t.cat.resigns()
    assert t.cat.village == "5 7 11"  # used


def test_what_a_player_keeps_may_be_a_5() -> None:  # OBS-4, HID-4
    t = table("eye", ann="7 11", bob="?8", deck="?13", pile="9.1")
    t.ann.draws().keeps("left")
    mask = excluded_numbers(t.state, t.ann.handle(0))
    assert [number for number in range(14) if mask >> number & 1] == [0, 2, 4, 6, 8, 10, 12]
