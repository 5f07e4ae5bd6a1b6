"""Exchanges: the calls of a fixed game with the answers that every client gets to them, over any transport.

Requests and answers are JSON. In them GAME stands for the game's name, SEAT 0 for a seat's credential, and ANY for what
is different each time. A call is made by a SEAT, the CREATOR, a SPECTATOR, with the CREATOR KEY, by NOBODY (without a
credential) or a STRANGER. It has ``answers``, several if it is a stream, or an ``error``, or both.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message

from moonvale.v1 import game_service_pb2 as pb
from tests.service.client import SERVICE, Client, Failure

FILE = Path(__file__).parent / "exchanges.json"

Json = dict[str, Any]

_DEAL: Json = {"secret": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "villages": [1, 0]}
_GAME: Json = {
    "options": {"players": 2, "rounds": 1, "deck": "coin,2=eye,9=eye", "token": "eye", "demands": []},
    "seats": [{"name": "Ann"}, {"name": "Ben", "labels": {"rating": "1510"}}],
    "labels": {"event": "é \N{PLAYING CARD BLACK JOKER}"},
    "externalId": "table 7",
    "deal": _DEAL,
}
_ACTIONS = 24
_SEED = 5

#: What is different each time, and so is told as ANY.
_ANY = frozenset(
    {
        "creatorCredential",
        "credential",
        "createTime",
        "mark",
        "nextPageToken",
        "record",
        "spectatorCredential",
        "updateTime",
    }
)


class Table:
    """A client, the game that it has created and the credentials that it knows."""

    def __init__(self, client: Client, creator_key: str) -> None:
        self._client = client
        self._names = {"NOBODY": "", "STRANGER": "mv1.nonsense", "CREATOR KEY": creator_key}

    async def call(self, method: str, credential: str, request: Json) -> Json:
        """Make a call and return it with what came back."""
        answers: list[Json] = []
        exchange: Json = {"method": method, "credential": credential, "request": request, "answers": answers}
        message = json_format.ParseDict(self._filled(request), getattr(pb, f"{method}Request")())
        try:
            async for answer in self._answers(method, message, self._names[credential] or None):
                self._note(answer)
                answers.append(_masked(json_format.MessageToDict(answer), self._names.get("GAME", "")))
        except Failure as failure:
            exchange["error"] = {
                "code": failure.code.value[0],
                "reason": failure.reason,
                "metadata": failure.metadata,
                "fields": list(failure.fields),
            }
        return exchange

    async def _answers(self, method: str, request: Message, credential: str | None) -> AsyncIterator[Message]:
        kind = getattr(pb, f"{method}Response")
        if pb.DESCRIPTOR.services_by_name[SERVICE.rpartition(".")[2]].methods_by_name[method].server_streaming:
            async with aclosing(self._client.raw_stream(method, request.SerializeToString(), credential)) as messages:
                async for message in messages:
                    yield kind.FromString(message)
        else:
            yield kind.FromString(await self._client.raw(method, request.SerializeToString(), credential))

    def _filled(self, value: Any) -> Any:  # noqa: ANN401  # JSON
        if isinstance(value, dict):
            return {key: self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        return self._names.get(value, value) if isinstance(value, str) else value

    def _note(self, answer: Message) -> None:
        if isinstance(answer, pb.CreateGameResponse):
            self._names |= {
                "GAME": answer.name,
                "CREATOR": answer.creator_credential,
                "SPECTATOR": answer.spectator_credential,
                **{f"SEAT {seat}": credential for seat, credential in enumerate(answer.seat_credentials)},
            }


def _masked(value: Any, game: str, key: str = "") -> Any:  # noqa: ANN401  # JSON
    if isinstance(value, dict):
        return {name: _masked(value[name], game, name) for name in sorted(value)}
    if isinstance(value, list):
        return [_masked(item, game, "credential" if key == "seatCredentials" else key) for item in value]
    return "ANY" if key in _ANY and value else "GAME" if value == game else value


async def made(client: Client, creator_key: str) -> list[Json]:
    """Play the fixed game and return its exchanges."""
    table = Table(client, creator_key)
    rng = random.Random(_SEED)
    done: list[Json] = []

    async def call(method: str, credential: str, **request: object) -> Json:
        done.append(await table.call(method, credential, request))
        return done[-1]

    await call("CreateGame", "NOBODY", **_GAME)
    await call("CreateGame", "CREATOR KEY", **_GAME | {"options": {"players": 5}})
    view = (await call("CreateGame", "CREATOR KEY", **_GAME))["answers"][0]["view"]
    first, second = view["decision"]["seat"], 1 - view["decision"]["seat"]
    await call("GetView", f"SEAT {first}", name="GAME")
    await call("GetView", "SPECTATOR", name="GAME")
    for credential, name in (
        ("NOBODY", "GAME"),
        ("STRANGER", "GAME"),
        ("SPECTATOR", "games/another"),
    ):
        await call("GetView", credential, name=name)
    peek = {"peek": {"spots": [0, 1]}}
    for credential, actions, version in (
        ("SPECTATOR", [peek], "0"),
        (f"SEAT {second}", [peek], "0"),
        (f"SEAT {first}", [peek], "9"),
        (f"SEAT {first}", [peek], None),
        (f"SEAT {first}", [], "0"),
        (f"SEAT {first}", [{"pick": {"card": {"spot": 0}}}], "0"),
        (f"SEAT {first}", [{"predict": {"value": -1}}], "0"),
        (f"SEAT {first}", [{"draw": {}}, {"draw": {}}], "0"),
    ):
        await call("SubmitAction", credential, name="GAME", actions=actions, version=version)
    for _ in range(_ACTIONS):
        seat = view["decision"]["seat"]
        if view.get("viewerSeat") != seat:
            view = (await call("GetView", f"SEAT {seat}", name="GAME"))["answers"][0]["view"]
        action = rng.choice(view["decision"]["legalActions"])
        request = {"name": "GAME", "actions": [action], "version": view["version"]}
        view = (await call("SubmitAction", f"SEAT {seat}", **request))["answers"][0]["view"]
    await call("ListEvents", f"SEAT {second}", parent="GAME", pageSize=3)
    await call("GetReplay", "SPECTATOR", name="GAME")
    await call("WatchGame", "SPECTATOR", name="GAME", afterVersion="99")
    await call("RotateCredential", "CREATOR", name="GAME", seat=7)
    await call("RotateCredential", "CREATOR", name="GAME", seat=0)
    await call("GetView", "SEAT 0", name="GAME")
    await call("Resign", "SEAT 1", name="GAME")
    await call("SubmitAction", "SEAT 1", name="GAME", actions=[peek], version="0")
    seats = [{"name": "GAME", "credential": credential} for credential in ("SEAT 0", "SEAT 1")]
    await call("WatchTurns", "NOBODY", seats=seats)
    await call("WatchGame", "SEAT 1", name="GAME", afterVersion="0")
    await call("GetReplay", "CREATOR", name="GAME")
    await call("GetCatalog", "NOBODY")
    await call("DeleteGame", "SPECTATOR", name="GAME")
    await call("DeleteGame", "CREATOR", name="GAME")
    await call("GetView", "CREATOR", name="GAME")
    return done


async def repeated(client: Client, creator_key: str, exchanges: list[Mapping[str, Any]]) -> list[Json]:
    """Make the same calls, and return them with what comes back."""
    table = Table(client, creator_key)
    return [await table.call(each["method"], each["credential"], each["request"]) for each in exchanges]


def text(exchanges: list[Json]) -> str:
    """Return exchanges as the file has them: one on each line."""
    return "[\n" + ",\n".join(json.dumps(exchange) for exchange in exchanges) + "\n]\n"
