"""Spans as OpenTelemetry records them, with nothing in them that customers or documents brought."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id, set_span_in_context

from knowledge.tracing import TracedSpan, Value, enter_span

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

# All that a span may tell: figures, kinds and names of ours. What is not here is left out, whoever sets it.
ALLOWED = frozenset(
    {
        "error.type",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "session.id",
        "yingda.agent",
        "yingda.cached",
        "yingda.candidates",
        "yingda.confidence",
        "yingda.cost",
        "yingda.degraded",
        "yingda.first_token_ms",
        "yingda.intent",
        "yingda.outcome",
        "yingda.prompt.name",
        "yingda.prompt.version",
        "yingda.requests",
        "yingda.revision",
        "yingda.tenant",
        "yingda.turn",
        "yingda.verdict",
    }
)
MAX_CHARS = 128
# Somebody went away; nothing failed.
_LEFT = GeneratorExit, asyncio.CancelledError

# Attributes in the words of who reads them, besides ours.
Translate = Callable[[Mapping[str, Value]], Mapping[str, Value]]


class RecordedSpan:
    """See `TracedSpan`."""

    __slots__ = ("_entered", "_span", "_tracer", "_translate")

    def __init__(self, tracer: Tracer, span: Span, translate: Translate) -> None:
        self._tracer, self._span, self._translate = tracer, span, translate
        self._entered: AbstractContextManager[None] | None = None

    @classmethod
    def start_span(
        cls,
        tracer: Tracer,
        name: str,
        context: Context,
        attributes: Mapping[str, Value],
        translate: Translate,
    ) -> RecordedSpan:
        """One whose beginning is now. context: of its parent."""
        kind = SpanKind.CLIENT if "gen_ai.operation.name" in attributes else SpanKind.INTERNAL
        span = cls(tracer, tracer.start_span(name, context, kind), translate)
        span.set_attributes(attributes)
        return span

    def __enter__(self) -> TracedSpan:
        self._entered = enter_span(self)
        self._entered.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        assert self._entered is not None
        self._entered.__exit__(None, None, None)
        self.end(error)

    def start_child(self, name: str, attributes: Mapping[str, Value] | None = None) -> TracedSpan:
        """See `TracedSpan.start_child`."""
        if not self._span.is_recording():  # over already, or not to be recorded, and so is all of it
            return RecordedSpan(self._tracer, self._span, self._translate)
        context = set_span_in_context(self._span)
        return RecordedSpan.start_span(self._tracer, name, context, attributes or {}, self._translate)

    def enter(self) -> AbstractContextManager[object]:
        """See `TracedSpan.enter`."""
        return enter_span(self)

    def set_attributes(self, attributes: Mapping[str, Value]) -> None:
        """See `TracedSpan.set_attributes`."""
        told = {
            name: value[:MAX_CHARS] if isinstance(value, str) else value
            for name, value in attributes.items()
            if name in ALLOWED
        }
        if told:
            self._span.set_attributes({**told, **self._translate(told)})

    def end(self, error: BaseException | None = None) -> None:
        """See `TracedSpan.end`. Of an error its kind alone is told: its words may be a customer's."""
        if not self._span.is_recording():
            return
        if error is not None:
            self.set_attributes({"error.type": type(error).__name__})
            if not isinstance(error, _LEFT):
                self._span.set_status(StatusCode.ERROR)
        self._span.end()

    def build_headers(self) -> Mapping[str, str]:
        """See `TracedSpan.build_headers`. Without `tracestate`, in which a caller may have put anything."""
        here = self._span.get_span_context()
        trace, span = format_trace_id(here.trace_id), format_span_id(here.span_id)
        return {"traceparent": f"00-{trace}-{span}-{here.trace_flags:02x}"}
