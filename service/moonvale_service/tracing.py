"""Traces: a span for each call, and one within it for each step of the store, for whoever has a collector.

OpenTelemetry's own variables decide, and its SDK reads them: OTEL_EXPORTER_OTLP_ENDPOINT (or ..._TRACES_ENDPOINT) turns
traces on. Its packages, the extra ``telemetry``, are imported then and not before; until then nothing is paid.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from importlib import metadata
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import grpc

from moonvale_service import logs

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

#: Any of these, with something in it, names a collector.
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

_LAST_SECONDS: Final = 2.0  # for the last spans to be sent
_TRACE_HEADERS: Final = ("traceparent", "tracestate")
#: What is the service's fault; the rest is the caller's, and no error of a server's span.
_FAULTS: Final = frozenset(
    {
        grpc.StatusCode.UNKNOWN.name,
        grpc.StatusCode.DEADLINE_EXCEEDED.name,
        grpc.StatusCode.INTERNAL.name,
        grpc.StatusCode.UNAVAILABLE.name,
    }
)


class _Tracing:
    """What ``start`` has made: nothing, as long as nobody wants traces."""

    tracer: Tracer | None = None
    provider: TracerProvider | None = None


_current: ContextVar[Span | None] = ContextVar("moonvale_span", default=None)


def start(environment: Mapping[str, str]) -> None:
    """Send spans from now on, if the environment names a collector. Called once, as the process starts."""
    if not any([environment.get(name) for name in ENDPOINTS]) or environment.get("OTEL_SDK_DISABLED") == "true":
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:  # the variable may be there for other programs: no reason not to serve
        logs.event("warning", "tracing_not_installed", error=error)
        return
    about = {"service.version": metadata.version("moonvale"), "service.instance.id": secrets.token_hex(8)}
    if not environment.get("OTEL_SERVICE_NAME") and "service.name=" not in environment.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    ):
        about["service.name"] = "moonvale"
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _Tracing.provider, _Tracing.tracer = provider, provider.get_tracer("moonvale_service", about["service.version"])


async def stop() -> None:
    """Send the last spans, and wait a little for that: a collector that is away keeps nobody from ending."""
    provider = _Tracing.provider
    if provider is None:
        return
    _Tracing.provider = _Tracing.tracer = None
    sent = asyncio.Event()
    loop = asyncio.get_running_loop()

    def shut_down() -> None:
        provider.shutdown()
        loop.call_soon_threadsafe(sent.set)

    threading.Thread(target=shut_down, name="last spans", daemon=True).start()
    try:
        async with asyncio.timeout(_LAST_SECONDS):
            await sent.wait()
    except TimeoutError:
        logs.event("warning", "spans_lost")


def is_on() -> bool:
    """Whether spans are sent."""
    return _Tracing.tracer is not None


def trace_id() -> str | None:
    """Return the id of the trace that the call which runs here is part of, if it is traced."""
    span = _current.get()
    return None if span is None else f"{span.get_span_context().trace_id:032x}"


class CallSpan:
    """The span of a call, from here to ``end``; what the call does meanwhile is part of it."""

    __slots__ = ("_span", "_token")

    def __init__(self, service: str, method: str, header: Callable[[str], str]) -> None:
        """``header``: returns the first value of a header of the call, or nothing. Spans must be on."""
        from opentelemetry.trace import SpanKind  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        assert _Tracing.tracer is not None
        told = {name: value for name in _TRACE_HEADERS if (value := header(name))}
        self._span = _Tracing.tracer.start_span(
            f"{service}/{method}",
            TraceContextTextMapPropagator().extract(told) if told else _nothing_before(),
            SpanKind.SERVER,
            {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method},
        )
        self._token = _current.set(self._span)

    def end(self, code: str, **attributes: Any) -> None:  # noqa: ANN401
        """End it with the call. ``attributes``: what the log says of it, too; without a value they are left out."""
        span = self._span
        _current.reset(self._token)
        if not span.is_recording():
            return
        span.set_attribute("rpc.grpc.status_code", int(grpc.StatusCode[code].value[0]))
        span.set_attributes(
            {f"moonvale.{name}": value for name, value in attributes.items() if value is not None}
            | {"moonvale.code": code}
        )
        if code in _FAULTS:
            _fail(span, attributes.get("reason") or code)
        span.end()


def step(name: str) -> AbstractContextManager[object]:
    """Return a context in which a step of the store is a span of the call that runs here, if that is traced."""
    parent, tracer = _current.get(), _Tracing.tracer
    if parent is None or tracer is None or not parent.is_recording():  # the last: not one of the sample
        return _UNTRACED
    return _StepSpan(tracer, parent, name)


_UNTRACED: Final = nullcontext()


class _StepSpan:
    __slots__ = ("_span",)

    def __init__(self, tracer: Tracer, parent: Span, name: str) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context  # noqa: PLC0415

        attributes = {"db.system.name": "redis", "db.operation.name": name}
        self._span = tracer.start_span(f"store {name}", set_span_in_context(parent), SpanKind.CLIENT, attributes)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            _fail(self._span, kind.__name__)  # a message may hold anything
        self._span.end()


def _nothing_before() -> Any:  # noqa: ANN401
    from opentelemetry.context import Context  # noqa: PLC0415

    return Context()


def _fail(span: Span, kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))
