"""The running service does what its OpenAPI document says, as Schemathesis finds out."""

from __future__ import annotations

import asyncio

import pytest

from tests.http.api_fuzz import ask, new_game, phases
from tests.service.servers import running_service


@pytest.mark.parametrize("seated", [False, True])
def test_the_service_does_what_the_document_says(*, seated: bool) -> None:
    with running_service(call_rate="0", create_rate="0", workers="1") as service:
        credential = game = ""
        if seated:
            made = asyncio.run(new_game(service))
            credential, game = made.seats[0], made.id
        for options in phases():
            report = ask(service, options, 5, credential, game)
            assert not report, report
        calls = [line for line in service.log_lines() if line["event"] == "call"]
        assert len({call["method"] for call in calls}) > 8
        assert not [line for line in service.log_lines() if line["level"] == "error"]
        assert {call["code"] for call in calls} >= {"OK", "INVALID_ARGUMENT"}
        assert any((call["method"], call["code"]) == ("ListEvents", "OK") for call in calls) == seated
