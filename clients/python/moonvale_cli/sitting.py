"""Sitting at a table: one game after the other with the same players, each of them checked when it is over."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from moonvale_cli import typed
from moonvale_cli.at_hand import command_name
from moonvale_cli.errors import CommandError
from moonvale_cli.player import LeftError, Place, Player
from moonvale_cli.words.table import Table
from moonvale_client import Client, CommitmentChangedError, MoonvaleError, View, entropy_commitment, new_entropy
from moonvale_engine import texts
from moonvale_engine.options import DECKS, parse_deck

_YES: Final = frozenset({"y", "yes"})
#: Why a seat of the rematch can't be had any more.
_MISSED: Final = frozenset({"SEAT_TAKEN", "GAME_BEGUN", "GAME_NOT_FOUND"})


def add_save(parser: argparse.ArgumentParser) -> None:
    """Add where a game is kept."""
    parser.add_argument(
        "--save",
        metavar="NAME",
        type=Path,
        help="when the game is over, write its record to NAME.moonvale and what you were told to NAME.ndjson",
    )


class Sitting:
    """Somebody who sits at a table. ``back``: the options, behind a seat's, of the command that brings a player back.

    ``save``: the name of the files in which games are kept. ``again``: whether others can come to another game.
    """

    def __init__(
        self, client: Client, console: Console, *, back: str | None, save: Path | None = None, again: bool = True
    ) -> None:
        self._client = client
        self._console = console
        self._back = back
        self._save = save
        self._again = again
        self._games = 0

    def play(self, place: Place) -> None:
        """Play at the table until the player has enough of it. Raises MoonvaleError."""
        following: Place | None = place
        while following is not None:
            place, following = following, None
            player = Player(self._client, place, self._console, introduced=self._games > 0)
            try:
                view = player.play()
                self._games += 1
                self._check(place, player, view)
                if self._again:
                    following = self._rematch(place, view)
            except (LeftError, KeyboardInterrupt):
                self._leave(place, player.view)
            except CommitmentChangedError as error:
                raise CommandError(f"the cards might be chosen: {error}") from error
            except MoonvaleError as error:
                if error.reason == "GAME_NOT_FOUND":
                    raise CommandError("whoever set the table has taken it away") from error
                raise

    def _leave(self, place: Place, view: View) -> None:
        """Say goodbye; a seat of a game that waits is freed, and a table whose host leaves it is taken away."""
        if view.HasField("result"):
            return
        if not view.HasField("version"):
            try:
                self._client.leave_seat(place.game, place.credential)
            except MoonvaleError as error:
                if error.reason != "GAME_BEGUN":  # somebody has sat down just now
                    raise
            else:
                if place.creator:
                    self._client.delete_game(place.game, place.creator)
                    self._console.print("\nYou left, and the table is taken away.")
                else:
                    self._console.print("\nYou left the table. Your seat is open again.")
                return
        self._console.print("\nYou left the table.")
        if self._back is not None:
            way = f"{command_name()} play --game {place.game} --credential {place.credential}{self._back}"
            self._console.print("The game waits for you, as long as its clock lets it. This brings you back:")
            self._console.print(Text(way), style="dim", soft_wrap=True)

    def _check(self, place: Place, player: Player, view: View) -> None:
        """Check the shuffles of a game that is over, keep it, and say how to check it elsewhere."""
        try:
            replay = self._client.get_replay(place.game, place.credential)
        except MoonvaleError as error:
            if error.reason != "REPLAY_SEALED":
                raise
            self._console.print("The replay is sealed for now, so the shuffles can be checked only later.", style="dim")
            return
        self._console.print(player.evidence.check(replay, Table(view)))
        how = "To check them yourself, play with --save NAME, then use: moonvale verify"
        if self._save is not None:
            name = self._save if self._games == 1 else self._save.with_name(f"{self._save.name}-{self._games}")
            try:
                record, told = player.evidence.save(name, replay)
            except OSError as error:
                raise CommandError(f"--save {name}: {error.strerror}") from error
            how = f"To check them yourself: {command_name()} verify {record} --seen {told}"
        self._console.print(Text(how), style="dim", soft_wrap=self._save is not None)  # a command stays in one line

    def _rematch(self, place: Place, view: View) -> Place | None:
        """Ask whether the player wants another game with the same others, and sit down for it."""
        self._console.print()
        self._console.print("Play again with the same players? Type yes to do so.")
        try:
            if self._read() not in _YES:
                return None
            number = None
            if view.result.places[0] != view.viewer_seat:
                self._console.print()
                self._console.print(
                    "You did not win, so you may have one number played with the cards of the other deck."
                    " Type it, or press Enter to keep the deck as it is:"
                )
                self._console.print(Columns(_others(view), padding=(0, 2), column_first=True))
                number = self._number()
            return self._sit_down(place, number)
        except EOFError:
            return None

    def _read(self) -> str:
        return typed.line(self._console, "> ").strip().lower()

    def _number(self) -> int | None:
        while words := self._read():
            if words.isdecimal():
                return int(words)
            self._console.print("Type a number from 0 to 13, or press Enter.")
        return None

    def _sit_down(self, place: Place, number: int | None) -> Place | None:
        entropy = new_entropy()
        while True:
            try:
                again = self._client.rematch(
                    place.game, place.credential, number=number, entropy_commitment=entropy_commitment(entropy)
                )
            except MoonvaleError as error:
                if error.reason in _MISSED:
                    self._console.print("The others have begun without you.")
                    return None
                if not error.field_violations:
                    raise
                self._console.print(Text(f"That number can't be had: {error.field_violations[0].description}"))
                number = self._number()
            else:
                return Place(again.name, again.seat_credential, entropy, again.view.commitment)


def _others(view: View) -> list[Text]:
    """Return the numbers, each with the card that it has in the other deck."""
    names = {(card.deck, card.number): card.name for card in texts.entries()}
    others = [DECKS[1 - DECKS.index(deck)] for deck in parse_deck(view.options.deck)]
    return [Text(f"{number:>2} {names[other, number]}") for number, other in enumerate(others)]
