"""Hidden information: who learns what, what everybody sees, and that nothing else tells one game from another."""

import pytest

from moonvale_engine import play
from moonvale_engine.actions import CALL, pack
from moonvale_engine.errors import IllegalActionError
from moonvale_engine.events import SPECTATOR, UNKNOWN, seen_by
from moonvale_engine.options import Options
from moonvale_engine.position import observe
from moonvale_engine.position_text import position_text
from moonvale_engine.views import view
from tests.support.table import Player, Table, Viewer, table

SECRET = bytes(range(32))


def all_but(t: Table, *players: Viewer) -> list[Viewer]:
    return [viewer for viewer in (*t.players, t.spectator) if viewer not in players]


def test_a_looker_alone_learns_what_it_looks_at() -> None:  # HID-1
    t = table(ann="?1 ?2", bob="?3 ?4", cat="?5", deck="9")
    t.ann.draws().uses().looks(t.bob, 1)
    assert t.ann.sees(t.bob) == "? ?4"
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.bob) == "? ?"
    t = table(ann="?1 ?2", bob="?3 4 ?5", cat="?6", deck="7")
    t.ann.draws().uses().looks(t.bob)
    assert t.ann.sees(t.bob) == "?3 4 ?5"
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.bob) == "? 4 ?"


def test_everybody_sees_which_card_was_looked_at() -> None:  # HID-1
    t = table(ann="?1 ?2", bob="?3 ?4", cat="?5", deck="9")
    t.ann.draws().uses().looks(t.bob, 1)
    h = t.bob.handle(1)
    assert [event[5] for event in t.ann.reads("LOOKED")] == [(h, 4)]
    for viewer in all_but(t, t.ann):
        assert [event[5] for event in viewer.reads("LOOKED")] == [(h, UNKNOWN)]
        assert viewer.reads("ACTED") == t.ann.reads("ACTED")


def test_the_drawer_alone_learns_a_facedown_draw() -> None:  # HID-1
    t = table(ann="?1 ?2", bob="?3", deck="?9")
    t.ann.draws()
    assert t.ann.sees_hand == "?9"
    assert [event[5][1] for event in t.ann.reads("MOVED")] == [9]
    for viewer in all_but(t, t.ann):
        assert viewer.sees_hand == "?"
        assert [event[5][1] for event in viewer.reads("MOVED")] == [UNKNOWN]
    t.ann.exchanges(0)
    assert t.ann.sees(t.ann) == "?9 ?"
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.ann) == "? ?"
        assert [event[5][1] for event in viewer.reads("MOVED")] == [UNKNOWN, 1, UNKNOWN]


def test_everybody_learns_what_is_discarded() -> None:  # HID-1, HID-2
    t = table(ann="?1 ?2", bob="?3", deck="?9", pile="4")
    t.ann.draws().discards()
    for viewer in all_but(t):
        assert (viewer.sees_pile, viewer.sees_hand) == ("9 4", "")
        assert viewer.reads("MOVED")[-1][5][1] == 9


def test_everybody_learns_a_failed_set() -> None:  # HID-1, EXC-4
    t = table(ann="?1 ?2 ?3", bob="?3", deck="?9")
    t.ann.draws().exchanges(0, 2, keep_at="right")
    for viewer in all_but(t, t.ann):
        assert viewer.sees(t.ann) == "?1 ? ?3 ?"


def test_everybody_learns_what_is_flipped_faceup_and_keeps_knowing_it() -> None:  # HID-1
    t = table(ann="3 3 ?1", bob="?8 ?7")
    t.ann.uses(0).flips(t.bob, 0)
    for viewer in all_but(t):
        assert viewer.sees(t.bob) == "8 ?"
    t.ann.uses(1).flips(t.bob, 0)
    for viewer in all_but(t):
        assert viewer.sees(t.bob) == "?8 ?"


def test_everybody_learns_all_villages_at_the_end_of_a_round() -> None:  # HID-1, END-1
    t = table(ann="0 ?1", bob="?8 ?7", deck="?9", deck_count=1)
    t.ann.draws().discards()
    for viewer in all_but(t):
        assert [viewer.sees(owner) for owner in t.players] == ["0 ?1", "?8 ?7"]


def test_nobody_learns_a_penalty_card() -> None:  # HID-1, EXC-5
    t = table(ann="?1 ?2 ?3", bob="?3", deck="?9 ?8")
    t.ann.draws().exchanges(0, 1, 2, keep_at="right", penalty_at="left")
    assert t.ann.sees(t.ann) == "? ?1 ?2 ?3 ?9"
    assert t.bob.sees(t.ann) == "? ?1 ?2 ?3 ?"
    for viewer in all_but(t):
        assert viewer.reads("MOVED")[-1][5] == (t.ann.handle(0), UNKNOWN)


