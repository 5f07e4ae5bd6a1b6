"""Pixie (3): turned facedown, she flips any other card. Ruling C03-1."""

from __future__ import annotations

from moonvale_engine import moves, programs
from moonvale_engine.actions import USE_RESIDENT, pack
from moonvale_engine.cards.card import COIN, RESIDENT, Card
from moonvale_engine.choices import any_other_card
from moonvale_engine.decisions import TARGET
from moonvale_engine.effects import flip_picked
from moonvale_engine.state import State, push
from moonvale_engine.steps import ask


def _if_there_is_another_card(s: State, spot: int, h: int) -> list[int]:
    return [pack(USE_RESIDENT, spot)] if sum([len(village) for village in s.villages]) > 1 else []


def _turn_facedown(s: State, h: int, action: int) -> None:
    moves.flip(s, h)
    push(s, programs.CARDS + PIXIE.id, s.active, card=h)


PIXIE = Card(
    "pixie",
    id=3,
    number=3,
    deck=COIN,
    ability=RESIDENT,
    free=_if_there_is_another_card,
    use=_turn_facedown,
    program=(ask(TARGET, any_other_card, then=flip_picked),),
)
