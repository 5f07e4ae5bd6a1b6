"""A view's message says what the engine's view says, no less and no more, and JSON prints its zeros."""

from collections.abc import Sequence

import pytest
from google.protobuf.json_format import MessageToDict

from moonvale.v1 import card_pb2
from moonvale.v1 import view_pb2 as pb
from moonvale_engine import (
    NOBODY,
    SPECTATOR,
    UNKNOWN,
    CardView,
    Options,
    State,
    View,
    apply,
    new_game,
    observe,
    parse_position,
    position_text,
    resign,
    view,
    whole,
)
from moonvale_engine import decisions as engine_decisions
from moonvale_engine.actions import DRAW, DRAW_WITH_TOKEN, PEEK, pack, verb_of
from moonvale_engine.catalog import CARDS, cards_in_play
from moonvale_service.about import About, SeatAbout
from moonvale_service.convert import actions, views
from moonvale_service.convert.options import to_proto as options_to_proto
from moonvale_service.convert.views import GameHeader
from tests.support.playing import positions, random_setup

HEADER = GameHeader(
    name="games/k5w2q7xw3m6d4c8h2r9t",
    version=0,
    mark="nq3v8d0s",
    commitment=bytes(range(32)),
    created=1_000,
    updated=2_500,
    about=About(),
)


def message_for(s: State, viewer: int, header: GameHeader = HEADER) -> pb.View:
    """The message of a viewer's view, as it arrives."""
    message = views.to_proto(view(s, viewer), position_text(observe(s, viewer)), header)
    return pb.View.FromString(message.SerializeToString())


def seat_or_nobody(message: pb.View, field: str) -> int:
    seat: int = getattr(message, field)
    return seat if message.HasField(field) else NOBODY  # type: ignore[arg-type]  # one of the optional seats


def card(options: Options, message: card_pb2.CardView) -> CardView:
    """Read a card back. Spectators' knowledge is not in messages: it counts as everybody's."""
    return CardView(
        handle=message.handle,
        faceup=message.faceup,
        sideways=message.sideways,
        face=face(options, message.face) if message.HasField("face") else UNKNOWN,
        used=message.used,
        spent=message.spent,
        seen_by=sum(1 << seat for seat in message.seen_by),
        tucked=card(options, message.tucked) if message.HasField("tucked") else None,
    )


def face(options: Options, message: card_pb2.Face) -> int:
    """Read a face back."""
    card_type = cards_in_play(options)[message.number]
    assert message.key == f"{card_type.deck}/{card_type.key}"
    assert message.value == card_type.value
    if card_type.variants == 1:
        assert (message.variant, message.HasField("demand")) == (0, False)
        return message.number
    assert message.demand == options_to_proto(options).demands[message.variant - 1]
    return message.number | (message.variant - 1) << 4


def cards(options: Options, messages: Sequence[card_pb2.CardView]) -> list[CardView]:
    return [card(options, message) for message in messages]


def seats_only(options: Options, seen: CardView) -> CardView:
    tucked = None if seen.tucked is None else seats_only(options, seen.tucked)
    return seen._replace(seen_by=seen.seen_by & (1 << options.players) - 1, tucked=tucked)


def assert_same(message: pb.View, seen: View) -> None:
    """The message says all that the view says."""
    options = seen.options
    assert (message.viewer_seat if message.HasField("viewer_seat") else SPECTATOR) == seen.viewer
    assert (message.round, message.turn, message.extra_turns) == (seen.round, seen.turn, seen.extra_turns)
    assert seat_or_nobody(message, "active_seat") == seen.active
    assert seat_or_nobody(message, "token_holder") == seen.holder
    assert seat_or_nobody(message, "caller") == seen.caller
    assert message.token_active == seen.token_active
    assert message.deck_count == seen.deck_count
    assert message.HasField("deck_top") == (seen.deck_top is not None)
    if seen.deck_top is not None:
        assert card(options, message.deck_top) == seats_only(options, seen.deck_top)
    assert [(face(options, told.face), told.faceup) for told in message.pool] == list(seen.pool)
    assert cards(options, message.pile) == [seats_only(options, pile) for pile in seen.pile]
    assert message.HasField("hand") == (seen.hand is not None)
    if seen.hand is not None:
        assert card(options, message.hand) == seats_only(options, seen.hand)
    assert [seat.seat for seat in message.seats] == list(range(options.players))
    for told, seat in zip(message.seats, seen.seats, strict=True):
        assert (told.total, tuple(told.scores), told.resigned) == (seat.total, seat.scores, seat.resigned)
        assert cards(options, told.village) == [seats_only(options, lying) for lying in seat.village]
    assert message.HasField("decision") == (seen.decision is not None)
    if seen.decision is not None:
        kind = pb.DecisionKind.Name(message.decision.kind).removeprefix("DECISION_KIND_")
        assert kind == engine_decisions.KINDS[seen.decision.kind]
        assert message.decision.seat == seen.decision.seat
        ability = "" if seen.decision.ability < 0 else CARDS[seen.decision.ability].key
        assert message.decision.ability.rpartition("/")[2] == ability
        assert tuple(message.decision.picked) == seen.decision.picked
        assert (message.decision.value if message.decision.HasField("value") else None) == seen.decision.value
        assert message.decision.declared_spotters == seen.decision.declared
        legal = [actions.from_proto(action, "") for action in message.decision.legal_actions]
        assert tuple(legal) == seen.decision.legal_actions
    assert message.HasField("result") == (seen.over != NOBODY)
    assert tuple(message.result.places) == seen.places


