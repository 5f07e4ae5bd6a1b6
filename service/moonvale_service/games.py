"""The use cases of games: look at, play, list, replay and delete them. They know engine and store, and no messages.

Exactly once: what a request has done is remembered in its seat's ring, by the same commit, so that whichever replica
gets the repeat finds it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from moonvale_engine import play
from moonvale_engine.actions import SILENT, verb_of
from moonvale_engine.log import RESIGNATION, RETURN, Entry
from moonvale_engine.outcome import result
from moonvale_engine.record import Record as GameRecord
from moonvale_engine.shuffle import commitment
from moonvale_service import metrics
from moonvale_service.about import About
from moonvale_service.commits import Commits, Outcome, UntimelyError
from moonvale_service.credentials import Credential
from moonvale_service.errors import (
    BatchRevealsError,
    CallError,
    CredentialRevokedError,
    FieldError,
    GameIsOverError,
    GameNotBegunError,
    GameNotOverError,
    HistoryRewoundError,
    NotYourTurnError,
    ReplaySealedError,
    RequestIdReusedError,
    StaleVersionError,
    TimeOutError,
)
from moonvale_service.history import Happened, Place, Snapshot, check_rules, fold, is_lost, mark_at, place_at, snapshot
from moonvale_service.recent import Known, Recent
from moonvale_service.store import Amendment, GameMissingError, Listed, Store, When
from moonvale_service.store.log_codec import Answer, add_answer, content_digest, find_answer, request_key

_EPOCH: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class _Move:
    """What a SubmitAction asks for: actions upon a version, by a request whose content has this digest."""

    version: int
    actions: Sequence[int]
    request: bytes | None
    content: bytes


class Games:
    """All games of a store.

    Every method raises GameMissingError and StoreUnavailableError of the store, and the codec's errors.
    """

    def __init__(self, store: Store, recent: Recent, commits: Commits) -> None:
        self._store = store
        self._recent = recent
        self._commits = commits

    def now(self) -> int:
        """Return about what the store's clock says, in milliseconds: for people to read, never to decide anything."""
        return self._store.now()

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
        seat = seat_of(by)
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
            _check_turn(known.now, seat, move.version)
            if move.request is not None:
                ring = add_answer(ring, move.request, Answer(move.content, move.version + len(move.actions)))
            entries = [Entry(seat, action) for action in move.actions]
            made = await self._commit(known, entries, None if move.request is None else seat, ring)
            if isinstance(made, Outcome):
                return made
            known = made  # somebody else was faster; the next turn of this loop says what that means

    async def resign(self, by: Credential) -> Outcome:
        """Give up for a seat. A repeat returns the first outcome. Raises GameIsOverError."""
        game, seat = by.game, seat_of(by)
        known = self._recent.learn(game, await self._store.read(game))
        while True:
            check_epoch(known.now.about, by)
            _check_begun(known.now)
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

    async def reclaim(self, by: Credential) -> Outcome:
        """Take a seat back from the agent that plays it; if none does, nothing changes. Raises GameIsOverError."""
        seat = seat_of(by)
        known = self._recent.learn(by.game, await self._store.read(by.game))
        while True:
            now = known.now
            check_epoch(now.about, by)
            _check_begun(now)
            if not now.about.seat(seat).away:
                await self._store.settle(by.game)
                return Outcome(now.version, now.mark, now, [])
            if now.state.is_over():
                raise GameIsOverError
            about = now.about.with_seat(seat, replace(now.about.seat(seat), away=False))
            made = await self._commit(known, [Entry(seat, RETURN)], None, b"", about)
            if isinstance(made, Outcome):
                return made
            known = made

    async def list_happened(
        self, by: Credential, after: Place | None, limit: int
    ) -> tuple[list[Happened], Place | None]:
        """Return what happened after a place in the log (None: from the deal on), and where it goes on, if it does.

        Raises HistoryRewoundError if the log has no such place.
        """
        record, entries, _ = await self._store.read_log(by.game, 0)
        check_epoch(About.decode(record.meta), by)
        version = -1
        if after is not None:
            version = after.version
            if version > record.version or not (
                place_at(record, entries, version) == after or is_lost(record, entries, version)
            ):
                raise HistoryRewoundError(record.version)
        happened = fold(record, entries, version, limit)
        end = version + limit
        following = place_at(record, entries, end) if end < record.version else None
        return happened, following

    async def replay(self, by: Credential) -> GameRecord:
        """Return the record of a game that is over, its secret opened. Raises GameNotOverError or ReplaySealedError."""
        record, entries, now = await self._store.read_log(by.game, 0)
        game = snapshot(by.game, record)
        about, state = game.about, game.state
        check_epoch(about, by)
        if game.waits or not state.is_over():
            raise GameNotOverError
        if about.sealed_until is not None and now < about.sealed_until:
            until = _EPOCH + timedelta(milliseconds=about.sealed_until)
            raise ReplaySealedError(until.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        return GameRecord(
            options=state.options,
            commitment=commitment(state.secret),
            secret=state.secret,
            entropy=state.entropy,
            names=tuple([seat.name for seat in about.seats]),
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
            game = snapshot(by.game, record)
            about, players = game.about, game.state.options.players
            if holder.seat is not None:
                check_seat(holder.seat, players)
            epoch, last = about.rotation(holder)
            if last == request:  # who knows it has made that call, with a credential that it may have revoked itself
                await self._store.settle(by.game)
                return replace(holder, epoch=epoch)
            check_epoch(about, by)
            rotated = about.rotated(holder, request).encode()
            made = await self._store.amend(by.game, Amendment(record.mark, record.meta, rotated))
            if made.refused is None:
                return replace(holder, epoch=epoch + 1)

    async def list_games(self, after: str, count: int) -> tuple[list[Listed], str]:
        """Return up to so many games after an id (empty: from the first on), and the id to go on after, or nothing."""
        return await self._store.list_games(after, count)

    async def delete(self, game: str) -> None:
        """Delete a game. One of rules that are not known is left to those who know them."""
        with suppress(GameMissingError):  # it may be deleted already, by this same call before: the store knows
            check_rules(await self._store.read(game))
        await self._store.delete(game)
        metrics.games_deleted.add()

    async def _commit(
        self, known: Known, entries: Sequence[Entry], slot: int | None, ring: bytes, about: About | None = None
    ) -> Outcome | Known:
        """Commit what a seat's client has asked for. Raises TimeOutError if the time for that is out."""
        answers = entries[0].action >= 0
        try:
            return await self._commits.commit(
                known, entries, slot=slot, ring=ring, about=about, when=When.BEFORE if answers else When.ANY
            )
        except UntimelyError:
            raise TimeOutError from None

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


def check_seat(number: int, players: int) -> None:
    """Raise FieldError for ``seat`` if a game of so many players has no such one."""
    if not 0 <= number < players:
        raise FieldError("seat", f"must be one of the game's, 0..{players - 1}, is {number}")


def seat_of(by: Credential) -> int:
    """Return the seat of a seat's credential."""
    assert by.seat is not None, "the edge lets nobody but seats act"
    return by.seat


def _check_turn(now: Snapshot, seat: int, version: int) -> None:
    _check_begun(now)
    if now.state.is_over():
        raise GameIsOverError
    if version != now.version:
        raise StaleVersionError(version, now.version)
    if play.seat_to_act(now.state) != seat:
        raise NotYourTurnError(play.seat_to_act(now.state))


def _check_begun(now: Snapshot) -> None:
    if now.waits:
        raise GameNotBegunError
