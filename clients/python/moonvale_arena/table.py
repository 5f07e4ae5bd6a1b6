"""A game of an event, played at a service: seats are asked in turn, and lose by rule if they don't answer as they must.

The rule: a bot that does not answer in time, chooses no legal action, ends or fails, or floods, resigns its seat. It is
placed last, and the service's fixed policy plays the seat on, so that the others finish their game.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Final

from moonvale.v1.event_pb2 import LogEntry
from moonvale_arena.errors import ArenaError
from moonvale_arena.event import Event
from moonvale_arena.players import Player, Source
from moonvale_arena.results import Clock, GameResult, SeatFault
from moonvale_arena.schedule import Game
from moonvale_client import AsyncClient, BotError, Deal, View
from moonvale_client import Options as OptionsMessage
from moonvale_engine import (
    RESIGNATION,
    Entry,
    Options,
    Record,
    commitment,
    deck_text,
    enter,
    legal_actions,
    new_game,
    result,
)

#: Longer than any event: nobody gets at a deal while its block is played, nor soon after.
SEALED: Final = timedelta(days=7)


class Table:
    """One game of an event at a service. sources: of all entrants."""

    def __init__(
        self, client: AsyncClient, creator_key: str, event: Event, game: Game, sources: Sequence[Source]
    ) -> None:
        self._client = client
        self._creator_key = creator_key
        self._game = game
        self._sources = sources
        self._names = tuple([event.entrants[entrant].name for entrant in game.seats])
        self._decision_seconds = event.decision_seconds
        self._clocks = [Clock(event.game_seconds) for _ in game.seats]
        self._faults: list[SeatFault | None] = [None for _ in game.seats]
        self._players: list[Player | None] = []
        self._name = ""
        self._credentials: list[str] = []
        self._entries: list[tuple[int, int | None, int]] = []  # seat, place among its legal actions, time

    async def play(self) -> tuple[GameResult, Record]:
        """Play it to its end. Raises MoonvaleError, and ArenaError if the service tells of another game."""
        began = time.monotonic()
        game = self._game
        try:
            for entrant, seed in zip(game.seats, game.seeds, strict=True):
                self._players.append(await self._sit_down(self._sources[entrant], seed))
            created = await self._client.create_game(
                _options_message(game.options),
                deal=Deal(secret=game.secret, villages=game.options.villages),
                seal_replay_until=datetime.now(UTC) + SEALED,
                creator_key=self._creator_key,
            )
            self._name, self._credentials = created.name, list(created.seat_credentials)
            view = await self._play_on(created.view)
        finally:
            async with AsyncExitStack() as ending:  # which ends the others even if one of them is given up
                for player in self._players:
                    if player is not None:
                        ending.push_async_callback(player.close)
        record = self._record(created.view.create_time.ToMilliseconds())
        assert record.result is not None
        told = view.result
        if record.result.places != tuple(told.places) or record.result.totals != tuple(told.totals):
            raise ArenaError(f"game {game.number}: the service's result of {self._name} is not that of its actions")
        return (
            GameResult(
                number=game.number,
                block=game.block,
                lineup=game.lineup,
                seats=game.seats,
                places=record.result.places,
                scores=record.result.scores,
                faults=tuple(self._faults),
                times=tuple([clock.times() for clock in self._clocks]),
                seconds=round(time.monotonic() - began, 6),
            ),
            record,
        )

    async def _sit_down(self, source: Source, seed: int) -> Player | None:
        """Return the player of the next seat; None if its bot can't play."""
        try:
            return await source.sit_down(seed)
        except BotError as error:
            self._faults[len(self._players)] = SeatFault(error.fault, str(error))
            return None

    async def _play_on(self, view: View) -> View:
        """Play until the game is over, and return a view of its end."""
        while not view.HasField("result"):
            seat = view.decision.seat
            if self._players[seat] is None:
                view = await self._resign(seat)
            elif view.decision.legal_actions:
                view = await self._decide(seat, view)
            else:
                view = await self._client.get_view(self._name, self._credentials[seat])
        return view

    async def _decide(self, seat: int, view: View) -> View:
        """Have a seat answer its decision; return what it sees then."""
        player, clock = self._players[seat], self._clocks[seat]
        assert player is not None
        began = time.perf_counter()
        try:
            if clock.left <= 0:
                raise BotError("timeout", "used up its time for the game")  # noqa: TRY301
            choice = await player.choose(view, min(self._decision_seconds, clock.left))
        except BotError as error:
            clock.add(time.perf_counter() - began)
            self._faults[seat] = SeatFault(error.fault, str(error))
            return await self._resign(seat)
        clock.add(time.perf_counter() - began)
        action = view.decision.legal_actions[choice]
        answer = await self._client.submit_action(self._name, self._credentials[seat], action, view.version)
        self._note(answer.entries[0], seat, choice)
        return answer.view

    async def _resign(self, seat: int) -> View:
        """Give up for a seat whose bot has lost by rule, and end the bot; return what it sees then."""
        player, self._players[seat] = self._players[seat], None
        if player is not None:
            await player.close()
        answer = await self._client.resign(self._name, self._credentials[seat])
        self._note(answer.entries[0], seat, None)
        return answer.view

    def _note(self, entry: LogEntry, seat: int, choice: int | None) -> None:
        self._entries.append((seat, choice, entry.create_time.ToMilliseconds()))

    def _record(self, created: int) -> Record:
        """Play the game again, and return its record."""
        game = self._game
        s = new_game(game.options, game.secret)
        entries = []
        for seat, choice, when in self._entries:
            action = RESIGNATION if choice is None else legal_actions(s)[choice]
            entries.append(Entry(seat, action, time=when))
            enter(s, entries[-1])
        ended = result(s)
        if ended is None:
            raise ArenaError(f"game {game.number}: the service ended {self._name} before its actions did")
        return Record(
            game.options,
            commitment(game.secret),
            game.secret,
            names=self._names,
            game=self._name,
            created=created,
            entries=tuple(entries),
            result=ended,
        )


def _options_message(options: Options) -> OptionsMessage:
    return OptionsMessage(
        players=options.players, rounds=options.rounds, deck=deck_text(options.deck), token=options.token
    )
