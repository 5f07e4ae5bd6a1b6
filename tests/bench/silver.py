"""Moonvale's engine, driven as the peers are: random play, and the single operations on positions of such games.

It runs in a process of its own, over the pure or the compiled engine, whichever is first on the path.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random, random
from typing import TypeVar

from moonvale_engine import (
    Options,
    State,
    apply,
    decode,
    encode,
    legal_actions,
    new_game,
    observe,
    parse_deck,
    sample_world,
    seat_to_act,
    view,
)
from moonvale_engine import state as state_module
from tests.bench.peers.obey import Run, obey, repeated

T = TypeVar("T")

DECKS = {"coin": "coin", "eye": "eye", "mix": "coin," + ",".join(f"{number}=eye" for number in range(1, 14, 2))}
PLAYERS = (2, 4)
OPERATIONS = ("moves", "observe", "view", "clone", "encode", "decode", "sample_world")
DECISIONS = 25  # of a batch
POSITIONS = 200  # that single operations are tried on,
APART = 7  # so many decisions one from the next


def options(deck: str, players: int) -> Options:
    """The options of a game with one of the decks; its token fits."""
    return Options(players=players, deck=parse_deck(DECKS[deck]), token="eye" if deck == "eye" else "coin")


def play(chosen: Options, look: Callable[[State], object] | None) -> Run:
    """Games at random, over and over; ``look`` is called before each decision."""
    number = 0
    game = new_game(chosen, bytes(32))

    def batch() -> int:
        nonlocal game, number
        left = DECISIONS
        while left:
            legal = legal_actions(game)
            if not legal:
                number += 1
                game = new_game(chosen, number.to_bytes(32, "big"))
                continue
            if look is not None:
                look(game)
            apply(game, legal[int(random() * len(legal))])
            left -= 1
        return DECISIONS

    return repeated(batch)


def each(items: list[T], operation: Callable[[T], object]) -> Run:
    """One operation on so many positions."""

    def batch() -> int:
        for item in items:
            operation(item)
        return len(items)

    return repeated(batch)


def positions(chosen: Options) -> list[State]:
    """Positions from all over random games."""
    rng = Random(1)
    found: list[State] = []
    while len(found) < POSITIONS:
        game = new_game(chosen, rng.randbytes(32))
        count = 0
        while legal_actions(game) and len(found) < POSITIONS:
            if count % APART == 0:
                found.append(game.copy())
            apply(game, rng.choice(legal_actions(game)))
            count += 1
    return found


def case(operation: str, deck: str, players: int) -> Run:
    """The batch of one operation."""
    chosen = options(deck, players)
    if operation == "moves":
        return play(chosen, None)
    if operation == "observe":
        return play(chosen, lambda game: observe(game, seat_to_act(game)))
    if operation == "view":
        return play(chosen, lambda game: view(game, seat_to_act(game)))
    states = positions(chosen)
    if operation == "clone":
        return each(states, State.copy)
    if operation == "encode":
        return each(states, encode)
    if operation == "decode":
        return each([encode(state) for state in states], decode)
    rng = Random(1)
    return each([observe(state, seat_to_act(state)) for state in states], lambda known: sample_world(known, rng))


def main() -> None:
    """Obey."""
    cases = {
        f"{deck} {players} {operation}": lambda operation=operation, deck=deck, players=players: case(
            operation, deck, players
        )
        for deck in DECKS
        for players in PLAYERS
        for operation in OPERATIONS
    }
    path = state_module.__file__ or ""
    obey(cases, {"name": "Moonvale", "version": "pure" if path.endswith(".py") else "compiled"})


if __name__ == "__main__":
    main()
