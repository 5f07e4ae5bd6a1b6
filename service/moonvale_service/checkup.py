"""A look at what a service needs before it starts, for `moonvale doctor`: settings, keys, certificates, the store."""

from __future__ import annotations

import difflib
import os
import stat
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from redis import exceptions as redis_errors

from moonvale_service import embedded, tls, tracing
from moonvale_service.credentials import creator_key_path, load_keys, operator_key_path
from moonvale_service.settings import SettingError, Settings, descriptions, variable_of
from moonvale_service.store.condition import LEAST_VERSION, NO_EVICTION, Condition, look

_DAY: Final = 86400.0
_RENEWAL_DAYS: Final = 14
_SLOW_SECONDS: Final = 0.005  # a move takes one or two round trips
_SKEW_SECONDS: Final = 1.0
_FULL: Final = 0.8
_MEBIBYTE: Final = 1024 * 1024
_PREFIX: Final = "MOONVALE_"
#: Variables of the command and of building, which are no settings of the service.
_OTHERS: Final = frozenset({"MOONVALE_ADDRESS", "MOONVALE_CREDENTIAL", "MOONVALE_COMPILE"})
_LOOPBACK: Final = ("127.", "localhost", "[::1]")


class Judgement(Enum):
    """What a finding is: good, worth a thought, or wrong, so that the service fails or loses games."""

    GOOD = "good"
    NOTE = "note"
    WRONG = "wrong"


class Finding(NamedTuple):
    """What was looked at, what was found, and what to change, if anything."""

    judgement: Judgement
    what: str
    found: str
    change: str = ""


def _good(what: str, found: str) -> Finding:
    return Finding(Judgement.GOOD, what, found)


def _note(what: str, found: str, change: str) -> Finding:
    return Finding(Judgement.NOTE, what, found, change)


def _wrong(what: str, found: str, change: str) -> Finding:
    return Finding(Judgement.WRONG, what, found, change)


