"""Traces: spans of calls and of their steps of the store, as a collector gets them."""

from __future__ import annotations

import asyncio
import gzip
import random
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import grpc.aio
import httpx
import pytest
import redis
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from moonvale.v1 import game_service_pb2 as pb
from moonvale.v1.options_pb2 import Options
from moonvale_service.store.redis_store import game_key
from tests.service.client import SERVICE, Client, Failure, play
from tests.service.servers import Service, running_service

SECONDS = 30.0


class Collector:
    """A collector of spans, as OTLP sends them over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.received = b""
        self.names: set[str] = set()
        self._news = threading.Condition()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers["content-encoding"] == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces"
                collector._take(body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        with self._news:
            self.received += body
            for resource in request.resource_spans:
                facts = {each.key: each.value.string_value for each in resource.resource.attributes}
                self.names.add(facts["service.name"])
                self.spans += [span for scope in resource.scope_spans for span in scope.spans]
            self._news.notify_all()

    def span(self, name: str, trace: str) -> Span:
        """Wait for a span of a trace."""

        def found() -> list[Span]:
            return [each for each in self.spans if each.name == name and each.trace_id.hex() == trace]

        with self._news:
            assert self._news.wait_for(found, SECONDS), sorted({each.name for each in self.spans})
            (span,) = found()
            return span


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.close()


@pytest.fixture
def service(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    with running_service(workers="1") as service:
        yield service


def told(span: Span) -> dict[str, object]:
    facts = {each.key: each.value for each in span.attributes}
    return {key: value.int_value if value.HasField("int_value") else value.string_value for key, value in facts.items()}


async def call(service: Service, method: str, request: bytes, *metadata: tuple[str, str]) -> str:
    """Call a method within a trace; return the trace's id."""
    trace = f"{random.getrandbits(128):032x}"
    async with grpc.aio.insecure_channel(service.address) as channel:
        made: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{SERVICE}/{method}")
        ended = made(request, metadata=(("traceparent", f"00-{trace}-00f067aa0ba902b7-01"), *metadata), timeout=SECONDS)
        assert await ended.code() is not grpc.StatusCode.UNAVAILABLE
    return trace


async def test_a_call_is_a_span_of_its_callers_trace_with_the_steps_of_the_store_in_it(
    service: Service, collector: Collector
) -> None:
    async with Client(service.address) as client:
        game = await client.create()
    bearer = ("authorization", f"Bearer {game.seats[0]}")
    request = pb.GetViewRequest(name=game.name).SerializeToString()
    trace = await call(service, "GetView", request, bearer)
    span = collector.span(f"{SERVICE}/GetView", trace)
    assert span.parent_span_id.hex() == "00f067aa0ba902b7"
    assert span.kind == Span.SPAN_KIND_SERVER
    assert told(span) == {
        "rpc.system": "grpc",
        "rpc.service": SERVICE,
        "rpc.method": "GetView",
        "rpc.grpc.status_code": 0,
        "moonvale.code": "OK",
        "moonvale.game": game.id,
        "moonvale.role": "seat",
        "moonvale.seat": 0,
    }
    step = collector.span("store read", trace)
    assert step.parent_span_id == span.span_id
    assert step.kind == Span.SPAN_KIND_CLIENT
    assert told(step) == {"db.system.name": "redis", "db.operation.name": "read"}
    assert span.start_time_unix_nano <= step.start_time_unix_nano <= step.end_time_unix_nano <= span.end_time_unix_nano
    (line,) = [each for each in service.log_lines() if each.get("trace") == trace]
    assert (line["event"], line["method"]) == ("call", "GetView")
    refused = await call(service, "GetView", request, ("authorization", "Bearer nonsense"))
    span = collector.span(f"{SERVICE}/GetView", refused)
    assert told(span)["moonvale.reason"] == "CREDENTIAL_INVALID"
    assert told(span)["rpc.grpc.status_code"] == 16
    assert span.status.code == Status.STATUS_CODE_UNSET  # it is the caller's fault
    assert collector.names == {"moonvale"}


def test_a_call_over_http_is_a_span_of_its_callers_trace(service: Service, collector: Collector) -> None:
    trace = f"{random.getrandbits(128):032x}"
    headers = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    answer = httpx.post(f"{service.url}/v1/games", json={}, headers=headers, trust_env=False)
    assert answer.status_code == 200
    span = collector.span(f"{SERVICE}/CreateGame", trace)
    assert collector.span("store create", trace).parent_span_id == span.span_id


async def test_the_trace_that_an_internal_error_names_is_that_of_its_span(
    service: Service, collector: Collector
) -> None:
    async with Client(service.address) as client:
        game = await client.create()
        with redis.Redis.from_url(f"unix://{service.folder / 'data' / 'run' / 'store.sock'}") as raw:
            raw.hset(game_key(game.id), "m", b"no JSON")
        with pytest.raises(Failure) as failed:
            await client.view(game.name, game.seats[0])
    assert failed.value.code is grpc.StatusCode.INTERNAL
    span = collector.span(f"{SERVICE}/GetView", failed.value.metadata["trace_id"])
    assert span.status.code == Status.STATUS_CODE_ERROR
    assert not span.status.message
    assert told(span)["error.type"] == "INTERNAL"
    events = {each["event"] for each in service.log_lines() if each.get("trace") == span.trace_id.hex()}
    assert events == {"call", "internal_error"}


async def test_no_secret_is_in_a_span_and_a_watch_is_one_span(service: Service, collector: Collector) -> None:
    secrets = [str(uuid.uuid4())]
    async with Client(service.address) as client:
        create = pb.CreateGameRequest(
            options=Options(players=2, rounds=1), request_id=secrets[0], seats=[pb.SeatSetup(name="Annabella")] * 2
        )
        game = await client.create(create)
        watching = asyncio.create_task(count(client, game.name, game.spectator))
        await play(client, game, seed=4)
        told_of = await watching
    service.stop()
    watches = [span for span in collector.spans if span.name == f"{SERVICE}/WatchGame"]
    assert len(watches) == 1
    children = [span for span in collector.spans if span.parent_span_id == watches[0].span_id]
    assert 1 <= len(children) <= 2 < told_of  # it opens with a step, and what it follows is read for all who watch
    for secret in (*secrets, *game.all_credentials, "Annabella"):
        assert secret.encode() not in collector.received
    assert b"SubmitAction" in collector.received


async def count(client: Client, game: str, credential: str) -> int:
    return len([message async for message in client.watch(game, credential)])


def test_a_collector_that_is_away_keeps_no_service_from_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    with running_service(workers="1") as service:
        asyncio.run(call(service, "GetServerInfo", b""))
        assert service.stop() == 0
        assert [line for line in service.log_lines() if line["event"] == "worker_stopped"]


def test_without_a_collector_nothing_is_imported_and_without_the_packages_it_is_said() -> None:
    program = (
        "import sys; from moonvale_service import logs, server, tracing\n"
        "logs.configure('info')\n"
        "tracing.start({}); tracing.start({'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://x', 'OTEL_SDK_DISABLED': 'true'})\n"
        "costly = ('opentelemetry.sdk.trace', 'opentelemetry.exporter')\n"  # redis-py imports others, if they are there
        "assert not tracing.is_on() and not [name for name in sys.modules if name.startswith(costly)]\n"
        "sys.modules['opentelemetry.exporter'] = None\n"
        "tracing.start({'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://x'}); assert not tracing.is_on()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert '"event":"tracing_not_installed"' in done.stderr