def test_nobody_learns_facedown_cards_that_golem_or_village_idiot_move() -> None:  # HID-1
    t = table(ann="?1", bob="?3", deck="11", pile="?7 9")
    t.ann.draws().uses().picks(t.bob, 0)
    for viewer in all_but(t):
        assert viewer.sees(t.bob) == "?"
        assert viewer.sees_pile == "11 9 ?"
    t = table(ann="?1", bob="?3", deck="12")
    t.ann.draws().uses().rotates("clockwise").picks(t.ann, 0).picks(t.bob, 0)
    for viewer in all_but(t):
        assert [viewer.sees(owner) for owner in t.players] == ["?", "?"]


def test_nobody_learns_a_facedown_card_taken_from_the_pile() -> None:  # HID-1, EXC-1
    t = table(ann="?1", bob="?3", pile="?7 9")
    t.ann.takes()
    for viewer in all_but(t):
        assert viewer.sees_hand == "?"
    t.ann.exchanges(0)
    for viewer in all_but(t):
        assert viewer.sees(t.ann) == "?"


def test_what_is_always_public() -> None:  # HID-2
    t = table(
        ann="?1 2~ ?3~",
        bob="",
        cat="4",
        deck="9",
        pile="7 ?5 8",
        deck_count=20,
        active="bob",
        start="cat",
        token_active=True,
        round=2,
        totals=(5, 6, 7),
    )
    for viewer in (t.ann, t.cat, t.spectator):
        seen = viewer.view
        assert [viewer.sees(owner) for owner in t.players] == ["? 2~ ?~", "", "4"]
        assert viewer.sees_pile == "7 ? 8"
        assert seen.deck_count == 20
        assert seen.deck_top is not None
        assert seen.deck_top.face == 9
        assert (seen.holder, seen.token_active) == (2, True)
        assert [seat.total for seat in seen.seats] == [5, 6, 7]
        assert seen.decision is not None
        assert (seen.decision.seat, seen.decision.kind) == (1, play.decision_kind(t.state))
    assert table(deck="?9").ann.view.deck_top is None


def test_knowledge_follows_the_card_not_the_spot() -> None:  # HID-3
    t = table(ann="?1 ?2", bob="?3 ?4", cat="?5 ?6", deck="9 12", pile="?8 10")
    t.ann.draws().uses().looks(t.bob, 0).looks(t.cat, 1).stops()
    t.bob.draws().uses().rotates("clockwise").picks(t.bob, 0).picks(t.cat, 0).picks(t.ann, 0)
    assert [t.ann.sees(owner) for owner in t.players] == ["? ?", "? ?", "?3 ?6"]
    assert [t.bob.sees(owner) for owner in t.players] == ["? ?", "? ?", "? ?"]


def test_knowledge_goes_with_a_facedown_card_into_the_pile() -> None:  # HID-3, C11-1
    t = table(ann="?1", bob="?3 ?4", deck="9 ?6 11")
    t.ann.draws().uses().looks(t.bob, 1).stops()
    t.bob.draws().discards()
    t.ann.draws().uses().picks(t.bob, 1)
    assert t.ann.sees_pile.endswith("?4")
    assert t.bob.sees_pile.endswith("?")


def test_knowledge_ends_when_the_cards_are_shuffled() -> None:  # HID-3
    t = table(ann="?1", bob="?3", deck="?9", deck_count=1)
    t.ann.draws().discards()
    for viewer in all_but(t):
        assert [viewer.sees(owner) for owner in t.players] == ["? ? ? ? ?"] * 2


def test_assisted_memory_shows_what_its_player_has_legally_seen() -> None:  # HID-3
    t = table(ann="?1 ?2", bob="?3 ?4", deck="9 ?5", memory="assisted")
    t.ann.draws().uses().looks(t.ann, 0).looks(t.bob, 1).stops()
    t.bob.draws().exchanges(0)
    assert [t.ann.sees(owner) for owner in t.players] == ["?1 ?", "? ?4"]
    assert [t.bob.sees(owner) for owner in t.players] == ["? ?", "?5 ?"]


