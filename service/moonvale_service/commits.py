"""Commits: how entries get into the log of a game, from whomever they come: a seat's call or a steward.

A commit is computed from a game as this process knows it, and counts only if the store knows the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from moonvale_engine import codec, play
from moonvale_engine.errors import IllegalActionError
from moonvale_engine.log import Entry
from moonvale_service import metrics
from moonvale_service.about import About
from moonvale_service.clocks import passing
from moonvale_service.errors import ActionIllegalError
from moonvale_service.history import Happened, Snapshot, enter, mark_text
from moonvale_service.recent import Known, Recent
from moonvale_service.settings import Settings
from moonvale_service.store import Commit, Store, When
from moonvale_service.store.log_codec import MARK_BYTES, encode_entry


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change of a game came to: the version and mark with it, the game now, and what happened."""

    version: int
    mark: str
    snapshot: Snapshot
    happened: list[Happened]


class UntimelyError(Exception):
    """The store's clock says that it is not the time for this change."""


class Commits:
    """Changes games of a store by entries. Raises GameMissingError and StoreUnavailableError of the store."""

    def __init__(self, store: Store, recent: Recent, settings: Settings) -> None:
        self._store = store
        self._recent = recent
        self._finished_expiry = milliseconds(settings.finished_expiry)
        self._idle_expiry = milliseconds(settings.idle_expiry)
        self._grace = milliseconds(settings.clock_grace)

    async def commit(
        self,
        known: Known,
        entries: Sequence[Entry],
        *,
        slot: int | None = None,
        ring: bytes = b"",
        about: About | None = None,
        when: When = When.ANY,
        lease: int = 0,
    ) -> Outcome | Known:
        """Commit entries upon a game as it is known; or return the game that is there by now.

        ``slot``, ``ring``: whose ring it is remembered in. ``about``: what is to be kept of the game from then on.
        ``when``: when it counts. ``lease``: for how many milliseconds the caller will take care of the next move if
        that is a bot's. Raises ActionIllegalError, and UntimelyError.
        """
        before = known.now
        state = before.state.copy()
        told = []
        for i, entry in enumerate(entries):
            try:
                events = enter(state, entry)
            except IllegalActionError:
                # Before it in a batch stand named cards alone, so that no hidden card decides where it fails (HID-4).
                raise ActionIllegalError(i) from None
            told.append((entry, play.seat_to_act(state), events))
        over = state.is_over()
        mark = os.urandom(MARK_BYTES)
        encoded = codec.encode(state)
        meta = known.meta if about is None else about.encode()
        about = about or before.about
        was, seat = play.seat_to_act(before.state), play.seat_to_act(state)
        timing = passing(about.clock, entries, was, seat, about.free, when=when, grace=self._grace, lease=lease)
        committed = await self._store.commit(
            before.game,
            Commit(
                version=before.version,
                mark=known.mark,
                meta=known.meta,
                new_mark=mark,
                state=encoded,
                entries=[encode_entry(mark, entry) for entry in entries],
                slot=slot,
                ring=ring,
                expiry=self._finished_expiry if over else self._idle_expiry,
                keep_from=(about.sealed_until or 0) if over else 0,
                new_meta=None if meta is known.meta else meta,
                timing=timing,
            ),
        )
        if committed.refused is not None:
            return self._recent.learn(before.game, committed.refused, slot)
        if committed.untimely:
            raise UntimelyError
        if over:
            metrics.games_finished.add(str(state.options.players))
        version = before.version + len(entries)
        text = mark_text(mark)
        happened = []
        ticking = before.ticking
        for number, (entry, seat_to_act, events) in enumerate(told, before.version + 1):
            if about.clock is not None and ticking is not None:
                ticking = about.clock.after(ticking, entry._replace(time=committed.time), was, seat_to_act, about.free)
            made = text if number == version else ""
            deadline = ticking.deadline if ticking is not None else 0
            happened.append(Happened(number, made, entry, committed.time, seat_to_act, events, state.options, deadline))
        now = Snapshot(before.game, version, text, state, about, before.created, committed.time, ticking)
        rings = known.rings if slot is None else {**known.rings, slot: ring}
        self._recent.keep(Known(now, encoded, mark, meta, rings, known.new))
        return Outcome(version, text, now, happened)


def milliseconds(seconds: float | None) -> int:
    """Return a duration as the store gets it: 0 for one without end."""
    return 0 if seconds is None else round(seconds * 1000)
