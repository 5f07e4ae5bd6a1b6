"""A replay is the whole game: from its secret and entries the engine plays it again."""

from dataclasses import replace

import pytest

from moonvale.v1 import event_pb2
from moonvale_engine import (
    RESIGNATION,
    Entry,
    Options,
    Record,
    commitment,
    encode,
    read_record,
    replay,
    replay_record,
    result,
)
from moonvale_engine.play import apply as play_action
from moonvale_engine.play import legal_actions, new_game, resign, seat_to_act
from moonvale_service.convert import actions, options, replays

SECRET = bytes(range(32))


def played() -> Record:
    """A game of three in which seat 1 resigns, always going on with the last choice."""
    game = Options(players=3, rounds=1)
    s = new_game(game, SECRET)
    entries: list[Entry] = []
    while choices := legal_actions(s):
        if len(entries) == 5:
            resign(s, 1)
            entries.append(Entry(1, RESIGNATION, time=5_000))
            continue
        entry = Entry(seat_to_act(s), choices[-1], time=len(entries) * 1_000)
        play_action(s, entry.action)
        entries.append(entry)
    return Record(game, commitment(SECRET), SECRET, (), ("Ann", "Ben", "Cat"), "abc", 0, tuple(entries), result(s))


RECORD = played()


def test_a_replay_plays_again() -> None:
    told = replays.to_proto(RECORD)
    entries = [
        Entry(
            entry.seat,
            RESIGNATION if entry.cause == event_pb2.CAUSE_RESIGNATION else actions.from_proto(entry.action, ""),
            time=entry.create_time.ToMilliseconds(),
        )
        for entry in told.entries
    ]
    assert tuple(entries) == RECORD.entries
    s = replay(options.from_proto(told.options), told.secret, tuple(told.entropy), entries)
    replayed = result(s)
    assert replayed is not None
    assert tuple(told.result.places) == replayed.places
    assert tuple(told.result.totals) == replayed.totals


def test_entries_count_versions_from_1_and_say_who_resigned() -> None:
    told = replays.to_proto(RECORD)
    assert [entry.version for entry in told.entries] == list(range(1, len(RECORD.entries) + 1))
    resignations = [entry for entry in told.entries if entry.cause == event_pb2.CAUSE_RESIGNATION]
    assert [(entry.seat, entry.version, entry.HasField("action")) for entry in resignations] == [(1, 6, False)]


def test_the_commitment_is_opened_by_the_secret() -> None:
    told = replays.to_proto(RECORD)
    assert commitment(told.secret) == told.commitment


def test_the_record_file_is_the_same_game() -> None:
    text = replays.to_proto(RECORD).record
    assert read_record(text) == RECORD
    assert encode(replay_record(read_record(text))) == encode(replay(RECORD.options, SECRET, (), RECORD.entries))


@pytest.mark.parametrize("missing", [replace(RECORD, secret=None), replace(RECORD, result=None)])
def test_a_game_that_is_not_open_has_no_replay(missing: Record) -> None:
    with pytest.raises(ValueError, match="needs the secret and the result"):
        replays.to_proto(missing)