async def examine(environment: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Yield the findings as they are made. Nothing is changed, on this machine or in the store."""
    try:
        settings = Settings.from_environment(environment)
    except SettingError as error:
        yield _wrong("settings", "one can't be read", str(error))
        return
    for finding in _settings(environment, settings):
        yield finding
    for finding in (*_keys(settings), *_tls(settings)):
        yield finding
    async for finding in _store(settings):
        yield finding


def _settings(environment: Mapping[str, str], settings: Settings) -> Iterator[Finding]:
    known = {setting.variable for setting in descriptions()}
    given = sorted(name for name in environment if name.startswith(_PREFIX) and environment[name].strip())
    for name in given:
        if name not in known | _OTHERS:
            close = difflib.get_close_matches(name, known, 1)
            change = f"perhaps {close[0]} is meant" if close else "`moonvale serve --help` lists them all"
            yield _note("settings", f"{name} is none and does nothing", change)
    used = len([name for name in given if name in known])
    yield _good("settings", f"{used} given, {len(known) - used} left as they are")
    exposed = [
        variable_of(name)
        for name in ("listen", "http_listen")
        if (address := getattr(settings, name)) is not None and not address.startswith(_LOOPBACK)
    ]
    if exposed and settings.tls_cert is None:
        found = f"{' and '.join(exposed)} is reached from elsewhere without TLS"
        yield _note("ports", found, "let something before it end TLS, or see docs/tls.md")
    if any([environment.get(name) for name in tracing.ENDPOINTS]) and find_spec("opentelemetry") is None:
        change = "pip install 'moonvale[telemetry]'"
        yield _note("traces", "a collector is named, but OpenTelemetry isn't installed", change)


def _keys(settings: Settings) -> Iterator[Finding]:
    paths = (settings.keys_file or settings.data / "keys", creator_key_path(settings), operator_key_path(settings))
    if settings.embedded and settings.keys_file is None and not paths[0].exists():
        yield _good("keys", f"none yet: the service makes them in {settings.data} when it starts")
        return
    try:
        load_keys(settings, make=False)
    except SettingError as error:
        yield _wrong("keys", "the service would not start", str(error))
        return
    bad = [finding for path in paths if path.exists() for finding in _secrecy("keys", path)]
    yield from bad
    if not bad:
        yield _good("keys", f"{paths[0]} and others can be read, and by their owner alone")


def _secrecy(what: str, path: Path) -> Iterator[Finding]:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o007:
        yield _wrong(what, f"everybody on this machine can read {path}", f"chmod 600 {path}")
    elif mode & 0o070:
        yield _note(what, f"a group can read {path}", f"chmod 600 {path}, unless it is meant to")


def _tls(settings: Settings) -> Iterator[Finding]:
    files = tls.files_of(settings)
    if files is None:
        return
    try:
        material = tls.load(files)
    except SettingError as error:
        yield _wrong("TLS", "the service would not start", str(error))
        return
    yield from _secrecy("TLS", files.key)
    days = (material.expires - time.time()) / _DAY
    until = datetime.fromtimestamp(material.expires, UTC).date().isoformat()
    if time.time() < material.begins:
        yield _wrong("TLS", "the certificate's time has not come", "look at the clock, or renew it")
    elif days < 0:
        yield _wrong("TLS", f"the certificate has expired, {until}", f"renew {files.cert}")
    elif days < _RENEWAL_DAYS:
        change = f"renew {files.cert}; no restart is needed"
        yield _note("TLS", f"the certificate expires in {days:.0f} days, {until}", change)
    else:
        mutual = "" if files.client_ca is None else "; clients need one, too"
        found = f"a certificate for {', '.join(material.names) or 'no name'} until {until}{mutual}"
        yield _good("TLS", found)


async def _store(settings: Settings) -> AsyncIterator[Finding]:
    url = embedded.url(settings) if settings.embedded else settings.store
    if settings.embedded:
        for finding in _folder(settings.data):
            yield finding
    try:
        conditions = await look(url, settings.store_timeout)
    except ValueError:
        yield _wrong("store", "can't be asked", f"{variable_of('store')} is not a URL of Redis or Valkey")
    except (redis_errors.RedisError, redis_errors.RedisClusterException, OSError) as error:
        if settings.embedded:
            yield _good("store", "does not run: the service starts it")
            return
        change = f"see that {variable_of('store')} names it, that it runs, and that it lets this user and machine in"
        yield _wrong("store", f"does not answer ({type(error).__name__})", change)
    else:
        for condition in conditions:
            for finding in _server(condition, settings):
                yield finding


def _folder(data: Path) -> Iterator[Finding]:
    there = next(path for path in (data, *data.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        change = f"make {there} writable for this user, or name another folder in {variable_of('data')}"
        yield _wrong("data", f"nothing can be written to {there}", change)
    else:
        yield _good("data", f"{data} {'is' if there == data else 'can be'} there")


def _server(condition: Condition, settings: Settings) -> Iterator[Finding]:
    """Yield what there is to say of a server of the store."""
    where = f"store {condition.address}"
    if condition.version < LEAST_VERSION:
        yield _wrong(where, f"{condition.name} lacks sharded channels", "install Redis 7.0 or newer, or Valkey")
    else:
        yield _good(where, condition.name)
    if condition.is_replica:
        yield _wrong(where, "is a replica, which takes no changes", f"name its master in {variable_of('store')}")
    if condition.policy != NO_EVICTION:
        change = "maxmemory-policy noeviction"
        yield _wrong(where, f"throws games away when it is full ({condition.policy})", _setting(change))
    else:
        yield _good(where, "throws nothing away when it is full (noeviction)")
    yield from _persistence(condition, where)
    if condition.limit or not settings.embedded:
        yield from _memory(condition, where)
    if settings.replicated and not condition.replicas:
        change = f"add one, or set {variable_of('durability')}=local"
        yield _wrong(where, "no replica is connected, so that each change fails", change)
    elif settings.replicated:
        yield _good(where, f"{condition.replicas} replica{'s' * (condition.replicas > 1)} connected")
    speed = f"answers in {1000 * condition.latency:.2f} ms, at worst {1000 * condition.slowest:.2f} ms"
    if condition.slowest > settings.store_timeout / 2:
        yield _wrong(where, speed, f"calls fail after {variable_of('store_timeout')}: bring it nearer, or raise that")
    elif condition.latency > _SLOW_SECONDS:
        yield _note(where, speed, "a move waits for one or two answers: bring it nearer")
    else:
        yield _good(where, speed)
    if abs(condition.skew) > _SKEW_SECONDS:
        ahead = "ahead of" if condition.skew > 0 else "behind"
        yield _note(
            where,
            f"its clock is {abs(condition.skew):.1f} s {ahead} this machine's",
            "deadlines follow the store's clock, so games are right; let both follow a time server all the same",
        )


def _persistence(condition: Condition, where: str) -> Iterator[Finding]:
    if condition.writes_fail:
        yield _wrong(where, "its last write to disk has failed", "look at its log and its disk")
    if condition.persists is None:
        yield _note(
            where, "says nothing of snapshots (CONFIG is forbidden)", "see where you rent it whether it persists"
        )
    elif not condition.persists:
        yield _wrong(where, "a restart loses all games: it writes nothing to disk", _setting("appendonly yes"))
    elif not condition.has_log:
        yield _note(where, "a restart loses what came after its last snapshot", _setting("appendonly yes"))
    elif condition.sync in ("everysec", "no"):
        lost = "the last second or two" if condition.sync == "everysec" else "some half a minute"
        change = f"if that is too much: {_setting('appendfsync always')}"
        yield _note(where, f"logs to disk (appendfsync {condition.sync}): a power cut loses {lost}", change)
    else:
        yield _good(where, f"logs to disk (appendfsync {condition.sync or 'unknown'})")


def _memory(condition: Condition, where: str) -> Iterator[Finding]:
    used = f"{condition.used / _MEBIBYTE:.0f} MiB"
    if not condition.limit:
        change = "let maxmemory be somewhat less than its machine has: then it refuses changes, and isn't killed"
        yield _note(where, f"uses {used}, without a limit", change)
    elif condition.used > _FULL * condition.limit:
        share = 100 * condition.used / condition.limit
        yield _wrong(
            where,
            f"uses {used}, {share:.0f} % of its limit; full, it refuses changes",
            "raise maxmemory or add servers",
        )
    else:
        yield _good(where, f"uses {used} of {condition.limit / _MEBIBYTE:.0f} MiB")


def _setting(line: str) -> str:
    return f"put `{line}` into its configuration, or CONFIG SET it"
