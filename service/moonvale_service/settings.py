"""Settings of the service: one dataclass, read from MOONVALE_* variables, and the table that `--help` lists."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, get_type_hints
from urllib.parse import urlsplit

from moonvale_engine.catalog import known_versions

EMBEDDED = "embedded:"
OFF = "off"
NEWEST = "newest"
ANY_ORIGIN = "*"
STORE_SCHEMES = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster")
DURABILITIES = ("local", "replicated")
LOG_LEVELS = ("debug", "info", "warning", "error")

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_BYTE_UNITS = {"": 1, "k": 1024, "m": 1024 * 1024}
_SMALLEST_LIMIT, _LARGEST_LIMIT = 1024, 2 * 1024 * 1024
_LARGEST_QUOTA = 1_000_000
_ORIGIN = re.compile(r"https?://(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?")  # as browsers write them
_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:/\s]+):(?P<port>\d{1,5})")


class SettingError(Exception):
    """A setting is wrong; the message names the variable and says what would be right."""

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable


class Setting(NamedTuple):
    """How the text of a setting is read, its default as people would type it, and what it is for."""

    parse: Callable[[str], object]
    default: str
    help: str


class Description(NamedTuple):
    """A setting for people."""

    variable: str
    default: str
    help: str


def _address(text: str) -> str:
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise ValueError("needs HOST:PORT, such as 127.0.0.1:7350 or [::1]:7350; port 0 takes a free one")
    return text


def _optional_address(text: str) -> str | None:
    return None if text.lower() == OFF else _address(text)


def _store(text: str) -> str:
    if text != EMBEDDED and urlsplit(text).scheme not in STORE_SCHEMES:
        raise ValueError("needs embedded: or a redis://, rediss://, unix://, redis+cluster:// or rediss+cluster:// URL")
    return text


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise ValueError(f"needs a whole number of {low} to {high}")
        return int(text)

    return parse


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,9})([km]?)", text.lower())
    if match is None or not _SMALLEST_LIMIT <= (size := int(match[1]) * _BYTE_UNITS[match[2]]) <= _LARGEST_LIMIT:
        raise ValueError("needs a size of 1k to 2m, such as 64k")
    return size


def _seconds(low: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d)", text.lower())
        if match is None or (seconds := float(match[1]) * _UNITS[match[2]]) < low:
            raise ValueError(f"needs a duration of {low:g}s or more, such as 500ms, 15s, 10m, 12h or 30d")
        return seconds

    return parse


def _expiry(text: str) -> float | None:
    return None if text.lower() == "never" else _seconds(1)(text)


def _age(text: str) -> float | None:
    return None if text.lower() == "never" else _seconds(0.05)(text)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("needs true or false")
    return text.lower() == "true"


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"needs one of: {', '.join(choices)}")
        return text.lower()

    return parse


def _rules(text: str) -> int:
    known = known_versions()
    version = str(known[-1]) if text.lower() == NEWEST else text
    if version not in [str(each) for each in known]:
        raise ValueError(f"needs {NEWEST}, or a version that this software knows: {', '.join(map(str, known))}")
    return int(version)


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple([origin.strip() for origin in text.split(",") if origin.strip()])
    if not all(origin == ANY_ORIGIN or _ORIGIN.fullmatch(origin) for origin in origins):
        raise ValueError(
            "needs origins such as https://play.example.org or http://localhost:3000, or *, comma separated"
        )
    return origins


def _path(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _optional_path(text: str) -> Path | None:
    return _path(text) if text else None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a service. Durations are seconds, sizes bytes; an expiry or age of None means never."""

    listen: Annotated[str, Setting(_address, "127.0.0.1:7350", "HOST:PORT to serve gRPC on; port 0 takes a free one")]
    http_listen: Annotated[
        str | None,
        Setting(
            _optional_address,
            "127.0.0.1:7351",
            "HOST:PORT to serve REST, Connect and gRPC-Web on; port 0 takes a free one; off: nothing",
        ),
    ]
    metrics_listen: Annotated[
        str | None,
        Setting(
            _optional_address,
            OFF,
            "HOST:PORT to serve Prometheus' metrics and probes on, such as 127.0.0.1:7352; off: nothing is counted",
        ),
    ]
    cors_origins: Annotated[
        tuple[str, ...],
        Setting(
            _origins,
            "",
            "origins of web pages that may call the HTTP port from browsers, comma separated; *: those of all pages",
        ),
    ]
    workers: Annotated[
        int,
        Setting(_whole(1, 256), str(min(os.cpu_count() or 1, 256)), "worker processes on the ports: one for each core"),
    ]
    pin_workers: Annotated[
        bool, Setting(_boolean, "false", "true gives each worker a core of its own, if nothing else runs there (Linux)")
    ]
    tls_cert: Annotated[
        Path | None,
        Setting(
            _optional_path,
            "",
            "file of the certificate, with its chain, in PEM, that both ports show to clients. Left out: no TLS",
        ),
    ]
    tls_key: Annotated[Path | None, Setting(_optional_path, "", "file of that certificate's key, without a password")]
    tls_client_ca: Annotated[
        Path | None,
        Setting(
            _optional_path,
            "",
            "file of authorities: then only clients with a certificate of theirs are served (mutual TLS)",
        ),
    ]
    store: Annotated[
        str,
        Setting(
            _store,
            EMBEDDED,
            "where games are kept: embedded: is a Valkey of its own in the data folder; or a redis://, rediss:// or"
            " unix:// URL; or redis+cluster:// or rediss+cluster:// with the address of one server of a cluster",
        ),
    ]
    durability: Annotated[
        str,
        Setting(
            _one_of(*DURABILITIES),
            "local",
            "when a change is acknowledged: local, when the store has it; replicated, when a replica of the store has"
            " it too, so that a failover loses nothing",
        ),
    ]
    data: Annotated[
        Path,
        Setting(_path, "~/.local/share/moonvale", "data folder of the embedded store and its keys"),
    ]
    keys_file: Annotated[
        Path | None,
        Setting(
            _optional_path,
            "",
            "file of the keys that credentials are derived from, one per line: the first signs, all verify. Left out:"
            " the file keys in the data folder, made if the store is the embedded one",
        ),
    ]
    creator_key_file: Annotated[
        Path | None,
        Setting(
            _optional_path,
            "",
            "file of the creator key, which lets a caller supply a deal. Left out: the file creator_key in the data"
            " folder, made if the store is the embedded one",
        ),
    ]
    operator_key_file: Annotated[
        Path | None,
        Setting(
            _optional_path,
            "",
            "file of the operator key, which lets a caller list all games and delete each. Left out: the file"
            " operator_key in the data folder, made if the store is the embedded one",
        ),
    ]
    create_needs_key: Annotated[bool, Setting(_boolean, "false", "true: nobody creates a game without the creator key")]
    rules: Annotated[
        int,
        Setting(
            _rules,
            NEWEST,
            "version of the rules that new games are played by: a number; newest: the newest that this software knows."
            " In a rolling update it stays what it was until every server knows the next one",
        ),
    ]
    finished_expiry: Annotated[float | None, Setting(_expiry, "30d", "how long a finished game is kept, or never")]
    idle_expiry: Annotated[
        float | None, Setting(_expiry, "90d", "how long a game is kept in which nothing happens, or never")
    ]
    message_limit: Annotated[int, Setting(_size, "64k", "the largest request; larger ones are refused")]
    call_rate: Annotated[
        int,
        Setting(
            _whole(0, _LARGEST_QUOTA),
            "100",
            "how many calls a second one credential may make at each worker, averaged over ten seconds; 0: any number",
        ),
    ]
    spectator_call_rate: Annotated[
        int, Setting(_whole(0, _LARGEST_QUOTA), "1000", "the same for a game's spectators, who share one credential")
    ]
    create_rate: Annotated[
        int,
        Setting(
            _whole(0, _LARGEST_QUOTA),
            "50",
            "how many games a second are created by the holder of the creator key, and as many by all others together,"
            " at each worker, averaged over ten seconds; 0: any number",
        ),
    ]
    watches: Annotated[
        int,
        Setting(
            _whole(0, _LARGEST_QUOTA),
            "100",
            "how many streams one credential may have open at each worker; 0: any number",
        ),
    ]
    spectator_watches: Annotated[
        int, Setting(_whole(0, _LARGEST_QUOTA), "10000", "the same for a game's spectators, who share one credential")
    ]
    store_timeout: Annotated[
        float,
        Setting(_seconds(0.1), "5s", "how long a call waits for the store, even one that restarts, until it fails"),
    ]
    heartbeat: Annotated[float, Setting(_seconds(0.01), "15s", "after how long a silence a watch gets a heartbeat")]
    poll: Annotated[
        float, Setting(_seconds(0.01), "5s", "how often watched games are looked at, should a notification be lost")
    ]
    watch_age: Annotated[
        float,
        Setting(
            _seconds(0.05),
            "30m",
            "the greatest age of a watch, after which its client resumes it: so watches spread over new servers",
        ),
    ]
    connection_age: Annotated[
        float | None,
        Setting(
            _age,
            "10m",
            "about how old a gRPC connection becomes, until its client is told to open another one, or never: so calls"
            " spread over new servers; open calls and watches end as they would",
        ),
    ]
    reader_timeout: Annotated[
        float,
        Setting(_seconds(0.05), "30s", "how long a message of a watch may wait for a slow client, until it is cut off"),
    ]
    grace: Annotated[float, Setting(_seconds(0), "10s", "how long open calls may take to end when the service stops")]
    log_level: Annotated[
        str, Setting(_one_of(*LOG_LEVELS), "info", f"the least level that is logged: {', '.join(LOG_LEVELS)}")
    ]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the variables; an empty one counts as not set. Raises SettingError."""
        values = {}
        for name, setting in _table().items():
            text = environment.get(variable_of(name), "").strip() or setting.default
            try:
                values[name] = setting.parse(text)
            except ValueError as error:  # a URL may hold a password, so the value isn't repeated
                raise SettingError(variable_of(name), str(error)) from None
        settings = cls(**values)  # type: ignore[arg-type]  # each parser returns its field's type
        if settings.embedded and settings.replicated:
            raise SettingError(variable_of("durability"), "needs local with the embedded store, which has no replica")
        for name, other in (("tls_key", "tls_cert"), ("tls_cert", "tls_key"), ("tls_cert", "tls_client_ca")):
            if getattr(settings, name) is None and getattr(settings, other) is not None:
                raise SettingError(variable_of(name), f"needs a file, as {variable_of(other)} names one")
        return settings

    @property
    def embedded(self) -> bool:
        """Whether the service runs a store of its own."""
        return self.store == EMBEDDED

    @property
    def replicated(self) -> bool:
        """Whether a change needs a replica's word to be acknowledged."""
        return self.durability == "replicated"


def descriptions() -> list[Description]:
    """Return every setting, in the order of the dataclass, for `moonvale serve --help`."""
    return [Description(variable_of(name), setting.default, setting.help) for name, setting in _table().items()]


def variable_of(name: str) -> str:
    """Return the environment variable of a field of Settings."""
    return f"MOONVALE_{name.upper()}"


def _table() -> dict[str, Setting]:
    hints = get_type_hints(Settings, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}
