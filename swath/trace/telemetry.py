"""OpenTelemetry: a listener that turns events into spans, switched on by the standard environment variables only.

Spans: one for the question, in it one for each step of the graph, in those the calls of tools and models. Names and
attributes of the latter two follow the semantic conventions for generative AI. No pixels, no keys and no prompts are
sent; words that people typed only where `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is true.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from swath.trace.events import QUESTION, Event, Listener, nobody

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Span
    from opentelemetry.trace import Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
WORDS = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
LONGEST_VALUE = 1_000
"""Letters of one attribute."""

MISSING = (
    "OpenTelemetry is asked for by the environment ({variable}), but its packages are not installed, so no spans are "
    "sent. Next: pip install 'swath[telemetry]'."
)


def asked_for(environment: Mapping[str, str] = os.environ) -> str | None:
    """The variable that asks for spans to be sent, None where nothing does."""
    exporters = environment.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower()
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or exporters == "none":
        return None
    return next((name for name in ENDPOINTS if environment.get(name, "").strip()), None)


def spans() -> Listener:
    """A listener for one question at a time, `nobody` unless the environment asks for spans."""
    variable = asked_for()
    tracer = None if variable is None else _tracer(variable)
    return nobody if tracer is None else _Spans(tracer)


@lru_cache(maxsize=1)
def _tracer(variable: str) -> Tracer | None:
    """The application's own tracer where it has set one up, else one that sends to the address of the environment."""
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        logging.getLogger("swath").warning(MISSING.format(variable=variable))
        return None
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "swath"}
        provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        atexit.register(provider.shutdown)
    return provider.get_tracer("swath")


class _Spans:
    """Turns events into spans: what has begun lies on a stack until its end comes."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._open: list[tuple[str, Span]] = []
        self._words = os.environ.get(WORDS, "").strip().lower() == "true"

    def __call__(self, event: Event) -> None:
        """Begin, end or add a span."""
        if event.kind == "begin":
            self._open.append((event.name, self._span(f"swath {event.name}", event, time.time_ns())))
        elif event.kind == "end":
            self._close(event)
        elif event.kind in ("tool", "model"):
            started = time.time_ns() - round(event.seconds * 1e9)
            name = f"execute_tool {event.name}" if event.kind == "tool" else f"chat {event.name}"
            _end(self._span(name, event, started), event, self._described(event))

    def _close(self, event: Event) -> None:
        """End what has begun under a name, and what was cut short in it."""
        while self._open:
            name, span = self._open.pop()
            _end(span, event, self._described(event) if name == event.name else {})
            if name == event.name:
                return

    def _span(self, name: str, event: Event, started: int) -> Span:
        from opentelemetry.trace import SpanKind, set_span_in_context

        inside = set_span_in_context(self._open[-1][1]) if self._open else None
        kind = SpanKind.CLIENT if event.kind == "model" else SpanKind.INTERNAL
        span: Any = self._tracer.start_span(name, inside, kind=kind, start_time=started)
        span.set_attributes(_plain(self._described(event)))
        return span  # type: ignore[no-any-return]  # the package of an extra is untyped here

    def _described(self, event: Event) -> dict[str, Any]:
        detail = event.detail
        if event.kind == "tool":
            return _of_tool(event)
        if event.kind == "model":
            return _of_model(event)
        if event.name == QUESTION:
            typed = ("question", "text") if self._words else ()
            names = ("image", "planner", "status", "kind", "unit", "answer", *typed)
            return {f"swath.{name}": detail.get(name) for name in names}
        return {"swath.step": event.name, "swath.status": detail.get("status")}


def _of_tool(event: Event) -> dict[str, Any]:
    detail = event.detail
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": json.dumps(detail.get("arguments"), default=str),
        "gen_ai.tool.call.result": json.dumps(detail.get("result"), default=str),
        "code.line.number": detail.get("line"),
        "swath.cached": detail.get("cached"),
    }


def _of_model(event: Event) -> dict[str, Any]:
    detail = event.detail
    server = urlsplit(f"//{detail.get('host') or ''}")
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai" if detail.get("host") == "api.openai.com" else "_OTHER",
        "gen_ai.request.model": event.name,
        "gen_ai.usage.input_tokens": detail.get("tokens_in"),
        "gen_ai.usage.cache_read.input_tokens": detail.get("tokens_cached"),
        "gen_ai.usage.output_tokens": detail.get("tokens_out"),
        "server.address": server.hostname,
        "server.port": server.port,
        "swath.purpose": detail.get("purpose"),
        "swath.tries": detail.get("tries"),
        "swath.cost_usd": detail.get("cost"),
    }


def _end(span: Span, event: Event, described: Mapping[str, Any]) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attributes(_plain(described))
    if event.detail.get("error"):
        span.set_status(Status(StatusCode.ERROR, str(event.detail["error"])[:LONGEST_VALUE]))
    span.end()


def _plain(described: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as OpenTelemetry takes them: what is known, short, of a plain type."""
    return {
        name: value if isinstance(value, bool | int | float) else str(value)[:LONGEST_VALUE]
        for name, value in described.items()
        if value is not None
    }
