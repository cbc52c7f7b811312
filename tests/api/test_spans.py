"""With OpenTelemetry, each request has a span, without users, queries or other private data."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from tests.cli.process import Mapshelf
from tests.harness import Service, Shelf, shelf_with

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@contextmanager
def collector(monkeypatch: pytest.MonkeyPatch, status: int = 200) -> Iterator[list[bytes]]:
    """Run a collector that the environment names; yield the list of bodies that it receives."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield received
        server.shutdown()


def service(shelf: Shelf, *, trusted: str = "127.0.0.1") -> Service:
    settings = replace(shelf.settings, trusted_proxies=(ip_network(trusted),), opentelemetry=True)
    return Service(settings, shelf.token(), site_routes)


def spans_in(received: list[bytes]) -> list[dict[str, Any]]:
    """Return the spans with names, attributes, trace and parent, error and nanoseconds."""
    return [
        {
            "name": span.name,
            "trace": span.trace_id.hex(),
            "parent": span.parent_span_id.hex(),
            "error": span.status.code == span.status.STATUS_CODE_ERROR,
            "took": span.end_time_unix_nano - span.start_time_unix_nano,
            "ended": span.end_time_unix_nano,
        }
        | {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
        for body in received
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


@pytest.mark.slow
def test_each_request_has_a_span(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collector(monkeypatch) as received, shelf_with(tmp_path, MapDraft(title="Soil")) as shelf:
        began = time.time_ns()
        with service(shelf) as running:
            (listed,) = running.get("/maps", traceparent=f"00-{TRACE}-{PARENT}-01").json()
            running.get("/maps?query=zyxw", x_forwarded_for="203.0.113.9")
            running.get(f"/maps/{listed['ID']}")
            running.get("/nothing/zyxw")
            shelf.settings.draining.touch()
            running.get("/readyz")
        known = [TRACE, PARENT]
    spans = spans_in(received)
    assert [
        (one["name"], one.get("http.route"), one["http.response.status_code"]) for one in spans
    ] == [
        ("GET /maps", "/maps", 200),
        ("GET /maps", "/maps", 200),
        ("GET /maps/{id}", "/maps/{id}", 200),
        ("GET", None, 404),
        ("GET /readyz", "/readyz", 503),
    ]
    assert {one["http.request.method"] for one in spans} == {"GET"}
    assert [spans[0]["trace"], spans[0]["parent"]] == known
    assert len({one["trace"] for one in spans}) == 5
    assert [one["error"] for one in spans] == [False] * 4 + [True]
    assert all(one["took"] > 0 and began <= one["ended"] <= time.time_ns() for one in spans)
    everything = b"".join(received)
    for secret in ("zyxw", "203.0.113", "reader", listed["ID"], "Soil"):
        assert secret.encode() not in everything


@pytest.mark.slow
def test_cached_responses_have_spans_and_only_proxies_choose_traces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        collector(monkeypatch) as received,
        shelf_with(tmp_path, MapDraft(title="Soil")) as shelf,
        service(shelf, trusted="10.0.0.0/8") as running,
    ):
        for _ in range(3):
            running.get("/maps", traceparent=f"00-{TRACE}-{PARENT}-01")
    spans = spans_in(received)
    assert [one["name"] for one in spans] == ["GET /maps"] * 3
    assert TRACE not in {one["trace"] for one in spans}


@pytest.mark.slow
def test_an_unreachable_collector_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector(monkeypatch):
        pass  # nothing listens at its address any more
    with shelf_with(tmp_path, MapDraft(title="Soil")) as shelf, service(shelf) as running:
        assert running.get("/maps").status_code == 200


@pytest.mark.process
def test_without_the_packages_serve_says_what_to_install(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "opentelemetry"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("", "utf-8")
    ended = subprocess.run(
        Mapshelf(tmp_path / "data").command("serve", "--opentelemetry"),
        env={**os.environ, "PYTHONPATH": str(hidden.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert ended.stderr.count("\n") == 1
    assert "with its extra 'opentelemetry' (docs/operating.md, Traces)" in ended.stderr
