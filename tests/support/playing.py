"""Random games for tests: players of several tastes, so that calls, big sets, long rounds and every ability come up."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from moonvale_engine import Entry, Options, State, apply, new_game, seat_to_act
from moonvale_engine import actions as act
from moonvale_engine.options import DECKS, DEMANDS, NUMBERS

MEMORIES = ("assisted", "table")
CALLS = ("zero", "lower")
STYLES = ("uniform", "tidy", "restless", "grabbing")


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that a random game follows from."""

    options: Options
    secret: bytes
    style: str
    seed: int


def random_setup(seed: int, **fixed: object) -> Setup:
    """Return the setup that a seed stands for; ``fixed`` are options that it may not choose."""
    rng = Random(seed)
    players = rng.randint(2, 4)
    chosen: dict[str, object] = {
        "players": players,
        "rounds": rng.choice((1, 2, 4)),
        "turn_limit": rng.choice((12, 200, 200, 200)),
        "memory": rng.choice(MEMORIES),
        "successful_call": rng.choice(CALLS),
        "deck": random_deck(rng),
        "token": rng.choice(DECKS),
        "demands": rng.choice((DEMANDS, ("odd", "at most 2", "odd", "at least 11"), ("at most -1", "at least 13") * 2)),
    }
    chosen |= fixed
    chosen.setdefault("villages", tuple(rng.sample(range(4), int(str(chosen["players"])))))
    options = Options(**chosen)  # type: ignore[arg-type]  # Options checks its fields itself
    return Setup(options, rng.randbytes(32), rng.choice(STYLES), seed)


def random_deck(rng: Random) -> tuple[str, ...]:
    """Return a pure deck or any mix, each a third of the time."""
    pure = rng.choice((*DECKS, None))
    return tuple([pure or rng.choice(DECKS) for _ in range(NUMBERS)])


def choose(rng: Random, style: str, choices: list[int]) -> int:
    """Choose as a player of a style would. All choices keep a chance."""
    if style == "uniform":
        return rng.choice(choices)
    weights = [_WEIGHTS[style].get(act.verb_of(action), 1.0) for action in choices]
    return rng.choices(choices, weights)[0]


_WEIGHTS: dict[str, dict[int, float]] = {
    # Keeps villages small and ends rounds by calling.
    "tidy": {act.CLOSE: 8, act.CALL: 1, act.USE: 6, act.END_TURN: 2, act.NAME: 0.3, act.DISCARD_RESIDENT: 4},
    # Uses whatever can be used.
    "restless": {
        act.USE: 20,
        act.ACTIVATE: 20,
        act.USE_RESIDENT: 8,
        act.DISCARD_RESIDENT: 8,
        act.USE_TOKEN: 20,
        act.GIVE: 2,
        act.TUCK: 2,
        act.BOMB: 2,
        act.GAMBLE: 15,
        act.DRAW_WITH_TOKEN: 50,
        act.DECLARE: 6,
        act.CLOSE: 6,
        act.END_TURN: 0.5,
        act.CALL: 0.5,
    },
    # Takes from the pile and names big sets.
    "grabbing": {act.TAKE: 10, act.NAME: 3, act.CALL: 0.2, act.GIVE: 2},
}


def positions(setup: Setup, log: list[Entry] | None = None) -> Iterator[State]:
    """Yield the state at every decision of a random game, and at its end. Yields one object, which moves on."""
    rng = Random(setup.seed)
    s = new_game(setup.options, setup.secret)
    yield s
    while s.choices:
        seat = seat_to_act(s)
        action = choose(rng, setup.style, s.choices)
        if log is not None:
            log.append(Entry(seat, action, time=len(log) * 1000))
        apply(s, action)
        yield s
