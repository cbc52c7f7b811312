"""Request IDs and traces of a trusted proxy are used; those of anybody else are not."""

import logging
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest

from mapshelf.api.access_log import LOGGER
from mapshelf.model import MapDraft
from mapshelf.settings import Settings
from mapshelf.site import site_routes
from tests.harness import Service, Shelf, shelf_with

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def service(shelf: Shelf, *, trusted: str = "127.0.0.1", access_log: bool = False) -> Service:
    settings: Settings = replace(
        shelf.settings, trusted_proxies=(ip_network(trusted),), access_log=access_log
    )
    return Service(settings, shelf.token(), site_routes)


def test_request_ids_of_a_trusted_proxy_are_in_response_and_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with shelf_with(tmp_path) as shelf, service(shelf) as running:
        shelf.settings.draining.touch()
        with caplog.at_level(logging.INFO, "mapshelf"):
            answer = running.get("/readyz", x_request_id="edge-17", traceparent=TRACEPARENT)
        (record,) = (one for one in caplog.records if one.name == "mapshelf.api.errors")
    assert answer.headers["x-request-id"] == "edge-17"
    assert answer.headers["traceparent"] == TRACEPARENT
    assert record.__dict__["facts"] == {
        "request_id": "edge-17",
        "trace_id": TRACEPARENT.split("-")[1],
    }
    assert "edge-17" in record.getMessage()


def test_untrusted_or_malformed_request_ids_are_ignored(tmp_path: Path) -> None:
    with shelf_with(tmp_path) as shelf:
        with service(shelf, trusted="10.0.0.0/8") as running:
            answer = running.get("/healthz", x_request_id="edge-17", traceparent=TRACEPARENT)
            assert answer.headers["x-request-id"] != "edge-17"
            assert "traceparent" not in answer.headers
        with service(shelf) as running:
            for request_id in ("", "a b", 'a"b', "x" * 129, "a,b"):
                answer = running.get("/healthz", x_request_id=request_id)
                assert answer.headers["x-request-id"] != request_id
            for wrong in (
                TRACEPARENT.upper(),
                TRACEPARENT + "-00",
                "ff" + TRACEPARENT[2:],
                TRACEPARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32),
                TRACEPARENT.replace("00f067aa0ba902b7", "0" * 16),
            ):
                answer = running.get("/healthz", traceparent=wrong)
                assert "traceparent" not in answer.headers


def test_the_access_log_has_each_request_without_secrets_and_queries(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with shelf_with(tmp_path, MapDraft(title="Soil")) as shelf:
        with (
            caplog.at_level(logging.INFO, LOGGER),
            service(shelf, access_log=True) as running,
        ):
            listed = running.get("/maps?query=zyxw", x_forwarded_for="203.0.113.9")
            running.get("/feeds/msf_zyxw.atom")
            running.get("/link/msl_zyxw%0Ax%20y")
        lines = [record.getMessage() for record in caplog.records if record.name == LOGGER]
        facts = next(one.__dict__["facts"] for one in caplog.records if one.name == LOGGER)
    assert len(lines) == 3
    assert lines[0].startswith(f"203.0.113.9 GET /maps 200 {len(listed.content)} 0.")
    assert lines[0].endswith(listed.headers["x-request-id"])
    assert (facts["path"], facts["status"]) == ("/maps", 200)
    assert " GET /feeds/msf_....atom 4" in lines[1]
    assert " GET /link/msl_...%0Ax%20y 4" in lines[2]
    assert "zyxw" not in repr(caplog.records) + "".join(lines)
