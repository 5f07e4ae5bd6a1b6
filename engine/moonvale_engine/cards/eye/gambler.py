"""Gambler (4): predicts the top card of the deck, as the main action. Rulings E04-1, OBS-5."""

from __future__ import annotations

from typing import Final

from moonvale_engine import moves
from moonvale_engine.actions import DECLINE, GAMBLE, PICK, PREDICT, pack, square, x_of, y_of
from moonvale_engine.cards.card import EYE, RESIDENT, Card
from moonvale_engine.choices import own_ends, picked
from moonvale_engine.decisions import PLACE, REWARD
from moonvale_engine.decisions import PREDICT as PREDICT_KIND
from moonvale_engine.discards import discard, fails, offered, spotters
from moonvale_engine.effects import deck_to_chosen_end
from moonvale_engine.events import EVERYBODY, PREDICTED
from moonvale_engine.state import FACEUP, State, value_of
from moonvale_engine.steps import NEXT, ask

RIGHT: Final = 1
WRONG: Final = 2


def _gamble(s: State, gamblers: int) -> list[int]:
    if not gamblers or not s.deck:
        return []
    top = s.deck[-1]
    return [] if s.flags[top] & FACEUP and fails(s, top) else [GAMBLE]


def _values(s: State) -> list[int]:
    return [pack(PREDICT, value + 1) for value in sorted([card.value for card in s.cards])]


def _predict(s: State, action: int) -> int:
    value = x_of(action) - 1
    if s.events is not None:
        s.events.append((PREDICTED, s.seat, value, 0, EVERYBODY, ()))
    top = s.deck[-1]
    s.x = RIGHT if value_of(s, top) == value else WRONG
    if fails(s, top):
        moves.show_deck_top(s)
    else:
        moves.deck_to_pile(s)
    return NEXT


def _rewards(s: State) -> list[int]:
    if s.x != RIGHT:
        return []
    seat = s.seat
    return [
        DECLINE,
        *[
            pack(PICK, square(seat, spot), declared)
            for spot, h in enumerate(s.villages[seat])
            if offered(s, h)
            for declared in range(spotters(s, seat) + 1)
        ],
    ]


def _reward(s: State, action: int) -> int:
    if action != DECLINE:
        discard(s, s.seat, picked(s, action), y_of(action))
    return NEXT


def _penalty_ends(s: State) -> list[int]:
    return own_ends(s) if s.x == WRONG and s.deck else []


GAMBLER = Card(
    "gambler",
    id=18,
    number=4,
    deck=EYE,
    ability=RESIDENT,
    main=_gamble,
    repeats=True,
    program=(
        ask(PREDICT_KIND, _values, then=_predict),
        ask(REWARD, _rewards, then=_reward),
        ask(PLACE, _penalty_ends, then=deck_to_chosen_end),
    ),
)
