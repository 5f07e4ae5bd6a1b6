"""Silver Eye at the terminal: choices, questions and events in words, cards drawn, and the options that choose it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest
from google.protobuf import text_format
from rich.console import Console

from moonvale.v1.action_pb2 import Action
from moonvale.v1.event_pb2 import Event
from moonvale.v1.game_service_pb2 import SubmitActionResponse
from moonvale.v1.view_pb2 import View
from moonvale_cli.draw import TableDrawing
from moonvale_cli.main import main
from moonvale_cli.player import Place, Player
from moonvale_cli.words import choices, events
from moonvale_cli.words.table import Table
from tests.cli.game import view_of_text
from tests.cli.terminal import Terminal
from tests.cli.test_play import PROMPT

SEARCHING = "eye 2p token=eye demands=odd,odd,at-most-6,even; as a; round 1 turn 1 a"
SEARCH = "frames round.3/a turn.2/a eye_token.1/a"
EYE = "eye 2p; as a; round 1 turn 6 a; token b; "
SET = EYE + "a 3 ?4:a ?; b ?x5; pile 9.1; deck ?x32; aside ?x10; hand ?8:a; frames round.3/b turn.2/a hand.1/a "
# A decision in each of the situations that Silver Eye brings: its position, the question, the choices.
DECISIONS = {
    "reaction": (
        EYE + "a 2 11 3; b ?x5; pile 11 12; deck ?x32; aside ?x10; frames round.3/b turn.2/a reactions.1/a/0,12,0",
        "A card of value 11 came to the pile. Do you discard one that equals it?",
        [
            "Do not react",
            "With your 1st card (2 Simon), discard your 2nd card (11 Underminer)",
            "With your 1st card (2 Simon), discard your 2nd card (11 Underminer), with a Spotter",
        ],
    ),
    "spotters": (
        SET.replace("a 3 ?4:a ?;", "a 3 3 ?4:a;") + "exchange.0/a/1,0,0/a2,-,-,-",
        "Do you exchange more cards at once? All must have the same number.",
        [
            "Carry out the exchange of your 3rd card",
            "Declare a Spotter: if the exchange succeeds, it looks for more cards like these",
            "Declare 2 Spotters: if the exchange succeeds, they look for more cards like these",
        ],
    ),
    "search": (
        EYE + "a 3 7; b ? ?7:a 12 ?x2; pile -1; deck ?x34; aside ?x10; frames round.3/b turn.2/a spotter.1/a/0,0,0",
        "Whose village does the Spotter search for another -1?",
        ["Ben's village"],
    ),
    "look": (
        EYE + "a 3 7; b ? ?7:a 12; pile 4; deck ?x36; aside ?x10; frames round.3/b turn.2/a spotter.2/a/1,5,0",
        "Which card do you look at with the Spotter?",
        ["Look at no more cards", "Ben's 1st card", "Ben's 2nd card (7 Ghost)"],
    ),
    "obsessor": (
        EYE + "a 9.2 9.4 5; b ?x5; pile 7; deck ?x32; aside ?x10; hand ?3:a;"
        " frames round.3/b turn.2/a hand.1/a exchange.2/a/2,0,0/a0,a1,-,-",
        "Which of the Obsessors shall lie on top of the pile?",
        [
            "Your 1st card (9 Obsessor for odd numbers, faceup)",
            "Your 2nd card (9 Obsessor for 7 or higher, faceup)",
        ],
    ),
    "keep": (
        EYE + "a -; b ?x5; pile 9.3; deck ?x35; aside ?x10; hand ?8:a; frames round.3/b turn.2/a hand.0/a",
        "What do you do with the 8 Split Seer in your hand?",
        ["Keep it: it fits nowhere, and joins your village"],
    ),
    "gamble": (
        EYE + "a 4 ?; b ?; pile 7; deck ?x38; aside ?x10; frames round.3/b turn.1/a",
        "It is your turn. What do you do?",
        [
            "Draw a card from the deck (38 left)",
            "Take the 7 Ghost from the pile, for an exchange",
            "Call for the vote: all others have one more turn, then the round ends",
            "Gamble: predict what the top card of the deck is",
        ],
    ),
    "reward": (
        EYE + "a 4 3; b ?; pile 7; deck ?x38; aside ?x10; frames round.3/b turn.2/a/0,0,1 gambler.1/a/0,1,0/a0,-,-,-",
        "That was right. Which of your cards do you discard?",
        [
            "Discard none",
            "Your 1st card (4 Gambler, faceup)",
            "Your 1st card (4 Gambler, faceup), with a Spotter",
            "Your 2nd card (3 Spotter, faceup)",
            "Your 2nd card (3 Spotter, faceup), with a Spotter",
        ],
    ),
    "token": (
        f"{SEARCHING}; token a+; a ?x5; b ?x5; pile -; deck 7 ?x30; aside ?x11; frames round.3/a turn.1/a",
        "It is your turn. What do you do?",
        [
            "Draw the 7 Ghost, which lies open on the deck",
            "Use the Eye token: look through the deck for your draw",
        ],
    ),
    "deck": (
        f"{SEARCHING}; token a; a ?x5; b ?x5; pile 7; deck ?=x4; aside ?x37; pool ?-1:a 8:a ?9.2:a ?9.3:a; {SEARCH}",
        "Which card of the deck do you draw?",
        [
            "Draw a -1 Nelly",
            "Draw an 8 Split Seer, which lies faceup in the deck",
            "Draw a 9 Obsessor for odd numbers",
            "Draw a 9 Obsessor for 6 or lower",
        ],
    ),
    "underminer": (
        EYE + "a 4 ?; b ?; pile 11 ? 7; deck ?x36; aside ?x10; frames round.3/b turn.2/a underminer.1/a/0,0,0/a1,-,-,-",
        "Which card of the pile takes its place, with the Underminer?",
        ["The facedown card in the pile, 2nd from the top", "The 7 Ghost in the pile, 3rd from the top"],
    ),
    "nelly": (
        EYE + "a -1 ?0:*; b ?4:*; pile 7; deck ?x38; aside ?x10; frames round.4/b/1,0,0 scorer.0/a/0,1,0",
        "The round is being scored. Do you use an ability?",
        ["Use no more abilities", "Tuck your 1st card (-1 Nelly) under Ben's 1st card (4 Gambler)"],
    ),
    "bomber": (
        EYE + "a 13; b ?4:*; pile 7; deck ?x39; aside ?x10; frames round.4/b/1,0,0 scorer.0/a/0,13,0",
        "The round is being scored. Do you use an ability?",
        [
            "Use no more abilities",
            "With your 1st card (13 Mad Bomber), take Ben's 1st card (4 Gambler) out of the round",
        ],
    ),
}


@pytest.mark.parametrize(("text", "question", "said"), DECISIONS.values(), ids=DECISIONS)
def test_a_decision_in_words(text: str, question: str, said: list[str]) -> None:
    view = view_of_text(text)
    assert choices.question_words(view, Table(view)) == question
    assert [choices.choice_words(action, view) for action in view.decision.legal_actions] == said


OBSESSOR = '{key: "eye/obsessor" number: 9 value: 9 variant: 3 demand {at_most: 0}}'
NELLY = 'card {face {key: "eye/nelly" number: 1 value: -1}}'
SPOT = "zone: ZONE_VILLAGE village_spot {seat: 1 spot: 0}"
EVENTS = [
    ("predicted {value: -1}", "predicted -1"),
    ("kept {}", "had to keep it"),
    ("searched {}", "looked through the deck"),
    ("shuffled {deck_count: 0}", "shuffled it"),
    (
        f"tucked {{{NELLY} origin {{seat: 1 spot: 0}} host {{seat: 0 spot: 2}}}}",
        "tucked their 1st card (-1 Nelly) under your 3rd card",
    ),
    (
        f"shown {{reason: SHOWN_REASON_REFUSED cards {{face {OBSESSOR}}}}}",
        "showed what the Obsessor on the pile refuses (9 Obsessor for 0 or lower)",
    ),
    (
        f"moved {{{NELLY} origin {{zone: ZONE_DECK_TOP}} destination {{zone: ZONE_PILE depth: 0}}}}",
        "turned up a -1 Nelly from the deck",
    ),
    (
        f"moved {{{NELLY} origin {{zone: ZONE_PILE depth: 1}} destination {{zone: ZONE_DECK_BOTTOM}}}}",
        "slid the -1 Nelly under the deck",
    ),
    (
        "moved {card {} origin {zone: ZONE_PILE depth: 1} destination {zone: ZONE_DECK_BOTTOM}}",
        "slid a facedown card under the deck",
    ),
    (
        f"moved {{{NELLY} origin {{{SPOT}}} destination {{zone: ZONE_ASIDE}}}}",
        "took their 1st card (-1 Nelly) out of the round",
    ),
]


@pytest.mark.parametrize(("event", "said"), EVENTS)
def test_an_event_in_words(event: str, said: str) -> None:
    table = Table(view_of_text(DECISIONS["keep"][0]))
    message = text_format.Parse(f"seat: 1 {event}", Event())
    assert events.phrase(message, Action(), table) == (1, said)


def drawn(text: str) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=100).print(TableDrawing(view_of_text(text)))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_the_obsessor_on_top_is_drawn_with_its_demand() -> None:
    assert "Pile  9 Obsessor for 6 or lower" in drawn(DECISIONS["keep"][0])


def test_a_card_that_lies_open_on_the_deck_is_drawn() -> None:
    assert any(line.startswith("Deck    7 lies open on it; 31 cards") for line in drawn(DECISIONS["token"][0]))


def test_a_tucked_card_is_named_beside_its_owners_points() -> None:
    text = EYE + (
        "a 13 ?4:*; b 2 11; pile 7; deck ?x36; aside ?x10; tucked -1!=b1; frames round.4/b/1,0,0 scorer.0/a/0,13,0"
    )
    assert any("Ben, 0 points, -1 Nelly under the 2nd card" in line for line in drawn(text))


class FakeService:
    """A service that remembers what is submitted, and whose game then waits for somebody else."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.submitted: list[str] = []

    def watch(self, game: str, credential: str) -> Iterator[View]:
        yield self.view

    def list_events(self, game: str, credential: str) -> list[object]:
        return []

    def get_view(self, game: str, credential: str) -> View:
        return self.view

    def submit_action(self, game: str, credential: str, actions: list[Action], version: int) -> SubmitActionResponse:
        self.submitted += [action.WhichOneof("verb") or "" for action in actions]
        del self.view.decision.legal_actions[:]
        self.view.result.places[:] = [0, 1]
        return SubmitActionResponse(view=self.view)


