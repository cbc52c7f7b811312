"""``/metrics`` and ``mapshelf status`` include all workers of a node, also dead ones."""

import json
import os
import signal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.cli.process import Mapshelf, free_port, serving, status_of, wait_for
from tests.metrics.exposed import Exposed, parse
from tests.service.processes import descendants, workers

pytestmark = pytest.mark.process


def test_counts_of_all_workers_add_up_though_one_is_killed(
    samples: Mapshelf, tmp_path: Path
) -> None:
    mapshelf = samples.copied_to(tmp_path / "data")
    port = free_port()
    url = f"http://127.0.0.1:{port}/metrics"
    options = ("--metrics", f"127.0.0.1:{port}")
    with serving(mapshelf, *options, workers=2) as service:
        service.wait_until_ready()
        wait_for(lambda: status_of(url) == 200)
        for _ in range(20):
            service.get("/categories")
        wait_for(lambda: asked(metrics(url)) == 20)

        victim = workers(service.process.pid)[0]
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: victim not in descendants(service.process.pid))
        for _ in range(5):
            service.get("/categories")
        wait_for(lambda: asked(metrics(url)) == 25)

        assert status_of(service.url + "/metrics") == 404
        assert status_of(f"http://127.0.0.1:{port}/") == 404
        wait_for(lambda: status_shown(mapshelf)["requests"]["workers"] == 2)
        status = status_shown(mapshelf)
        assert status["serving"] is True
        assert status["requests"]["by_status"]["200"] >= 25
        assert status["snapshot"]["pending_changes"] == 0
        assert status["requests"]["operations"]["GET /categories"]["total"] == 25
        assert status["requests"]["operations"]["GET /categories"]["half_within_seconds"] < 1
        assert status["requests"]["rate_limited"] == {}
        assert status["requests"]["refused_connections"] == 0
        assert status["requests"]["memory_bytes"] > 2 * 10_000_000
        shown = mapshelf.run("status").stdout
        assert "running, 2 workers" in shown
        assert "GET /categories: 25, half within" in " ".join(shown.split())
        assert "MiB in workers" in shown
    assert status_shown(mapshelf)["serving"] is False


def test_status_says_what_is_missing(tmp_path: Path) -> None:
    done = Mapshelf(tmp_path / "nothing").run("status", expect=1)
    assert "not running" in done.stdout
    assert "unreachable" in done.stdout
    assert "the data folder does not exist" in done.stdout
    assert "free 0" not in done.stdout
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("address", ["9100", ":9100", "::1:9100", "127.0.0.1:0", "127.0.0.1:x"])
def test_malformed_metrics_addresses_are_refused(tmp_path: Path, address: str) -> None:
    done = Mapshelf(tmp_path).run("serve", "--metrics", address, expect=2)
    assert "--metrics" in done.stderr


def status_shown(mapshelf: Mapshelf) -> Any:
    return json.loads(mapshelf.run("status", "--json").stdout)


def metrics(url: str) -> Exposed:
    with urlopen(url, timeout=10) as answer:
        return parse(answer.read().decode())


def asked(found: Exposed) -> int:
    return int(found.value("requests_total", operation="GET /categories", status="200"))
