"""Seats: how a game gets its players. Create it, claim seats and leave them, reveal entropy, play again.

A game that waits is changed by exchanging what is kept of it (``About``, with its lobby) as a whole, upon the mark that
it was read with; so of two who want one seat exactly one gets it. The change that leaves nothing to wait for deals.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import replace
from typing import Final, NamedTuple

from moonvale_engine import codec, play
from moonvale_engine.options import NUMBERS, Options
from moonvale_engine.outcome import places
from moonvale_engine.shuffle import SECRET_BYTES
from moonvale_engine.state import State
from moonvale_service import metrics
from moonvale_service.about import NOBODY_YET, About, Lobby, SeatAbout
from moonvale_service.clocks import beginning
from moonvale_service.commits import UntimelyError, milliseconds
from moonvale_service.credentials import Credential, Keys, Role
from moonvale_service.errors import (
    FieldError,
    GameBegunError,
    GameNotBegunError,
    GameNotOverError,
    JoinCodeWrongError,
    RequestIdReusedError,
    SeatTakenError,
)
from moonvale_service.games import check_epoch, check_seat, seat_of
from moonvale_service.history import Snapshot
from moonvale_service.recent import Known, Recent
from moonvale_service.settings import Settings
from moonvale_service.store import Amendment, Store, Timing, When
from moonvale_service.store.log_codec import MARK_BYTES, content_digest, request_key

ENTROPY_BYTES: Final = range(16, 65)

_CODE_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: nothing in it looks like anything else
_READ_AS: Final = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})
_CODE_LENGTH: Final = 8
_CODE_EXPIRY_MS: Final = 90 * 24 * 3600 * 1000  # since the game was created
_BY_REMATCH: Final = "rematch"  # in place of a request, of a seat that was freed and taken back by who had it before


class Taken(NamedTuple):
    """A seat, or the creator's place, that somebody has taken, and the game as it is by then."""

    snapshot: Snapshot
    credential: Credential


