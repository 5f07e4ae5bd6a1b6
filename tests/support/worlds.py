"""Sampled worlds judged from first principles: brute force over all that can be, and the history of each."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations
from unittest import mock

from moonvale_engine import Entry, State, apply, enter, new_game, seen_by, shuffle, view
from moonvale_engine import actions as act
from moonvale_engine.actions import pack
from moonvale_engine.decisions import EYE_PICK
from moonvale_engine.deck import faces_in_play
from moonvale_engine.events import UNKNOWN, Event
from moonvale_engine.inference import excluded_numbers
from moonvale_engine.play import decision_kind
from moonvale_engine.position import Position
from moonvale_engine.shuffle import game_key
from moonvale_engine.state import FACEUP, HIDDEN, POOL_FACEUP, POOLED
from tests.support.twins import dealt

Arrangement = tuple[tuple[int, int], ...]  # face and facing of each handle in question


def handles_in_question(position: Position) -> list[int]:
    """Return the handles whose faces, or facings, the position leaves open."""
    s = position.state
    return [h for h in range(52) if s.identity[h] == UNKNOWN or s.flags[h] & HIDDEN]


def arrangement(world: State, handles: list[int]) -> Arrangement:
    """Return how a world fills the handles."""
    return tuple([(world.identity[h], world.flags[h] & FACEUP) for h in handles])


def all_worlds(position: Position) -> Counter[Arrangement]:
    """Return every way to fill what a position leaves open, with the number of ways for single cards to lie so.

    Brute force: each card is a thing of its own, and each can lie on each handle that nothing speaks against. A card
    that the viewer knows to have been shuffled lies on a shuffled handle, a faceup one where nobody knows the facing.
    """
    s = position.state
    handles = handles_in_question(position)
    seen = [h for h in range(52) if s.flags[h] & POOLED and s.identity[h] != UNKNOWN and not s.flags[h] & HIDDEN]
    shuffled = any(s.flags[h] & HIDDEN for h in range(52))  # before, what lies faceup in the deck is known by its place
    special = Counter([entry for entry in s.pool[::2] if shuffled or not entry & POOL_FACEUP])
    loose = Counter(faces_in_play(s.cards))
    loose.subtract([s.identity[h] for h in range(52) if s.identity[h] != UNKNOWN and h not in seen])
    loose.subtract([entry & ~POOL_FACEUP for entry in special.elements()])
    cards = [(entry & ~POOL_FACEUP, entry & POOL_FACEUP != 0, True) for entry in sorted(special.elements())]
    cards += [(face, False, False) for face in sorted(loose.elements())]
    places = [*handles, *seen]
    assert len(cards) == len(places) <= 8, (len(cards), len(places))
    found: Counter[Arrangement] = Counter()
    for order in permutations(range(len(cards))):
        if all(_can_lie(s, h, cards[i], h in seen) for h, i in zip(places, order, strict=True)):
            filled = [(cards[i][0], FACEUP if cards[i][1] else 0) for i in order[: len(handles)]]
            found[tuple(filled)] += 1
    return found


def _can_lie(s: State, h: int, card: tuple[int, bool, bool], seen: bool) -> bool:
    face, faceup, shuffled = card
    if seen:
        return face == s.identity[h] and not faceup
    if (faceup and not s.flags[h] & HIDDEN) or (shuffled and not s.flags[h] & POOLED):
        return False
    return not excluded_numbers(s, h) >> (face & 15) & 1


def retell(log: list[Entry], game: State, world: State, viewer: int) -> tuple[list[list[Event]], State]:
    """Play a log anew so that it comes to a world, and return what the viewer is told then, and how it ends.

    Every entry is the same but for the choice from a searched deck, which nobody else is told. Raises
    IllegalActionError if the rules would not have allowed it in that world.
    """
    key = game_key(game.secret, game.entropy)
    before = _at_the_search(log, game)
    identity = bytearray(world.identity)
    order: list[int] = []
    if before is not None and decision_kind(world) != EYE_PICK:
        order = _fill_searched_deck(before, world, viewer, identity)
    told: list[list[Event]] = []
    with dealt({(key, game.round): bytes(identity)}), _shuffling_to(game.round, order):
        events: list[Event] = []
        s = new_game(game.options, game.secret, game.entropy, events)
        told.append([seen_by(event, viewer) for event in events])
        for entry in log:
            s.events = events = []
            if decision_kind(s) == EYE_PICK and s.round == game.round:
                apply(s, _choice_of(s, order[0]))
            else:
                enter(s, entry)
            told.append([seen_by(event, viewer) for event in events])
    return told, s


def told_of(log: list[Entry], game: State, viewer: int) -> list[list[Event]]:
    """Return what a viewer was told of a game."""
    events: list[Event] = []
    s = new_game(game.options, game.secret, game.entropy, events)
    told = [[seen_by(event, viewer) for event in events]]
    for entry in log:
        s.events = events = []
        enter(s, entry)
        told.append([seen_by(event, viewer) for event in events])
    return told


class Searched:
    """The game just before the card was chosen from the searched deck, and how each card of it faced just after."""

    def __init__(self, state: State, facings: dict[int, int]) -> None:
        self.state = state
        self.facings = facings


def _at_the_search(log: list[Entry], game: State) -> Searched | None:
    s = new_game(game.options, game.secret, game.entropy)
    for entry in log:
        if decision_kind(s) == EYE_PICK and s.round == game.round:
            before = s.copy()
            enter(s, entry)
            return Searched(before, {h: s.flags[h] & FACEUP for h in [*s.deck, s.hand]})
        enter(s, entry)
    return None


def _fill_searched_deck(searched: Searched, world: State, viewer: int, identity: bytearray) -> list[int]:
    """Deal the cards that the world has on the shuffled handles to the deck as it was, so that what the viewer knew of
    it was right. Returns the shuffle that leads to the world: which card of the deck, from the top, each handle got.
    """
    s = searched.state
    old = list(reversed(s.deck))
    after = [
        (world.identity[h], world.flags[h] & FACEUP if world.flags[h] & HIDDEN else searched.facings[h])
        for h in sorted(old)
    ]
    order = [-1] * len(old)
    known = [i for i, h in enumerate(old) if s.known[h] >> viewer & 1]
    for i in [*known, *(i for i in range(len(old)) if i not in known)]:
        facing = s.flags[old[i]] & FACEUP
        wanted = [
            j
            for j, card in enumerate(after)
            if order[j] < 0 and card[1] == facing and (i not in known or card[0] == s.identity[old[i]])
        ]
        assert wanted, "the world has no place for a card that the viewer knows to have been shuffled"
        order[wanted[0]] = i
        identity[old[i]] = after[wanted[0]][0]
    return order


def _choice_of(s: State, drawn: int) -> int:
    """Return the choice that draws the card at this place of the deck, counted from the top."""
    h = s.deck[-1 - drawn]
    face = s.identity[h]
    demands = s.options.demands
    variant = demands.index(demands[face >> 4]) if s.cards[face & 15].variants > 1 else 0
    return pack(act.CHOOSE, (face & 15) | variant << 4, s.flags[h] & FACEUP)


@contextmanager
def _shuffling_to(round: int, order: list[int]) -> Iterator[None]:
    """Let the search of a round shuffle the deck so, if an order is given."""

    arrange = shuffle.arrange

    def search(key: bytes, number: int, n: int, cards: bytes) -> bytes:
        return bytes(order) if order and number == round and n > 0 else arrange(key, number, n, cards)

    with mock.patch.object(shuffle, "arrange", search):
        yield


def same_game(s: State, world: State, viewer: int) -> bool:
    """Whether a game that was played anew is the world, as far as it goes."""
    return (
        s.identity == world.identity
        and [h for h in range(52) if s.flags[h] & FACEUP] == [h for h in range(52) if world.flags[h] & FACEUP]
        and view(s, viewer) == view(world, viewer)
    )
