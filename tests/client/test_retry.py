"""Retries: the same request id, pauses that grow, an end; what an error says."""

import inspect
import pickle

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2

from moonvale.v1 import errors_pb2
from moonvale.v1.game_service_pb2 import DESCRIPTOR
from moonvale_client import AsyncClient, Client, FieldViolation, MoonvaleError, RetryPolicy, errors
from moonvale_client.retry import Attempts, StreamBrokenError
from tests.client.fake import GAME, SEATS, FakeService

QUICK = RetryPolicy(timeout=20, attempt_timeout=5, first_pause=0.001, longest_pause=0.002)
LOST = grpc.StatusCode.UNAVAILABLE


def test_a_lost_answer_is_asked_for_again_with_the_same_request_id_and_carried_out_once(
    fake: FakeService, address: str
) -> None:
    with Client(address, retry=QUICK) as client:
        view = client.get_view(GAME, SEATS[fake.state.holder])
        fake.faults = [LOST, LOST]
        response = client.submit_action(GAME, SEATS[fake.state.holder], view.decision.legal_actions[0], view.version)
    assert response.version == 1
    assert len(fake.log) == 2
    assert len(fake.request_ids) == 3
    assert len(set(fake.request_ids)) == 1


async def test_the_asyncio_client_repeats_the_same_request_id_too(fake: FakeService, address: str) -> None:
    async with AsyncClient(address, retry=QUICK) as client:
        view = await client.get_view(GAME, SEATS[fake.state.holder])
        fake.faults = [LOST, grpc.StatusCode.DEADLINE_EXCEEDED]
        await client.submit_action(GAME, SEATS[fake.state.holder], view.decision.legal_actions[0], view.version)
    assert len(fake.log) == 2
    assert len(fake.request_ids) == 3
    assert len(set(fake.request_ids)) == 1


async def test_a_call_that_a_stopping_server_has_cut_short_is_made_again(fake: FakeService, address: str) -> None:
    fake.faults = [grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL]
    async with AsyncClient(address, retry=QUICK) as client:
        assert (await client.get_server_info()).version == "fake"
    fake.faults = [grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL]
    with Client(address, retry=QUICK) as again:
        assert again.get_server_info().version == "fake"


def test_closing_a_client_ends_its_watches(address: str) -> None:
    client = Client(address, retry=QUICK)
    told = client.watch(GAME, SEATS[0])
    next(told)
    client.close()
    with pytest.raises(MoonvaleError) as caught:
        next(told)
    assert (caught.value.code, caught.value.is_transient) == (grpc.StatusCode.CANCELLED, False)


def test_every_call_has_a_request_id_of_its_own_unless_the_caller_chose_one(fake: FakeService, address: str) -> None:
    fake.faults = [LOST]
    with Client(address, retry=QUICK) as client:
        client.create_game()
        client.create_game()
        client.create_game(request_id="mine")
    first, again, second, chosen = fake.request_ids
    assert first == again
    assert len({first, second, chosen}) == 3
    assert chosen == "mine"


def test_a_rotation_is_asked_for_again_with_the_same_request_id(fake: FakeService, address: str) -> None:
    fake.faults = [LOST]
    with Client(address, retry=QUICK) as client:
        assert client.rotate_credential(GAME, SEATS[1], seat=1) == "new 1"
    first, again = fake.request_ids
    assert first == again
    assert len(first) >= 16


def test_games_are_listed_page_by_page(address: str) -> None:
    with Client(address, retry=QUICK) as client:
        assert [game.name for game in client.list_games("operator")] == [f"games/{number}" for number in range(5)]


def test_a_game_that_is_gone_when_deletion_is_repeated_was_deleted(fake: FakeService, address: str) -> None:
    fake.faults = [LOST]
    with Client(address, retry=QUICK) as client:
        client.delete_game(GAME, "creator")
        with pytest.raises(MoonvaleError) as caught:
            client.delete_game(GAME, "creator")
    assert caught.value.reason == errors.GAME_NOT_FOUND


def test_errors_that_no_repetition_helps_are_raised_at_once(fake: FakeService, address: str) -> None:
    with Client(address, retry=QUICK) as client, pytest.raises(MoonvaleError) as caught:
        client.submit_action(GAME, SEATS[0], [], version=7)
    error = caught.value
    assert (error.code, error.reason, error.metadata) == (grpc.StatusCode.ABORTED, "STALE_VERSION", {"version": "0"})
    assert error.attempts == 1
    assert str(error) == "STALE_VERSION: no"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_error_lists_the_fields_that_are_wrong(address: str) -> None:
    with Client(address, retry=QUICK) as client, pytest.raises(MoonvaleError) as caught:
        client.resign("nonsense", SEATS[0])
    assert caught.value.reason == "INVALID_FIELD"
    assert caught.value.field_violations == (FieldViolation("name", "needs games/{game}"),)


