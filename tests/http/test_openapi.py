"""The OpenAPI document says what the port does: of every route, every answer that is given, and every error."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import httpx
import jsonschema_rs
import pytest

from moonvale.v1 import errors_pb2
from moonvale_service.edge import DESCRIPTOR, METHODS
from moonvale_service.http.openapi import document
from moonvale_service.http.routes import Routes
from tests.service.servers import RunningServer

DOCUMENT: dict[str, Any] = json.loads(document(Routes(DESCRIPTOR)))
OPERATIONS = {
    operation["operationId"]: (path, verb, operation)
    for path, verbs in DOCUMENT["paths"].items()
    for verb, operation in verbs.items()
}
SCHEMAS = DOCUMENT["components"]["schemas"]


def check(schema: dict[str, Any], value: object, components: object = None) -> None:
    """Fail unless a value is what a schema of the document says."""
    whole = {**schema, "components": components or DOCUMENT["components"]}
    jsonschema_rs.Draft202012Validator(whole).validate(value)


def strict(part: Any) -> Any:  # noqa: ANN401
    """Return a schema whose objects have no properties but those that are named."""
    if isinstance(part, list):
        return [strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {name: strict(value) for name, value in part.items()}
    if isinstance(made.get("properties"), dict) and made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


STRICT = strict(DOCUMENT["components"])


def answered(name: str, answer: httpx.Response) -> Any:  # noqa: ANN401
    """Check an answer against its operation, and return it."""
    operation = OPERATIONS[name][2]
    said = operation["responses"].get(str(answer.status_code))
    assert said is not None, (name, answer.status_code, answer.text)
    (kind,) = [kind for kind in said["content"] if answer.headers["content-type"].startswith(kind)]
    value = answer.json()
    check(said["content"][kind]["schema"], value, STRICT)
    if answer.status_code != 200:
        reasons = [detail["reason"] for detail in value["details"] if "reason" in detail]
        assert re.search(rf"\b{reasons[0]}\b", said["description"]), (name, reasons)
    return value


def test_every_method_is_an_operation_with_texts() -> None:
    assert OPERATIONS.keys() == METHODS.keys()
    for path, _, operation in OPERATIONS.values():
        assert operation["summary"].endswith(".")
        assert set(re.findall(r"\{(\w+)\}", path)) == {
            parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "path"
        }


def test_every_schema_is_one_and_every_reference_leads_somewhere() -> None:
    for name, schema in SCHEMAS.items():
        assert jsonschema_rs.meta.is_valid(schema)
        assert schema["description"], name
        for field, said in schema.get("properties", {}).items():
            assert said.get("description") or name == "google.rpc.Status", (name, field)
    for reference in re.findall(r'"\$ref": ?"#/components/schemas/([^"]+)"', json.dumps(DOCUMENT)):
        assert reference in SCHEMAS


def test_every_reason_is_told_somewhere() -> None:
    told = " ".join(
        response["description"]
        for _, _, operation in OPERATIONS.values()
        for response in operation["responses"].values()
    )
    reasons = {
        name.removeprefix("ERROR_REASON_")
        for name in [value.name for value in errors_pb2.ErrorReason.DESCRIPTOR.values]
    } - {"UNSPECIFIED"}
    # What belongs to no operation: the path, the HTTP method and the client's own deadline.
    missing = {reason for reason in reasons if not re.search(rf"\b{reason}\b", told)}
    assert missing <= {"UNKNOWN_PATH", "METHOD_NOT_ALLOWED", "DEADLINE_EXCEEDED"}


def test_examples_are_what_their_schemas_say() -> None:
    checked = 0
    for schema in [
        *SCHEMAS.values(),
        *(
            op["requestBody"]["content"]["application/json"]["schema"]
            for _, _, op in OPERATIONS.values()
            if "requestBody" in op
        ),
    ]:
        for example in schema.get("examples", []):
            check(schema, example)
            checked += 1
    assert checked > 30


def test_only_what_names_a_game_fails_for_one() -> None:
    told = {name: json.dumps(operation["responses"]) for name, (_, _, operation) in OPERATIONS.items()}
    assert {name for name, text in told.items() if "GAME_NOT_FOUND" not in text} == {
        *("CreateGame", "ListGames", "GetCatalog", "GetServerInfo")
    }


async def test_it_is_served(server: RunningServer, http: httpx.AsyncClient) -> None:
    answer = await http.get("/openapi.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == DOCUMENT
    assert (await http.post("/openapi.json")).status_code == 405


@pytest.mark.parametrize("deck", ["coin", "eye", "coin,2=eye,9=eye,5=eye"])
async def test_answers_of_a_whole_game_are_what_it_says(
    server: RunningServer, http: httpx.AsyncClient, deck: str
) -> None:
    rng = random.Random(deck)
    options = {"players": 3, "deck": deck, "token": "eye", "rounds": 2, "turnLimit": 30}
    body = {"options": options, "seats": [{"name": "Ann"}, {}, {"labels": {"a": "b"}}], "labels": {"x": "y"}}
    game = answered("CreateGame", await http.post("/v1/games", json=body))
    path = f"/v1/{game['name']}"

    def bearer(credential: str) -> dict[str, str]:
        return {"authorization": f"Bearer {credential}"}

    view = answered("GetView", await http.get(path, headers=bearer(game["spectatorCredential"])))["view"]
    while "result" not in view:
        credential = game["seatCredentials"][view["decision"]["seat"]]
        if "viewerSeat" not in view or view["viewerSeat"] != view["decision"]["seat"]:
            view = answered("GetView", await http.get(path, headers=bearer(credential)))["view"]
        move = {"actions": [rng.choice(view["decision"]["legalActions"])], "version": view["version"]}
        view = answered("SubmitAction", await http.post(f"{path}:submitAction", json=move, headers=bearer(credential)))[
            "view"
        ]
    answered("GetReplay", await http.get(f"{path}/replay", headers=bearer(game["creatorCredential"])))
    answered("ListEvents", await http.get(f"{path}/events", headers=bearer(game["seatCredentials"][1])))
    lines = await http.get(
        f"{path}:watch?afterVersion=0", headers={**bearer(game["seatCredentials"][0]), "accept": "application/x-ndjson"}
    )
    for line in lines.text.splitlines():
        check({"$ref": "#/components/schemas/moonvale.v1.WatchGameResponse"}, json.loads(line), STRICT)
    answered("GetCatalog", await http.get("/v1/catalog"))
    answered("GetServerInfo", await http.get("/v1/serverInfo"))
    answered("ListGames", await http.get("/v1/games", headers=bearer(server.operator_key)))
    rotated = {"seat": 0, "requestId": "a" * 20}
    answered(
        "RotateCredential",
        await http.post(f"{path}:rotateCredential", json=rotated, headers=bearer(game["creatorCredential"])),
    )
    # Errors, each of an own kind.
    for name, answer in (
        ("GetView", await http.get(path)),
        ("GetView", await http.get(path, headers=bearer(game["seatCredentials"][0]))),
        ("GetView", await http.get("/v1/games/" + "a" * 20, headers=bearer(game["spectatorCredential"]))),
        ("GetView", await http.get(path, headers=bearer("nonsense"))),
        (
            "SubmitAction",
            await http.post(f"{path}:submitAction", json=move, headers=bearer(game["seatCredentials"][1])),
        ),
        ("SubmitAction", await http.post(f"{path}:submitAction", json={}, headers=bearer(game["seatCredentials"][1]))),
        (
            "SubmitAction",
            await http.post(f"{path}:submitAction", json={**move, "x": 1}, headers=bearer(game["seatCredentials"][1])),
        ),
        ("Resign", await http.post(f"{path}:resign", json={}, headers=bearer(game["seatCredentials"][1]))),
        ("CreateGame", await http.post("/v1/games", content=b"{", headers={"content-type": "application/json"})),
        ("CreateGame", await http.post("/v1/games", content=b"{}", headers={"content-type": "text/plain"})),
        (
            "CreateGame",
            await http.post("/v1/games", content=b" " * 70_000, headers={"content-type": "application/json"}),
        ),
        ("CreateGame", await http.post("/v1/games", json={"deal": {"secret": "AA=="}})),
    ):
        assert answer.status_code >= 400
        answered(name, answer)
    answered("DeleteGame", await http.delete(path, headers=bearer(game["creatorCredential"])))
    answered("GetView", await http.get(path, headers=bearer(game["spectatorCredential"])))


def test_an_answer_that_says_more_or_less_is_noticed() -> None:
    answer = {"$ref": "#/components/schemas/moonvale.v1.GetViewResponse"}
    check(answer, {"view": {"round": 1, "version": "0"}}, STRICT)
    wrongs: list[dict[str, Any]] = [{"bogus": 1}, {"round": "1"}, {"version": 0}, {"seats": {}}]
    for wrong in wrongs:
        with pytest.raises(jsonschema_rs.ValidationError):
            check(answer, {"view": wrong}, STRICT)
    action = {"$ref": "#/components/schemas/moonvale.v1.Action"}
    check(action, {"draw": {}}, STRICT)
    with pytest.raises(jsonschema_rs.ValidationError):
        check(action, {"draw": {}, "call": {}}, STRICT)
