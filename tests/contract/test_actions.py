"""Every action of the engine is a message of the contract and comes back as it was; malformed ones name their field."""

import keyword
from itertools import product

import pytest
from google.protobuf import text_format

from moonvale.v1 import action_pb2 as pb
from moonvale.v1 import view_pb2
from moonvale.v1.card_pb2 import VillageSpot
from moonvale_engine import actions as engine
from moonvale_engine import legal_actions
from moonvale_engine.actions import pack, square
from moonvale_service.convert import actions
from moonvale_service.errors import FieldError
from tests.support.playing import positions, random_setup

PATH = "actions[0]"

# The least and the greatest argument of each kind that a game can have.
BOUNDS = {
    engine.SPOT: (0, 51),
    engine.SQUARE: (square(0, 0), square(3, 51)),
    engine.DEPTH: (0, 51),
    engine.SEAT: (0, 3),
    engine.END: (0 << 1 | engine.LEFT, 3 << 1 | engine.RIGHT),
    engine.PAIR: (0 << 3 | 1, 3 << 3 | 4),
    engine.DIRECTION: (engine.CLOCKWISE, engine.COUNTERCLOCKWISE),
    engine.SPOTTERS: (1, 4),
    engine.VALUE: (-1 + 1, 13 + 1),
    engine.FACE: (0, 9, 9 | 3 << 4, 13),
    engine.FACEUP: (0, 1),
}

EXAMPLES = [
    (pack(engine.PEEK, 0 << 3 | 1), pb.Action(peek=pb.PeekAction(spots=[0, 1]))),
    (pack(engine.DRAW), pb.Action(draw=pb.DrawAction())),
    (pack(engine.TAKE, 2), pb.Action(take=pb.TakeAction(depth=2))),
    (pack(engine.CALL), pb.Action(call=pb.CallAction())),
    (pack(engine.ACTIVATE, 0), pb.Action(activate=pb.ActivateAction(depth=0))),
    (pack(engine.USE_RESIDENT, 0), pb.Action(use_resident=pb.UseResidentAction(spot=0))),
    (pack(engine.TURN_CARD, 3, 0), pb.Action(turn_card=pb.TurnCardAction(resident_spot=3, spot=0))),
    (
        pack(engine.DISCARD_RESIDENT, 0, 4),
        pb.Action(discard_resident=pb.DiscardResidentAction(resident_spot=0, spot=4)),
    ),
    (pack(engine.USE_TOKEN), pb.Action(use_token=pb.UseTokenAction())),
    (pack(engine.DISCARD), pb.Action(discard=pb.DiscardAction())),
    (pack(engine.USE), pb.Action(use=pb.UseAction())),
    (pack(engine.NAME, 1), pb.Action(name=pb.NameAction(spot=1))),
    (pack(engine.CLOSE), pb.Action(close=pb.CloseAction())),
    (pack(engine.PLACE, 2), pb.Action(place=pb.PlaceAction(spot=2))),
    (
        pack(engine.PLACE_END, 2 << 1 | engine.RIGHT),
        pb.Action(place_end=pb.PlaceEndAction(seat=2, end=pb.END_RIGHT)),
    ),
    (pack(engine.PICK, square(1, 0)), pb.Action(pick=pb.PickAction(card=VillageSpot(seat=1, spot=0)))),
    (pack(engine.VILLAGE, 3), pb.Action(village=pb.VillageAction(seat=3))),
    (
        pack(engine.TURN_DIRECTION, engine.COUNTERCLOCKWISE),
        pb.Action(turn_direction=pb.TurnDirectionAction(direction=pb.DIRECTION_COUNTERCLOCKWISE)),
    ),
    (pack(engine.STOP), pb.Action(stop=pb.StopAction())),
    (pack(engine.END_TURN), pb.Action(end_turn=pb.EndTurnAction())),
    (pack(engine.DONE), pb.Action(done=pb.DoneAction())),
    (pack(engine.GIVE, 0, 4, 2), pb.Action(give=pb.GiveAction(resident_spot=0, spot=4, seat=2))),
    (pack(engine.DRAW_WITH_TOKEN), pb.Action(draw_with_token=pb.DrawWithTokenAction())),
    (pack(engine.CHOOSE, 9 | 1 << 4, 1), pb.Action(choose=pb.ChooseAction(number=9, variant=2, faceup=True))),
    (pack(engine.GAMBLE), pb.Action(gamble=pb.GambleAction())),
    (pack(engine.PREDICT, -1 + 1), pb.Action(predict=pb.PredictAction(value=-1))),
    (pack(engine.DECLINE), pb.Action(decline=pb.DeclineAction())),
    (pack(engine.KEEP), pb.Action(keep=pb.KeepAction())),
    (pack(engine.DECLARE, 2), pb.Action(declare=pb.DeclareAction(spotters=2))),
    (pack(engine.UNDERMINE, 3), pb.Action(undermine=pb.UndermineAction(depth=3))),
    (pack(engine.PASS), pb.Action(pass_reaction=pb.PassReactionAction())),
    (
        pack(engine.TUCK, 2, square(1, 0)),
        pb.Action(tuck=pb.TuckAction(resident_spot=2, card=VillageSpot(seat=1, spot=0))),
    ),
    (
        pack(engine.BOMB, 0, square(3, 2)),
        pb.Action(bomb=pb.BombAction(resident_spot=0, card=VillageSpot(seat=3, spot=2))),
    ),
]

