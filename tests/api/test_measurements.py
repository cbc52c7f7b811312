"""Metrics count every request once, under the name of its operation."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mapshelf.backup_status import BackupStatusFile
from mapshelf.errors import ClientDisconnected
from mapshelf.metrics.exposition import expose
from mapshelf.metrics.overview import DiskUse, StoreState, ask, look
from mapshelf.metrics.watcher import Watcher
from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from tests.harness import serve, shelf_with
from tests.metrics.exposed import Exposed, parse

DOCS = Path(__file__).parents[2] / "docs"


def test_requests_are_counted_by_operation_status_and_error(tmp_path: Path) -> None:
    with shelf_with(tmp_path, MapDraft(id="soil0001", title="Soil")) as shelf:
        with serve(shelf, site_routes) as service:
            for _ in range(3):
                service.get("/maps?query=zyxw")
            service.request("HEAD", "/maps")
            service.get("/maps?limit=zyxw")
            service.request("GET", "/maps", signed=False)
            service.get("/maps/soil0001", accept_encoding="identity")
            service.get("/maps/zyxw0000")
            service.get("/zyxw")
            service.request("OPTIONS", "/maps")
            service.request("DELETE", "/maps")
        found = exposed(shelf.settings.data, ask(shelf.store))
    assert requests(found, "GET /maps") == {"200": 4, "400": 1, "401": 1}
    assert requests(found, "GET /maps/{id}") == {"200": 1, "404": 1}
    assert requests(found, "other") == {"404": 1, "204": 1, "405": 1}
    assert found.value("request_duration_seconds_count", operation="GET /maps") == 6
    assert found.value("responses_total", **{"class": "4xx"}) == 5
    errors = ("InvalidParameter", "InvalidToken", "NotFound", "UnknownPath", "MethodNotAllowed")
    assert [found.value("errors_total", error=name) for name in errors] == [1] * 5
    assert found.value("queue_work_seconds_count", queue="searches") == 1
    assert found.value("token_lookup_seconds_count") >= 1
    assert found.value("snapshot_maps") == 1
    assert "zyxw" not in repr(found)


def test_a_client_that_hangs_up_is_not_a_server_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shelf_with(tmp_path) as shelf:
        with serve(shelf) as service:
            health = service.application.application.context.health

            def gone() -> None:
                raise ClientDisconnected("gone")

            monkeypatch.setattr(health, "alive", gone)
            service.get("/healthz")
        found = exposed(shelf.settings.data, None)
    assert requests(found, "GET /healthz") == {"499": 1}
    assert found.value("responses_total", **{"class": "5xx"}) == 0
    assert found.value("store_up") == 0


def test_a_clock_that_differs_from_that_of_the_database_is_measured(tmp_path: Path) -> None:
    with shelf_with(tmp_path, MapDraft(title="Soil")) as shelf:
        state = ask(shelf.store)
        data = shelf.settings.data
        assert exposed(data, state).value("clock_ahead_seconds") == 0
        state = replace(state, clock_difference=-7.5)
        assert exposed(data, state).value("clock_ahead_seconds") == -7.5


def test_the_docs_have_every_metric(tmp_path: Path) -> None:
    with shelf_with(tmp_path, MapDraft(title="Soil")) as shelf:
        with serve(shelf) as service:
            service.get("/maps")
        BackupStatusFile(shelf.settings.data).note_success(1)
        found = exposed(shelf.settings.data, ask(shelf.store))
    documented = set(
        re.findall(r"^\| `(mapshelf_\w+)`", (DOCS / "operating.md").read_text("utf-8"), re.M)
    )
    assert documented == set(found.types)
    for path in (DOCS / "monitoring").iterdir():
        used = set(re.findall(r"mapshelf_\w+", path.read_text("utf-8")))
        assert {re.sub("_(bucket|sum|count)$", "", name) for name in used} <= documented, path


def test_the_dashboard_shows_what_operators_watch() -> None:
    """Requests, latencies, errors, snapshot, queues, imports, store, sessions, limits, backups."""
    dashboard = json.loads((DOCS / "monitoring" / "grafana.json").read_text("utf-8"))
    panels = dashboard["panels"]
    shown = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"mapshelf_(\w+)", target["expr"])
    }
    assert shown >= {
        "requests_total",
        "request_duration_seconds_bucket",
        "errors_total",
        "snapshot_published_timestamp_seconds",
        "snapshot_bytes",
        "queue_waiting",
        "import_refusals",
        "store_seconds",
        "sessions",
        "rate_limited_total",
        "refused_connections_total",
        "backup_last_success_timestamp_seconds",
    }
    assert len({panel["id"] for panel in panels}) == len(panels)
    descriptions = [panel["description"] for panel in panels if panel["description"]]
    assert len(set(descriptions)) == len(descriptions), "two panels have the same description"


def test_metrics_do_not_wait_for_an_unreachable_store(tmp_path: Path) -> None:
    with shelf_with(tmp_path, MapDraft(title="Soil")) as shelf:
        watcher = Watcher(tmp_path, lambda: shelf.store)
        overview = watcher.overview()
        assert overview.store is not None
        assert (overview.pending, overview.store.figures.outdated) == (0, 0)
        assert watcher.overview() is overview
        shelf.store.close()
        assert Watcher(tmp_path, lambda: shelf.store).overview().store is None


def exposed(data: Path, store: StoreState | None) -> Exposed:
    return parse(expose(look(data, store, DiskUse(free_files=7))).decode())


def requests(found: Exposed, operation: str) -> dict[str, int]:
    return {
        dict(labels)["status"]: int(value)
        for (name, labels), value in found.samples.items()
        if name == "mapshelf_requests_total" and ("operation", operation) in labels
    }
