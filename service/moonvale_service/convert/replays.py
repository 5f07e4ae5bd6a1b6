"""Replays: a whole game that is over, opened."""

from __future__ import annotations

from typing import Final

from moonvale.v1 import replay_pb2 as pb
from moonvale_engine.log import RESIGNATION, RETURN, TAKEOVER, Entry
from moonvale_engine.record import Record, write_record
from moonvale_service.convert import actions, options, results
from moonvale_service.convert.events import entry_cause
from moonvale_service.convert.times import timestamp

_TABLE_ENTRIES: Final = {
    RESIGNATION: pb.TABLE_ENTRY_RESIGNATION,
    TAKEOVER: pb.TABLE_ENTRY_AWAY,
    RETURN: pb.TABLE_ENTRY_RETURN,
}


def to_proto(record: Record) -> pb.Replay:
    """Return the replay of a game that is over. Raises ValueError for a record that is sealed or has no result."""
    if record.secret is None or record.result is None:
        raise ValueError("a replay needs the secret and the result of a game")
    return pb.Replay(
        options=options.to_proto(record.options),
        secret=record.secret,
        commitment=record.commitment,
        entropy=record.entropy,
        entries=[_entry(version, entry) for version, entry in enumerate(record.entries, 1)],
        record=write_record(record),
        result=results.to_proto(record.result.reason, record.result.places, record.result.totals),
    )


def _entry(version: int, entry: Entry) -> pb.ReplayEntry:
    message = pb.ReplayEntry(
        version=version, seat=entry.seat, cause=entry_cause(entry), create_time=timestamp(entry.time)
    )
    if entry.action in _TABLE_ENTRIES:
        message.table_entry = _TABLE_ENTRIES[entry.action]
    else:
        message.action.CopyFrom(actions.to_proto(entry.action))
    return message