class Typing(Console):
    """A console at which somebody types one line, then leaves."""

    def __init__(self, *lines: str) -> None:
        super().__init__(file=io.StringIO(), width=100)
        self.lines = list(lines)

    def input(self, *prompt: object, **options: object) -> str:
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def submitted(text: str, line: str) -> list[str]:
    """What is sent for a line that is typed."""
    service = FakeService(view_of_text(text))
    player = Player(service, Place("games/test", ""), Typing(line))  # type: ignore[arg-type]  # what a player needs of it
    player.play()
    return service.submitted


HAND = SET.replace("hand.1/a ", "hand.0/a")
NAMED = SET + "exchange.0/a/1,{},0/a0,-,-,-"


def test_an_exchange_is_carried_out_at_once_if_there_is_nothing_to_declare() -> None:
    hand = HAND.replace("a 3 ", "a ?3:a ").replace("pile 9.1", "pile 7")
    assert submitted(hand, "3") == ["name", "close"]
    assert submitted(hand, "3 4") == ["name", "name", "close"]


def test_an_exchange_waits_for_spotters_that_can_be_declared() -> None:
    hand = HAND.replace("pile 9.1", "pile 7")
    assert submitted(hand, "3") == ["name"]
    assert submitted(hand, "3 4") == ["name", "name"]


