"""The Eye token: its holder looks through the deck, draws one of its cards, and the rest is shuffled."""

from collections import Counter

import pytest

from moonvale_engine import catalog, play
from moonvale_engine.deck import face_text
from moonvale_engine.events import UNKNOWN, seen_by
from moonvale_engine.inference import exclude, excluded_numbers
from moonvale_engine.options import Options, parse_deck
from moonvale_engine.position import observe
from moonvale_engine.position_text import position_text
from moonvale_engine.views import view
from tests.support.table import Table, table


def eye(cards: str = "eye", /, *, ann: str = "?11 ?12", bob: str = "?8 ?5", deck: str, pile: str = "4") -> Table:
    """Set a table with three players whose deck has no other cards than these, and the token ann's to use."""
    return table(
        cards,
        ann=ann,
        bob=bob,
        cat="?3",
        deck=deck,
        deck_count=len(deck.split()),
        pile=pile,
        token="eye",
        token_active=True,
    )


def test_its_holder_may_draw_with_the_eye_token_in_place_of_a_plain_draw() -> None:  # EYE-1, TURN-1
    t = eye(deck="?7 ?6 ?5")
    assert t.choices == ["draw", "draw with token", "take p0", "call"]
    t.ann.draws_with_token()
    assert t.decision == "eye_pick"
    t.ann.chooses("?5")
    assert (t.decision, t.hand) == ("hand", "?5")
    assert sorted(t.deck.split()) == ["?6", "?7"]
    t.ann.exchanges(0)
    assert t.to_act == "bob"


def test_the_eye_token_works_on_its_active_side_and_for_its_holder_alone() -> None:  # EYE-1
    assert not table("eye", ann="?11", bob="?8", token="eye").offers("draw with token")
    t = table("eye", ann="?11", bob="?8", token="eye", token_active=True, start="bob")
    assert not t.offers("draw with token")
    t.ann.draws().discards()
    assert t.offers("draw with token")


def test_the_eye_token_works_once_per_round() -> None:  # EYE-1
    t = eye(deck="?7 ?6 ?5 ?5 ?5")
    t.ann.draws_with_token("?5").exchanges(0)
    assert not t.state.token_active
    t.bob.draws().discards()
    t.cat.draws().discards()
    assert (t.to_act, t.offers("draw with token")) == ("ann", False)


@pytest.mark.parametrize("cards", ["eye,2=coin", "eye,3=coin", "eye,1=coin", "eye"])
def test_the_eye_token_is_used_before_anything_else_in_the_turn(cards: str) -> None:  # EYE-1
    village = {"eye,2=coin": "2 ?12", "eye,3=coin": "3 ?12", "eye,1=coin": "1 ?12", "eye": "2 4"}[cards]
    t = table(cards, ann=village, bob="?8", pile="4", token="eye", token_active=True)
    assert t.offers("draw with token")
    play.apply(t.state, next(action for action in t.state.choices if action & 63 in (5, 6, 7)))  # a free ability
    if t.decision == "target":
        t.ann.picks(t.bob, 0)
    assert t.decision == "turn"
    assert not t.offers("draw with token")


def test_in_an_additional_turn_the_eye_token_may_be_used() -> None:  # EYE-1, C01-1
    t = table("eye,1=coin", ann="1 ?12", bob="?8", deck="?8", token="eye", token_active=True)
    t.ann.uses(0).draws().discards()
    assert (t.to_act, t.offers("draw with token")) == ("ann", True)


def test_the_choices_are_number_demand_and_facing_each_once_in_that_order() -> None:  # EYE-1, DEC-2, DEC-3
    t = eye(deck="?9.2 ?7 7 ?6 ?6 ?9.1 -1 ?-1 9.4")
    t.ann.draws_with_token()
    assert t.choices == [
        *("choose 1 facedown", "choose 1 faceup", "choose 6 facedown", "choose 7 facedown", "choose 7 faceup"),
        *("choose 9 facedown", "choose 9.2 facedown", "choose 9.4 faceup"),
    ]


def test_obsessors_with_the_same_demand_are_one_choice() -> None:  # EYE-1
    t = table(
        "eye",
        ann="?11",
        bob="?8",
        deck="?9.2 ?9.1 ?9.4 ?9.3",
        deck_count=4,
        token="eye",
        token_active=True,
        demands=("odd", "even", "odd", "even"),
    )
    t.ann.draws_with_token()
    assert t.choices == ["choose 9 facedown", "choose 9.2 facedown"]
    t.ann.chooses("?9.2")
    assert t.hand in ("?9.2", "?9.4")


