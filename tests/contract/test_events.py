"""Every event of the engine is a message of the contract, and what its viewer may not know is not in it."""

from collections.abc import Iterator

import pytest
from google.protobuf.json_format import MessageToDict

from moonvale.v1 import card_pb2, result_pb2
from moonvale.v1 import event_pb2 as pb
from moonvale_engine import NOBODY, RESIGNATION, SPECTATOR, UNKNOWN, Entry, Event, Options, State, history, seen_by
from moonvale_engine import events as engine
from moonvale_engine import log as engine_log
from moonvale_engine.actions import DRAW, square
from moonvale_engine.play import seat_to_act
from moonvale_service.convert import actions, cards, events
from moonvale_service.convert.results import REASONS
from tests.support.playing import positions, random_setup

OPTIONS = Options()
FACES = cards.faces(OPTIONS)
ALL = engine.EVERYBODY
FACE_8 = {"key": "coin/assassin", "number": 8, "value": 8}
FACE_0 = {"key": "coin/regifter", "number": 0, "value": 0}
CARD = {"handle": 0, "face": FACE_8}

# One event of each kind, and what it reads as.
EXAMPLES: list[tuple[Event, dict[str, object]]] = [
    (
        (engine.ACTED, 0, DRAW, engine.BY_POLICY, ALL, ()),
        {"seat": 0, "acted": {"action": {"draw": {}}, "cause": "CAUSE_POLICY"}},
    ),
    ((engine.RESIGNED, 3, 0, 0, ALL, ()), {"seat": 3, "resigned": {}}),
    (
        (engine.ROUND_BEGAN, 0, 1, 0, ALL, (20, 0)),
        {"seat": 0, "roundBegan": {"round": 1, "firstOfPile": {"handle": 20, "face": FACE_0}}},
    ),
    (
        (engine.TURN_BEGAN, 1, 7, engine.TURN_ADDITIONAL | engine.TURN_FINAL, ALL, ()),
        {"seat": 1, "turnBegan": {"turn": 7, "additional": True, "final": True}},
    ),
    (
        (engine.MOVED, 1, engine.PILE + 2, square(1, 0), ALL, (0, 8)),
        {
            "seat": 1,
            "moved": {
                "card": CARD,
                "origin": {"zone": "ZONE_PILE", "depth": 2},
                "destination": {"zone": "ZONE_VILLAGE", "villageSpot": {"seat": 1, "spot": 0}},
            },
        },
    ),
    (
        (engine.FLIPPED, 0, square(0, 3), 1, ALL, (0, 8)),
        {"seat": 0, "flipped": {"card": CARD, "spot": {"seat": 0, "spot": 3}, "faceup": True}},
    ),
    (
        (engine.TURNED, 0, square(0, 3), 1, ALL, (0, 8)),
        {"seat": 0, "turned": {"card": CARD, "spot": {"seat": 0, "spot": 3}, "sideways": True}},
    ),
    (
        (engine.LOOKED, 2, 0, 0, ALL, (0, 8, 1, 0)),
        {"seat": 2, "looked": {"cards": [CARD, {"handle": 1, "face": FACE_0}]}},
    ),
    (
        (engine.SHOWN, 2, engine.SHOWN_FAILED_SET, 0, ALL, (0, 8)),
        {"seat": 2, "shown": {"reason": "SHOWN_REASON_FAILED_SET", "cards": [CARD]}},
    ),
    (
        (engine.ABILITY_BEGAN, 2, engine.HAND, 0, ALL, (0, 8)),
        {"seat": 2, "abilityBegan": {"card": CARD, "place": {"zone": "ZONE_HAND"}}},
    ),
    ((engine.TOKEN_USED, 2, 0, 0, ALL, ()), {"seat": 2, "tokenUsed": {}}),
    ((engine.TURN_ADDED, 2, 0, 0, ALL, ()), {"seat": 2, "turnAdded": {}}),
    ((engine.CALLED, 2, 0, 0, ALL, ()), {"seat": 2, "called": {}}),
    (
        (engine.ROUND_ENDED, NOBODY, engine.END_BY_LIMIT, 0, ALL, ()),
        {"roundEnded": {"reason": "ROUND_END_REASON_TURN_LIMIT"}},
    ),
    ((engine.SCORED, 2, 0, 10, ALL, ()), {"seat": 2, "scored": {"sum": 0, "score": 10}}),
    ((engine.TOKEN_AWARDED, 2, 1, 0, ALL, ()), {"seat": 2, "tokenAwarded": {"active": True}}),
    (
        (engine.GAME_OVER, NOBODY, engine.OVER_BY_RESIGNATION, 0, ALL, (2, 0, 1)),
        {"gameOver": {"reason": "GAME_OVER_REASON_RESIGNATION", "places": [2, 0, 1]}},
    ),
    ((engine.PREDICTED, 2, -1, 0, ALL, ()), {"seat": 2, "predicted": {"value": -1}}),
    ((engine.KEPT, 2, 0, 0, ALL, ()), {"seat": 2, "kept": {}}),
    ((engine.SEARCHED, 2, 0, 0, ALL, (NOBODY, 0, NOBODY, 8)), {"seat": 2, "searched": {"faces": [FACE_0, FACE_8]}}),
    ((engine.SHUFFLED, 2, 0, 0, ALL, ()), {"seat": 2, "shuffled": {"deckCount": 0}}),
    (
        (engine.TUCKED, 0, square(0, 3), square(2, 0), ALL, (0, 8)),
        {"seat": 0, "tucked": {"card": CARD, "origin": {"seat": 0, "spot": 3}, "host": {"seat": 2, "spot": 0}}},
    ),
    ((engine.AWAY, 2, 0, 0, ALL, ()), {"seat": 2, "away": {}}),
    ((engine.RETURNED, 2, 0, 0, ALL, ()), {"seat": 2, "returned": {}}),
]

