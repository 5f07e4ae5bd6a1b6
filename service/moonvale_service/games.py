"""The use cases: create, look at, play, list, replay and delete games. They know engine and store, and no messages.

Exactly once: what a request has done is remembered in its seat's ring, by the same commit, so that whichever replica
gets the repeat finds it there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from moonvale_engine import codec, play
from moonvale_engine.actions import SILENT, verb_of
from moonvale_engine.errors import IllegalActionError
from moonvale_engine.log import RESIGNATION, Entry
from moonvale_engine.options import Options
from moonvale_engine.outcome import result
from moonvale_engine.record import Record as GameRecord
from moonvale_engine.shuffle import SECRET_BYTES, commitment
from moonvale_engine.state import State
from moonvale_service import metrics
from moonvale_service.about import About
from moonvale_service.credentials import Credential
from moonvale_service.errors import (
    ActionIllegalError,
    BatchRevealsError,
    CallError,
    CredentialRevokedError,
    FieldError,
    GameIsOverError,
    GameNotOverError,
    HistoryRewoundError,
    NotYourTurnError,
    ReplaySealedError,
    RequestIdReusedError,
    StaleVersionError,
)
from moonvale_service.history import Happened, Place, Snapshot, enter, fold, mark_at, mark_text, place_at, snapshot
from moonvale_service.recent import Known, Recent
from moonvale_service.store import Commit, GameMissingError, Listed, Store
from moonvale_service.store.log_codec import (
    MARK_BYTES,
    Answer,
    add_answer,
    content_digest,
    encode_entry,
    find_answer,
    request_key,
)

_EPOCH: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change of a game came to: the version and mark with it, the game now, and what happened."""

    version: int
    mark: str
    snapshot: Snapshot
    happened: list[Happened]


@dataclass(frozen=True, slots=True)
class _Move:
    """What a SubmitAction asks for: actions upon a version, by a request whose content has this digest."""

    version: int
    actions: Sequence[int]
    request: bytes | None
    content: bytes


