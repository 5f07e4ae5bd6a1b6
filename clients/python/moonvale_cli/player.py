"""A person at the table: shows what happened, asks for a choice, sends it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from moonvale.v1 import view_pb2
from moonvale.v1.action_pb2 import Action, CloseAction
from moonvale.v1.event_pb2 import LogEntry
from moonvale_cli import typed
from moonvale_cli.draw import LEGEND, NAME, TableDrawing, scores
from moonvale_cli.evidence import Evidence
from moonvale_cli.story import Story
from moonvale_cli.words.choices import choice_words, question_words
from moonvale_cli.words.clocks import clock_words, time_words
from moonvale_cli.words.seating import Seating
from moonvale_cli.words.table import Table, changed_cards, listed, ordinal
from moonvale_client import Client, MoonvaleError, View
from moonvale_client.cursor import is_newer
from moonvale_client.entropy import has_to_reveal
from moonvale_engine import texts
from moonvale_engine.options import parse_deck

INTRODUCTION: Final = (
    "Your village is the row of cards in front of you. Every card counts its number, and whoever has the fewest"
    " points after the last round wins: so get rid of high cards, and of many. In your turn you draw or take a card"
    " and put it in place of one of yours, or of several that have the same number. Many cards can do something as"
    " well: ?7 tells what a 7 does. With four cards or fewer you may call for the vote: all others have one more"
    " turn, then the round is scored. Type ? for help."
)

HELP: Final = """\
Type the number of your choice and press Enter. To exchange several cards that
have the same number at once, type all their choices, such as 3 5. Also:
  ?7       what a card does, by its number
  ?        this help
  Enter    your choices again
  b        the table
  s        the points so far
  resign   to give up
  q        to leave"""

HINT: Final = "To exchange several cards with the same number at once, type all their choices, such as 3 5."

#: Decisions before which the table is drawn.
_DRAWN: Final = frozenset(
    {
        view_pb2.DECISION_KIND_PEEK,
        view_pb2.DECISION_KIND_TURN,
        view_pb2.DECISION_KIND_TARGET,
        view_pb2.DECISION_KIND_LOOK,
        view_pb2.DECISION_KIND_SCORING,
        view_pb2.DECISION_KIND_REWARD,
        view_pb2.DECISION_KIND_REACTION,
    }
)
_MOVED_ON: Final = frozenset({"STALE_VERSION", "NOT_YOUR_TURN", "GAME_OVER"})
_BEGUN: Final = frozenset({"GAME_BEGUN", "GAME_NOT_BEGUN"})
_LAST_SECONDS: Final = 10  # of which the player is told
_REFUSED: Final = frozenset({"ILLEGAL_ACTION", "BATCH_REVEALS"})
_QUIT: Final = frozenset({"q", "quit", "exit"})
_SPOTTER: Final = "eye/spotter"
_COLUMNS_FROM: Final = 9  # choices; fewer stand below each other
_LINES_OF_THE_PAST: Final = 8  # of what happened before the player came


class LeftError(Exception):
    """The player leaves the table before the game is over."""


class Place(NamedTuple):
    """A seat that is taken.

    entropy: what it has committed to. commitment: the service's, shown when the seat was taken. creator: the credential
    of the game's creator, or nothing.
    """

    game: str
    credential: str
    entropy: bytes = b""
    commitment: bytes = b""
    creator: str = ""


class Player:
    """One seat of one game, played at the terminal. ``introduced``: the player knows how to play already.

    ``view``: what the player saw last. ``evidence``: all that the player was told.
    """

    def __init__(self, client: Client, place: Place, console: Console, *, introduced: bool = False) -> None:
        self.evidence = Evidence()
        self.view = View()
        self._client = client
        self._place = place
        self._console = console
        self._viewed_at = 0.0
        self._table = Table(self.view)
        self._story = Story(-1)
        self._seating = Seating()
        self._late: int | None = None  # the version upon which the player's time was out
        self._round = 0
        self._introduced = introduced
        self._legend_shown = introduced
        self._hint_shown = introduced

    def play(self) -> View:
        """Play until the game is over, and return the last view. Raises LeftError and MoonvaleError."""
        while True:
            try:
                for update in self._client.watch(self._place.game, self._place.credential):
                    self.evidence.add(update)
                    if isinstance(update, View):
                        self._come(update)
                    else:
                        self._follow(update)
                    self._return()
                    while self._is_asked():
                        self._decide()
            except MoonvaleError as error:
                if error.reason != "HISTORY_REWOUND":
                    raise
                self.evidence.forget_entries()
                self._console.print("The service has lost the latest moves. The game goes on from what it has.")
            else:
                self._say(self._story.tell(self._table))
                self._finish()
                return self.view

    def _come(self, view: View) -> None:
        """Take in the table as it is: wait for the others, or read how it came to that."""
        self._see(view)
        if view.HasField("version"):
            self._sit_down()
            return
        self._say(self._seating.news(view))
        try:
            if has_to_reveal(view, self._place.entropy, self._place.commitment):
                self._client.reveal_entropy(view.name, self._place.credential, self._place.entropy)
        except MoonvaleError as error:
            if error.reason not in _BEGUN:
                raise

    def _sit_down(self) -> None:
        """Begin to play, or go on, and tell what has happened before."""
        self._console.print()
        if not self._introduced:
            self._introduced = True
            self._console.print(INTRODUCTION)
        if self.view.HasField("clock"):
            self._console.print(f"The clock: {clock_words(self.view.clock)}.")
        changes = changed_cards(self.view.options.deck)
        if changes:
            self._console.print(f"Cards of the other deck: {listed(changes)}.")
        self._console.print()
        self._round = self.view.round
        self._story = Story(-1)
        self._catch_up()
        self._say(self._story.tell(self._table)[-_LINES_OF_THE_PAST:])

    def _follow(self, entry: LogEntry) -> None:
        """Take in what happened; read the view if it is the player's turn to act."""
        if entry.version == 0:
            self._look()
            self._say(self._seating.news(self.view))
            self._sit_down()
        self._story.add(entry, self._table)
        self._say(self._story.tell(self._table, finished=True))
        ours = entry.HasField("seat_to_act") and entry.seat_to_act == self._table.you
        if ours and is_newer(entry, self.view):
            self._look()

    def _see(self, view: View) -> None:
        self.view = view
        self._table = Table(view)
        self._viewed_at = time.monotonic()

    def _look(self) -> None:
        self._see(self._client.get_view(self._place.game, self._place.credential))

    def _catch_up(self) -> None:
        """Read what came before the view and has not been told."""
        if self.view.version > self._story.version:
            for entry in self._client.list_events(self._place.game, self._place.credential):
                if entry.version > self.view.version:
                    break
                self.evidence.add(entry)
                self._story.add(entry, self._table)

    def _is_away(self) -> bool:
        """Whether an agent plays in the player's place."""
        return self.view.phase == view_pb2.PHASE_PLAYING and self.view.seats[self.view.viewer_seat].away

    def _is_asked(self) -> bool:
        """Whether the game waits for the player."""
        asked = bool(self.view.decision.legal_actions) and not self._is_away()
        return asked and self.view.version != self._late

    def _return(self) -> None:
        """Have a player in whose place an agent plays take the seat back."""
        while self._is_away():
            self._say(self._story.tell(self._table))
            self._console.print("Your time was out, so an agent plays for you. Press Enter to come back.")
            if self._read(limited=False) in _QUIT:
                raise LeftError
            try:
                self._see(self._client.reclaim_seat(self._place.game, self._place.credential).view)
            except MoonvaleError as error:
                if error.reason != "GAME_OVER":
                    raise
                self._look()
            self._catch_up()

    def _time_left(self) -> float | None:
        """Return the seconds that are left for the open decision; None: there is no limit."""
        if not self.view.HasField("time_left"):
            return None
        return max(0.0, self.view.time_left.ToMilliseconds() / 1000 - (time.monotonic() - self._viewed_at))

    def _decide(self) -> None:
        """Have the player answer the open decision, and take in the view that follows."""
        self._catch_up()
        self._say(self._story.tell(self._table))
        view = self.view
        if view.round != self._round:
            self._round = view.round
            self._console.print()
            self._console.print(scores(view))
        if view.decision.kind in _DRAWN:
            self._draw()
        self._ask()
        while self.view is view and self._is_asked():
            try:
                self._answer(self._read())
            except TimeoutError:
                self._console.print("Your time is out.")
                self._late = view.version

    def _draw(self) -> None:
        self._console.print()
        self._console.print(TableDrawing(self.view))
        if not self._legend_shown:
            self._legend_shown = True
            self._console.print()
            self._console.print(LEGEND, style="dim")

    def _ask(self) -> None:
        view = self.view
        self._console.print()
        question = Text(question_words(view, self._table), style=NAME)
        left = self._time_left()
        if left is not None:
            question.append(f" ({time_words(left)} left)", style="not bold default")
        self._console.print(question)
        said = [choice_words(action, view) for action in view.decision.legal_actions]
        if len(said) < _COLUMNS_FROM:
            grid = Grid.grid(padding=(0, 1, 0, 0))
            grid.add_column(justify="right", min_width=5, no_wrap=True)
            for number, words in enumerate(said, 1):
                grid.add_row(f"{number})", Text(words))
            self._console.print(grid)
        else:
            lines = [Text(f"{number:>4}) {words}") for number, words in enumerate(said, 1)]
            self._console.print(Columns(lines, padding=(0, 2), column_first=True))
        if view.decision.kind == view_pb2.DECISION_KIND_HAND and not self._hint_shown:
            self._hint_shown = True
            self._console.print(HINT, style="dim")

    def _read(self, *, limited: bool = True) -> str:
        """Return what was typed. Raises LeftError, and, if ``limited``, TimeoutError when there is no time left."""
        while True:
            left = self._time_left() if limited else None
            ends = left is None or left <= _LAST_SECONDS
            try:
                wait = None if left is None else left if ends else left - _LAST_SECONDS
                return typed.line(self._console, "> ", wait).strip().lower()
            except EOFError:
                raise LeftError from None
            except TimeoutError:
                if ends:
                    typed.forget()
                    raise
                self._console.print(f"{_LAST_SECONDS} s left", style="dim")

    def _answer(self, words: str) -> None:
        """Do what was typed; a choice that is carried out changes the view."""
        about = re.fullmatch(r"\?\s*(-?\d+)", words)
        if re.fullmatch(r"\d[\d\s,]*", words):
            self._choose([int(number) for number in re.findall(r"\d+", words)])
        elif about is not None:
            self._explain(int(about[1]))
        elif words == "":
            self._ask()
        elif words == "b":
            self._draw()
        elif words == "s":
            self._console.print(scores(self.view))
        elif words == "resign":
            self._resign()
        elif words in _QUIT:
            raise LeftError
        elif words in ("?", "h", "help"):
            self._console.print(HELP)
        else:
            self._console.print("Type the number of a choice, or ? for help.")

    def _choose(self, numbers: list[int]) -> None:
        decision = self.view.decision
        most = len(decision.legal_actions)
        if not all(1 <= number <= most for number in numbers):
            self._console.print(f"The choices are 1 to {most}." if most > 1 else "The only choice is 1.")
            return
        actions = [decision.legal_actions[number - 1] for number in sorted(set(numbers))]
        if len(actions) > 1 and not all(action.WhichOneof("verb") in ("name", "declare") for action in actions):
            self._console.print("Only cards to exchange can be chosen several at once.")
            return
        if _complete(actions, self.view):
            actions.append(Action(close=CloseAction()))
        try:
            response = self._client.submit_action(self._place.game, self._place.credential, actions, self.view.version)
        except MoonvaleError as error:
            if error.reason in _REFUSED:
                self._console.print("That can't be done. Cards that lie faceup must be equal to be exchanged at once.")
            elif error.reason == "TIME_OUT":
                raise TimeoutError from error
            elif error.reason in _MOVED_ON:
                self._console.print("The game has moved on meanwhile.")
                self._look()
            else:
                raise
        else:
            self._take_in(response.view, response.entries)

    def _explain(self, number: int) -> None:
        """Tell what the cards in play with a number, or a value, do."""
        decks = parse_deck(self.view.options.deck)
        found = [
            card for card in texts.entries() if number in (card.number, card.value) and decks[card.number] == card.deck
        ]
        for card in found:
            self._console.print(Text(f"{card.value} {card.name}: {card.ability}"))
        if not found:
            self._console.print(f"There is no card {number}; they go from 0 to 13.")

    def _resign(self) -> None:
        self._console.print("Give up for good, and be placed last? Type yes to do so.")
        if self._read() not in ("y", "yes"):
            return
        response = self._client.resign(self._place.game, self._place.credential)
        self._take_in(response.view, response.entries)
        if not self.view.HasField("result"):
            raise LeftError

    def _take_in(self, view: View, entries: Iterable[LogEntry]) -> None:
        """Take in what came of the player's own action."""
        for entry in entries:
            self._story.add(entry, self._table)
        self._see(view)
        self._say(self._story.tell(self._table))

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._console.print(Padding(Text(line), (0, 0, 0, 2)))

    def _finish(self) -> None:
        self._look()
        self._console.print()
        self._console.print(scores(self.view))
        places = self.view.result.places
        place = list(places).index(self.view.viewer_seat)
        self._console.print()
        self._console.print(
            Text("You win!" if place == 0 else f"You are {ordinal(place)} of {len(places)}.", style=NAME)
        )


def _complete(actions: list[Action], view: View) -> bool:
    """Whether what was chosen is a whole exchange, with no more cards and no Spotter to be named."""
    decision = view.decision
    if not actions[-1].HasField("name"):
        return actions[-1].HasField("declare") and len(actions) > 1
    if decision.kind != view_pb2.DECISION_KIND_HAND and len(actions) == 1:
        return False
    village = view.seats[decision.seat].village
    return decision.declared_spotters > 0 or not any(card.faceup and card.face.key == _SPOTTER for card in village)
