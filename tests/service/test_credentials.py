"""Credentials are derived from keys, verify under each, and can't be changed; key files are their owner's alone."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonvale_service.credentials import Credential, InvalidCredentialError, Keys, Role, load_keys
from moonvale_service.settings import SettingError, Settings
from moonvale_service.store.redis_store import is_game_id

GAME = "q7xw3m6d4c2h5r2tk5w2"
OLD, NEW = bytes(32), bytes(range(32))


@pytest.mark.parametrize(
    "credential",
    [
        Credential(GAME, Role.CREATOR),
        Credential(GAME, Role.SPECTATOR),
        *(Credential(GAME, Role.SEAT, i) for i in range(4)),
    ],
)
def test_a_token_says_what_it_was_made_for_and_is_always_the_same(credential: Credential) -> None:
    keys = Keys((NEW,), None)
    token = keys.token(credential)
    assert keys.verify(token) == credential
    assert Keys((NEW,), None).token(credential) == token


def test_the_first_key_signs_and_all_verify() -> None:
    seat = Credential(GAME, Role.SEAT, 1)
    before, during, after = Keys((OLD,), None), Keys((NEW, OLD), None), Keys((NEW,), None)
    assert during.verify(before.token(seat)) == seat
    assert after.verify(during.token(seat)) == seat
    with pytest.raises(InvalidCredentialError):
        after.verify(before.token(seat))
    with pytest.raises(ValueError, match="at least one key"):
        Keys((), None)


def test_the_id_of_a_game_follows_from_its_request_and_a_key() -> None:
    first = Keys((OLD,), None).game_id("a request id")
    assert is_game_id(first)
    assert Keys((OLD,), None).game_id("another request id") != first
    assert Keys((NEW, OLD), None).game_id("a request id") == first  # while a new key is rolled out
    assert Keys((NEW,), None).game_id("a request id") != first


@given(st.data())
def test_no_changed_token_verifies(data: st.DataObject) -> None:
    keys = Keys((NEW,), None)
    token = keys.token(Credential(GAME, Role.SEAT, 2))
    at = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.characters(codec="ascii").filter(lambda each: each != token[at]))
    for changed in (
        token[:at] + letter + token[at + 1 :],
        token[:at],
        token + letter,
        token[:at] + letter + token[at:],
    ):
        with pytest.raises(InvalidCredentialError):
            keys.verify(changed)


@given(st.text(max_size=300))
def test_no_text_verifies(text: str) -> None:
    with pytest.raises(InvalidCredentialError):
        Keys((NEW,), None).verify(text)


def test_the_creator_key_is_that_one_text() -> None:
    keys = Keys((NEW,), "mvk1.abc")
    assert keys.is_creator_key("mvk1.abc")
    for wrong in ("", "mvk1.", "mvk1.abd", "é"):
        assert not keys.is_creator_key(wrong)
    assert not Keys((NEW,), None).is_creator_key("")


def test_the_keys_of_the_server_have_roles_of_no_game() -> None:
    keys = Keys((NEW,), "mvk1.abc", "mvo1.abc")
    assert keys.verify("mvk1.abc") == Credential("", Role.CREATOR_KEY)
    assert keys.verify("mvo1.abc") == Credential("", Role.OPERATOR_KEY)
    assert not keys.is_creator_key("mvo1.abc")
    with pytest.raises(InvalidCredentialError):
        Keys((NEW,), "mvk1.abc").verify("mvo1.abc")


def settings(data: Path, **more: str) -> Settings:
    return Settings.from_environment(
        {"MOONVALE_DATA": str(data), **{f"MOONVALE_{name.upper()}": value for name, value in more.items()}}
    )


def test_keys_are_made_once_and_readable_by_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    first = load_keys(settings(folder), make=True)
    made = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(made) == ["creator_key", "keys", "operator_key"]
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    again = load_keys(settings(folder), make=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == made
    seat = Credential(GAME, Role.SEAT, 0)
    assert again.token(seat) == first.token(seat)
    assert again.is_creator_key(made["creator_key"].decode().strip())
    other = load_keys(settings(tmp_path / "other"), make=True)
    with pytest.raises(InvalidCredentialError):
        other.verify(first.token(seat))


def test_keys_that_are_missing_or_wrong_are_refused_by_the_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="MOONVALE_KEYS_FILE: there is no file"):
        load_keys(settings(tmp_path), make=False)
    keys, creator = tmp_path / "k", tmp_path / "c"
    chosen = settings(tmp_path, keys_file=str(keys), creator_key_file=str(creator))
    with pytest.raises(SettingError, match="MOONVALE_KEYS_FILE: there is no file"):
        load_keys(chosen, make=True)
    good = base64.urlsafe_b64encode(NEW).decode().rstrip("=")
    for text, right in (
        ("", "holds no key"),
        (f"{good}\nshort\n", "line 2"),
        ("!" * 50, "line 1"),
        ("é", "can't read"),
    ):
        keys.write_text(text)
        with pytest.raises(SettingError, match=right):
            load_keys(chosen, make=True)
    keys.write_text(f"# since June\n{good}\n\n")
    with pytest.raises(SettingError, match="MOONVALE_CREATOR_KEY_FILE: there is no file"):
        load_keys(chosen, make=True)
    for text in ("", "no prefix, but long enough", "mvk1.short", f"mvk1.{good}\nmvk1.{good}\n"):
        creator.write_text(text)
        with pytest.raises(SettingError, match="MOONVALE_CREATOR_KEY_FILE"):
            load_keys(chosen, make=True)
    creator.write_text(f"mvk1.{good}\n")
    operator = settings(tmp_path, keys_file=str(keys), operator_key_file=str(creator))
    with pytest.raises(SettingError, match=r"MOONVALE_OPERATOR_KEY_FILE: .* needs one line: mvo1"):
        load_keys(operator, make=True)
    assert load_keys(chosen, make=True).is_creator_key(f"mvk1.{good}")


def test_a_service_may_do_without_a_creator_key_unless_it_demands_one(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(base64.urlsafe_b64encode(NEW).decode().rstrip("="))
    assert not load_keys(settings(tmp_path), make=False).is_creator_key("mvk1.")
    with pytest.raises(SettingError, match="MOONVALE_CREATOR_KEY_FILE"):
        load_keys(settings(tmp_path, create_needs_key="true"), make=False)
