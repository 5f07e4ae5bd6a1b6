"""`moonvale position`: draws a position, lists its legal actions, carries some out."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Final

from rich.console import Console
from rich.text import Text

from moonvale.v1.view_pb2 import View
from moonvale_cli.draw import TableDrawing
from moonvale_cli.errors import CommandError
from moonvale_cli.story import Story
from moonvale_cli.words.choices import choice_words, question_words
from moonvale_cli.words.table import Table
from moonvale_engine import (
    Entry,
    NotationError,
    Position,
    State,
    UnknownRulesError,
    action_text,
    apply,
    legal_actions,
    parse_action,
    parse_position,
    position_text,
    seat_to_act,
    seen_by,
    view,
    whole,
)
from moonvale_engine.errors import EngineError
from moonvale_engine.events import EVERYBODY, NOBODY, SPECTATOR, Event
from moonvale_engine.notation import SEATS
from moonvale_engine.state import CARDS

DESCRIPTION: Final = """\
Draw a position, list the legal actions of whoever is to act, and carry out actions given behind
it, one after the other. Positions and actions are written as docs/notation.md says; spots and
seats are counted as there: a0 is the leftmost card of the first seat.

A position that a view carries shows what its viewer knows. Actions can only be carried out in a
whole one, with every face and the secret.
"""
EXAMPLES: Final = """\
  moonvale position "$(moonvale position --new 2)" 'peek 0 1'
  moonvale position - < position.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the position and the actions."""
    parser.add_argument("text", metavar="TEXT", nargs="?", help="a position, or - for the standard input")
    parser.add_argument("actions", metavar="ACTION", nargs="*", help="an action to carry out, such as 'pick b3'")
    parser.add_argument(
        "--new",
        metavar="PLAYERS",
        type=int,
        choices=(2, 3, 4),
        help="print the first position of a new game instead, with a secret from the system's source of chance",
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw the position that the actions lead to."""
    if arguments.new is not None:
        print(_new(arguments.new))
        return 0
    if arguments.text is None:
        raise CommandError("needs a position as text; see docs/notation.md, or try: moonvale position --new 2")
    try:
        position = parse_position(sys.stdin.read() if arguments.text == "-" else arguments.text)
    except (NotationError, UnknownRulesError) as error:
        raise CommandError(str(error)) from error
    console = Console()
    if arguments.actions:
        _carry_out(position, arguments.actions, console)
        console.print(Text(position_text(position)), soft_wrap=True)
        console.print()
    _draw(position, console)
    return 0


def _new(players: int) -> str:
    import os

    from moonvale_engine import Options, new_game
    from moonvale_engine.shuffle import SECRET_BYTES

    return position_text(whole(new_game(Options(players=players), os.urandom(SECRET_BYTES))))


def _carry_out(position: Position, actions: list[str], console: Console) -> None:
    """Carry out actions in a whole position and tell what happens. Raises CommandError."""
    if position.viewer != NOBODY:
        raise CommandError(
            "this is what one viewer knows; actions need a whole position, with every face and the secret"
        )
    from moonvale_service.convert.events import log_entry

    s = position.state
    table = Table(_message(position))
    table.you = None  # whoever acts, the reader is none of them
    story = Story(0)
    for number, text in enumerate(actions, 1):
        seat = seat_to_act(s)
        happened: list[Event] = []
        s.events = happened
        try:
            action = parse_action(text)
            apply(s, action)
        except EngineError as error:
            raise CommandError(f"action {number}, '{text}': {error}") from error
        seen = [seen_by(event, seat) for event in happened]
        story.add(log_entry(s.options, number, "", Entry(seat, action), 0, seat_to_act(s), seen), table)
    for line in story.tell(table):
        console.print(Text(f"· {line}"))
    console.print()


def _draw(position: Position, console: Console) -> None:
    message = _message(position)
    console.print(TableDrawing(message, first_spot=0))
    console.print()
    if message.HasField("result"):
        console.print("The game is over.")
        return
    table = Table(message)
    seat = message.decision.seat
    if not message.decision.legal_actions:
        console.print(f"{table.name(seat)} is to act, and this viewer is another one.")
        return
    console.print(Text(f"{table.name(seat)} is to act. {question_words(message, table)}"))
    actions = [action_text(action) for action in legal_actions(position.state)]
    width = max(map(len, actions))
    for text, action in zip(actions, message.decision.legal_actions, strict=True):
        console.print(Text(f"  {text:<{width}}   {choice_words(action, message)}"))


def _message(position: Position) -> View:
    """Return a position as a view; a whole one as if the seat to act knew every card."""
    from moonvale_service.about import About
    from moonvale_service.convert.views import GameHeader, to_proto

    s = position.state
    names = tuple([f"Seat {SEATS[seat]}" for seat in range(s.options.players)])
    header = GameHeader("", 0, "", b"", 0, 0, About(seat_names=names))
    if position.viewer != NOBODY:
        return to_proto(view(s, position.viewer), "", header)
    return to_proto(view(_open(s), seat_to_act(s) if s.stack else SPECTATOR), "", header)


def _open(s: State) -> State:
    """Return a copy in which everybody has seen every card and remembers it."""
    opened = s.copy()
    opened.known = bytearray((EVERYBODY,)) * CARDS
    opened.options = dataclasses.replace(s.options, memory="assisted")
    return opened
