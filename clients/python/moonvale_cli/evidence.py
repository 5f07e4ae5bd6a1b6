"""Evidence: what somebody was told of a game, by which its shuffles are checked when it is over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict

from moonvale.v1.event_pb2 import LogEntry
from moonvale_cli.words.table import Table, listed
from moonvale_client import Replay, View
from moonvale_verify import verify


class Evidence:
    """All views and entries that one viewer was told."""

    def __init__(self) -> None:
        self._views: list[dict[str, Any]] = []
        self._entries: dict[int, dict[str, Any]] = {}

    def add(self, told: View | LogEntry) -> None:
        """Keep what was told, an entry once however often it was told."""
        if isinstance(told, View):
            self._views.append(MessageToDict(told))
        else:
            self._entries[told.version] = MessageToDict(told)

    def forget_entries(self) -> None:
        """Forget the entries, as the store has lost some of them: all are told anew."""
        self._entries.clear()

    def lines(self) -> Iterator[str]:
        """Yield what was told as `moonvale verify --seen` reads it."""
        for view in self._views:
            yield json.dumps({"view": view})
        for version in sorted(self._entries):
            yield json.dumps({"entry": self._entries[version]})

    def check(self, replay: Replay, table: Table) -> str:
        """Say in words whether the cards lay as was promised before the deal."""
        try:
            record = verify.Record(replay.record)
            seen = verify.check_seen(record, verify.check_record(record), self.lines())
        except (verify.Refused, verify.Unreadable) as error:
            return f"The cards do NOT lie as was promised before the deal: {error}."
        who = listed(["the service", *[table.object(seat) for seat in seen.opened]])
        words = f"Checked: all shuffles follow from what {who} had committed to before the deal."
        if seen.withheld:
            who = listed([table.object(seat) for seat in seen.withheld])
            words += f" Entropy of {who} was not revealed in time and is left out."
        return words

    def save(self, path: Path, replay: Replay) -> tuple[Path, Path]:
        """Write the record and what was told; return both files. Raises OSError."""
        record, told = path.with_name(f"{path.name}.moonvale"), path.with_name(f"{path.name}.ndjson")
        record.write_text(replay.record, encoding="utf-8")
        told.write_text("".join(f"{line}\n" for line in self.lines()), encoding="utf-8")
        return record, told