def test_the_keyed_shuffle_picks_which_copy_is_drawn() -> None:  # EYE-1
    t = eye(deck="?7 ?6 ?7 ?7")
    drawn = set()
    for secret in range(30):
        again = t.state.copy()
        again.secret = bytes((secret,)) * 32
        play.apply(again, again.choices[1])
        play.apply(again, next(action for action in again.choices if action >> 6 & 15 == 7))
        drawn.add(bytes(again.identity[h] for h in reversed(again.deck)))
    assert drawn == {bytes((6, 7, 7)), bytes((7, 6, 7)), bytes((7, 7, 6))}


def test_the_chosen_card_counts_as_drawn_from_the_deck() -> None:  # EYE-1, ABL-3
    t = eye(deck="?7 ?6 ?5")
    t.ann.draws_with_token("?7")
    assert t.choices == ["discard", "use", "name 0", "name 1"]
    t.ann.uses().picks(t.bob, 0)
    assert t.pile == "8 7 4"
    t = eye(deck="?7 ?6 ?5")
    t.ann.draws_with_token("?7").exchanges(1)
    assert t.ann.village == "?11 ?7"
    assert [player.knows(t.ann, 1) for player in t.players] == [True, False, False]


def test_the_rest_is_shuffled_with_facings_kept_and_new_handles() -> None:  # EYE-1, HID-4
    t = eye(deck="?7 6 ?5 ?8 10 ?12 ?-1 ?2 ?3")
    s = t.state
    before = {h: s.identity[h] for h in s.deck}
    t.ann.draws_with_token("?5")
    assert sorted(t.deck.split()) == sorted(["?7", "6", "?8", "10", "?12", "?-1", "?2", "?3"])
    assert {h: s.identity[h] for h in [*s.deck, s.hand]} != before
    assert set(before) == {*s.deck, s.hand}
    assert list(reversed(s.deck)) == sorted(s.deck)  # handles in the order of the deck say nothing of its cards
    assert s.hand == min(before)
    (shuffled,) = t.happened("SHUFFLED")
    assert shuffled[2] == 8


def test_its_user_sees_what_the_deck_holds_and_not_its_order() -> None:  # EYE-1, HID-1
    t = eye(deck="?7 ?6 ?5 10")
    t.ann.draws_with_token()
    assert sorted(t.ann.sees_pool.split()) == ["10", "?5", "?6", "?7"]
    (searched,) = t.ann.reads("SEARCHED")
    assert sorted(searched[5][1::2]) == [5, 6, 7, 10]
    assert set(searched[5][::2]) == {255}
    for viewer in (t.bob, t.cat, t.spectator):
        assert viewer.sees_pool == ""
        assert set(viewer.reads("SEARCHED")[0][5][1::2]) == {UNKNOWN}
    t.ann.chooses("?6")
    assert sorted(t.ann.sees_pool.split()) == ["10", "?5", "?6", "?7"]  # one of them is in hand
    for viewer in (t.bob, t.cat, t.spectator):
        assert viewer.sees_pool == "10"  # which all have seen to lie in the deck
    masked = observe(t.state, 0).state
    assert {masked.identity[h] for h in masked.deck} <= {UNKNOWN, 10}


def test_its_choices_are_its_users_alone() -> None:  # EYE-1, HID-4
    t = eye(deck="?7 ?6 ?5")
    t.ann.draws_with_token()
    for viewer in (t.bob, t.cat, t.spectator):
        assert viewer.sees_decision.legal_actions == ()
        assert (viewer.sees_decision.kind, viewer.sees_decision.seat) == (t.ann.sees_decision.kind, 0)
    t.forget_events()
    t.ann.chooses("?6")
    assert t.ann.reads("ACTED")[0][2] >= 0
    for viewer in (t.bob, t.cat, t.spectator):
        assert viewer.reads("ACTED")[0][2] == -1
        assert viewer.reads("MOVED")[0][5][1] == UNKNOWN
        assert viewer.sees_hand == "?"


def test_a_faceup_card_that_is_picked_is_public() -> None:  # EYE-1
    t = eye(deck="?7 6 ?5")
    t.ann.draws_with_token("6")
    assert t.hand == "6"
    for viewer in (*t.players, t.spectator):
        assert viewer.sees_hand == "6"
        assert viewer.reads("MOVED")[0][5][1] == 6
    t.ann.exchanges(0)
    assert t.ann.village == "6 ?12"