# What may be left out, and what it then means.
LEFT_OUT = [
    ("pick {card {seat: 1 spot: 0}}", pack(engine.PICK, square(1, 0), 0)),
    ("pick {card {seat: 1 spot: 0} spotters: 3}", pack(engine.PICK, square(1, 0), 3)),
    ("discard_resident {resident_spot: 1 spot: 2}", pack(engine.DISCARD_RESIDENT, 1, 2, 0)),
    ("discard_resident {resident_spot: 1 spot: 2 spotters: 4}", pack(engine.DISCARD_RESIDENT, 1, 2, 4)),
    ("choose {number: 9}", pack(engine.CHOOSE, 9, 0)),
    ("choose {number: 9 variant: 1 faceup: false}", pack(engine.CHOOSE, 9, 0)),
]

MALFORMED = [
    ("", "", "needs a verb"),
    ("take {}", ".take.depth", "is required: 0..51"),
    ("take {depth: -1}", ".take.depth", "must be 0..51, is -1"),
    ("activate {depth: 52}", ".activate.depth", "must be 0..51, is 52"),
    ("name {}", ".name.spot", "is required: 0..51"),
    ("place {spot: 2147483647}", ".place.spot", "must be 0..51"),
    ("turn_card {spot: 1}", ".turn_card.resident_spot", "is required"),
    ("turn_card {resident_spot: 1}", ".turn_card.spot", "is required"),
    ("give {resident_spot: 1 spot: 0 seat: 4}", ".give.seat", "must be 0..3, is 4"),
    ("village {}", ".village.seat", "is required: 0..3"),
    ("pick {}", ".pick.card", "is required"),
    ("pick {card {spot: 1}}", ".pick.card.seat", "is required: 0..3"),
    ("pick {card {seat: 1}}", ".pick.card.spot", "is required: 0..51"),
    ("pick {card {seat: 1 spot: 64}}", ".pick.card.spot", "must be 0..51, is 64"),
    ("place_end {end: END_LEFT}", ".place_end.seat", "is required: 0..3"),
    ("place_end {seat: 0}", ".place_end.end", "must be one of END_LEFT, END_RIGHT"),
    ("place_end {seat: 0 end: 7}", ".place_end.end", "must be one of END_LEFT, END_RIGHT"),
    (
        "turn_direction {}",
        ".turn_direction.direction",
        "must be one of DIRECTION_CLOCKWISE, DIRECTION_COUNTERCLOCKWISE",
    ),
    ("peek {}", ".peek.spots", "needs two different spots of 0..4, in ascending order"),
    ("peek {spots: 1 spots: 0}", ".peek.spots", "needs two different spots"),
    ("peek {spots: 1 spots: 1}", ".peek.spots", "needs two different spots"),
    ("peek {spots: 3 spots: 5}", ".peek.spots", "needs two different spots"),
    ("peek {spots: -1 spots: 0}", ".peek.spots", "needs two different spots"),
    ("peek {spots: 0 spots: 1 spots: 2}", ".peek.spots", "needs two different spots"),
    ("pick {card {seat: 0 spot: 0} spotters: 5}", ".pick.spotters", "must be 0..4, is 5"),
    ("discard_resident {resident_spot: 0 spot: 0 spotters: -1}", ".discard_resident.spotters", "must be 0..4, is -1"),
    ("choose {}", ".choose.number", "is required: 0..13"),
    ("choose {number: 14}", ".choose.number", "must be 0..13, is 14"),
    ("choose {number: 9 variant: 5}", ".choose.variant", "must be 1..4, is 5"),
    ("choose {number: 9 variant: -1}", ".choose.variant", "must be 1..4, is -1"),
    ("predict {}", ".predict.value", "is required: -1..13"),
    ("predict {value: -2}", ".predict.value", "must be -1..13, is -2"),
    ("predict {value: 14}", ".predict.value", "must be -1..13, is 14"),
    ("declare {}", ".declare.spotters", "is required: 1..4"),
    ("declare {spotters: 0}", ".declare.spotters", "must be 1..4, is 0"),
    ("undermine {}", ".undermine.depth", "is required: 0..51"),
    ("tuck {card {seat: 0 spot: 0}}", ".tuck.resident_spot", "is required: 0..51"),
    ("tuck {resident_spot: 0}", ".tuck.card", "is required"),
    ("bomb {resident_spot: 0 card {seat: 4 spot: 0}}", ".bomb.card.seat", "must be 0..3, is 4"),
]