@pytest.mark.parametrize("seed", range(6))
def test_a_view_says_what_the_engine_says_to_each_viewer(seed: int) -> None:
    for s in positions(random_setup(seed, rounds=2)):
        for viewer in (*range(s.options.players), SPECTATOR):
            message = message_for(s, viewer)
            assert_same(message, view(s, viewer))
            assert message.position == position_text(observe(s, viewer))
    assert tuple(message.result.totals) == s.totals


def test_a_card_on_top_of_the_deck_is_told_if_it_lies_faceup() -> None:
    seen = view(new_game(Options(players=2), bytes(32)), 0)
    message = views.to_proto(seen._replace(packed_deck_top=seen.packed_pile[:1]), "", HEADER)
    assert message.deck_top == message.pile[0]


def told_to(text: str) -> pb.View:
    """The view that a viewer's position as text stands for."""
    position = parse_position(text)
    message = views.to_proto(view(position.state, position.viewer), text, HEADER)
    return pb.View.FromString(message.SerializeToString())


EYE = "eye 2p; as a; round 1 turn 6 a; token b; "


def test_a_reaction_window_says_which_value_it_is_about() -> None:
    for value, index in ((11, 12), (-1, 0), (0, 1)):
        cards_of_a = f"a 2 {value} 5; b ?x5; pile {value} 12; deck ?x32; aside ?x10"
        decision = told_to(f"{EYE}{cards_of_a}; frames round.3/b turn.2/a reactions.1/a/0,{index},0").decision
        assert decision.kind == pb.DECISION_KIND_REACTION
        assert MessageToDict(decision)["value"] == value
        assert MessageToDict(decision)["legalActions"] == [
            {"passReaction": {}},
            {"discardResident": {"residentSpot": 0, "spot": 1}},
        ]


def test_a_spotter_says_which_value_it_looks_for() -> None:
    text = EYE + "a 3 7; b ? ?7:a 12 ?x2; pile 4; deck ?x34; aside ?x10; frames round.3/b turn.2/a spotter.1/a/1,5,0"
    assert told_to(text).decision.value == 4
    assert told_to(text).decision.ability == "eye/spotter"
    assert not told_to(text).decision.declared_spotters


def test_declared_spotters_are_told_while_a_set_is_named() -> None:
    text = EYE + (
        "a 3 3 ?; b ?x5; pile -; deck ?x33; aside ?x10; hand ?8:a; "
        "frames round.3/b turn.2/a hand.1/a exchange.0/a/1,{},0/a2,-,-,-"
    )
    before, after = told_to(text.format(0)).decision, told_to(text.format(2)).decision
    declare = [action.declare.spotters for action in before.legal_actions if action.HasField("declare")]
    assert (before.declared_spotters, declare) == (0, [1, 2])
    assert (after.declared_spotters, [MessageToDict(action) for action in after.legal_actions]) == (2, [{"close": {}}])
    assert not after.HasField("value")


def test_an_obsessor_on_the_pile_says_what_it_demands() -> None:
    game = EYE.replace("2p", "2p demands=odd,at-most-2,odd,at-least-11")
    text = game + "a ?9.4:a ?; b ?x5; pile 9.2 9.1; deck ?x33; aside ?x10; frames round.3/b turn.1/a"
    message = told_to(text)
    assert [MessageToDict(told.face)["demand"] for told in (*message.pile, message.seats[0].village[0])] == [
        {"atMost": 2},
        {"parity": "PARITY_ODD"},
        {"atLeast": 11},
    ]
    assert [told.face.variant for told in message.pile] == [2, 1]
    assert not message.seats[0].village[1].HasField("face")


def test_a_card_tucked_under_another_is_told_with_its_host() -> None:
    text = EYE + (
        "a 13 ?4:*; b 2 11; pile 9.2; deck ?x36; aside ?x10; tucked -1!=b1; frames round.4/b/1,0,0 scorer.0/a/0,13,0"
    )
    message = told_to(text)
    host = message.seats[1].village[1]
    assert host.face.key == "eye/underminer"
    assert MessageToDict(host.tucked)["face"] == {"key": "eye/nelly", "number": 1, "value": -1}
    assert (host.tucked.used, host.tucked.HasField("tucked")) == (True, False)
    assert not message.seats[1].village[0].HasField("tucked")
    bombs = [MessageToDict(action) for action in message.decision.legal_actions]
    assert bombs[-1] == {"bomb": {"residentSpot": 0, "card": {"seat": 1, "spot": 1}}}


def test_a_faceup_card_on_the_deck_is_told() -> None:
    text = EYE + "a ?x5; b ?x5; pile 9.2; deck 8 4 ?x29; aside ?x10; frames round.3/b turn.1/a"
    message = told_to(text)
    assert MessageToDict(message.deck_top.face) == {"key": "eye/split_seer", "number": 8, "value": 8}
    assert message.deck_count == 31


