"""Events: who only hears them can lay out the whole table, and knows as much of it as the view shows."""

from random import Random
from typing import Final

import pytest

from moonvale_engine import events as ev
from moonvale_engine import play
from moonvale_engine.events import NOBODY, UNKNOWN, Event
from moonvale_engine.options import Options
from moonvale_engine.views import CardView, View, view
from tests.support.playing import choose

STYLES: Final = ("uniform", "tidy", "restless", "grabbing")


class Listener:
    """Lays out a table from the events that one viewer gets, and from nothing else."""

    def __init__(self, players: int) -> None:
        self.players = players
        self.totals = [0] * players
        self.scores: list[list[int]] = [[] for _ in range(players)]
        self.resigned = [False] * players
        self.token_active = False
        self.over = NOBODY
        self.places: tuple[int, ...] = ()
        self.round = self.turn = self.extra_turns = 0
        self.holder = self.active = self.caller = NOBODY
        self.hand = NOBODY

    def hears(self, event: Event) -> None:
        kind, seat, a, b, _, cards = event
        told = cards if kind not in (ev.ROUND_BEGAN, ev.GAME_OVER) else ()
        for h, face in zip(told[::2], told[1::2], strict=True):
            if face != UNKNOWN:
                assert self.faces.setdefault(h, face) == face  # no event contradicts another
        match kind:
            case ev.ROUND_BEGAN:
                self._deals(seat, a, cards)
            case ev.RESIGNED:
                self.resigned[seat] = True
            case ev.TURN_BEGAN:
                if b & ev.TURN_ADDITIONAL:
                    self.extra_turns -= 1
                self.turn, self.active = a, seat
            case ev.MOVED:
                self._moves(cards[0], a, b)
            case ev.FLIPPED:
                assert self._at(a) == cards[0]
                assert (cards[0] in self.faceup) != bool(b)
                self.faceup ^= {cards[0]}
            case ev.TURNED:
                assert self._at(a) == cards[0]
                assert (cards[0] in self.sideways) != bool(b)
                self.sideways ^= {cards[0]}
            case ev.LOOKED | ev.SHOWN | ev.ACTED:
                pass
            case ev.ABILITY_BEGAN:
                if a == ev.HAND:
                    assert self.hand == cards[0]
                    self.faceup.add(cards[0])
                else:
                    assert self._at(a) == cards[0]
                assert b == 0
            case ev.TOKEN_USED:
                assert self.token_active
                self.token_active = False
            case ev.TURN_ADDED:
                self.extra_turns += 1
            case ev.CALLED:
                self.caller, self.extra_turns = seat, 0
            case ev.ROUND_ENDED:
                self.extra_turns = 0
            case ev.SCORED:
                self.scores[seat].append(b)
                self.totals[seat] += b
            case ev.TOKEN_AWARDED:
                self.holder, self.token_active = seat, bool(a)
            case ev.GAME_OVER:
                self.over, self.places = a, cards
            case _:
                raise AssertionError(event)

    def _deals(self, start: int, round: int, cards: tuple[int, ...]) -> None:
        self.faces: dict[int, int] = {cards[0]: cards[1]}
        self.faceup, self.sideways = {cards[0]}, set[int]()
        self.pile = [cards[0]]
        self.deck_count = 31
        self.villages = [list(range(seat * 5, seat * 5 + 5)) for seat in range(self.players)]
        self.round, self.turn, self.holder = round, 0, start
        self.active = self.caller = self.hand = NOBODY
        self.extra_turns = 0

    def _at(self, place: int) -> int:
        if place == ev.HAND:
            return self.hand
        return self.pile[-1 - (place - ev.PILE)] if place >= ev.PILE else self.villages[place & 3][place >> 2]

    def _moves(self, h: int, start: int, end: int) -> None:
        if end < ev.DECK and start < ev.DECK and end >> 2 < len(self.villages[end & 3]):
            self.villages[end & 3][end >> 2] = h  # one of several that move at once
            return
        if start == ev.DECK:
            self.deck_count -= 1
        else:
            assert self._at(start) == h
            if start == ev.HAND:
                self.hand = NOBODY
            elif start >= ev.PILE:
                self.pile.remove(h)
            else:
                self.villages[start & 3].remove(h)
        if end == ev.HAND:
            assert self.hand == NOBODY
            self.hand = h
        elif end == ev.PILE_BOTTOM:
            self.pile.insert(0, h)
            self.sideways.discard(h)
        elif end == ev.PILE:
            self.pile.append(h)
            self.faceup.add(h)
            self.sideways.discard(h)
        else:
            self.villages[end & 3].insert(end >> 2, h)

    def card(self, h: int) -> tuple[int, bool, bool, int]:
        return (h, h in self.faceup, h in self.sideways, self.faces.get(h, UNKNOWN))