def test_cards_and_spotters_can_be_named_at_once() -> None:
    assert submitted(NAMED.format(0), "2") == ["name"]
    assert submitted(NAMED.format(0), "4") == ["declare"]
    assert submitted(NAMED.format(0), "3 4") == ["name", "declare", "close"]
    assert submitted(NAMED.format(1), "2 3") == ["name", "name", "close"]


def test_a_deck_that_cannot_be_is_a_wrong_argument(capsys: pytest.CaptureFixture[str]) -> None:
    for deck, error in (
        ("gold", "'gold' is not known; choose one of: coin, eye"),
        ("coin,14=eye", "'14=eye' is not NUMBER=DECK with a number of 0..13"),
        ("2=eye,9=eye", "'2=eye' names no deck for the other numbers; begin with one of: coin, eye"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["play", "--deck", deck])
        assert ended.value.code == 2
        assert f"argument --deck: {error}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "token", "card"),
    [
        (["--deck", "eye"], "Eye", "2 Simon"),
        (["--deck", "eye", "--token", "coin"], "Coin", "2 Simon"),
        (["--deck", "coin,2=eye,9=eye", "--token", "eye"], "Eye", "2 Simon"),
        (["--deck", "coin,9=eye"], "Coin", "2 Curator"),
    ],
)
def test_a_deck_and_a_token_are_played_with(service_address: str, arguments: list[str], token: str, card: str) -> None:
    with Terminal("play", "--players", "2", "--address", service_address, *arguments) as terminal:
        assert f"{token} token  lies with" in terminal.until(PROMPT)
        terminal.type("?2")
        told = terminal.until(PROMPT)
        assert re.findall(r"^(2 .+?): ", told, re.MULTILINE) == [card]
        terminal.type("q")
        terminal.until("You left the table.")
        assert terminal.end() == 0