class Seats:
    """How the games of a store get their players. Raises GameMissingError and StoreUnavailableError of the store."""

    def __init__(self, store: Store, recent: Recent, keys: Keys, settings: Settings) -> None:
        self._store = store
        self._recent = recent
        self._keys = keys
        self._expiry = milliseconds(settings.idle_expiry)
        self._grace = milliseconds(settings.clock_grace)
        self._reveal_time = milliseconds(settings.reveal_time)
        self._rules = settings.rules

    async def create(
        self,
        game: str,
        options: Options,
        secret: bytes | None,
        about: About,
        content: bytes,
        *,
        open_seats: frozenset[int] = frozenset(),
        with_join_code: bool = False,
    ) -> Snapshot:
        """Create a game, or return the one that the same request has created. Without a secret one is drawn.

        Raises RequestIdReusedError: the game was created by another content.
        """
        lobby = Lobby(replace(options, rules=self._rules), secret or os.urandom(SECRET_BYTES), open_seats)
        if with_join_code:
            lobby = replace(lobby, join_code=await self._draw_code(game))
        now = await self._create(game, replace(about, lobby=lobby), content_digest(content))
        kept = now.about.lobby.join_code if now.about.lobby is not None else ""
        if lobby.join_code != kept:  # this is a repeat
            await self._store.drop_code(lobby.join_code)
        return now

    async def _create(self, game: str, about: About, digest: bytes) -> Snapshot:
        assert about.lobby is not None, "every game waits for something until it is settled"
        players = about.lobby.options.players
        about = replace(about, seats=about.seats or (NOBODY_YET,) * players)
        about, state, timing = self._settled(about, entered=True)
        mark = os.urandom(MARK_BYTES)
        record = await self._store.create(
            game,
            digest=digest,
            mark=mark,
            state=None if state is None else codec.encode(state),
            meta=about.encode(),
            expiry=self._expiry,
            timing=timing,
        )
        if record.digest != digest:
            raise RequestIdReusedError
        if record.first_mark == mark:
            metrics.games_created.add(str(players))
        known = self._recent.learn(game, record)
        if record.version == 0:
            known = replace(known, new=True)
            self._recent.keep(known)
        return known.now

    async def _draw_code(self, game: str) -> str:
        while True:
            code = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
            if await self._store.name_code(code, game, _CODE_EXPIRY_MS) == game:
                return code

    async def find(self, code: str) -> str:
        """Return the game that a join code is of. Raises JoinCodeWrongError."""
        game = await self._store.find_code(plain_code(code))
        if game is None:
            raise JoinCodeWrongError
        return game

    async def claim(
        self, game: str, code: str, number: int | None, player: SeatAbout, request_id: str, content: bytes
    ) -> Taken:
        """Take an open seat (None: the first one). A repeat returns it again.

        Raises JoinCodeWrongError, GameBegunError, SeatTakenError, RequestIdReusedError, or FieldError for ``seat``.
        """
        request, digest = request_key(request_id).hex(), content_digest(content).hex()
        while True:
            known = await self._read(game)
            about = known.now.about
            for seat in range(known.now.state.options.players):
                credential = Credential(game, Role.SEAT, seat)
                epoch, last = about.rotation(credential)
                if last.startswith(request):
                    if last != request + digest:
                        raise RequestIdReusedError
                    await self._store.settle(game)
                    return Taken(known.now, replace(credential, epoch=epoch))
            if about.lobby is None:
                raise GameBegunError
            if not hmac.compare_digest(plain_code(code).encode(), about.lobby.join_code.encode()):
                raise JoinCodeWrongError
            seat = self._open_seat(about.lobby, number)
            now = await self._amend(known, _seated(about, seat, player, request + digest))
            if now is not None:
                return Taken(now, self._credential(now, seat))

    def _open_seat(self, lobby: Lobby, number: int | None) -> int:
        if number is not None:
            check_seat(number, lobby.options.players)
        if number is None and lobby.open:
            return min(lobby.open)
        if number not in lobby.open:
            raise SeatTakenError(number)
        return number

    async def leave(self, by: Credential, number: int) -> None:
        """Free a seat of a game that waits. Raises GameBegunError, or FieldError for ``seat``."""
        while True:
            known = await self._read(by.game, by)
            about = known.now.about
            lobby = about.lobby
            if lobby is None or lobby.is_full:
                raise GameBegunError
            check_seat(number, lobby.options.players)
            if about.seat(number).bot:
                raise FieldError("seat", f"seat {number} is a bot's")
            if number in lobby.open:
                return
            numbers = {seat: chosen for seat, chosen in lobby.numbers.items() if seat != number}
            lobby = replace(lobby, open=lobby.open | {number}, kept=lobby.kept - {number}, numbers=numbers)
            freed = about.with_seat(number, NOBODY_YET).rotated(Credential(by.game, Role.SEAT, number), "")
            if await self._amend(known, replace(freed, lobby=lobby)) is not None:
                return

    async def reveal(self, by: Credential, entropy: bytes) -> Snapshot:
        """Open what a seat has committed to. A repeat changes nothing.

        Raises GameNotBegunError, GameBegunError, or FieldError for ``entropy``.
        """
        seat = seat_of(by)
        while True:
            known = await self._read(by.game, by)
            about = known.now.about
            if len(entropy) not in ENTROPY_BYTES:
                least, most = ENTROPY_BYTES[0], ENTROPY_BYTES[-1]
                raise FieldError("entropy", f"needs {least} to {most} bytes, has {len(entropy)}")
            if entropy_commitment(entropy) != about.seat(seat).entropy_commitment:
                raise FieldError("entropy", "does not open what the seat has committed to")
            if about.lobby is None:
                if about.seat(seat).withheld:
                    raise GameBegunError
                return known.now
            if not about.lobby.is_full:
                raise GameNotBegunError
            if seat in about.lobby.entropy:
                return known.now
            lobby = replace(about.lobby, entropy={**about.lobby.entropy, seat: entropy})
            now = await self._amend(known, replace(about, lobby=lobby))
            if now is not None:
                return now

    async def begin_without(self, known: Known) -> Snapshot | None:
        """Begin a game without what seats have not revealed, now that their time is out; None: somebody was faster.

        Raises UntimelyError if there is time left.
        """
        about, lobby = known.now.about, known.now.about.lobby
        if lobby is None or not lobby.is_full:
            return None
        seats = [
            replace(seat, withheld=bool(seat.entropy_commitment) and number not in lobby.entropy)
            for number, seat in enumerate(about.seats)
        ]
        return await self._amend(known, replace(about, seats=tuple(seats)), When.AFTER)

    async def rematch(self, by: Credential, number: int | None, commitment: bytes) -> Taken:
        """Sit down for another game of the same seats, and create it if nobody else has. A repeat returns the same.

        Raises GameNotOverError, SeatTakenError, GameBegunError, or FieldError for ``number``.
        """
        before = (await self._read(by.game, by)).now
        if before.waits or not before.state.is_over():
            raise GameNotOverError
        game = self._keys.rematch_id(by.game)
        again = _again(before, self._rules)
        if by.seat is not None and number is not None and again.lobby is not None:
            _check_number(again.lobby, by.seat, number)  # before anything is created
        now = await self._create(game, again, content_digest(b"rematch of " + by.game.encode()))
        if by.seat is None:
            return Taken(now, Credential(game, Role.CREATOR))
        return await self._return(game, by.seat, number, commitment)

    async def _return(self, game: str, seat: int, number: int | None, commitment: bytes) -> Taken:
        """Take the seat that one had in the game before."""
        while True:
            known = await self._read(game)
            about, lobby = known.now.about, known.now.about.lobby
            credential = self._credential(known.now, seat)
            if lobby is None or seat not in lobby.open | lobby.kept:
                if credential.epoch and about.rotation(credential).request != _BY_REMATCH:
                    raise GameBegunError if lobby is None else SeatTakenError(seat)
                await self._store.settle(game)
                return Taken(known.now, credential)
            if number is not None:
                _check_number(lobby, seat, number)
                lobby = replace(lobby, numbers={**lobby.numbers, seat: number})
            player = replace(about.seat(seat), entropy_commitment=commitment)
            about = replace(about, lobby=lobby)
            if seat in lobby.open:
                about = _seated(about, seat, player, _BY_REMATCH)
            else:
                about = replace(about.with_seat(seat, player), lobby=replace(lobby, kept=lobby.kept - {seat}))
            now = await self._amend(known, about)
            if now is not None:
                return Taken(now, self._credential(now, seat))

    async def _read(self, game: str, by: Credential | None = None) -> Known:
        known = self._recent.learn(game, await self._store.read(game))
        if by is not None:
            check_epoch(known.now.about, by)
        return known

    async def _amend(self, known: Known, about: About, when: When = When.ANY) -> Snapshot | None:
        """Change a game that waits, and deal if it waits for nothing more; None: it has changed meanwhile.

        Raises UntimelyError.
        """
        before = known.now
        was = before.about.lobby
        settled, state, timing = self._settled(about, entered=was is not None and not was.is_full)
        mark, meta = os.urandom(MARK_BYTES), settled.encode()
        encoded = None if state is None else codec.encode(state)
        if timing is not None:
            timing = timing._replace(when=when)
        made = await self._store.amend(
            before.game, Amendment(known.mark, known.meta, meta, mark, encoded, self._expiry, timing)
        )
        if made.untimely:
            raise UntimelyError
        if made.refused is not None:
            return None
        if state is not None and about.lobby is not None and about.lobby.join_code:
            await self._store.drop_code(about.lobby.join_code)
        return self._recent.learn(before.game, await self._store.read(before.game)).now

    def _settled(self, about: About, *, entered: bool) -> tuple[About, State | None, Timing | None]:
        """Return what is kept of a game that waits, or, if it waits for nothing more, of one that begins, its state.

        ``entered``: somebody may have taken the last seat just now, so that the time for revealing begins.
        """
        lobby = about.lobby
        assert lobby is not None, "a game that has begun waits for nobody"
        if not lobby.is_full:
            return about, None, None
        promised = [number for number, seat in enumerate(about.seats) if seat.entropy_commitment]
        if any([number not in lobby.entropy and not about.seat(number).withheld for number in promised]):
            timing = Timing(grace=self._grace, next=0, limit=self._reveal_time) if entered else None
            return about, None, timing
        entropy = tuple([lobby.entropy.get(number, b"") for number in range(lobby.options.players)])
        state = play.new_game(lobby.chosen_options, lobby.secret, entropy if promised else ())
        about = replace(about, lobby=None)
        seat = play.seat_to_act(state)
        timing = beginning(about.clock, lobby.options.players, seat, about.free, self._grace)
        if timing is None and promised:
            timing = Timing()  # whose time for revealing is over
        return about, state, timing

    @staticmethod
    def _credential(now: Snapshot, seat: int) -> Credential:
        credential = Credential(now.game, Role.SEAT, seat)
        return replace(credential, epoch=now.about.rotation(credential).epoch)


