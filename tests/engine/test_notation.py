"""The notation: what it looks like, and what a wrong text is told. That it round-trips is among the properties."""

from random import Random

import pytest

from moonvale_engine import (
    NotationError,
    action_text,
    legal_actions,
    parse_action,
    parse_position,
    position_text,
    sample_world,
    whole,
)
from moonvale_engine import actions as act
from moonvale_engine.inference import exclude_what_would_fit
from moonvale_engine.options import parse_deck
from tests.support.playing import positions, random_setup

VIEWERS_POSITION = (
    "coin 2p; as a; round 1 turn 1 a; token a; a ?7:a ?:b ? 3 2~!; b ?x4 ?9:ab; pile 4 ?; deck ?x29; aside ?x10; "
    "hand ?8:a; frames round.3/b turn.2/a hand.0/a"
)


def test_actions_read_as_a_player_would_say_them() -> None:
    texts = {
        act.pack(act.PEEK, 0 << 3 | 3): "peek 0 3",
        act.pack(act.TAKE, 2): "take p2",
        act.pack(act.TURN_CARD, 1, 4): "turn 4 by 1",
        act.pack(act.DISCARD_RESIDENT, 1, 4): "discard 4 by 1",
        act.pack(act.PICK, act.square(1, 3)): "pick b3",
        act.pack(act.PLACE_END, 0 << 1 | act.RIGHT): "end a right",
        act.pack(act.GIVE, 0, 2, 3): "give 2 by 0 to d",
        act.pack(act.TURN_DIRECTION, act.COUNTERCLOCKWISE): "counterclockwise",
    }
    for action, text in texts.items():
        assert action_text(action) == text
        assert parse_action(f"  {text.replace(' ', '  ')} ") == action


@pytest.mark.parametrize(
    "text", ["", "fly", "peek 0", "pick e1", "take 2", "name 64", "name -1", "give 1 by 2", "draw 1", "take p٣"]
)
def test_a_text_that_is_no_action_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="action"):
        parse_action(text)


def test_a_viewers_position_lists_the_choices_that_its_viewer_has() -> None:
    position = parse_position(VIEWERS_POSITION)
    assert [action_text(action) for action in legal_actions(position.state)] == [
        "discard",
        "use",
        "name 0",
        "name 1",
        "name 2",
        "name 3",
        "name 4",
    ]
    assert position_text(position) == VIEWERS_POSITION


def test_nobody_else_has_choices_in_it() -> None:
    position = parse_position(VIEWERS_POSITION.replace("as a", "as b").replace("hand ?8:a", "hand ?:a"))
    assert legal_actions(position.state) == []


WHOLE = position_text(whole(next(positions(random_setup(1, players=2, rounds=4, turn_limit=200)))))


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("coin 2p", "coin", "game"),
        ("coin 2p", "coin 5p", "players"),
        ("coin 2p", "gold 2p", "deck"),
        ("coin 2p", "coin 2p rounds=0", "rounds"),
        ("coin 2p", "coin 2p rounds=many", "rounds"),
        ("coin 2p", "coin 2p colour=red", "game"),
        ("coin 2p", "coin 2p villages=1,1", "villages"),
        ("as a", "as c", "as"),
        ("as a", "as a; as a", "as"),
        ("as a", "as a; secret 00", "secret"),
        ("as a; ", "", "cards"),
        ("round 1", "round 9", "scores"),
        ("round 1 turn 1 a", "round one", "round"),
        ("token a", "token x", "token"),
        ("aside ?x10; ", "", "aside"),
        ("deck ?x29", "deck ?x30", "cards"),
        ("deck ?x29", "deck ?x9999", "deck"),
        ("deck ?x29", "deck ?x20", "cards"),
        ("a ?7:a", "a ?14:a", "a"),
        ("a ?7:a", "a seven", "a"),
        ("pile 4 ?", "pile 4 4 4 4 4 ?", "cards"),
        ("hand ?8:a; ", "", "cards"),
        ("aside ?x10; hand ?8:a", "aside ?x9; hand ?8:a ?", "hand"),
        ("hand.0/a", "hand.7/a", "frames"),
        ("hand.0/a", "glove.0/a", "frames"),
        ("hand.0/a", "hand.0/c", "frames"),
        ("hand.0/a", "hand.0/a/0,0,0/z9,-,-,-", "frames"),
        ("hand.0/a", "hand.0/a/0,0,0/a9,-,-,-", "frames"),
        ("hand.0/a", "hand.0/a/0,0,0/a1", "frames"),
        ("hand.0/a", "", "frames"),
        ("hand.0/a", "exchange.0/a/0,0,0/a1,-,-,-", "frames"),
        ("round.3/b turn.2/a", "turn.2/a", "frames"),
        ("frames", "over rounds; frames", "scores"),
        ("frames", "moon full; frames", "moon"),
        ("frames", "handles 0-50; frames", "handles"),
        ("frames", "resigned a; frames", "frames"),
    ],
)
def test_a_wrong_position_is_refused_with_the_field(old: str, new: str, field: str) -> None:
    assert old in VIEWERS_POSITION
    with pytest.raises(NotationError) as caught:
        parse_position(VIEWERS_POSITION.replace(old, new, 1))
    assert caught.value.field == field


