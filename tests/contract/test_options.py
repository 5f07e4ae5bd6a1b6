"""Options of a request become those of the engine; what is wrong is named by its path in the request."""

from dataclasses import replace

import pytest
from google.protobuf.json_format import MessageToDict

from moonvale.v1 import options_pb2 as pb
from moonvale.v1.card_pb2 import PARITY_EVEN, PARITY_ODD, PARITY_UNSPECIFIED, Demand
from moonvale.v1.game_service_pb2 import Deal
from moonvale_engine import Options
from moonvale_engine import options as engine
from moonvale_service.convert import options
from moonvale_service.errors import FieldError
from tests.support.playing import random_setup

SECRET = bytes(range(32))
EVEN = Demand(parity=PARITY_EVEN)
ODD = Demand(parity=PARITY_ODD)

WRONG = [
    (pb.Options(players=0), "options.players", "must be 2..4, is 0"),
    (pb.Options(players=5), "options.players", "must be 2..4, is 5"),
    (pb.Options(rounds=0), "options.rounds", "must be 1..20, is 0"),
    (pb.Options(rounds=-1), "options.rounds", "must be 1..20, is -1"),
    (pb.Options(turn_limit=3), "options.turn_limit", "must be 4..250, is 3"),
    (pb.Options(deck="gold"), "options.deck", "'gold' is not known; choose one of: coin, eye"),
    (pb.Options(deck="coin,3=gold"), "options.deck", "number 3: 'gold' is not known; choose one of: coin, eye"),
    (pb.Options(deck="coin,14=eye"), "options.deck", "'14=eye' is not NUMBER=DECK"),
    (pb.Options(deck="coin,2"), "options.deck", "number 2: '' is not known; choose one of: coin, eye"),
    (pb.Options(deck="2=eye,9=eye"), "options.deck", "'2=eye' names no deck for the other numbers"),
    (pb.Options(token="gold"), "options.token", "'gold' is not known; choose one of: coin, eye"),
    (pb.Options(demands=[EVEN, ODD]), "options.demands", "needs one for each of the 4 Obsessors, has 2"),
    (pb.Options(demands=[EVEN] * 5), "options.demands", "needs one for each of the 4 Obsessors, has 5"),
    (
        pb.Options(demands=[EVEN, EVEN, ODD, Demand()]),
        "options.demands[3]",
        "needs one of parity, at_most, at_least",
    ),
    (
        pb.Options(demands=[EVEN, Demand(parity=PARITY_UNSPECIFIED), ODD, ODD]),
        "options.demands[1].parity",
        "must be one of PARITY_EVEN, PARITY_ODD",
    ),
    (
        pb.Options(demands=[EVEN, ODD, Demand(at_most=-2), ODD]),
        "options.demands[2].at_most",
        "must be -1..13, is -2",
    ),
    (
        pb.Options(demands=[Demand(at_least=14), ODD, ODD, ODD]),
        "options.demands[0].at_least",
        "must be -1..13, is 14",
    ),
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
        deck="eye,2=coin, 9=coin",
        token="eye",
        rounds=1,
        turn_limit=4,
        memory=pb.MEMORY_TABLE,
        successful_call=pb.SUCCESSFUL_CALL_LOWER,
        demands=[ODD, Demand(at_most=-1), Demand(at_least=0), EVEN],
    )
    expected = Options(
        players=2,
        deck=("eye", "eye", "coin", *("eye",) * 6, "coin", *("eye",) * 4),
        token="eye",
        rounds=1,
        turn_limit=4,
        memory="table",
        successful_call="lower",
        demands=("odd", "at most -1", "at least 0", "even"),
    )
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
    parity = pb.Options(demands=[Demand.FromString(b"\x08\x09")])  # field 1: 9
    with pytest.raises(FieldError, match=r"options\.demands\[0\]\.parity: must be one of PARITY_EVEN, PARITY_ODD"):
        options.from_proto(parity)
    call = pb.Options.FromString(b"\x38\x09")  # field 7: 9
    with pytest.raises(FieldError, match=r"options\.successful_call: must be one of SUCCESSFUL_CALL_ZERO"):
        options.from_proto(call)


@pytest.mark.parametrize("memory", engine.MEMORIES)
@pytest.mark.parametrize("call", engine.SUCCESSFUL_CALLS)
def test_options_come_back_as_they_were(memory: str, call: str) -> None:
    chosen = Options(players=3, rounds=2, turn_limit=30, memory=memory, successful_call=call)
    assert options.from_proto(options.to_proto(chosen)) == chosen


@pytest.mark.parametrize("seed", range(20))
def test_any_deck_token_and_demands_come_back_as_they_were(seed: int) -> None:
    chosen = replace(random_setup(seed).options, villages=())
    assert options.from_proto(pb.Options.FromString(options.to_proto(chosen).SerializeToString())) == chosen


def test_every_demand_comes_back_as_it_was() -> None:
    every = ["even", "odd", *(f"at {bound} {value}" for bound in ("most", "least") for value in range(-1, 14))]
    for demand in every:
        chosen = Options(demands=(demand,) * 4)
        assert options.from_proto(options.to_proto(chosen)) == chosen


def test_json_says_demands_as_documented() -> None:
    assert [MessageToDict(demand) for demand in options.to_proto(Options()).demands] == [
        {"parity": "PARITY_EVEN"},
        {"parity": "PARITY_ODD"},
        {"atMost": 6},
        {"atLeast": 7},
    ]
    zero = options.to_proto(Options(demands=("at most 0",) * 4)).demands[0]
    assert MessageToDict(zero) == {"atMost": 0}


def test_the_contract_has_a_value_for_each_choice_of_the_engine() -> None:
    memories = [name.removeprefix("MEMORY_").lower() for name in pb.Memory.keys()[1:]]
    calls = [name.removeprefix("SUCCESSFUL_CALL_").lower() for name in pb.SuccessfulCall.keys()[1:]]
    assert (tuple(memories), tuple(calls)) == (engine.MEMORIES, engine.SUCCESSFUL_CALLS)


def test_every_option_of_the_engine_is_in_the_contract() -> None:
    """But for the version of the rules, which nobody chooses for a game: the server's setting does."""
    fields = [field.name for field in pb.Options.DESCRIPTOR.fields]
    assert [*fields, "rules"] == list(Options.__dataclass_fields__)


def test_a_view_of_options_has_every_field() -> None:
    told = options.to_proto(Options(deal_supplied=True))
    assert {field.name for field, _ in told.ListFields()} == {field.name for field in pb.Options.DESCRIPTOR.fields}