PLACES = [
    (engine.DECK, {"zone": "ZONE_DECK_TOP"}),
    (engine.DECK_BOTTOM, {"zone": "ZONE_DECK_BOTTOM"}),
    (engine.PILE_BOTTOM, {"zone": "ZONE_PILE_BOTTOM"}),
    (engine.HAND, {"zone": "ZONE_HAND"}),
    (engine.ASIDE, {"zone": "ZONE_ASIDE"}),
    (engine.PILE, {"zone": "ZONE_PILE", "depth": 0}),
    (square(0, 0), {"zone": "ZONE_VILLAGE", "villageSpot": {"seat": 0, "spot": 0}}),
    (square(3, 12), {"zone": "ZONE_VILLAGE", "villageSpot": {"seat": 3, "spot": 12}}),
]


def constants(prefix: str) -> list[int]:
    """The numbers of the engine's constants of a family, such as SHOWN_FAILED_SET of SHOWN_."""
    found = [number for name, number in vars(engine).items() if name.startswith(prefix)]
    assert found
    return sorted(found)


def told(seed: int) -> Iterator[tuple[State, list[Event]]]:
    """Each state of a random game, with the events that led to it."""
    log: list[Entry] = []
    setup = random_setup(seed, rounds=1)
    states = [s.copy() for s in positions(setup, log)]
    yield from zip(states, history(setup.options, setup.secret, (), log), strict=True)


def test_kinds_of_the_engine_and_of_the_contract_are_the_same() -> None:
    kinds = [field.name for field in pb.Event.DESCRIPTOR.oneofs_by_name["kind"].fields]
    assert kinds == [name.lower() for name in engine.KINDS]


def test_there_is_an_example_of_every_kind() -> None:
    assert [event[0] for event, _ in EXAMPLES] == list(range(len(engine.KINDS)))


@pytest.mark.parametrize(("event", "reads"), EXAMPLES, ids=engine.KINDS)
def test_an_event_is_its_message(event: Event, reads: dict[str, object]) -> None:
    assert MessageToDict(events.to_proto(FACES, event)) == reads


@pytest.mark.parametrize(("place", "reads"), PLACES)
def test_a_place_is_its_message(place: int, reads: dict[str, object]) -> None:
    event = (engine.MOVED, 0, place, engine.HAND, ALL, (0, UNKNOWN))
    assert MessageToDict(events.to_proto(FACES, event))["moved"]["origin"] == reads


def test_every_reason_and_cause_of_the_engine_has_a_number_of_its_own() -> None:
    shown = [_event((engine.SHOWN, 0, why, 0, ALL, ())).shown.reason for why in constants("SHOWN_")]
    ended = [_event((engine.ROUND_ENDED, NOBODY, why, 0, ALL, ())).round_ended.reason for why in constants("END_BY_")]
    over = [_event((engine.GAME_OVER, NOBODY, why, 0, ALL, ())).game_over.reason for why in constants("OVER_BY_")]
    acted = [_event((engine.ACTED, 0, DRAW, why, ALL, ())).acted.cause for why in constants("BY_")]
    entries = [events.entry_cause(Entry(0, DRAW, cause)) for cause in range(len(engine_log.CAUSES))]
    entries += [events.entry_cause(Entry(0, RESIGNATION))]
    assert sorted(shown) == pb.ShownReason.values()[1:]
    assert sorted(ended) == pb.RoundEndReason.values()[1:]
    assert sorted(over) == sorted(REASONS.values()) == result_pb2.GameOverReason.values()[1:]
    assert {pb.CAUSE_CREATION, *acted, *entries} == set(pb.Cause.values()[1:])
    assert len(set(acted)) == len(acted)
    assert len(set(entries)) == len(entries)


def test_each_kind_of_turn_is_told_by_itself() -> None:
    kinds = constants("TURN_")[:2]
    assert kinds == [engine.TURN_ADDITIONAL, engine.TURN_FINAL]
    assert MessageToDict(_event((engine.TURN_BEGAN, 0, 1, 0, ALL, ()))) == {"seat": 0, "turnBegan": {"turn": 1}}
    additional = _event((engine.TURN_BEGAN, 0, 1, engine.TURN_ADDITIONAL, ALL, ())).turn_began
    assert (additional.additional, additional.final) == (True, False)