def lies(card: CardView) -> tuple[int, bool, bool, int]:
    return (card.handle, card.faceup, card.sideways, card.face)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_events_tell_the_whole_table_and_all_that_a_viewer_knows(players: int, style: str) -> None:  # HID-2, HID-3
    for seed in range(4):
        rng = Random(f"{style} {players} {seed}")
        happened: list[Event] = []
        s = play.new_game(Options(players=players, rounds=2), rng.randbytes(32), events=happened)
        listeners = {viewer: Listener(players) for viewer in (*range(players), ev.SPECTATOR)}
        while True:
            for viewer, listener in listeners.items():
                for event in happened:
                    listener.hears(ev.seen_by(event, viewer))
            if not s.choices:
                break
            viewer = rng.choice(list(listeners))
            compare(listeners[viewer], view(s, viewer))
            happened.clear()
            if rng.random() < 0.002:
                play.resign(s, play.seat_to_act(s))
            else:
                play.apply(s, choose(rng, style, s.choices))
        for viewer, listener in listeners.items():
            compare(listener, view(s, viewer))


def compare(listener: Listener, seen: View) -> None:
    """Assert that a listener's table is the one that its viewer sees."""
    assert [[lies(card) for card in seat.village] for seat in seen.seats] == [
        [listener.card(h) for h in village] for village in listener.villages
    ]
    assert [lies(card) for card in seen.pile] == [listener.card(h) for h in reversed(listener.pile)]
    hand = None if listener.hand == NOBODY else listener.card(listener.hand)
    assert (None if seen.hand is None else lies(seen.hand)) == hand
    assert seen.deck_count == listener.deck_count
    assert [seat.total for seat in seen.seats] == listener.totals
    assert [list(seat.scores) for seat in seen.seats] == listener.scores
    assert [seat.resigned for seat in seen.seats] == listener.resigned
    assert (seen.round, seen.turn, seen.active) == (listener.round, listener.turn, listener.active)
    assert (seen.caller, seen.extra_turns) == (listener.caller, listener.extra_turns)
    assert (seen.holder, seen.token_active) == (listener.holder, listener.token_active)
    assert (seen.over, seen.places) == (listener.over, listener.places)


@pytest.mark.parametrize("players", [2, 4])
def test_with_or_without_memory_the_same_happens(players: int) -> None:  # HID-3
    for seed in range(5):
        told: list[list[Event]] = []
        for memory in ("assisted", "table"):
            rng = Random(seed)
            happened: list[Event] = []
            s = play.new_game(Options(players=players, memory=memory), rng.randbytes(32), events=happened)
            while s.choices:
                play.apply(s, choose(rng, "restless", s.choices))
            told.append(happened)
        assisted, table = told
        assert [event[:4] for event in assisted] == [event[:4] for event in table]
        for viewer in (*range(players), ev.SPECTATOR):
            for more, less in zip(assisted, table, strict=True):
                more, less = ev.seen_by(more, viewer), ev.seen_by(less, viewer)
                assert less[5] in (more[5], tuple(UNKNOWN if i & 1 else h for i, h in enumerate(more[5])))
