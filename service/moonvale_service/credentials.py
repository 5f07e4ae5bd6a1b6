"""Credentials: bearer tokens that are derived from the service's keys and never stored, and the server's own two keys.

A token is `mv1.` + payload + `.` + tag, both in base64url. The payload is a byte of role, one of seat, four of epoch,
and the game's id; the epoch is how often the credential was replaced. The tag is HMAC-SHA256 under one of the keys,
cut to 128 bits. The first key signs, all verify.

The creator key and the operator key are random texts that are good for the whole server, and for no game in particular.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import secrets
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Final

from moonvale_service.settings import SettingError, Settings, variable_of

PREFIX: Final = "mv1"
CREATOR_KEY_PREFIX: Final = "mvk1."
OPERATOR_KEY_PREFIX: Final = "mvo1."
KEY_BYTES: Final = 32

_DOMAIN: Final = b"moonvale/1/credential/"
_GAME_DOMAIN: Final = b"moonvale/1/game/"
_REMATCH_DOMAIN: Final = b"moonvale/1/rematch/"
_GAME_LENGTH: Final = 20  # characters of base32: 100 bits
_TAG_BYTES: Final = 16
_NO_SEAT: Final = 255
_EPOCH_END: Final = 6
_LONGEST: Final = 256
_REMEMBERED: Final = 16_384  # tokens that were verified
_KEY_FORM: Final = f"each line needs at least {KEY_BYTES} random bytes in base64url"
_LEAST_SERVER_KEY: Final = 22  # characters after the prefix


class Role(IntEnum):
    """Who a caller is: somebody in one game, as its credentials say, the holder of a key of the server, or nobody."""

    NOBODY = 0
    CREATOR = 1
    SEAT = 2
    SPECTATOR = 3
    CREATOR_KEY = 4
    OPERATOR_KEY = 5

    @property
    def words(self) -> str:
        """The role in words."""
        return self.name.lower().replace("_", " ")


IN_A_GAME: Final = frozenset({Role.CREATOR, Role.SEAT, Role.SPECTATOR})


@dataclass(frozen=True, slots=True)
class Credential:
    """What a verified token says: a role in one game, which seat for a seat's, and how often it was replaced.

    The server's keys name no game.
    """

    game: str
    role: Role
    seat: int | None = None
    epoch: int = 0


NOBODY: Final = Credential("", Role.NOBODY)


class InvalidCredentialError(Exception):
    """The text is no token that this service has signed."""


class Keys:
    """The keys that tokens are derived from, and the server's own two. Nothing here is ever printed or logged."""

    def __init__(self, keys: tuple[bytes, ...], creator_key: str | None, operator_key: str | None = None) -> None:
        if not keys:
            raise ValueError("needs at least one key")
        self._keys = keys
        self._server_keys = {Role.CREATOR_KEY: creator_key, Role.OPERATOR_KEY: operator_key}
        self._signed = lru_cache(_REMEMBERED)(self._verify)  # the keys stay the same; what fails is not remembered

    def __repr__(self) -> str:
        return "Keys(...)"

    def token(self, credential: Credential) -> str:
        """Return the token of a credential: the same one every time, so that a lost reply can be repeated."""
        seat = _NO_SEAT if credential.seat is None else credential.seat
        head = bytes((credential.role, seat)) + credential.epoch.to_bytes(_EPOCH_END - 2, "big")
        payload = head + credential.game.encode("ascii")
        return f"{PREFIX}.{_encode(payload)}.{_encode(_tag(self._keys[0], payload))}"

    def verify(self, token: str) -> Credential:
        """Return what a token says. Raises InvalidCredentialError."""
        for server_role in self._server_keys:
            if self._is_server_key(server_role, token):
                return Credential("", server_role)
        return self._signed(token)

    def _verify(self, token: str) -> Credential:
        """Return what a token that a key has signed says. Raises InvalidCredentialError."""
        prefix, _, rest = token.partition(".")
        body, _, tag = rest.partition(".")
        if prefix != PREFIX or len(token) > _LONGEST:
            raise InvalidCredentialError
        payload, given = _decode(body), _decode(tag)
        # Every key is tried, whether or not one fits, so that the time says nothing of which.
        if not any([hmac.compare_digest(_tag(key, payload), given) for key in self._keys]):
            raise InvalidCredentialError
        role, seat = payload[:2]
        epoch = int.from_bytes(payload[2:_EPOCH_END], "big")
        return Credential(payload[_EPOCH_END:].decode("ascii"), Role(role), None if seat == _NO_SEAT else seat, epoch)

    def game_id(self, request_id: str) -> str:
        """Return the id of the game that a request creates: the same one for a repeat, and no hint at the request id.

        The last key makes it: while a new first key is rolled out, all replicas agree.
        """
        return self._derived_id(_GAME_DOMAIN + request_id.encode())

    def rematch_id(self, game: str) -> str:
        """Return the id of the rematch of a game."""
        return self._derived_id(_REMATCH_DOMAIN + game.encode())

    def _derived_id(self, what: bytes) -> str:
        digest = hmac.digest(self._keys[-1], what, "sha256")
        return base64.b32encode(digest).decode("ascii").lower()[:_GAME_LENGTH]

    def is_creator_key(self, token: str) -> bool:
        """Whether a token is the server's creator key."""
        return self._is_server_key(Role.CREATOR_KEY, token)

    def _is_server_key(self, role: Role, token: str) -> bool:
        key = self._server_keys[role]
        return key is not None and hmac.compare_digest(token.encode(), key.encode())