def test_what_a_viewer_may_not_know_is_absent() -> None:
    looked = (engine.LOOKED, 1, 0, 0, 1 << 1, (4, 8))
    assert _event(seen_by(looked, 1)).looked.cards[0].face.number == 8
    for viewer in (0, 2, SPECTATOR):
        assert MessageToDict(_event(seen_by(looked, viewer))) == {"seat": 1, "looked": {"cards": [{"handle": 4}]}}
    searched = (engine.SEARCHED, 1, 0, 0, 1 << 1, (NOBODY, 0, NOBODY, 8))
    assert len(_event(seen_by(searched, 1)).searched.faces) == 2
    assert MessageToDict(_event(seen_by(searched, 0))) == {"seat": 1, "searched": {}}
    acted = (engine.ACTED, 1, DRAW, engine.BY_PLAYER, 1 << 1, ())
    assert MessageToDict(_event(seen_by(acted, 0))) == {"seat": 1, "acted": {"cause": "CAUSE_PLAYER"}}


@pytest.mark.parametrize("seed", range(16))
def test_the_events_of_a_game_are_told_in_full_to_those_who_may_know(seed: int) -> None:
    kinds = set[str]()
    for s, happened in told(seed):
        faces = cards.faces(s.options)
        for viewer in (*range(s.options.players), SPECTATOR):
            for event in happened:
                message = events.to_proto(faces, seen_by(event, viewer))
                kind, seat, a, _, audience, pairs = event
                kinds.add(engine.KINDS[kind])
                assert message.WhichOneof("kind") == engine.KINDS[kind].lower()
                assert message.HasField("seat") == (seat != NOBODY)
                if kind == engine.ACTED:
                    known = audience >> viewer & 1 != 0
                    assert message.acted.HasField("action") == known
                    assert not known or actions.from_proto(message.acted.action, "") == a
                elif kind == engine.SEARCHED:
                    shown = pairs[1::2] if audience >> viewer & 1 else ()
                    assert [face_number(face) for face in message.searched.faces] == list(shown)
                elif kind != engine.GAME_OVER:
                    expected = pairs[1::2] if audience >> viewer & 1 else [UNKNOWN] * (len(pairs) // 2)
                    assert list(cards_of(message)) == list(zip(pairs[::2], expected, strict=True))
    assert {"MOVED", "LOOKED", "SHOWN", "SCORED", "GAME_OVER"} <= kinds


def cards_of(event: pb.Event) -> Iterator[tuple[int, int]]:
    """The handle and face of each card of an event, read off the message."""
    kind: object = getattr(event, event.WhichOneof("kind") or "")
    match kind:
        case pb.LookedEvent() | pb.ShownEvent():
            found = list(kind.cards)
        case pb.RoundBeganEvent():
            found = [kind.first_of_pile]
        case pb.MovedEvent() | pb.FlippedEvent() | pb.TurnedEvent() | pb.AbilityBeganEvent() | pb.TuckedEvent():
            found = [kind.card]
        case _:
            found = []
    for card in found:
        yield card.handle, face_number(card.face) if card.HasField("face") else UNKNOWN


def face_number(face: card_pb2.Face) -> int:
    """The engine's number of a face."""
    return face.number | (max(face.variant, 1) - 1) << 4


def test_an_entry_of_the_log_says_who_why_and_when() -> None:
    event = (engine.CALLED, 0, 0, 0, ALL, ())
    entry = events.log_entry(OPTIONS, 12, "nq3v8d0s", Entry(0, DRAW), 1_500, 2, [event])
    assert MessageToDict(entry) == {
        "version": "12",
        "mark": "nq3v8d0s",
        "seat": 0,
        "cause": "CAUSE_PLAYER",
        "createTime": "1970-01-01T00:00:01.500Z",
        "seatToAct": 2,
        "events": [{"seat": 0, "called": {}}],
    }
    resigned = events.log_entry(OPTIONS, 13, "", Entry(3, RESIGNATION), 0, NOBODY, [])
    assert (resigned.cause, resigned.seat, resigned.HasField("seat_to_act")) == (pb.CAUSE_RESIGNATION, 3, False)


def test_the_creation_is_version_0_and_nobodys() -> None:
    s, happened = next(told(0))
    seen = [seen_by(event, SPECTATOR) for event in happened]
    entry = events.log_entry(s.options, 0, "m", None, 0, seat_to_act(s), seen)
    assert (entry.version, entry.HasField("version"), entry.HasField("seat")) == (0, True, False)
    assert entry.cause == pb.CAUSE_CREATION
    assert entry.seat_to_act == s.holder
    assert [event.WhichOneof("kind") for event in entry.events] == ["round_began"]


def _event(event: Event) -> pb.Event:
    return events.to_proto(FACES, event)