def test_all_knowledge_of_where_cards_lie_in_the_deck_ends() -> None:  # EYE-1, HID-3
    t = eye(deck="?7 ?6 10 ?5")
    s = t.state
    s.known[s.deck[0]] = s.known[s.deck[2]] = 2  # bob has seen the bottom card, a 5, and a 6
    assert [observe(s, 1).state.identity[h] for h in reversed(s.deck)] == [UNKNOWN, 6, 10, 5]
    t.ann.draws_with_token("?7")
    for viewer in (t.ann, t.bob, t.cat, t.spectator):
        masked = observe(s, viewer.seat).state
        top = s.deck[-1] if s.flags[s.deck[-1]] & 1 else None
        assert [masked.identity[h] for h in s.deck if h != top] == [UNKNOWN] * (3 if top is None else 2)
    assert sorted(t.bob.sees_pool.split()) == sorted(["?5", "?6", *(["10"] if not t.bob.sees_deck_top else [])])


def test_what_was_concluded_of_a_card_ends_when_it_is_shuffled() -> None:  # EYE-1, HID-3
    t = eye(deck="?7 ?6 ?10 ?5")
    s = t.state
    exclude(s, s.deck[0], 1 << 7)  # a Spotter missed the bottom card before it came there
    exclude(s, t.bob.handle(0), 1 << 7)
    t.ann.draws_with_token("?7")
    assert [excluded_numbers(s, h) for h in (*s.deck, s.hand)] == [0, 0, 0, 0]
    assert excluded_numbers(s, t.bob.handle(0)) == 1 << 7


def test_a_faceup_card_on_top_is_public_and_the_facing_of_those_below_is_nobodys_to_know() -> None:  # EYE-1, HID-2
    tops = set[str]()
    for secret in range(20):
        t = eye(deck="?7 6 10 ?5")
        t.state.secret = bytes((secret,)) * 32
        t.ann.draws_with_token("?7")
        top = t.deck.split()[0]
        tops.add(top)
        for viewer in (*t.players, t.spectator):
            assert viewer.sees_deck_top == ("" if top == "?5" else top)
            below = list(t.state.deck[:-1])
            masked = observe(t.state, viewer.seat).state
            assert {masked.flags[h] & 1 for h in below} == {0}
    assert tops == {"6", "10", "?5"}


def test_each_card_drawn_from_the_shuffled_deck_shows_how_the_next_one_lies() -> None:  # EYE-1, HID-2
    t = eye(deck="?7 6 10 ?5 ?8 3")
    t.ann.draws_with_token("?7").exchanges(0)
    while not t.round_ended:
        top = t.deck.split()[0]
        for viewer in (*t.players, t.spectator):
            assert viewer.sees_deck_top == ("" if top.startswith("?") else top)
            left = [card for card in t.deck.split() if not card.startswith("?") and card != viewer.sees_deck_top]
            assert [card for card in viewer.sees_pool.split() if not card.startswith("?")] == sorted(left, key=int)
        player = next(player for player in t.players if player.name == t.to_act)
        player.draws().discards()


@pytest.mark.parametrize("deck", ["eye", "coin,1=eye,9=eye", "eye,1=coin,9=coin"])
def test_each_number_comes_from_the_deck_that_the_table_picked(deck: str) -> None:  # SET-1
    options = Options(deck=parse_deck(deck))
    types = catalog.cards_in_play(options)
    assert [(card.number, card.deck) for card in types] == list(enumerate(options.deck))
    s = play.new_game(options, bytes(32))
    copies = Counter(face_text(types, face) for face in s.identity)
    nine = {"9": 4} if options.deck[9] == "coin" else {"9.1": 1, "9.2": 1, "9.3": 1, "9.4": 1}
    one = {"1": 4} if options.deck[1] == "coin" else {"-1": 4}
    others = {str(number): 2 if number in (0, 13) else 4 for number in range(14) if number not in (1, 9)}
    assert copies == {**others, **one, **nine}


def test_the_coin_token_may_go_with_eyes_cards_and_the_eye_token_with_coins() -> None:  # SET-1
    t = table("eye", ann="?11", bob="?8", token="coin", token_active=True)
    assert t.offers("token")
    assert not t.offers("draw with token")
    t = table("coin", ann="?11", bob="?8", token="eye", token_active=True)
    assert t.offers("draw with token")
    assert not t.offers("token")


def test_a_search_that_takes_the_last_card_depletes_the_deck() -> None:  # EYE-1, TURN-5
    t = eye(deck="?7")
    t.ann.draws_with_token("?7").discards()
    assert t.round_ended


def test_two_searched_decks_are_told_apart_by_nothing() -> None:  # EYE-1, HID-4
    one, other = eye(deck="?7 ?6 ?10 ?5"), eye(deck="?9.1 ?6 ?9.4 ?7")
    for t in (one, other):
        t.ann.draws_with_token("?6")
    for viewer in (1, 2, 4):
        assert view(one.state, viewer) == view(other.state, viewer)
        assert position_text(observe(one.state, viewer)) == position_text(observe(other.state, viewer))
        told = [[seen_by(event, viewer) for event in t.events] for t in (one, other)]
        assert told[0] == told[1]