def looking_through() -> State:
    """A game in which the start player is looking through the deck."""
    s = new_game(Options(players=2, deck=("eye",) * 14, token="eye"), bytes(32))
    while verb_of(s.choices[0]) == PEEK:
        apply(s, s.choices[0])
    seat = "ab"[s.holder]
    s = parse_position(position_text(whole(s)).replace(f"token {seat};", f"token {seat}+;")).state
    apply(s, pack(DRAW_WITH_TOKEN))
    return s


def test_the_eye_token_shows_the_deck_to_its_user_alone() -> None:
    s = looking_through()
    seen = message_for(s, s.holder)
    assert seen.decision.kind == pb.DECISION_KIND_EYE_PICK
    assert len(seen.pool) == seen.deck_count == 31
    held = {(told.face.number, max(told.face.variant, 1), told.faceup) for told in seen.pool}
    offered = [
        (action.choose.number, action.choose.variant, action.choose.faceup) for action in seen.decision.legal_actions
    ]
    assert offered == sorted(held)
    for other in (1 - s.holder, SPECTATOR):
        assert not message_for(s, other).pool
        assert not message_for(s, other).decision.legal_actions


def test_what_is_known_of_the_shuffled_deck_stays_told() -> None:
    s = looking_through()
    seat = s.holder
    before = [MessageToDict(told) for told in message_for(s, seat).pool]
    apply(s, s.choices[0])
    assert [MessageToDict(told) for told in message_for(s, seat).pool] == before
    assert message_for(s, seat).deck_count == 30
    assert not message_for(s, SPECTATOR).pool


def test_each_kind_of_decision_of_the_engine_is_one_of_the_contract() -> None:
    names = [name.removeprefix("DECISION_KIND_") for name in pb.DecisionKind.keys()[1:]]
    assert names == list(engine_decisions.KINDS)


def test_json_prints_what_is_zero_where_zero_says_something() -> None:
    s = new_game(Options(players=2, villages=(1, 0), deal_supplied=True), bytes(32))
    while verb_of(s.choices[0]) == PEEK:
        apply(s, s.choices[0])
    seat = view(s, SPECTATOR).active
    apply(s, pack(DRAW))
    read = MessageToDict(message_for(s, seat))
    assert read["version"] == "0"
    assert read["extraTurns"] == 0
    assert [told["seat"] for told in read["seats"]] == [0, 1]
    assert [told["total"] for told in read["seats"]] == [0, 0]
    names = [action["name"]["spot"] for action in read["decision"]["legalActions"] if "name" in action]
    assert names == [0, 1, 2, 3, 4]
    assert read["options"]["villages"] == [1, 0]
    assert read["options"]["dealSupplied"] is True


def test_a_view_tells_what_the_caller_said_of_the_game() -> None:
    header = GameHeader(
        name="games/k5w2q7xw3m6d4c8h2r9t",
        version=3,
        mark="m",
        commitment=b"\x01" * 32,
        created=1_000,
        updated=2_500,
        about=About("table-9", {"event": "spring"}, (SeatAbout("Ann", {"rating": "1510"}), SeatAbout("Ben")), 60_000),
    )
    message = message_for(new_game(Options(players=2), bytes(32)), SPECTATOR, header)
    assert (message.name, message.version, message.mark) == ("games/k5w2q7xw3m6d4c8h2r9t", 3, "m")
    assert message.commitment == b"\x01" * 32
    assert message.create_time.ToMilliseconds() == 1_000
    assert message.update_time.ToMilliseconds() == 2_500
    assert message.seal_replay_until.ToMilliseconds() == 60_000
    assert (message.external_id, dict(message.labels)) == ("table-9", {"event": "spring"})
    assert [(seat.name, dict(seat.labels)) for seat in message.seats] == [("Ann", {"rating": "1510"}), ("Ben", {})]


def test_a_game_that_nobody_named_anything_in_has_no_names() -> None:
    message = message_for(new_game(Options(players=2), bytes(32)), SPECTATOR)
    assert (message.external_id, dict(message.labels)) == ("", {})
    assert not message.HasField("seal_replay_until")
    assert [seat.name for seat in message.seats] == ["", ""]


def test_a_game_that_is_over_has_a_result_and_no_decision() -> None:
    s = new_game(Options(players=3), bytes(32))
    resign(s, 0)
    resign(s, 2)
    message = message_for(s, 1)
    assert not message.HasField("decision")
    assert MessageToDict(message.result) == {
        "reason": "GAME_OVER_REASON_RESIGNATION",
        "places": [1, 2, 0],
        "totals": [0, 0, 0],
    }
    assert [seat.resigned for seat in message.seats] == [True, False, True]


def test_a_caller_is_told() -> None:
    seen = view(new_game(Options(players=2), bytes(32)), 1)
    assert not views.to_proto(seen, "", HEADER).HasField("caller")
    assert views.to_proto(seen._replace(caller=0), "", HEADER).HasField("caller")
