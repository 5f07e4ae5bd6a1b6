"""One table of a chaos run: a game from its creation to its replay, played by clients that send more than they should.

The client of a seat calls again after a lost answer, sends the same request to two workers at once, competes with
another client of the same seat, or dies while its call is under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final
from uuid import UUID

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1 import options_pb2
from moonvale.v1.action_pb2 import Action, CloseAction
from moonvale.v1.clock_pb2 import TIME_OUT_AGENT_DECIDES, TIME_OUT_AGENT_TAKES_OVER, TIME_OUT_FORFEIT
from moonvale.v1.view_pb2 import View
from moonvale_client.agent import play_seat, play_seats
from moonvale_client.aio import AsyncClient
from moonvale_client.errors import MoonvaleError
from tests.chaos.calling import Connections
from tests.chaos.progress import ACKNOWLEDGED, BEGUN_ANEW, Progress
from tests.chaos.record import Agreement, Answer, Change, Game, Refusal, Watch

_SECRET_BYTES: Final = 32
_AGENTS: Final = 0.2  # of all tables are played by the agent loop
_BOTS: Final = 0.5  # of those are played by one that has all seats on one stream
_DECKS: Final = ("coin", "eye", "coin,3=eye,8=eye")
_TOKENS: Final = ("coin", "eye")
_LONGEST_PAUSE: Final = 0.5
_RETURNS: Final = 0.5  # of the decisions that an agent is about to answer, so many have the player come back

#: What may be said to a change that came too late.
_TOO_LATE: Final = frozenset({"STALE_VERSION", "GAME_OVER", "TIME_OUT"})
_SHARED: Final = 0.3  # of all tables have bots, a clock and a seat whose player never answers
_LIMITS: Final = (400, 3000)  # milliseconds that a decision may take there
_GRACE: Final = 250


class UnexpectedError(Exception):
    """The service said what it should not have said."""


class Account:
    """Writes down what came of the changes of a game, and who saw what."""

    def __init__(self, game: Game, progress: Progress, rng: Random) -> None:
        self.game = game
        self._progress = progress
        self._rng = rng

    def change(self, seat: int, version: int, actions: Iterable[Action], request_id: str = "") -> Change:
        """Write down a request before it is sent."""
        change = Change(seat, request_id or new_request_id(self._rng), version, tuple(actions))
        self.game.changes.append(change)
        return change

    def resignation(self, seat: int) -> Change:
        """Write down that a seat is about to resign."""
        change = Change(seat, "", 0, ())
        self.game.changes.append(change)
        return change

    def acknowledged(self, change: Change, answer: pb.SubmitActionResponse | pb.ResignResponse, floor: int) -> View:
        """Write down that a change was acknowledged, and return the view that came with it."""
        self.game.acknowledge(change, Answer(answer.version, answer.mark, tuple(answer.entries)))
        self.game.see(answer.view, floor)
        self._progress.add(ACKNOWLEDGED)
        return answer.view

    def refused(self, change: Change, error: MoonvaleError) -> None:
        """Write down that a change came too late. Raises any other error."""
        if error.reason not in _TOO_LATE:
            raise error
        version = error.metadata.get("version")
        change.refusals.append(Refusal(error.reason, None if version is None else int(version)))
        self._progress.add("changes that came too late")


class RecordingClient(AsyncClient):
    """The client that people use, whose calls are written down. ``accounts``: by the name of the game."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.accounts: dict[str, tuple[Account, dict[str, int]]] = {}

    async def submit_action(
        self, game: str, credential: str, actions: Action | Sequence[Action], version: int, request_id: str = ""
    ) -> pb.SubmitActionResponse:
        account, seats = self.accounts[game]
        chosen = [actions] if isinstance(actions, Action) else actions
        change = account.change(seats[credential], version, chosen, request_id)
        floor = account.game.newest
        try:
            answer = await super().submit_action(game, credential, actions, version, change.request_id)
        except MoonvaleError as error:
            if not error.is_transient:
                account.refused(change, error)
            else:
                change.given_up = True
            raise
        except asyncio.CancelledError:
            change.given_up = True
            raise
        account.acknowledged(change, answer, floor)
        return answer

    async def reclaim_seat(self, game: str, credential: str) -> pb.ReclaimSeatResponse:
        account, seats = self.accounts[game]
        account.game.reclaims[seats[credential]] += 1
        return await super().reclaim_seat(game, credential)


