"""Makes the vectors from the contract: each message type in all its forms, and what its JSON may and may not look like.

A message has a ``type``, a ``name``, its canonical ``json`` and its ``binary`` form in base64. An alternative has a
``text`` that is to be read as the ``json``; what is refused has a ``text`` that no client or server takes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf import json_format
from google.protobuf.message import Message

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.action_pb2 import Action
from moonvale.v1.options_pb2 import Options
from tests.vectors.samples import message_types, samples

FILE = Path(__file__).parent / "contract.json"


class Alternative(NamedTuple):
    """A JSON text other than the canonical one that stands for a message."""

    type: type[Message]
    name: str
    text: str
    json: dict[str, Any]


class Refused(NamedTuple):
    """A text that stands for no message of its type."""

    type: type[Message]
    name: str
    text: str


ALTERNATIVES = [
    Alternative(pb.SubmitActionRequest, "64 bits as a number", '{"version": 12}', {"version": "12"}),
    Alternative(pb.SubmitActionRequest, "a 0 that means something", '{"version": 0}', {"version": "0"}),
    Alternative(pb.SubmitActionRequest, "the contract's own names", '{"request_id": "r"}', {"requestId": "r"}),
    Alternative(pb.SubmitActionRequest, "null for nothing", '{"version": null, "actions": null}', {}),
    Alternative(pb.CreateGameRequest, "null for a message", '{"options": null, "labels": null}', {}),
    Alternative(pb.CreateGameRequest, "an empty message", '{"options": {}}', {"options": {}}),
    Alternative(Options, "32 bits as a text", '{"players": "3"}', {"players": 3}),
    Alternative(Options, "a whole number with an exponent", '{"players": 3e0}', {"players": 3}),
    Alternative(Options, "an enum's number", '{"memory": 2}', {"memory": "MEMORY_TABLE"}),
    Alternative(Options, "defaults", '{"deck": "", "dealSupplied": false, "villages": []}', {}),
    Alternative(Action, "an action without content", ' {"draw" :\n{ } } ', {"draw": {}}),
    Alternative(Action, "0 and left out", '{"pick": {"card": {"seat": 0}}}', {"pick": {"card": {"seat": 0}}}),
    Alternative(Action, "a number below 0", '{"predict": {"value": -1}}', {"predict": {"value": -1}}),
    Alternative(pb.Deal, "base64 for URLs", '{"secret": "-_-_"}', {"secret": "+/+/"}),
    Alternative(pb.Deal, "base64 without padding", '{"secret": "AQI"}', {"secret": "AQI="}),
    Alternative(
        pb.CreateGameRequest,
        "a time of another zone",
        '{"sealReplayUntil": "2026-01-31T13:30:00.500+01:30"}',
        {"sealReplayUntil": "2026-01-31T12:00:00.500Z"},
    ),
    Alternative(
        pb.SeatSetup,
        "escapes",
        r'{"name": "\u00e9\ud83c\udccf\n\"\\\/"}',
        {"name": 'é\N{PLAYING CARD BLACK JOKER}\n"\\/'},
    ),
]

REFUSED = [
    Refused(pb.GetViewRequest, "no JSON", "name: games/a"),
    Refused(pb.GetViewRequest, "cut short", '{"name": "games/a"'),
    Refused(pb.GetViewRequest, "a comma too many", '{"name": "games/a",}'),
    Refused(pb.GetViewRequest, "a list", "[]"),
    Refused(pb.GetViewRequest, "a text", '"games/a"'),
    Refused(pb.GetViewRequest, "an unknown field", '{"name": "games/a", "viewer": 1}'),
    Refused(pb.GetViewRequest, "a number for a text", '{"name": 1}'),
    Refused(pb.SubmitActionRequest, "below 0", '{"version": "-1"}'),
    Refused(pb.SubmitActionRequest, "more than 64 bits", '{"version": "18446744073709551616"}'),
    Refused(pb.SubmitActionRequest, "no number", '{"version": "twelve"}'),
    Refused(pb.SubmitActionRequest, "truth for a number", '{"version": true}'),
    Refused(pb.SubmitActionRequest, "an object for a list", '{"actions": {"draw": {}}}'),
    Refused(pb.SubmitActionRequest, "null in a list", '{"actions": [null]}'),
    Refused(Action, "two verbs", '{"draw": {}, "call": {}}'),
    Refused(Action, "an unknown verb", '{"steal": {}}'),
    Refused(Action, "a list for a verb", '{"draw": []}'),
    Refused(Action, "a fraction", '{"name": {"spot": 1.5}}'),
    Refused(Action, "an unknown name of an enum", '{"placeEnd": {"seat": 0, "end": "END_MIDDLE"}}'),
    Refused(Options, "more than 32 bits", '{"players": 2147483648}'),
    Refused(Options, "a text for truth", '{"dealSupplied": "yes"}'),
    Refused(Options, "not a number", '{"players": NaN}'),
    Refused(pb.Deal, "no base64", '{"secret": "A"}'),
    Refused(pb.CreateGameRequest, "no time", '{"sealReplayUntil": "tomorrow"}'),
    Refused(pb.CreateGameRequest, "a number for a time", '{"sealReplayUntil": 1}'),
    Refused(pb.CreateGameRequest, "a number for a label", '{"labels": {"rating": 1510}}'),
    Refused(pb.CreateGameRequest, "a name for a seat", '{"seats": ["Ann"]}'),
]


def messages() -> Iterator[tuple[str, Message]]:
    """Yield the name of a vector and its message, type by type."""
    for kind in message_types(pb.DESCRIPTOR):
        yield from samples(kind)


def _sorted(value: object) -> object:
    """Sort what JSON doesn't: maps come in any order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def text() -> str:
    """Return the vectors as the file has them: one on each line."""
    parts = {
        "messages": [
            {
                "type": message.DESCRIPTOR.full_name,
                "name": name,
                "json": _sorted(json_format.MessageToDict(message)),
                "binary": base64.b64encode(message.SerializeToString(deterministic=True)).decode(),
            }
            for name, message in messages()
        ],
        "alternatives": [
            {**alternative._asdict(), "type": alternative.type.DESCRIPTOR.full_name} for alternative in ALTERNATIVES
        ],
        "refused": [{**refused._asdict(), "type": refused.type.DESCRIPTOR.full_name} for refused in REFUSED],
    }
    lists = [
        f'"{part}": [\n' + ",\n".join(json.dumps(vector, ensure_ascii=True) for vector in vectors) + "\n]"
        for part, vectors in parts.items()
    ]
    return "{\n" + ",\n".join(lists) + "\n}\n"
