"""Words: there are some for everything that can happen or be chosen, and they read well."""

import re

import pytest

from moonvale.v1 import event_pb2, result_pb2, view_pb2
from moonvale.v1.action_pb2 import Action
from moonvale.v1.card_pb2 import ZONE_DECK_TOP, ZONE_HAND, ZONE_PILE, Card, Face
from moonvale.v1.event_pb2 import Event, LogEntry
from moonvale_cli.story import Story
from moonvale_cli.words import choices, events
from moonvale_cli.words.table import Table, a_card, card_name, listed, ordinal, printable
from moonvale_engine import decision_kind, texts
from moonvale_engine.decisions import TARGET
from moonvale_engine.events import SPECTATOR
from tests.cli.game import played, view_of_text

SEEDS = range(8)


def kinds(message: type[Event] | type[Action], oneof: str) -> set[str]:
    return {field.name for field in message.DESCRIPTOR.oneofs_by_name[oneof].fields}


def test_every_kind_of_event_and_every_verb_has_words() -> None:
    assert set(events.EVENTS) == kinds(Event, "kind")
    assert set(choices.CHOICES) == kinds(Action, "verb")


def test_every_kind_of_decision_and_every_end_has_words() -> None:
    assert set(choices.QUESTIONS) == set(view_pb2.DecisionKind.values()) - {0}
    assert set(events.ROUND_ENDS) == set(event_pb2.RoundEndReason.values()) - {0}
    assert set(events.ENDINGS) == set(result_pb2.GameOverReason.values()) - {0}


def test_every_card_has_a_name() -> None:
    names = {card_name(f"{card.deck}/{card.key}") for card in texts.entries()}
    assert len(names) == len(texts.entries())
    assert all(re.fullmatch(r"[A-Z][A-Za-z ]+", name) for name in names)


def test_a_card_and_an_action_of_a_newer_service_are_named_as_they_come() -> None:
    view = next(played(0, None)).view
    assert card_name("moon/howler\x1b[2J") == "moon/howler?[2J"
    assert "does not know" in choices.choice_words(Action(), view)
    assert "does not know" in events.phrase(Event(), None, Table(view)).text


def assert_well_said(text: str) -> None:
    assert re.fullmatch(r"[A-Z?].*[^ .]", text), text
    assert not re.search(r"None|[{}]|\s\s|\(\)|ZONE|coin/", text), text


@pytest.mark.parametrize("seed", SEEDS)
def test_the_choices_of_a_decision_differ_in_words_and_read_well(seed: int) -> None:
    for moment in played(seed, None):
        view = moment.view
        said = [choices.choice_words(action, view) for action in view.decision.legal_actions]
        assert len(set(said)) == len(said), said
        for words in said:
            assert_well_said(words.removesuffix("."))
        if said:
            question = choices.question_words(view, Table(view))
            assert question.endswith(("?", "."))
            assert_well_said(question[:-1])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("viewer", [0, SPECTATOR])
def test_a_whole_game_is_told_in_sentences(seed: int, viewer: int) -> None:
    story = Story(-1)
    table = Table(next(played(seed, viewer)).view)
    told: list[str] = []
    for moment in played(seed, viewer):
        story.add(moment.entry, table)
        told += story.tell(table, finished=True)
    told += story.tell(table)
    for sentence in told:
        assert sentence.endswith(".")
        assert_well_said(sentence[:-1])
    assert told[0].startswith("Round 1 began with")
    assert told[-1].startswith("The game is over")


def test_every_ability_that_asks_for_a_target_has_a_question_of_its_own() -> None:
    asked = {
        (moment.view.decision.ability, moment.view.decision.legal_actions[0].WhichOneof("verb"))
        for seed in range(40)
        for moment in played(seed, None)
        if decision_kind(moment.state) == TARGET
    }
    assert asked == set(choices.TARGETS)