def test_verbs_of_the_engine_and_of_the_contract_are_the_same() -> None:
    verbs = [field.name for field in pb.Action.DESCRIPTOR.oneofs_by_name["verb"].fields]
    assert [verb.removesuffix("_reaction") for verb in verbs] == [name.lower() for name, _ in engine.FIELDS]
    assert not any(keyword.iskeyword(verb) for verb in verbs)


def test_there_is_an_example_of_every_verb() -> None:
    assert [engine.verb_of(action) for action, _ in EXAMPLES] == list(range(len(engine.FIELDS)))


@pytest.mark.parametrize(("action", "message"), EXAMPLES, ids=[name for name, _ in engine.FIELDS])
def test_an_action_is_its_message(action: int, message: pb.Action) -> None:
    assert actions.to_proto(action) == message
    assert actions.from_proto(message, PATH) == action


@pytest.mark.parametrize("verb", range(len(engine.FIELDS)), ids=[name for name, _ in engine.FIELDS])
def test_an_action_with_any_arguments_comes_back_as_it_was(verb: int) -> None:
    for arguments in product(*[BOUNDS[kind] for kind in engine.FIELDS[verb][1]]):
        action = pack(verb, *arguments)
        sent = pb.Action.FromString(actions.to_proto(action).SerializeToString())
        assert actions.from_proto(sent, PATH) == action


@pytest.mark.parametrize(("text", "action"), LEFT_OUT)
def test_what_is_left_out_has_a_meaning(text: str, action: int) -> None:
    assert actions.from_proto(text_format.Parse(text, pb.Action()), PATH) == action
    assert actions.from_proto(actions.to_proto(action), PATH) == action


@pytest.mark.parametrize("seed", range(12))
def test_the_legal_actions_of_a_game_come_back_as_they_were(seed: int) -> None:
    for s in positions(random_setup(seed, rounds=1)):
        offered = view_pb2.Decision.FromString(actions.legal_actions(legal_actions(s))).legal_actions
        assert [actions.from_proto(message, PATH) for message in offered] == legal_actions(s)


@pytest.mark.parametrize(("text", "field", "message"), MALFORMED)
def test_a_malformed_action_names_its_field(text: str, field: str, message: str) -> None:
    with pytest.raises(FieldError) as raised:
        actions.from_proto(text_format.Parse(text, pb.Action()), PATH)
    assert raised.value.field == PATH + field
    assert message in raised.value.description


def test_a_verb_that_is_not_known_is_refused() -> None:
    newer = b"\xfa\x3f\x00"  # field 1023, an empty message
    with pytest.raises(FieldError, match="needs a verb that this server knows"):
        actions.from_proto(pb.Action.FromString(newer), PATH)