def test_at_the_table_only_what_lies_open_is_shown() -> None:  # HID-3
    t = table(ann="?1 ?2 4", bob="?3 ?4", deck="9 ?5", memory="table")
    t.ann.draws().uses().looks(t.ann, 0)
    h = t.ann.handle(0)
    assert [event[5] for event in t.ann.reads("LOOKED")] == [(h, 1)]  # a look at the moment it happens
    assert [event[5] for event in t.bob.reads("LOOKED")] == [(h, UNKNOWN)]
    for viewer in all_but(t):
        assert [viewer.sees(owner) for owner in t.players] == ["? ? 4", "? ?"]
    t.ann.stops()
    t.bob.draws()
    assert t.bob.sees_hand == "?5"  # the own card drawn from the deck, while it is in hand
    assert t.bob.reads("MOVED")[-1][5][1] == 5
    assert t.ann.sees_hand == "?"
    assert t.ann.reads("MOVED")[-1][5][1] == UNKNOWN
    t.bob.exchanges(0)
    for viewer in all_but(t):
        assert viewer.sees(t.bob) == "? ?"


@pytest.mark.parametrize("memory", ["assisted", "table"])
def test_what_lies_open_is_told_to_all_with_any_memory(memory: str) -> None:  # HID-2, HID-3
    t = table(ann="2 4", bob="?3", pile="8", memory=memory)
    t.ann.turns(1, by=0).takes().exchanges(1)
    for viewer in all_but(t):
        assert [event[5][1] for event in viewer.reads("TURNED")] == [4]
        assert [event[5][1] for event in viewer.reads("MOVED")] == [8, 4, 8]


def test_assisted_events_tell_again_what_their_reader_has_seen() -> None:  # HID-3
    t = table(ann="?1 2", bob="?3", deck="9", memory="assisted")
    t.ann.draws().uses().looks(t.ann, 0).stops().turns(0, by=1)
    assert [event[5][1] for event in t.ann.reads("TURNED")] == [1]
    assert [event[5][1] for event in t.bob.reads("TURNED")] == [UNKNOWN]


def test_at_the_table_a_set_shown_is_not_remembered() -> None:  # HID-3
    t = table(ann="?1 ?2", bob="?3", deck="?5", memory="table")
    t.ann.draws().exchanges(0, 1, keep_at="left")
    for viewer in all_but(t):
        assert [event[5][1::2] for event in viewer.reads("SHOWN")] == [(1, 2)]
        assert viewer.sees(t.ann) == "? ? ?"


def test_at_the_table_events_remember_nothing_either() -> None:  # HID-3
    t = table(ann="?1 2", bob="?3 ?4", cat="?6", deck="9 ?5 ?5 12", memory="table")
    t.ann.draws().uses().looks(t.ann, 0).looks(t.bob, 0).stops().turns(0, by=1)
    for viewer in all_but(t):
        assert [event[5] for event in viewer.reads("TURNED")] == [(t.ann.handle(0), UNKNOWN)]
    t.bob.draws().discards()
    t.cat.draws().discards()
    t.ann.draws().uses()
    t.forget_events()
    t.ann.rotates("clockwise").picks(t.ann, 0).picks(t.bob, 0).picks(t.cat, 0)
    for viewer in all_but(t):
        assert [event[5][1] for event in viewer.reads("MOVED")] == [UNKNOWN] * 3


def test_at_the_table_a_facedown_card_taken_from_the_pile_is_not_remembered() -> None:  # HID-3
    t = table(ann="?1 4", bob="?3 ?4", deck="9 11 10", pile="8", memory="table")
    t.ann.draws().uses().looks(t.bob, 0).stops()
    t.bob.draws().uses().picks(t.bob, 0)  # the card seen goes facedown to the bottom of the pile
    assert t.pile == "11 8 ?3"
    t.ann.draws().uses().takes(3)
    assert t.hand == "?3"
    for viewer in all_but(t):
        assert viewer.sees_hand == "?"
        assert viewer.reads("MOVED")[-1][5][1] == UNKNOWN
    t.ann.exchanges(0)
    for viewer in all_but(t):
        assert viewer.reads("MOVED")[-1][5][1] == UNKNOWN


def twins(a: Table, b: Table, viewer: int) -> None:
    """Assert that a viewer can't tell two games apart, which must differ."""
    assert a.state.identity != b.state.identity
    assert view(a.state, viewer) == view(b.state, viewer)
    assert position_text(observe(a.state, viewer)) == position_text(observe(b.state, viewer))
    assert [seen_by(event, viewer) for event in a.events] == [seen_by(event, viewer) for event in b.events]