def test_an_entry_is_told_once_and_none_before_its_turn() -> None:
    game = played(3, 0)
    table = Table(next(played(3, 0)).view)
    entries = [next(game).entry for _ in range(4)]
    story = Story(-1)
    story.add(entries[1], table)
    assert story.tell(table) == []
    for entry in (entries[0], entries[0], entries[1], entries[3]):
        story.add(entry, table)
    assert story.version == 1
    began, looked = story.tell(table)
    assert began.startswith("Round 1 began with")
    assert " looked at " in looked
    assert story.tell(table) == []


def test_a_line_that_may_still_grow_waits() -> None:
    table = Table(next(played(3, 0, players=2)).view)
    story = Story(0)
    drew = Event(seat=1)
    drew.moved.origin.zone = ZONE_DECK_TOP
    drew.moved.destination.zone = ZONE_HAND
    discarded = Event(seat=1)
    discarded.moved.origin.zone = ZONE_HAND
    discarded.moved.destination.zone = ZONE_PILE
    turn = Event(seat=0)
    turn.turn_began.turn = 2
    story.add(LogEntry(version=1, events=[drew]), table)
    assert story.tell(table, finished=True) == []
    assert story.open_line(table) == ["Ben drew a card."]
    story.add(LogEntry(version=2, events=[discarded, turn]), table)
    assert story.tell(table, finished=True) == ["Ben drew a card and discarded it."]


TURN = (
    "coin 2p; as a; round 2 turn 7 a; token a+; a ?8:a ? 3 ?~; b ? ?7:ab 2~ ?; pile 9 4 ?; deck ?x31; aside ?x10;"
    " scores 12 3; frames round.3/a turn.1/a"
)


def choice_list(text: str) -> list[str]:
    view = view_of_text(text)
    return [choices.choice_words(action, view) for action in view.decision.legal_actions]


def test_the_choices_of_a_turn_in_words() -> None:
    assert choice_list(TURN) == [
        "Draw a card from the deck (31 left)",
        "Take the 9 Psychic from the pile, for an exchange",
        "Call for the vote: all others have one more turn, then the round ends",
        "Use the ability of your 3rd card (3 Pixie)",
        "Use the Coin token: flip any card",
    ]


def test_the_choices_for_a_drawn_card_in_words() -> None:
    hand = TURN.replace("?x31", "?x30").replace("turn.1/a", "turn.2/a hand.0/a") + "; hand ?7:a"
    assert choice_list(hand) == [
        "Discard the 7 Nostro, and do not use its ability",
        "Use the ability of the 7 Nostro: Choose a village and have a secret look at everything facedown in it.",
        "Put it in place of your 1st card (8 Assassin)",
        "Put it in place of your 2nd card",
        "Put it in place of your 3rd card (3 Pixie)",
        "Put it in place of your 4th card",
    ]


def test_the_choices_of_a_flip_in_words() -> None:
    flip = TURN.replace("turn.1/a", "turn.1/a coin_token.0/a").replace("token a+", "token a")
    assert choice_list(flip) == [
        *("Your 1st card (8 Assassin)", "Your 2nd card", "Your 3rd card (3 Pixie, faceup)", "Your 4th card"),
        *("Ben's 1st card", "Ben's 2nd card (7 Nostro)", "Ben's 3rd card (2 Curator, faceup)", "Ben's 4th card"),
    ]
    view = view_of_text(flip)
    assert choices.question_words(view, Table(view)) == "Which card do you flip with the Coin token?"


def test_small_words() -> None:
    assert [ordinal(spot) for spot in (0, 1, 2, 3, 10, 11, 12, 20, 21)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd")
    ]
    assert (listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])) == ("a", "a and b", "a, b and c")
    assert printable(" A\x1b]0;nn\u202e ") == "A?]0;nn?"
    faces = [Face(key=f"coin/{key}", value=value) for key, value in (("assassin", 8), ("psychic", 9), ("golem", 11))]
    assert [a_card(Card(face=face)) for face in faces] == ["an 8 Assassin", "a 9 Psychic", "an 11 Golem"]
    assert a_card(Card(handle=3)) == "a card"
