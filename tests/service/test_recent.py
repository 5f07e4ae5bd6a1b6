"""What a process remembers of games saves steps of the store and changes no answer, whatever its replicas know."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from moonvale_engine import RULES_VERSION, codec
from moonvale_engine.log import replay
from moonvale_engine.options import Options
from moonvale_engine.play import seat_to_act
from moonvale_service.about import About
from moonvale_service.credentials import Credential, Role
from moonvale_service.errors import CredentialRevokedError, StaleVersionError
from moonvale_service.games import Games, Outcome
from moonvale_service.history import Snapshot
from moonvale_service.recent import Recent
from moonvale_service.store import Commit, Committed, GameMissingError, Record
from moonvale_service.store.redis_store import RedisStore
from tests.support.servers import StoreServer

GAME = "k5w2q7xw3m6d4cah2rbt"
SECRET = bytes(range(32))
MOVES = 60


class CountingStore(RedisStore):
    """Counts the steps that games take."""

    def __init__(self, url: str) -> None:
        super().__init__(url, 10.0)
        self.steps: Counter[str] = Counter()

    async def read(self, game: str, slot: int | None = None) -> Record:
        self.steps["read"] += 1
        return await super().read(game, slot)

    async def commit(self, game: str, change: Commit) -> Committed:
        self.steps["commit"] += 1
        return await super().commit(game, change)


class Replica:
    """A process of the service, as far as games go."""

    def __init__(self, url: str) -> None:
        self.store = CountingStore(url)
        self.games = Games(self.store, rules=RULES_VERSION, finished_expiry=None, idle_expiry=None)

    async def create(self) -> Snapshot:
        """Create the game."""
        return await self.games.create(GAME, Options(players=4), SECRET, About(), b"")

    async def move(self, rng: random.Random, now: Snapshot) -> Outcome:
        """Make a move upon the game as somebody knows it."""
        action = rng.choice(now.state.choices)
        return await self.games.submit(seat(seat_to_act(now.state)), now.version, [action], str(uuid.uuid4()))


def seat(number: int, epoch: int = 0) -> Credential:
    return Credential(GAME, Role.SEAT, number, epoch)


@pytest.fixture
async def replicas(valkey: StoreServer) -> AsyncIterator[tuple[Replica, Replica]]:
    both = Replica(valkey.url), Replica(valkey.url)
    yield both
    for replica in both:
        await replica.store.close()


async def test_a_move_is_one_step_where_its_game_is_known(replicas: tuple[Replica, Replica]) -> None:
    here, _ = replicas
    rng = random.Random(1)
    now = await here.create()
    for _ in range(MOVES):
        now = (await here.move(rng, now)).snapshot
    assert here.store.steps == {"commit": MOVES}


async def test_a_game_that_is_not_known_is_read_once_for_each_seat(replicas: tuple[Replica, Replica]) -> None:
    here, there = replicas
    rng = random.Random(2)
    now = await here.create()
    acted = set()
    for _ in range(MOVES):
        acted.add(seat_to_act(now.state))
        now = (await there.move(rng, now)).snapshot
    assert there.store.steps == {"read": len(acted), "commit": MOVES}


async def test_replicas_that_take_turns_play_one_game(replicas: tuple[Replica, Replica]) -> None:
    rng = random.Random(3)
    now = await replicas[0].create()
    for _ in range(MOVES):
        before = codec.encode(now.state)
        made = await rng.choice(replicas).move(rng, now)
        assert codec.encode(now.state) == before  # what is remembered is not played upon
        now = made.snapshot
    record, log, _ = await replicas[0].store.read_log(GAME, 0)
    assert record.version == MOVES
    assert record.state == codec.encode(replay(Options(players=4), SECRET, (), [each.entry for each in log]))


async def test_a_repeat_finds_its_outcome_at_a_replica_that_knows_an_older_game(
    replicas: tuple[Replica, Replica],
) -> None:
    here, there = replicas
    now = await here.create()
    by, action, request = seat(seat_to_act(now.state)), now.state.choices[0], str(uuid.uuid4())
    first = await there.games.submit(by, 0, [action], request)
    again = await here.games.submit(by, 0, [action], request)
    assert (again.version, again.mark) == (first.version, first.mark)
    assert (await here.store.read(GAME)).version == 1


async def test_only_what_the_store_says_refuses_anybody(replicas: tuple[Replica, Replica]) -> None:
    here, there = replicas
    now = await here.create()
    by, other = seat(seat_to_act(now.state)), seat((seat_to_act(now.state) + 1) % 4)
    await there.move(random.Random(4), now)
    for who, action in ((by, now.state.choices[0]), (by, -1), (other, now.state.choices[0])):
        with pytest.raises(StaleVersionError):
            await here.games.submit(who, 0, [action], None)


async def test_a_credential_that_another_replica_has_replaced_moves_nothing(
    replicas: tuple[Replica, Replica],
) -> None:
    here, there = replicas
    now = await here.create()
    by = seat(seat_to_act(now.state))
    new = await there.games.rotate(Credential(GAME, Role.CREATOR, None), by, str(uuid.uuid4()))
    for request in (None, str(uuid.uuid4())):
        with pytest.raises(CredentialRevokedError):
            await here.games.submit(by, 0, [now.state.choices[0]], request)
    assert (await here.store.read(GAME)).version == 0
    assert (await here.games.submit(new, 0, [now.state.choices[0]], None)).version == 1


async def test_a_game_that_another_replica_has_deleted_is_missing(replicas: tuple[Replica, Replica]) -> None:
    here, there = replicas
    now = await here.create()
    await there.games.delete(GAME)
    with pytest.raises(GameMissingError):
        await here.move(random.Random(5), now)


async def test_so_many_games_are_remembered_and_the_oldest_is_forgotten(replicas: tuple[Replica, Replica]) -> None:
    await replicas[0].create()
    record = await replicas[0].store.read(GAME)
    recent = Recent(2)
    for game in ("a", "b", "a", "c"):
        recent.learn(game, record)
    assert len(recent) == 2
    assert [recent.get(game, 0) is not None for game in ("a", "b", "c")] == [True, False, True]
    assert recent.get("a", 1) is None


async def test_what_is_remembered_yields_to_what_the_store_sends(replicas: tuple[Replica, Replica]) -> None:
    now = await replicas[0].create()
    record = await replicas[0].store.read(GAME, 1)
    recent = Recent()
    known = recent.learn(GAME, record)
    assert known.ring(1) is None
    assert recent.learn(GAME, record, 1).now is known.now
    assert known.ring(1) == b""
    played = replace(record, state=codec.encode((await replicas[0].move(random.Random(6), now)).snapshot.state))
    for other in (replace(record, mark=b"another!"), replace(record, meta=About("x").encode()), played):
        again = recent.learn(GAME, other)
        assert again.now is not known.now
        assert (again.state, again.mark, again.meta) == (other.state, other.mark, other.meta)
        assert again.ring(1) is None
