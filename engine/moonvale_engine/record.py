"""Game records: a text file that keeps one game, as PGN does for chess. Specified in docs/record.md."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

from moonvale_engine import catalog
from moonvale_engine.errors import EngineError, NotationError, RecordError
from moonvale_engine.log import BY_CALLER, CAUSES, RESIGNATION, Entry, enter, replay
from moonvale_engine.notation import SEATS, action_text, parse_action
from moonvale_engine.options import Options
from moonvale_engine.outcome import Result, result
from moonvale_engine.position_parse import parse_game
from moonvale_engine.position_text import game_text
from moonvale_engine.shuffle import SECRET_BYTES, commitment
from moonvale_engine.state import State

FIRST_LINE = "moonvale record 1"
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Record:
    """One game. ``secret`` is None while it is sealed; then the commitment is all that is known of the shuffles.

    names: one for each seat. created: milliseconds since the epoch. result: None while the game goes on.
    """

    options: Options
    commitment: bytes
    secret: bytes | None = None
    entropy: tuple[bytes, ...] = ()
    names: tuple[str, ...] = ()
    game: str = ""
    created: int = 0
    entries: tuple[Entry, ...] = ()
    result: Result | None = None

    def __reduce__(self) -> tuple[type[Record], tuple[object, ...]]:
        return Record, tuple([getattr(self, name) for name in _FIELDS])


_FIELDS = tuple([field.name for field in fields(Record)])


def write_record(record: Record) -> str:
    """Return the text of a record; ``read_record`` reads it back to an equal one."""
    lines = [FIRST_LINE, f"rules: {record.options.rules}"]
    if record.game:
        lines.append(f"game: {record.game}")
    lines.append(f"options: {game_text(record.options)}")
    if record.names:
        lines.append(f"names: {json.dumps(record.names, ensure_ascii=False)}")
    lines.append(f"created: {_time_text(record.created)}")
    lines.append(f"commitment: {record.commitment.hex()}")
    if record.secret is not None:
        lines.append(f"secret: {record.secret.hex()}")
    if record.entropy:
        lines.append("entropy: " + " ".join(part.hex() or "-" for part in record.entropy))
    if record.result is not None:
        lines.append(f"result: {_result_text(record.result)}")
    lines.append("")
    lines += [_entry_text(entry, record.created) for entry in record.entries]
    return "\n".join(lines) + "\n"


def read_record(text: str) -> Record:
    """Read a record; nothing is replayed.

    Raises RecordError, whose message names the line, or UnknownRulesError if it is of rules that are not known.
    """
    lines = text.splitlines()
    if not lines or lines[0].strip() != FIRST_LINE:
        raise RecordError(f"line 1: a record begins with '{FIRST_LINE}'")
    end = lines.index("") if "" in lines else len(lines)
    head = _head(lines[1:end])
    if re.fullmatch(r"[0-9]{1,9}", head["rules"]) is None:
        raise RecordError("rules: is the version of the rules, a number")
    rules = catalog.rules_of(int(head["rules"]))
    try:
        options = parse_game(head["options"], rules.version)
    except NotationError as error:
        raise RecordError(f"options: {error}") from error
    created = _parse_time(head.get("created", _time_text(0)))
    return Record(
        options,
        _hex("commitment", head["commitment"]),
        _hex("secret", head["secret"]) if "secret" in head else None,
        tuple([_hex("entropy", "" if part == "-" else part) for part in head.get("entropy", "").split()]),
        _parse_names(head.get("names", "[]"), options),
        head.get("game", ""),
        created,
        tuple(
            [_parse_entry(number, line, created) for number, line in enumerate(lines[end:], end + 1) if line.strip()]
        ),
        _parse_result(head["result"]) if "result" in head else None,
    )


def replay_record(record: Record) -> State:
    """Play a record again and return the state at its end.

    Raises RecordError if the secret is sealed or does not open the commitment, if an entry is not legal, or if the
    result is not the one that the entries lead to.
    """
    if record.secret is None:
        raise RecordError("secret: is sealed, so the record can't be replayed")
    if len(record.secret) != SECRET_BYTES or commitment(record.secret) != record.commitment:
        raise RecordError("secret: does not open the commitment")
    s = replay(record.options, record.secret, record.entropy, ())
    for number, entry in enumerate(record.entries, 1):
        try:
            enter(s, entry)
        except EngineError as error:
            raise RecordError(f"action {number}, {_act_text(entry)}: {error}") from error
    if result(s) != record.result:
        raise RecordError("result: is not the one that the actions lead to")
    return s


_HEAD = ("rules", "game", "options", "names", "created", "commitment", "secret", "entropy", "result")
_REQUIRED = ("rules", "options", "commitment")


def _head(lines: list[str]) -> dict[str, str]:
    head: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        name, _, value = line.partition(":")
        if name not in _HEAD or name in head:
            raise RecordError(f"line {number}: begins with one of {', '.join(_HEAD)}, each at most once")
        head[name] = value.strip()
    for name in _REQUIRED:
        if name not in head:
            raise RecordError(f"{name}: is missing")
    return head


def _act_text(entry: Entry) -> str:
    action = "resign" if entry.action == RESIGNATION else action_text(entry.action)
    return f"{SEATS[entry.seat]} {action}"


def _entry_text(entry: Entry, created: int) -> str:
    cause = "" if entry.cause == BY_CALLER else f" [{CAUSES[entry.cause]}]"
    return f"{entry.time - created} {_act_text(entry)}{cause}"


_ENTRY = re.compile(r"(\d+) ([a-d]) ([^\[]+?)(?: \[(\w+)\])?", re.ASCII)


def _parse_entry(number: int, line: str, created: int) -> Entry:
    match = _ENTRY.fullmatch(line.strip())
    if not match:
        raise RecordError(f"line {number}: is not 'MILLISECONDS SEAT ACTION', such as '1530 a draw'")
    cause = match[4] or CAUSES[BY_CALLER]
    if cause not in CAUSES:
        raise RecordError(f"line {number}: '{cause}' is not one of the causes {', '.join(CAUSES)}")
    try:
        action = RESIGNATION if match[3] == "resign" else parse_action(match[3])
    except NotationError as error:
        raise RecordError(f"line {number}: {error}") from error
    return Entry(SEATS.index(match[2]), action, CAUSES.index(cause), created + int(match[1]))


def _result_text(result: Result) -> str:
    places = " ".join(SEATS[seat] for seat in result.places)
    scores = " / ".join(" ".join(map(str, scores)) for scores in result.scores)
    return f"{catalog.OVER_NAMES[result.reason]}, places {places}, scores {scores or '-'}"


_RESULT = re.compile(r"(\w+), places ([a-d ]+), scores ([-\d /]+)", re.ASCII)


def _parse_result(text: str) -> Result:
    match = _RESULT.fullmatch(text)
    if not match or match[1] not in catalog.OVER_NAMES:
        raise RecordError("result: looks like 'rounds, places b a, scores 12 3 / 0 5'")
    places = tuple([SEATS.index(seat) for seat in match[2].split()])
    try:
        scores = [] if match[3] == "-" else [tuple(map(int, part.split())) for part in match[3].split("/")]
    except ValueError:
        raise RecordError("result: the scores are whole numbers, the rounds apart by '/'") from None
    if any(len(part) != len(places) for part in scores):
        raise RecordError("result: needs a score of each seat for each finished round")
    totals = tuple([sum(part[seat] for part in scores) for seat in range(len(places))])
    return Result(catalog.OVER_NAMES.index(match[1]), places, totals, tuple(scores))


def _parse_names(text: str, options: Options) -> tuple[str, ...]:
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not isinstance(names, list) or len(names) not in (0, options.players) or not all(type(n) is str for n in names):
        raise RecordError("names: is a JSON list of one name for each seat")
    return tuple(names)


def _time_text(milliseconds: int) -> str:
    time = _EPOCH + timedelta(milliseconds=milliseconds)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parse_time(text: str) -> int:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise RecordError("created: is a time such as 2026-11-30T12:00:00.000Z")
    return (time - _EPOCH) // timedelta(milliseconds=1)


def _hex(name: str, text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise RecordError(f"{name}: is not hexadecimal") from None