def load_keys(settings: Settings, *, make: bool) -> Keys:
    """Read the keys from their files. `make`: create those of the data folder that are missing.

    Raises SettingError, which names the setting of the file that is missing or wrong.
    """
    keys_path = settings.keys_file or settings.data / "keys"
    creator_path = creator_key_path(settings)
    operator_path = operator_key_path(settings)
    if make and settings.keys_file is None:
        _make(keys_path, f"{_encode(secrets.token_bytes(KEY_BYTES))}\n")
    if make and settings.creator_key_file is None:
        _make(creator_path, f"{CREATOR_KEY_PREFIX}{_encode(secrets.token_bytes(KEY_BYTES))}\n")
    if make and settings.operator_key_file is None:
        _make(operator_path, f"{OPERATOR_KEY_PREFIX}{_encode(secrets.token_bytes(KEY_BYTES))}\n")
    creator_needed = settings.creator_key_file is not None or settings.create_needs_key
    operator_needed = settings.operator_key_file is not None
    return Keys(
        _read_keys(keys_path),
        _read_server_key(creator_path, CREATOR_KEY_PREFIX, variable_of("creator_key_file"), creator_needed),
        _read_server_key(operator_path, OPERATOR_KEY_PREFIX, variable_of("operator_key_file"), operator_needed),
    )


def creator_key_path(settings: Settings) -> Path:
    """Return where the creator key is kept."""
    return settings.creator_key_file or settings.data / "creator_key"


def operator_key_path(settings: Settings) -> Path:
    """Return where the operator key is kept."""
    return settings.operator_key_file or settings.data / "operator_key"


def _read_keys(path: Path) -> tuple[bytes, ...]:
    variable = variable_of("keys_file")
    lines = _lines(path, variable)
    if lines is None:
        raise SettingError(variable, f"there is no file {path}: name one that all replicas share; {_KEY_FORM}")
    keys = []
    for number, line in enumerate(lines, 1):
        try:
            key = _decode(line)
        except InvalidCredentialError:
            key = b""
        if len(key) < KEY_BYTES:
            raise SettingError(variable, f"{path}, line {number}: {_KEY_FORM}")
        keys.append(key)
    if not keys:
        raise SettingError(variable, f"{path} holds no key: {_KEY_FORM}")
    return tuple(keys)


def _read_server_key(path: Path, prefix: str, variable: str, needed: bool) -> str | None:
    lines = _lines(path, variable)
    if lines is None:
        if needed:
            raise SettingError(variable, f"there is no file {path}")
        return None
    if len(lines) != 1 or not lines[0].startswith(prefix) or len(lines[0]) < len(prefix) + _LEAST_SERVER_KEY:
        raise SettingError(
            variable, f"{path} needs one line: {prefix} and {_LEAST_SERVER_KEY} random characters or more"
        )
    return lines[0]


def _lines(path: Path, variable: str) -> list[str] | None:
    try:
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(variable, f"can't read {path} ({type(error).__name__})") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _make(path: Path, text: str) -> None:
    """Write a file that its owner alone may read, whole or not at all, unless it is there already."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _tag(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, _DOMAIN + payload, "sha256")[:_TAG_BYTES]


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    """Return the bytes of base64url without padding; one text per value, so that no token has a second spelling."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidCredentialError from None
    if _encode(data) != text:
        raise InvalidCredentialError
    return data
