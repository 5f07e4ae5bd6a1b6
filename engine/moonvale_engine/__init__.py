"""Moonvale's engine: the rules of Silver Coin and Silver Eye, pure and deterministic, standard library only.

>>> import random
>>> from moonvale_engine import Options, apply, legal_actions, new_game, result
>>> game = new_game(Options(players=2), secret=bytes(32))
>>> while actions := legal_actions(game):
...     apply(game, random.choice(actions))
>>> len(result(game).places)
2
"""

from moonvale_engine.catalog import known_versions
from moonvale_engine.codec import decode, encode
from moonvale_engine.errors import (
    CodecError,
    EngineError,
    GameOverError,
    IllegalActionError,
    NotationError,
    OptionError,
    RecordError,
    UnknownRulesError,
)
from moonvale_engine.events import NOBODY, SPECTATOR, UNKNOWN, Event, seen_by
from moonvale_engine.log import RESIGNATION, Entry, enter, history, replay
from moonvale_engine.notation import action_text, parse_action
from moonvale_engine.options import Options, deck_text, parse_deck
from moonvale_engine.outcome import Result, result
from moonvale_engine.play import apply, decision_kind, legal_actions, new_game, resign, seat_to_act
from moonvale_engine.position import Position, observe, whole
from moonvale_engine.position_parse import parse_position
from moonvale_engine.position_text import position_text
from moonvale_engine.record import Record, read_record, replay_record, write_record
from moonvale_engine.rules import RULES_VERSION
from moonvale_engine.shuffle import commitment
from moonvale_engine.state import State
from moonvale_engine.views import CardView, DecisionView, SeatView, View, card_view, view
from moonvale_engine.worlds import sample_world

__all__ = [
    "NOBODY",
    "RESIGNATION",
    "RULES_VERSION",
    "SPECTATOR",
    "UNKNOWN",
    "CardView",
    "CodecError",
    "DecisionView",
    "EngineError",
    "Entry",
    "Event",
    "GameOverError",
    "IllegalActionError",
    "NotationError",
    "OptionError",
    "Options",
    "Position",
    "Record",
    "RecordError",
    "Result",
    "SeatView",
    "State",
    "UnknownRulesError",
    "View",
    "action_text",
    "apply",
    "card_view",
    "commitment",
    "decision_kind",
    "deck_text",
    "decode",
    "encode",
    "enter",
    "history",
    "known_versions",
    "legal_actions",
    "new_game",
    "observe",
    "parse_action",
    "parse_deck",
    "parse_position",
    "position_text",
    "read_record",
    "replay",
    "replay_record",
    "resign",
    "result",
    "sample_world",
    "seat_to_act",
    "seen_by",
    "view",
    "whole",
    "write_record",
]
