"""Blob (4): as the main action, activates one of the top pile cards, as many deep as Blobs lie faceup. Ruling C04-1."""

from __future__ import annotations

from moonvale_engine.abilities import can_activate
from moonvale_engine.actions import ACTIVATE, pack
from moonvale_engine.cards.card import COIN, RESIDENT, Card
from moonvale_engine.state import State


def _pile_cards(s: State, blobs: int) -> list[int]:
    return [pack(ACTIVATE, depth) for depth in range(min(blobs, len(s.pile))) if can_activate(s, s.pile[-1 - depth])]


BLOB = Card("blob", id=4, number=4, deck=COIN, ability=RESIDENT, main=_pile_cards)