class Table:
    """A game and its clients. ``game`` is what they wrote down. ``by_agents``: how likely the agent loop plays it.

    ``shared``: how likely it has bots and a clock, for which there must be stewards.
    """

    def __init__(
        self,
        connections: Connections,
        agents: RecordingClient,
        creator_key: str,
        progress: Progress,
        rng: Random,
        by_agents: float = _AGENTS,
        shared: float = _SHARED,
    ) -> None:
        self.game = Game("", options_pb2.Options(), b"", "", None)
        self._connections = connections
        self._agents = agents
        self._creator_key = creator_key
        self._by_agents = by_agents
        self._shared = shared
        self._progress = progress
        self._rng = rng
        self._created = pb.CreateGameResponse()
        self._persons: list[int] = []  # seats that clients play
        self._account = Account(self.game, progress, rng)

    async def play(self) -> None:
        """Play one game to its end.

        Raises UnexpectedError, NoAnswerError and MoonvaleError, or a group of them, for what should not have happened.
        """
        await self._create()
        viewers = (None, self._rng.choice(self._persons))
        async with asyncio.TaskGroup() as all_clients:
            resigning = all_clients.create_task(self._resign_at_the_end())
            playing = self._play_as_agents() if self._rng.random() < self._by_agents else self._play()
            await asyncio.gather(playing, *map(self._watch, viewers))
            if not self._progress.ending.is_set():
                resigning.cancel()
        await self._read_all()

    async def delete(self) -> None:
        """Delete the game; nobody finds it any more."""
        name = self.game.name
        del self._agents.accounts[name]
        await self._connections.call("DeleteGame", pb.DeleteGameRequest(name=name), self._created.creator_credential)
        try:
            await self._look(None)
        except MoonvaleError as error:
            if error.reason != "GAME_NOT_FOUND":
                raise
        else:
            raise UnexpectedError("a deleted game was found")

    async def _create(self) -> None:
        rng = self._rng
        players = rng.randint(2, 4)
        options = options_pb2.Options(
            players=players,
            deck=rng.choice(_DECKS),
            token=rng.choice(_TOKENS),
            rounds=rng.randint(1, 2),
            turn_limit=rng.choice((6, 12, 30)),
            memory=rng.choice((options_pb2.MEMORY_ASSISTED, options_pb2.MEMORY_TABLE)),
        )
        request = pb.CreateGameRequest(options=options, request_id=new_request_id(rng))
        self._persons = list(range(players))
        agreement = self._agree(request, players) if rng.random() < self._shared else None
        secret = rng.randbytes(_SECRET_BYTES) if rng.random() < 0.5 else None
        if secret is not None:
            request.deal.CopyFrom(pb.Deal(secret=secret, villages=rng.sample(range(4), players)))
        answers = await asyncio.gather(*(self._call_create(request) for _ in range(rng.choice((1, 2)))))
        if any(_given(answer) != _given(answers[0]) for answer in answers):
            raise UnexpectedError(f"one request has created {' and '.join(answer.name for answer in answers)}")
        self._created = answers[0]
        view = self._created.view
        for seat in [number for number, setup in enumerate(request.seats) if setup.open]:
            view = await self._claim(seat)
        mark = view.mark if view.version == 0 else ""  # bots may have moved on before anybody looked
        self.game = Game(view.name, view.options, view.commitment, mark, secret, agreement=agreement)
        self.game.see(view, 0)
        self._account = Account(self.game, self._progress, rng)
        seats = {credential: seat for seat, credential in enumerate(self._created.seat_credentials) if credential}
        self._agents.accounts[view.name] = (self._account, seats)

    def _agree(self, request: pb.CreateGameRequest, players: int) -> Agreement:
        """Have a table with bots, a clock, and perhaps a seat whose player never answers, and one to be claimed."""
        rng = self._rng
        self._progress.add("tables with bots and a clock")
        kinds = ["", "bot", *rng.sample(("bot", "open", "silent", ""), players - 2)]
        rng.shuffle(kinds)
        request.seats.extend(
            [
                pb.SeatSetup(bot=rng.choice(("greedy", "random")) if kind == "bot" else "", open=kind == "open")
                for kind in kinds
            ]
        )
        limit = rng.randint(*_LIMITS)
        on_time_out = rng.choice((TIME_OUT_FORFEIT, TIME_OUT_AGENT_DECIDES, TIME_OUT_AGENT_TAKES_OVER))
        request.clock.per_decision.FromMilliseconds(limit)
        request.clock.on_time_out = on_time_out
        request.clock.agent = rng.choice(("greedy", "random"))
        silent = kinds.index("silent") if "silent" in kinds else None
        bots = frozenset([seat for seat, kind in enumerate(kinds) if kind == "bot"])
        self._persons = [seat for seat, kind in enumerate(kinds) if kind in ("", "open")]
        return Agreement(bots, silent, limit, _GRACE, on_time_out)

    async def _claim(self, seat: int) -> View:
        """Sit down at an open seat, by a request that goes to two workers at once."""
        request = pb.ClaimSeatRequest(name=self._created.name, seat=seat, request_id=new_request_id(self._rng))
        answers: list[pb.ClaimSeatResponse] = await asyncio.gather(
            *[self._connections.call("ClaimSeat", request) for _ in range(2)]
        )
        first, again = answers
        if (first.seat, first.credential) != (again.seat, again.credential):
            raise UnexpectedError(f"one claim got seats {first.seat} and {again.seat} of {first.name}")
        self._created.seat_credentials[seat] = first.credential
        return first.view

    async def _call_create(self, request: pb.CreateGameRequest) -> pb.CreateGameResponse:
        return await self._connections.call("CreateGame", request, self._creator_key)

    async def _play(self) -> None:
        """Play all seats, each choice by the client of the seat that is to act, until the game is over."""
        view = await self._look(None)
        while view.HasField("decision") and not self._progress.ending.is_set():
            seat = view.decision.seat
            if seat not in self._persons:  # others move it, sooner or later
                await asyncio.sleep(self._rng.uniform(0, _LONGEST_PAUSE) / 4)
                view = await self._look(None)
                continue
            if not view.decision.legal_actions:
                view = await self._look(seat)
                continue
            if view.seats[seat].away and self._rng.random() < _RETURNS:
                await self._reclaim(seat)
            way = self._rng.choices(_WAYS, _WEIGHTS)[0]
            view = await way(self, seat, view) or await self._look(seat)

    async def _submit_once(self, seat: int, view: View) -> View | None:
        return await self._submit(self._account.change(seat, view.version, self._choice(view)))

    async def _submit_at_two_workers(self, seat: int, view: View) -> View | None:
        self._progress.add("changes sent twice at once")
        change = self._account.change(seat, view.version, self._choice(view))
        return (await asyncio.gather(self._submit(change), self._submit(change)))[0]

    async def _submit_as_two_clients(self, seat: int, view: View) -> View | None:
        self._progress.add("races of two clients")
        changes = [self._account.change(seat, view.version, self._choice(view)) for _ in range(2)]
        views = await asyncio.gather(*map(self._submit, changes))
        return views[0] or views[1]

    async def _submit_and_repeat(self, seat: int, view: View) -> View | None:
        self._progress.add("changes repeated later")
        change = self._account.change(seat, view.version, self._choice(view))
        if await self._submit(change) is None:
            return None
        view = await self._look(seat)
        try:
            await self._call_submit(Change(seat, change.request_id, view.version, change.actions))
        except MoonvaleError as error:
            if error.reason != "REQUEST_ID_REUSED":
                raise
        else:
            raise UnexpectedError("another content was accepted under a request id that was used before")
        return await self._submit(change)

    async def _submit_and_die(self, seat: int, view: View) -> None:
        self._progress.add("clients that died amid a call")
        change = self._account.change(seat, view.version, self._choice(view))
        call = asyncio.create_task(self._submit(change))
        await asyncio.wait([call], timeout=self._rng.uniform(0, 0.01))
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    async def _submit_while_one_resigns(self, seat: int, view: View) -> View | None:
        remaining = [seat for seat in self._persons if not view.seats[seat].resigned]
        change = self._account.change(seat, view.version, self._choice(view))
        views = await asyncio.gather(self._submit(change), self._resign(self._rng.choice(remaining)))
        return views[0]

    async def _resign_at_the_end(self) -> None:
        """Once the run ends, have all seats but one give up, all at once; bots play on."""
        await self._progress.ending.wait()
        agreed = self.game.agreement
        seats = self._persons[:-1] if agreed is None else self._persons
        silent = [] if agreed is None or agreed.silent is None else [agreed.silent]
        await asyncio.gather(*map(self._resign, [*seats, *silent]))

    async def _reclaim(self, seat: int) -> None:
        """Take a seat back from the agent that plays it."""
        self._progress.add("seats taken back")
        self.game.reclaims[seat] += 1
        try:
            await self._connections.call(
                "ReclaimSeat", pb.ReclaimSeatRequest(name=self.game.name), self._credential(seat)
            )
        except MoonvaleError as error:
            if error.reason != "GAME_OVER":
                raise

    async def _play_as_agents(self) -> None:
        """Play by the agent loops that people use; one seat has two agents, which don't know of each other."""
        seats = self._persons
        another = self._play_as_agent(self._rng.choice(seats))
        if self._rng.random() < _BOTS:
            await asyncio.gather(self._play_as_one_bot(), another)
        else:
            await asyncio.gather(*map(self._play_as_agent, seats), another)

    async def _play_as_one_bot(self) -> None:
        """Play all seats by one bot on one stream of turns."""
        self._progress.add("tables played on one stream of turns")
        seats = [(self.game.name, self._credential(seat)) for seat in self._persons]
        while True:
            try:
                results = await play_seats(self._agents, seats, lambda view: self._choice(view)[0])
            except MoonvaleError as error:
                if not error.is_transient:
                    raise
                self._progress.add(BEGUN_ANEW)
            else:
                if any(result != results[0] for result in results):
                    raise UnexpectedError(f"the seats of {self.game.name} were told {results}")
                return

    async def _play_as_agent(self, seat: int) -> None:
        credential = self._created.seat_credentials[seat]
        while True:
            try:
                await play_seat(self._agents, self.game.name, credential, lambda view: self._choice(view)[0])
            except MoonvaleError as error:
                if not error.is_transient:
                    raise
                self._progress.add(BEGUN_ANEW)
            else:
                return

    def _choice(self, view: View) -> Sequence[Action]:
        """Choose one of the legal actions; often a set of cards that is closed at once."""
        action = self._rng.choice(view.decision.legal_actions)
        return (
            [action, Action(close=CloseAction())] if action.HasField("name") and self._rng.random() < 0.5 else [action]
        )

    async def _submit(self, change: Change) -> View | None:
        """Send a change and write down what came of it; return the view, or None if it came too late."""
        floor = self.game.newest
        try:
            answer = await self._call_submit(change)
        except MoonvaleError as error:
            self._account.refused(change, error)
            return None
        except asyncio.CancelledError:
            change.given_up = True
            raise
        return self._account.acknowledged(change, answer, floor)

    async def _call_submit(self, change: Change) -> pb.SubmitActionResponse:
        request = pb.SubmitActionRequest(
            name=self.game.name, actions=change.actions, version=change.version, request_id=change.request_id
        )
        return await self._connections.call("SubmitAction", request, self._credential(change.seat))

    async def _resign(self, seat: int) -> None:
        change = self._account.resignation(seat)
        floor = self.game.newest
        request = pb.ResignRequest(name=self.game.name)
        try:
            answer: pb.ResignResponse = await self._connections.call("Resign", request, self._credential(seat))
        except MoonvaleError as error:
            self._account.refused(change, error)
        except asyncio.CancelledError:
            change.given_up = True
            raise
        else:
            self._account.acknowledged(change, answer, floor)

    async def _look(self, seat: int | None) -> View:
        floor = self.game.newest
        request = pb.GetViewRequest(name=self.game.name)
        answer: pb.GetViewResponse = await self._connections.call("GetView", request, self._credential(seat))
        self.game.see(answer.view, floor)
        return answer.view

    async def _watch(self, viewer: int | None) -> None:
        """Watch the game to its end, over as many streams as it takes, each going on after the one before."""
        watch = Watch(viewer, 0)
        self.game.watches.append(watch)
        version, mark = 0, self.game.mark
        while True:
            self._progress.add("streams of watches")
            floor = self.game.newest
            request = pb.WatchGameRequest(name=self.game.name, after_version=version, after_mark=mark)
            try:
                async for message in self._connections.stream(request, self._credential(viewer)):
                    if message.HasField("entry"):
                        watch.entries.append(message.entry)
                        version, mark = message.entry.version, message.entry.mark
                    elif message.HasField("view"):
                        self.game.see(message.view, floor)
                    elif message.HasField("heartbeat"):
                        if (message.heartbeat.version, message.heartbeat.mark) != (version, mark):
                            raise UnexpectedError(f"a heartbeat of version {message.heartbeat.version} after {version}")
                    elif message.end.reason == pb.WATCH_END_REASON_GAME_OVER:
                        return
                    elif message.end.reason not in (pb.WATCH_END_REASON_DRAINING, pb.WATCH_END_REASON_MAX_AGE):
                        raise UnexpectedError(f"a watch ended with {pb.WatchEndReason.Name(message.end.reason)}")
            except MoonvaleError as error:
                if not error.is_transient:
                    raise
            await asyncio.sleep(self._rng.uniform(0, _LONGEST_PAUSE))

    async def _read_all(self) -> None:
        """Get the list of entries and the replay."""
        viewer = self._rng.choice((None, *self._persons))
        listed = Watch(viewer, -1)
        self.game.watches.append(listed)
        request = pb.ListEventsRequest(parent=self.game.name)
        while True:
            page: pb.ListEventsResponse = await self._connections.call("ListEvents", request, self._credential(viewer))
            listed.entries += page.entries
            request.page_token = page.next_page_token
            if not request.page_token:
                break
        await self._look(viewer)
        answer: pb.GetReplayResponse = await self._connections.call(
            "GetReplay", pb.GetReplayRequest(name=self.game.name), self._created.spectator_credential
        )
        self.game.replay = answer.replay

    def _credential(self, seat: int | None) -> str:
        return self._created.spectator_credential if seat is None else self._created.seat_credentials[seat]


def _given(answer: pb.CreateGameResponse) -> tuple[object, ...]:
    """Return what every answer to one request must say; bots may have moved between two of them."""
    credentials = (answer.creator_credential, *answer.seat_credentials, answer.spectator_credential)
    return answer.name, credentials, answer.view.commitment, answer.view.options


def new_request_id(rng: Random) -> str:
    """Return a request id."""
    return str(UUID(bytes=rng.randbytes(16), version=4))


_WAYS: Final = (
    Table._submit_once,
    Table._submit_at_two_workers,
    Table._submit_as_two_clients,
    Table._submit_and_repeat,
    Table._submit_and_die,
    Table._submit_while_one_resigns,
)
_WEIGHTS: Final = (56, 12, 12, 8, 11, 1)