def test_without_a_server_a_call_gives_up_when_its_time_is_up() -> None:
    policy = RetryPolicy(timeout=0.2, attempt_timeout=0.1, first_pause=0.01, longest_pause=0.02)
    with Client("127.0.0.1:1", retry=policy) as client, pytest.raises(MoonvaleError) as caught:
        client.get_server_info()
    assert caught.value.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
    assert caught.value.reason == ""
    assert caught.value.attempts > 1


def test_pauses_double_with_jitter_up_to_the_longest_and_the_last_deadline_is_what_is_left() -> None:
    now = [0.0]
    policy = RetryPolicy(timeout=10, attempt_timeout=4, first_pause=1, longest_pause=3)
    attempts = Attempts(policy, clock=lambda: now[0], jitter=lambda: 1.0)
    broken = StreamBrokenError("broken")
    assert attempts.deadline() == 4
    assert [attempts.pause(broken) for _ in range(4)] == [1, 2, 3, 3]
    now[0] = 6.9
    assert attempts.deadline() == pytest.approx(3.1)
    assert attempts.pause(broken) == 3
    now[0] = 7.0
    with pytest.raises(MoonvaleError) as caught:
        attempts.pause(broken)
    assert caught.value.attempts == 6
    lowest = Attempts(policy, clock=lambda: now[0], jitter=lambda: 0.0)
    assert lowest.pause(broken) == 0.5


def test_what_comes_over_a_stream_gives_it_new_time_and_what_follows_its_view_makes_pauses_short_again() -> None:
    now = [0.0]
    policy = RetryPolicy(timeout=10, attempt_timeout=4, first_pause=1, longest_pause=8)
    attempts = Attempts(policy, clock=lambda: now[0], jitter=lambda: 1.0)
    broken = StreamBrokenError("broken")
    assert [attempts.pause(broken) for _ in range(3)] == [1, 2, 4]
    attempts.renew(settled=False)
    now[0] = 99.0  # a long silence: the time runs from the failure on
    assert attempts.pause(broken) == 8
    now[0] = 101.0
    with pytest.raises(MoonvaleError):
        attempts.pause(broken)
    attempts.renew(settled=True)
    assert attempts.pause(broken) == 1


def test_both_clients_have_a_method_for_each_of_the_services_with_the_same_parameters() -> None:
    names = {"WatchGame": "watch"}
    methods = [method.name for method in DESCRIPTOR.services_by_name["GameService"].methods]
    assert len(methods) == 18
    for method in methods:
        name = names.get(method, "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in method)[1:])
        of_sync = inspect.signature(getattr(Client, name))
        of_aio = inspect.signature(getattr(AsyncClient, name))
        assert list(of_sync.parameters.values()) == list(of_aio.parameters.values())


def test_the_reasons_that_the_client_acts_on_are_those_of_the_contract() -> None:
    reasons = {name for name, value in vars(errors).items() if name.isupper() and name == value}
    assert reasons == {
        "CREDENTIAL_REVOKED",
        "GAME_BEGUN",
        "GAME_NOT_BEGUN",
        "GAME_NOT_FOUND",
        "GAME_OVER",
        "HISTORY_REWOUND",
        "NOT_YOUR_TURN",
        "STALE_VERSION",
        "TIME_OUT",
    }
    assert {f"ERROR_REASON_{reason}" for reason in reasons} <= set(errors_pb2.ErrorReason.keys())


def test_a_delay_that_the_service_asks_for_is_waited_out() -> None:
    policy = RetryPolicy(timeout=10, attempt_timeout=4, first_pause=1, longest_pause=3)
    attempts = Attempts(policy, clock=lambda: 0.0, jitter=lambda: 1.0)
    assert attempts.pause(refused(2.5)) == 3.5
    with pytest.raises(MoonvaleError) as caught:
        attempts.pause(refused(8.5))
    assert (caught.value.reason, caught.value.retry_delay) == ("RATE_LIMITED", 8.5)
    with pytest.raises(MoonvaleError) as caught:
        attempts.pause(refused(None))
    assert not caught.value.is_transient


def refused(delay: float | None) -> grpc.aio.AioRpcError:
    """A call that was refused, with a delay or without."""
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    status = status_pb2.Status(code=code.value[0], message="no")
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason="RATE_LIMITED", domain="moonvale.v1"))
    if delay is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromNanoseconds(round(delay * 1e9))
        status.details.add().Pack(retry)
    trailers = grpc.aio.Metadata(("grpc-status-details-bin", status.SerializeToString()))
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailers, "no")