class Games:
    """All games of a store. New ones are played by the version ``rules``. Expiries are seconds, None for never.

    Every method raises GameMissingError and StoreUnavailableError of the store, and the codec's errors.
    """

    def __init__(self, store: Store, *, rules: int, finished_expiry: float | None, idle_expiry: float | None) -> None:
        self._store = store
        self._rules = rules
        self._recent = Recent()
        self._finished_expiry = _milliseconds(finished_expiry)
        self._idle_expiry = _milliseconds(idle_expiry)

    async def create(self, game: str, options: Options, secret: bytes | None, about: About, content: bytes) -> Snapshot:
        """Create a game, or return the one that the same request has created. Without a secret one is drawn.

        Raises RequestIdReusedError: the game was created by another content.
        """
        digest = content_digest(content)
        state = play.new_game(replace(options, rules=self._rules), secret or os.urandom(SECRET_BYTES))
        mark = os.urandom(MARK_BYTES)
        record = await self._store.create(
            game,
            digest=digest,
            mark=mark,
            state=codec.encode(state),
            meta=about.encode(),
            expiry=self._idle_expiry,
        )
        if record.digest != digest:
            raise RequestIdReusedError
        if record.first_mark == mark:
            metrics.games_created.add(str(options.players))
        if record.version:
            return self._recent.learn(game, record).now
        known = Known(snapshot(game, record), record.state, record.mark, record.meta, {}, new=True)
        self._recent.keep(known)
        return known.now

    async def look(self, by: Credential) -> Snapshot:
        """Return a game as it is now."""
        now = self._recent.learn(by.game, await self._store.read(by.game)).now
        check_epoch(now.about, by)
        return now

    async def submit(self, by: Credential, version: int, actions: Sequence[int], request_id: str | None) -> Outcome:
        """Carry out the actions of a seat, all or none, upon the version that they were chosen on.

        Raises BatchRevealsError, RequestIdReusedError, GameIsOverError, StaleVersionError, NotYourTurnError or
        ActionIllegalError, and has changed nothing then.
        """
        for i, action in enumerate(actions[:-1]):
            if verb_of(action) not in SILENT:
                raise BatchRevealsError(i)
        request = None if request_id is None else request_key(request_id)
        move = _Move(version, actions, request, content_digest(repr((version, *actions)).encode()))
        seat = _seat_of(by)
        known = self._recent.get(by.game, version)
        if known is not None and (request is None or known.ring(seat) is not None):
            try:
                return await self._submit(by, seat, known, move)
            except CallError:
                pass  # it may be long ago that this was so: only what the store says refuses anybody
        known = self._recent.learn(by.game, await self._store.read(by.game, seat), seat)
        return await self._submit(by, seat, known, move)

    async def _submit(self, by: Credential, seat: int, known: Known, move: _Move) -> Outcome:
        while True:
            check_epoch(known.now.about, by)
            ring = known.ring(seat) or b""
            answer = None if move.request is None else find_answer(ring, move.request)
            if answer is not None:
                if answer.content != move.content:
                    raise RequestIdReusedError
                return await self._outcome_before(by.game, answer.version, len(move.actions))
            _check_turn(known.now.state, seat, known.now.version, move.version)
            if move.request is not None:
                ring = add_answer(ring, move.request, Answer(move.content, move.version + len(move.actions)))
            entries = [Entry(seat, action) for action in move.actions]
            made = await self._commit(known, entries, None if move.request is None else seat, ring)
            if isinstance(made, Outcome):
                return made
            known = made  # somebody else was faster; the next turn of this loop says what that means

    async def resign(self, by: Credential) -> Outcome:
        """Give up for a seat. A repeat returns the first outcome. Raises GameIsOverError."""
        game, seat = by.game, _seat_of(by)
        known = self._recent.learn(game, await self._store.read(game))
        while True:
            check_epoch(known.now.about, by)
            state = known.now.state
            if seat in state.resigned:
                _, entries, _ = await self._store.read_log(game, 0)
                resigned = next(i for i, each in enumerate(entries, 1) if each.entry[:2] == (seat, RESIGNATION))
                return await self._outcome_before(game, resigned, 1)
            if state.is_over():
                raise GameIsOverError
            made = await self._commit(known, [Entry(seat, RESIGNATION)], None, b"")
            if isinstance(made, Outcome):
                return made
            known = made

    async def list_happened(
        self, by: Credential, after: Place | None, limit: int
    ) -> tuple[Options, list[Happened], Place | None]:
        """Return what happened after a place in the log (None: from the creation on), and where it goes on, if it does.

        Raises HistoryRewoundError if the log has no such place.
        """
        record, entries, _ = await self._store.read_log(by.game, 0)
        check_epoch(About.decode(record.meta), by)
        version = -1
        if after is not None:
            version = after.version
            if version > record.version or place_at(record, entries, version) != after:
                raise HistoryRewoundError(record.version)
        happened = fold(record, entries, version, limit)
        end = version + limit
        following = place_at(record, entries, end) if end < record.version else None
        return codec.decode(record.state).options, happened, following

    async def replay(self, by: Credential) -> GameRecord:
        """Return the record of a game that is over, its secret opened. Raises GameNotOverError or ReplaySealedError."""
        record, entries, now = await self._store.read_log(by.game, 0)
        about = About.decode(record.meta)
        check_epoch(about, by)
        state = codec.decode(record.state)
        if not state.is_over():
            raise GameNotOverError
        if about.sealed_until is not None and now < about.sealed_until:
            until = _EPOCH + timedelta(milliseconds=about.sealed_until)
            raise ReplaySealedError(until.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        return GameRecord(
            options=state.options,
            commitment=commitment(state.secret),
            secret=state.secret,
            entropy=state.entropy,
            names=about.seat_names,
            game=by.game,
            created=record.created,
            entries=tuple([each.entry for each in entries]),
            result=result(state),
        )

    async def rotate(self, by: Credential, holder: Credential, request_id: str) -> Credential:
        """Replace the credential of the one who holds ``holder``, and return the new one. A repeat returns it again.

        Raises FieldError if the game has no such seat.
        """
        request = request_key(request_id).hex()
        while True:
            record = await self._store.read(by.game)
            players = codec.decode(record.state).options.players
            if holder.seat is not None and holder.seat >= players:
                raise FieldError("seat", f"must be one of the game's, 0..{players - 1}, is {holder.seat}")
            about = About.decode(record.meta)
            epoch, last = about.rotation(holder)
            if last == request:  # who knows it has made that call, with a credential that it may have revoked itself
                await self._store.settle(by.game)
                return replace(holder, epoch=epoch)
            check_epoch(about, by)
            if await self._store.amend(by.game, record.meta, about.rotated(holder, request).encode()):
                return replace(holder, epoch=epoch + 1)

    async def list_games(self, after: str, count: int) -> tuple[list[Listed], str]:
        """Return up to so many games after an id (empty: from the first on), and the id to go on after, or nothing."""
        return await self._store.list_games(after, count)

    async def delete(self, game: str) -> None:
        """Delete a game. One of rules that are not known is left to those who know them."""
        with suppress(GameMissingError):  # it may be deleted already, by this same call before: the store knows
            codec.rules_of_stored((await self._store.read(game)).state)
        await self._store.delete(game)
        metrics.games_deleted.add()

    async def _commit(self, known: Known, entries: Sequence[Entry], slot: int | None, ring: bytes) -> Outcome | Known:
        """Commit entries upon a game as it is known; or return the game that is there by now."""
        before, about = known.now, known.now.about
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
            ),
        )
        if committed.refused is not None:
            return self._recent.learn(before.game, committed.refused, slot)
        if over:
            metrics.games_finished.add(str(state.options.players))
        version = before.version + len(entries)
        text = mark_text(mark)
        happened = [
            Happened(number, text if number == version else "", entry, committed.time, seat_to_act, events)
            for number, (entry, seat_to_act, events) in enumerate(told, before.version + 1)
        ]
        now = Snapshot(before.game, version, text, state, about, before.created, committed.time)
        rings = known.rings if slot is None else {**known.rings, slot: ring}
        self._recent.keep(Known(now, encoded, mark, known.meta, rings, known.new))
        return Outcome(version, text, now, happened)

    async def _outcome_before(self, game: str, version: int, count: int) -> Outcome:
        """Return the outcome that a request has had before: it made this version with so many entries."""
        await self._store.settle(game)  # the first answer may have failed for want of a replica's word
        record, entries, _ = await self._store.read_log(game, 0)
        happened = fold(record, entries, version - count, count)
        return Outcome(version, mark_at(record, entries, version), snapshot(game, record), happened)


def check_epoch(about: About, by: Credential) -> None:
    """Raise CredentialRevokedError if a credential was replaced by another one."""
    if by.epoch != about.rotation(by).epoch:
        raise CredentialRevokedError


def _seat_of(by: Credential) -> int:
    assert by.seat is not None, "the edge lets nobody but seats act"
    return by.seat


def _check_turn(state: State, seat: int, present: int, version: int) -> None:
    if state.is_over():
        raise GameIsOverError
    if version != present:
        raise StaleVersionError(version, present)
    if play.seat_to_act(state) != seat:
        raise NotYourTurnError(play.seat_to_act(state))


def _milliseconds(seconds: float | None) -> int:
    return 0 if seconds is None else round(seconds * 1000)