def test_the_whole_position_needs_its_secret_and_every_card() -> None:
    assert position_text(parse_position(WHOLE)) == WHOLE
    secret = WHOLE.index("; secret")
    with pytest.raises(NotationError, match="secret"):
        parse_position(WHOLE[:secret])
    with pytest.raises(NotationError, match="cards"):
        parse_position(WHOLE.replace("a ?", "a ? ?", 1))


def test_a_tucked_card_has_a_place_too() -> None:
    text = (
        "eye 2p; as a; round 1 turn 6 a; token b; a 13; b 11; pile 7; deck ?x38; aside ?x10; tucked -1!=b0; "
        "excluded tucked0=7; frames round.4/b/1,0,0 scorer.0/a/0,13,0"
    )
    assert position_text(parse_position(text)) == text


def test_what_excludes_no_number_is_not_written_down() -> None:
    """No value of Coin's numbers is at most -1, so that a card kept under that demand could be any (OBS-4)."""
    s = next(positions(random_setup(1, deck=parse_deck("coin,9=eye"), demands=("at most -1",) * 4)))
    s.pile = bytes((next(h for h in range(52) if s.identity[h] & 15 == 9),))
    s.flags[s.pile[-1]] |= 1
    exclude_what_would_fit(s, s.villages[0][0], by_policy=False)
    assert s.excluded == b""


def test_a_spotter_of_a_curators_discard_looks_while_a_card_is_in_hand() -> None:  # C02-1, E03-1
    text = (
        "coin,3=eye,5=eye,8=eye,9=eye,11=eye,12=eye 2p deal_supplied; as b; round 4 turn 20 b; token a; ability used; "
        "a ?:a ?1:ab ?0:ab ?8:* ?1:ab ?2:ab; b 2! 3 ?8:* ?11:* ?12:* ?4:* ?3:* ?3:* 10; "
        "pile 1 9.3 11 0 9.1 7 10 5 4 6; deck ?x16; aside ?x10; hand ?12:b; "
        "excluded b0=9 a1=9 a4=9 a2=9 a5=9; scores 44 160 / 11 79 / 23 214; "
        "frames round.3/a turn.2/b hand.0/b spotter.1/b/0,2,0; "
        "handles 34 32 1 33 24 28 22 21 5-8 25 4 31 29-30 23 27 26 0 3 2 9 20 36-51 10-19 35"
    )
    position = parse_position(text)
    assert position_text(position) == text
    assert legal_actions(sample_world(position, Random(1))) == legal_actions(position.state)
    with pytest.raises(NotationError, match="card in hand"):
        parse_position(text.replace("hand.0/b", "hand.1/b"))