@pytest.mark.parametrize("memory", ["assisted", "table"])
def test_two_games_that_look_the_same_to_a_player_are_told_apart_by_nothing(memory: str) -> None:  # HID-4
    a = table(ann="?1 2 ?3", bob="?8 ?9", deck="?5 ?10", pile="?7 4", memory=memory)
    b = table(ann="?3 2 ?12", bob="?10 ?0", deck="?13 ?5", pile="?9 4", memory=memory)
    for viewer in (0, 1, SPECTATOR):
        twins(a, b, viewer)
    for t in (a, b):
        t.ann.draws()
    for viewer in (1, SPECTATOR):  # ann holds a card with an ability, or one without
        twins(a, b, viewer)
    for t in (a, b):
        t.ann.names(0)
    for viewer in (1, SPECTATOR):
        twins(a, b, viewer)
    a.ann.names(1)
    b.ann.names(1)
    for viewer in (1, SPECTATOR):  # whether the set will match is not told before it is closed
        twins(a, b, viewer)


def test_a_looker_is_told_apart_from_the_others_by_its_own_events_alone() -> None:  # HID-4
    a = table(ann="?1", bob="?8 ?9", cat="?3", deck="9")
    b = table(ann="?1", bob="?8 ?2", cat="?3", deck="9")
    for t in (a, b):
        t.ann.draws().uses().looks(t.bob, 1)
    for viewer in (1, 2, SPECTATOR):
        twins(a, b, viewer)
    assert a.ann.view != b.ann.view


def test_a_player_whose_village_decides_nothing_hidden_has_the_same_choices() -> None:  # HID-4, DEC-3
    a = table(ann="?1 2 ?3", bob="?8 ?9", deck="9", pile="?7 4")
    b = table(ann="?3 2 ?12", bob="?10 ?0", deck="9", pile="?9 4")
    for step in (Player.draws, Player.uses, Player.stops, Player.ends):
        assert a.choices == b.choices
        step(a.ann)
        step(b.ann)
    assert a.choices == b.choices


def test_only_the_seat_to_act_gets_the_choices() -> None:  # HID-4
    t = table(ann="?1", bob="?3", deck="?7")
    t.ann.draws()
    for viewer in all_but(t):
        decision = viewer.view.decision
        assert decision is not None
        assert decision.legal_actions == (tuple(t.state.choices) if viewer is t.ann else ())


def test_a_refused_action_says_the_same_whatever_lies_hidden() -> None:  # HID-4
    texts = set[str]()
    for village in ("?1 ?1 ?1 ?1 ?2", "?13 ?12 ?9 ?9 ?9"):
        t = table(ann=village, deck="?7" if "13" in village else "?0")
        for action in (pack(CALL), 63, -1):
            with pytest.raises(IllegalActionError) as refused:
                play.apply(t.state, action)
            texts.add(str(refused.value))
    assert len(texts) == 1


def test_handles_say_nothing_of_a_card_and_are_renewed_at_every_shuffle() -> None:  # HID-4
    first = play.new_game(Options(turn_limit=4), SECRET)
    other = play.new_game(Options(turn_limit=4), bytes(32))
    assert first.villages == other.villages
    assert first.identity != other.identity
    before = first.identity[:]
    layout = [village[:] for village in first.villages]
    while first.round == 1:
        play.apply(first, play.legal_actions(first)[0])
    assert first.villages == layout
    assert first.identity != before


def test_a_pending_choice_names_no_drawn_card_to_others() -> None:  # HID-4
    t = table(ann="?1", bob="?3", deck="?7")
    t.ann.draws()
    for viewer in (t.bob, t.spectator):
        decision = viewer.view.decision
        assert decision is not None
        assert (decision.ability, decision.picked) == (-1, ())


@pytest.mark.parametrize("viewer", [0, 1, SPECTATOR])
def test_the_secret_leaves_in_no_view_position_or_event(viewer: int) -> None:  # HID-5
    t = table(ann="0 ?1", bob="?3", deck="?7 ?8", deck_count=2)
    s = t.state
    s.entropy = (b"entropy-of-ann",)
    t.ann.draws().discards()
    t.bob.draws().discards()
    t.ann.done()
    position = observe(s, viewer)
    assert (position.state.secret, position.state.entropy) == (b"", ())
    told = repr((view(s, viewer), position_text(position), [seen_by(event, viewer) for event in t.events]))
    for kept in (s.secret.hex(), repr(s.secret), "entropy-of-ann", b"entropy-of-ann".hex()):
        assert kept not in told


def test_no_view_or_position_tells_the_order_of_the_deck() -> None:  # HID-5
    t = table(ann="?1", bob="?3")
    for viewer in (0, 1, SPECTATOR):
        masked = observe(t.state, viewer).state
        assert {masked.identity[h] for h in masked.deck} == {UNKNOWN}
        assert {masked.identity[h] for h in masked.aside} <= {UNKNOWN}
