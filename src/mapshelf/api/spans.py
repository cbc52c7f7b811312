"""Spans of requests for OpenTelemetry, if the operator asks for them.

A span says of one request what ``/metrics`` says of all: method, route, status, and how long it
took. There is no address, no name and no query in it. It belongs to the trace that a trusted proxy
began, if there is one.

Where spans go, and how many of them, is told by OpenTelemetry's own environment variables
(``docs/operating.md``). Its packages are an extra: whoever imports this module needs them, and
nobody does unless spans are wanted. A span is made once the request has been answered, and a thread
sends it: a collector that is slow or away delays nobody.
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

METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
"""Methods that are named. A client may send any other word."""

NAME: Final = "mapshelf"
SECOND: Final = 1_000_000_000
"""In nanoseconds, as spans have their times."""

LONGEST_END: Final = 3.0
"""Seconds to send what is left when the service stops. A collector may be away."""


class Spans:
    """Makes the spans of one worker."""

    def __init__(self) -> None:
        """Send spans to where the environment says."""
        named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: NAME}
        self._provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        self._exporter = OTLPSpanExporter()
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer(NAME)
        self._parent_of = TraceContextTextMapPropagator().extract

    def note(
        self, method: str, route: str, status: int, seconds: float, traceparent: bytes
    ) -> None:
        """Make the span of a request that has been answered just now.

        Args:
            method: as the client sent it.
            route: the pattern of the path, empty if the request is for none.
            status: of the response.
            seconds: how long it took.
            traceparent: the header of that name of a trusted proxy, or nothing.
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
            start_time=ended - round(seconds * SECOND),
        )
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def close(self) -> None:
        """Send what is left, unless that takes long."""
        giving_up = Timer(LONGEST_END, self._exporter.shutdown)
        giving_up.start()
        self._provider.shutdown()
        giving_up.cancel()
