"""Options of a request become those of the engine; what is wrong is named by its path in the request."""

import pytest

from moonvale.v1 import options_pb2 as pb
from moonvale.v1.game_service_pb2 import Deal
from moonvale_engine import Options
from moonvale_engine import options as engine
from moonvale_service.convert import options
from moonvale_service.errors import FieldError

SECRET = bytes(range(32))

WRONG = [
    (pb.Options(players=0), "options.players", "must be 2..4, is 0"),
    (pb.Options(players=5), "options.players", "must be 2..4, is 5"),
    (pb.Options(rounds=0), "options.rounds", "must be 1..20, is 0"),
    (pb.Options(turn_limit=3), "options.turn_limit", "must be 4..250, is 3"),
    (pb.Options(deck="gold"), "options.deck", "'gold' is not known; choose one of: coin"),
    (pb.Options(deck="coin,14=coin"), "options.deck", "'14=coin' is not NUMBER=DECK"),
    (pb.Options(token="gold"), "options.token", "'gold' is not known; choose one of: coin"),
]

WRONG_DEALS = [
    (Deal(), "deal.secret", "needs 32 bytes, has 0"),
    (Deal(secret=SECRET[1:]), "deal.secret", "needs 32 bytes, has 31"),
    (Deal(secret=SECRET, villages=[0]), "deal.villages", "needs one dealt village for each of 4 seats"),
    (Deal(secret=SECRET, villages=[0, 1, 2, 2]), "deal.villages", "needs a different one"),
    (Deal(secret=SECRET, villages=[0, 1, 2, 4]), "deal.villages", "needs a different one"),
    (Deal(secret=SECRET, villages=[0, 1, 2, -1]), "deal.villages", "needs a different one"),
]


def test_no_options_are_the_defaults() -> None:
    assert options.from_proto(pb.Options()) == Options()


def test_options_are_taken_as_said() -> None:
    message = pb.Options(
        players=2,
        deck="coin",
        token="coin",
        rounds=1,
        turn_limit=4,
        memory=pb.MEMORY_TABLE,
        successful_call=pb.SUCCESSFUL_CALL_LOWER,
    )
    expected = Options(players=2, rounds=1, turn_limit=4, memory="table", successful_call="lower")
    assert options.from_proto(message) == expected


def test_a_supplied_deal_is_marked_as_such() -> None:
    supplied = options.from_proto(pb.Options(players=2), Deal(secret=SECRET, villages=[3, 0]))
    assert supplied == Options(players=2, villages=(3, 0), deal_supplied=True)
    assert options.from_proto(pb.Options(players=2), Deal(secret=SECRET)).villages == (0, 1)


def test_nobody_marks_a_deal_as_supplied_by_saying_so() -> None:
    assert options.from_proto(pb.Options(players=2, villages=[1, 0], deal_supplied=True)) == Options(players=2)


@pytest.mark.parametrize(("message", "field", "text"), WRONG)
def test_a_wrong_option_is_named(message: pb.Options, field: str, text: str) -> None:
    with pytest.raises(FieldError) as raised:
        options.from_proto(message)
    assert raised.value.field == field
    assert text in raised.value.description


@pytest.mark.parametrize(("deal", "field", "text"), WRONG_DEALS)
def test_a_wrong_deal_is_named(deal: Deal, field: str, text: str) -> None:
    with pytest.raises(FieldError) as raised:
        options.from_proto(pb.Options(), deal)
    assert raised.value.field == field
    assert text in raised.value.description


def test_an_enum_of_a_newer_contract_is_named() -> None:
    memory = pb.Options.FromString(b"\x30\x09")  # field 6: 9
    with pytest.raises(FieldError, match=r"options\.memory: must be one of MEMORY_ASSISTED, MEMORY_TABLE"):
        options.from_proto(memory)
    call = pb.Options.FromString(b"\x38\x09")  # field 7: 9
    with pytest.raises(FieldError, match=r"options\.successful_call: must be one of SUCCESSFUL_CALL_ZERO"):
        options.from_proto(call)


@pytest.mark.parametrize("memory", engine.MEMORIES)
@pytest.mark.parametrize("call", engine.SUCCESSFUL_CALLS)
def test_options_come_back_as_they_were(memory: str, call: str) -> None:
    chosen = Options(players=3, rounds=2, turn_limit=30, memory=memory, successful_call=call)
    assert options.from_proto(options.to_proto(chosen)) == chosen


def test_the_contract_has_a_value_for_each_choice_of_the_engine() -> None:
    memories = [name.removeprefix("MEMORY_").lower() for name in pb.Memory.keys()[1:]]
    calls = [name.removeprefix("SUCCESSFUL_CALL_").lower() for name in pb.SuccessfulCall.keys()[1:]]
    assert (tuple(memories), tuple(calls)) == (engine.MEMORIES, engine.SUCCESSFUL_CALLS)


def test_every_option_of_the_engine_is_in_the_contract() -> None:
    fields = [field.name for field in pb.Options.DESCRIPTOR.fields]
    assert fields == list(Options.__dataclass_fields__)


def test_a_view_of_options_has_every_field() -> None:
    told = options.to_proto(Options(deal_supplied=True))
    assert [field.name for field, _ in told.ListFields()] == [field.name for field in pb.Options.DESCRIPTOR.fields]
