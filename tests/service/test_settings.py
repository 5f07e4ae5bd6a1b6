"""Settings come from MOONVALE_* variables; a wrong one is refused by name, and every one is described."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from moonvale_service.settings import EMBEDDED, SettingError, Settings, descriptions
from tests.support.second_rules import SECOND, second_known


def test_the_defaults_are_a_service_for_this_machine_alone() -> None:
    settings = Settings.from_environment({})
    assert settings.listen == "127.0.0.1:7350"
    assert settings.store == EMBEDDED
    assert settings.embedded
    assert settings.data == Path.home() / ".local/share/moonvale"
    assert settings.keys_file is None
    assert settings.finished_expiry == 30 * 86400
    assert not settings.create_needs_key


def test_every_setting_is_described_and_its_default_is_what_is_described() -> None:
    described = descriptions()
    assert [each.variable for each in described] == [f"MOONVALE_{each.name.upper()}" for each in fields(Settings)]
    assert all(each.help for each in described)
    assert Settings.from_environment({each.variable: each.default for each in described}) == (
        Settings.from_environment({})
    )


def test_each_kind_of_value_is_read() -> None:
    settings = Settings.from_environment(
        {
            "MOONVALE_LISTEN": "[::1]:0",
            "MOONVALE_WORKERS": "3",
            "MOONVALE_STORE": "rediss://user:password@example.org:6380/1",
            "MOONVALE_DATA": "~/games",
            "MOONVALE_KEYS_FILE": "/run/secrets/keys",
            "MOONVALE_CREATE_NEEDS_KEY": "True",
            "MOONVALE_IDLE_EXPIRY": "never",
            "MOONVALE_FINISHED_EXPIRY": "1.5h",
            "MOONVALE_MESSAGE_LIMIT": "1M",
            "MOONVALE_HEARTBEAT": "250ms",
            "MOONVALE_LOG_LEVEL": " Debug ",
            "MOONVALE_GRACE": "",
            "ANOTHER": "variable",
        }
    )
    assert settings.listen == "[::1]:0"
    assert settings.workers == 3
    assert not settings.embedded
    assert settings.data == Path.home() / "games"
    assert settings.keys_file == Path("/run/secrets/keys")
    assert settings.create_needs_key
    assert settings.idle_expiry is None
    assert settings.finished_expiry == 5400
    assert settings.message_limit == 1024 * 1024
    assert settings.heartbeat == 0.25
    assert settings.log_level == "debug"
    assert settings.grace == 10


@pytest.mark.parametrize(
    ("variable", "value", "right"),
    [
        ("MOONVALE_LISTEN", "7350", "HOST:PORT"),
        ("MOONVALE_LISTEN", "localhost:70000", "HOST:PORT"),
        ("MOONVALE_WORKERS", "0", "1 to 256"),
        ("MOONVALE_WORKERS", "two", "1 to 256"),
        ("MOONVALE_STORE", "http://secret@example.org", "redis://"),
        ("MOONVALE_STORE", "unix+cluster:///secret", "redis+cluster://"),
        ("MOONVALE_DURABILITY", "twice", "local, replicated"),
        ("MOONVALE_DURABILITY", "replicated", "local with the embedded store"),
        ("MOONVALE_MESSAGE_LIMIT", "10", "1k to 2m"),
        ("MOONVALE_STORE_TIMEOUT", "5", "500ms, 15s"),
        ("MOONVALE_STORE_TIMEOUT", "50ms", "0.1s or more"),
        ("MOONVALE_FINISHED_EXPIRY", "soon", "30d"),
        ("MOONVALE_PIN_WORKERS", "yes", "true or false"),
        ("MOONVALE_RULES", "2", "newest, or a version that this software knows: 1"),
        ("MOONVALE_RULES", "latest", "newest, or a version that this software knows: 1"),
        ("MOONVALE_LOG_LEVEL", "loud", "debug, info, warning, error"),
    ],
)
def test_a_wrong_value_is_refused_by_its_variable_and_not_repeated(variable: str, value: str, right: str) -> None:
    with pytest.raises(SettingError) as raised:
        Settings.from_environment({variable: value})
    assert raised.value.variable == variable
    assert str(raised.value).startswith(f"{variable}: needs ")
    assert right in str(raised.value)
    assert "secret" not in str(raised.value)


def test_new_games_get_the_newest_rules_that_are_known_unless_others_are_named() -> None:
    assert Settings.from_environment({}).rules == 1
    with second_known():
        assert Settings.from_environment({}).rules == SECOND
        assert Settings.from_environment({"MOONVALE_RULES": "Newest"}).rules == SECOND
        assert Settings.from_environment({"MOONVALE_RULES": "1"}).rules == 1
        with pytest.raises(SettingError, match="a version that this software knows: 1, 2"):
            Settings.from_environment({"MOONVALE_RULES": "01"})
