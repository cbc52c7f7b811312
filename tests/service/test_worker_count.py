"""How many workers and helpers start: no more than processors and memory allow."""

import os
from pathlib import Path

import pytest

from mapshelf.service.descriptors import MAX_CONNECTIONS
from mapshelf.service.web_server import BUFFER_SIZE
from mapshelf.service.worker_count import (
    MOST_HELPERS,
    WORKER_MEMORY,
    default_helpers,
    default_workers,
    own_control_group,
)

OF_WORKER = 120 << 20
"""Bytes that a worker takes without connections, about."""

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_unfinished_requests_fit_into_the_memory_of_a_worker() -> None:
    """One client could send so many headers without an end that the system killed the worker."""
    assert OF_WORKER + 2 * MAX_CONNECTIONS * BUFFER_SIZE <= WORKER_MEMORY


def test_without_limits_memory_and_processors_decide_the_worker_count(tmp_path: Path) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert default_workers(tmp_path) == max(1, min(PROCESSORS or 1, memory // WORKER_MEMORY))


@pytest.mark.parametrize(
    ("memory", "workers"),
    [("max", PROCESSORS), (f"{WORKER_MEMORY * 3 // 2}", 1), ("1000000", 1), ("", PROCESSORS)],
)
def test_container_memory_limits_workers(tmp_path: Path, memory: str, workers: int) -> None:
    (tmp_path / "memory.max").write_text(f"{memory}\n")
    assert default_workers(tmp_path) == min(workers, default_workers(tmp_path / "none"))


@pytest.mark.parametrize(
    ("limit", "most"), [("50000 100000", 1), ("100000 100000", 1), ("max 100000", PROCESSORS)]
)
def test_container_processor_time_limits_workers(tmp_path: Path, limit: str, most: int) -> None:
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert default_workers(tmp_path) == min(most, default_workers(tmp_path / "none"))


@pytest.mark.parametrize(
    ("tasks", "workers"), [("max", 16), ("8192", 16), ("512", 7), ("130", 1), ("20", 1)]
)
def test_a_limit_of_threads_and_processes_limits_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tasks: str, workers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(16), raising=False)
    monkeypatch.setattr(os, "sysconf", lambda _: 1 << 20)
    (tmp_path / "pids.max").write_text(f"{tasks}\n")
    assert default_workers(tmp_path) == workers


def test_the_limits_of_a_systemd_unit_are_those_of_its_own_group(tmp_path: Path) -> None:
    groups, own = tmp_path / "groups", tmp_path / "cgroup"
    unit = groups / "system.slice" / "mapshelf.service"
    unit.mkdir(parents=True)
    for content, found in (
        ("0::/system.slice/mapshelf.service\n", unit),
        ("8:pids:/elsewhere\n0::/system.slice/mapshelf.service\n", unit),
        ("0::/\n", groups),
        ("0::/not/shown/here\n", groups),
        ("8:pids:/system.slice\n", groups),
    ):
        own.write_text(content)
        assert own_control_group(groups, own) == found
    assert own_control_group(groups, tmp_path / "missing") == groups


def test_a_small_computer_gets_one_or_two_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4), raising=False)
    (tmp_path / "memory.max").write_text(str(920 << 20))
    assert default_workers(tmp_path) == 2


@pytest.mark.parametrize(("processors", "helpers"), [(1, 0), (2, 2), (3, 3), (64, MOST_HELPERS)])
def test_builds_use_helpers_on_several_processors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, processors: int, helpers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(processors), raising=False)
    monkeypatch.setattr(os, "sysconf", lambda _: 1 << 20)
    assert default_helpers(tmp_path) == helpers
    (tmp_path / "memory.max").write_text(str(WORKER_MEMORY))
    assert default_helpers(tmp_path) == 0
