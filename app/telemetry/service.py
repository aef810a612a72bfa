"""What sends spans away, behind the turns that they tell of."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from knowledge.tracing import NOTHING, TracedSpan, Value

if TYPE_CHECKING:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider

    from app.telemetry.spans import Translate

# Of one request to a receiver; what it does not take by then is lost.
EXPORT_SECONDS = 5.0
# Between two requests.
EVERY_SECONDS = 2.0
# Spans that wait; a receiver that is slow or away loses the newer ones, and no turn waits for it.
QUEUE = 4096


@dataclass(frozen=True, slots=True)
class Receiver:
    """Takes spans by OTLP over HTTP. headers: secret."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class TelemetryOptions:
    """receivers: none turns it off; share: of turns that are recorded, where no caller decides, in [0, 1]; secret: of
    digests, the same for all replicas.
    """

    receivers: Sequence[Receiver]
    service: str
    share: float
    secret: str = field(repr=False)


class Telemetry:
    """Begins the spans of turns."""

    def __init__(self, provider: TracerProvider, secret: str, translate: Translate) -> None:
        self._provider, self._secret, self._translate = provider, secret.encode(), translate
        self._tracer = provider.get_tracer("yingda")

    def begin_span(self, tenant: str, session: str, message: str, traceparent: str) -> TracedSpan:
        """Begins the span of a turn.

        message: the turn's id; session: its digest alone is told; traceparent: of the caller, empty for none, and
        ignored where it is not well-formed.
        """
        from opentelemetry.context import Context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        from app.telemetry.spans import RecordedSpan

        context = TraceContextTextMapPropagator().extract({"traceparent": traceparent}, Context())
        attributes: dict[str, Value] = {"yingda.tenant": tenant, "yingda.turn": message}
        if session:
            attributes["session.id"] = self.hash_id(tenant, session)
        return RecordedSpan.start_span(self._tracer, "turn", context, attributes, self._translate)

    def hash_id(self, *parts: str) -> str:
        """Returns a digest of an id that a customer may have chosen: equal ids stay equal, and nobody can guess them
        back.
        """
        return hmac.new(self._secret, "\0".join(parts).encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:16]

    def flush(self) -> bool:
        """Sends what waits; blocks. Whether all of it went in time."""
        return self._provider.force_flush(int(EXPORT_SECONDS * 1000))


@asynccontextmanager
async def open_telemetry(
    options: TelemetryOptions, translate: Translate = lambda _: {}
) -> AsyncIterator[Telemetry | None]:
    """None where nothing is to be sent, and then nothing of OpenTelemetry is imported. At the end what waits is sent,
    for some seconds at most.
    """
    if not options.receivers:
        yield None
        return
    provider, exporters = await asyncio.to_thread(_build_provider, options)
    try:
        yield Telemetry(provider, options.secret, translate)
    finally:
        await asyncio.to_thread(_close, provider, exporters)


def _close(provider: TracerProvider, exporters: Sequence[OTLPSpanExporter]) -> None:
    """An exporter that is closed gives up at once, so that no receiver that is away holds up the end of the process."""
    provider.force_flush(int(EXPORT_SECONDS * 1000))
    for exporter in exporters:
        exporter.shutdown()  # type: ignore[no-untyped-call]
    provider.shutdown()


def _build_provider(options: TelemetryOptions) -> tuple[TracerProvider, Sequence[OTLPSpanExporter]]:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    from app import __version__

    resource = Resource({"service.name": options.service, "service.version": __version__})
    sampler = ParentBased(TraceIdRatioBased(options.share))
    provider = TracerProvider(sampler, resource, shutdown_on_exit=False)
    exporters = [
        OTLPSpanExporter(receiver.url, headers=dict(receiver.headers), timeout=EXPORT_SECONDS)
        for receiver in options.receivers
    ]
    for exporter in exporters:
        provider.add_span_processor(
            BatchSpanProcessor(exporter, max_queue_size=QUEUE, schedule_delay_millis=EVERY_SECONDS * 1000)
        )
    return provider, exporters


# See `Telemetry.begin_span`.
Turns = Callable[[str, str, str, str], TracedSpan]


def begin_nothing(tenant: str, session: str, message: str, traceparent: str) -> TracedSpan:
    """Begins a span that records nothing."""
    return NOTHING