def plain_code(code: str) -> str:
    """Return a join code as it is kept, however people have typed it."""
    return code.upper().translate(_READ_AS)


def shown_code(code: str) -> str:
    """Return a join code as people read it best."""
    half = _CODE_LENGTH // 2
    return f"{code[:half]}-{code[half:]}" if code else ""


def entropy_commitment(entropy: bytes) -> bytes:
    """Return what a seat commits to with its entropy: 32 bytes (docs/fairness.md)."""
    return hashlib.sha256(b"moonvale/1/entropy" + entropy).digest()


def _seated(about: About, seat: int, player: SeatAbout, request: str) -> About:
    """Return the same with somebody at an open seat."""
    assert about.lobby is not None
    lobby = replace(about.lobby, open=about.lobby.open - {seat})
    taken = about.with_seat(seat, player).rotated(Credential("", Role.SEAT, seat), request)
    return replace(taken, lobby=lobby)


def _again(before: Snapshot, rules: int) -> About:
    """Return what is kept of the rematch of a game, which waits for all who have played it."""
    options = before.state.options
    seats = before.about.seats or (NOBODY_YET,) * options.players
    ranking = places(before.state)
    lobby = Lobby(
        replace(options, villages=(), deal_supplied=False, rules=rules),
        os.urandom(SECRET_BYTES),
        kept=frozenset([number for number, seat in enumerate(seats) if not seat.bot]),
        losers=frozenset(ranking[1:]),
    )
    return About(
        external_id=before.about.external_id,
        labels=before.about.labels,
        seats=tuple([SeatAbout(seat.name, seat.labels, seat.bot) for seat in seats]),
        clock=before.about.clock,
        lobby=lobby,
        rematch_of=before.game,
    )


def _check_number(lobby: Lobby, seat: int, number: int) -> None:
    """Raise FieldError if a seat may not choose this number."""
    if not 0 <= number < NUMBERS:
        raise FieldError("number", f"must be 0..{NUMBERS - 1}, is {number}")
    if seat not in lobby.losers:
        raise FieldError("number", "is for the losers of the game before; the winner chooses none")
    chosen = {chosen: other for other, chosen in lobby.numbers.items() if other != seat}
    if number in chosen:
        raise FieldError("number", f"{number} was chosen by seat {chosen[number]}: choose another one")
