"""Records OpenTelemetry spans of requests, if the operator enables them.

A span has the same facts about one request as ``/metrics`` about all: method, route, status and
duration. It contains no address, name or query. If a trusted proxy started a trace, the span
belongs to it.

OpenTelemetry's own environment variables configure the exporter and the sampling
(``docs/operating.md``). Its packages are an optional extra, required only by this module, which is
imported only if spans are enabled. A span is created after the response, and sent in a thread, so a
slow or unreachable collector delays no request.
"""

import os
from threading import Timer
from time import time_ns
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from mapshelf.model.time_units import NANOSECONDS_PER_SECOND

METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
"""Methods to record. Clients may send any other word."""

NAME: Final = "mapshelf"

LONGEST_END: Final = 3.0
"""Seconds to send remaining spans at shutdown. The collector may be unreachable."""


class Spans:
    """Records the spans of one worker."""

    def __init__(self) -> None:
        """Set up the exporter from the environment."""
        named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: NAME}
        self._provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        self._exporter = OTLPSpanExporter()
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer(NAME)
        self._parent_of = TraceContextTextMapPropagator().extract

    def note(
        self, method: str, route: str, status: int, seconds: float, traceparent: bytes
    ) -> None:
        """Record the span of a request that has just been answered.

        Args:
            method: as sent by the client.
            route: the pattern of the path, empty if none matches.
            status: the status of the response.
            seconds: the duration.
            traceparent: the traceparent from a trusted proxy, empty if there is none.
        """
        ended = time_ns()
        known = method in METHODS
        attributes: dict[str, str | int] = {
            "http.request.method": method if known else "_OTHER",
            "http.response.status_code": status,
        }
        if route:
            attributes["http.route"] = route
        if status >= 500:
            attributes["error.type"] = str(status)
        span = self._tracer.start_span(
            f"{method if known else 'HTTP'} {route}".rstrip(),
            self._parent_of({"traceparent": traceparent.decode("ascii")}),
            SpanKind.SERVER,
            attributes,
            start_time=ended - round(seconds * NANOSECONDS_PER_SECOND),
        )
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def close(self) -> None:
        """Send the remaining spans, unless that takes too long."""
        giving_up = Timer(LONGEST_END, self._exporter.shutdown)
        giving_up.start()
        self._provider.shutdown()
        giving_up.cancel()
