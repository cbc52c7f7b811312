"""How many workers and helpers start: no more than processors and memory allow."""

import os
from pathlib import Path

import pytest

from mapshelf.descriptors import MAX_CONNECTIONS
from mapshelf.service.web_server import BUFFER_SIZE
from mapshelf.service.worker_count import (
    MOST_HELPERS,
    WORKER_MEMORY,
    default_helpers,
    default_workers,
    own_control_groups,
    warn_of_few_tasks,
)

OF_WORKER = 120 << 20
"""Bytes that a worker takes without connections, about."""

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_unfinished_requests_fit_into_the_memory_of_a_worker() -> None:
    """One client could send so many headers without an end that the system killed the worker."""
    assert OF_WORKER + 2 * MAX_CONNECTIONS * BUFFER_SIZE <= WORKER_MEMORY


def test_without_limits_memory_and_processors_decide_the_worker_count(tmp_path: Path) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert default_workers([tmp_path]) == max(1, min(PROCESSORS or 1, memory // WORKER_MEMORY))


@pytest.mark.parametrize(
    ("memory", "workers"),
    [("max", PROCESSORS), (f"{WORKER_MEMORY * 3 // 2}", 1), ("1000000", 1), ("", PROCESSORS)],
)
def test_container_memory_limits_workers(tmp_path: Path, memory: str, workers: int) -> None:
    (tmp_path / "memory.max").write_text(f"{memory}\n")
    assert default_workers([tmp_path]) == min(workers, default_workers([]))


@pytest.mark.parametrize(
    ("limit", "most"), [("50000 100000", 1), ("100000 100000", 1), ("max 100000", PROCESSORS)]
)
def test_container_processor_time_limits_workers(tmp_path: Path, limit: str, most: int) -> None:
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert default_workers([tmp_path]) == min(most, default_workers([]))


@pytest.mark.parametrize(
    ("tasks", "workers"), [("max", 16), ("8192", 16), ("512", 3), ("130", 1), ("20", 1)]
)
def test_a_limit_of_threads_and_processes_limits_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tasks: str, workers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(16), raising=False)
    monkeypatch.setattr(os, "sysconf", lambda _: 1 << 20)
    (tmp_path / "pids.max").write_text(f"{tasks}\n")
    assert default_workers([tmp_path]) == workers


def test_the_limits_of_a_systemd_unit_are_those_of_its_own_groups(tmp_path: Path) -> None:
    root, own = tmp_path / "groups", tmp_path / "cgroup"
    slices, pids = root / "system.slice", root / "pids"
    unit, old, both = slices / "mapshelf.service", pids / "a", root / "cpu,cpuacct"
    for folder in (unit, old, both):
        folder.mkdir(parents=True)
    for content, found in (
        ("0::/system.slice/mapshelf.service\n", [root, unit, slices]),
        ("8:pids:/a\n0::/system.slice/mapshelf.service\n", [root, old, pids, unit, slices]),
        ("4:cpu,cpuacct:/\n9:name=systemd:/x\n", [root, both]),
        ("0::/\n", [root]),
        ("0::/not/shown/here\n", [root]),
        ("8:pids:/docker/not-shown\n", [root, pids]),
    ):
        own.write_text(content)
        assert own_control_groups(root, own) == found
    assert own_control_groups(root, tmp_path / "missing") == [root]


@pytest.mark.parametrize(
    ("limits", "workers"),
    [
        ({"pids.max": "512"}, 3),
        ({"memory.limit_in_bytes": str(3 * WORKER_MEMORY)}, 3),
        ({"memory.limit_in_bytes": "9223372036854771712"}, 16),
        ({"cpu.cfs_quota_us": "150000", "cpu.cfs_period_us": "100000"}, 2),
        ({"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, 16),
    ],
)
def test_the_lowest_limit_of_all_groups_applies_also_in_version_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limits: dict[str, str], workers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(16), raising=False)
    monkeypatch.setattr(os, "sysconf", lambda _: 1 << 20)
    other = tmp_path / "other"
    other.mkdir()
    (other / "pids.max").write_text("max\n")
    for name, limit in limits.items():
        (tmp_path / name).write_text(f"{limit}\n")
    assert default_workers([other, tmp_path]) == workers


@pytest.mark.parametrize(
    "limits",
    [
        {"cpu.max": "50000"},
        {"cpu.max": "50000 0"},
        {"cpu.max": "x y"},
        {"cpu.cfs_quota_us": "50000"},
        {"pids.max": "-1", "memory.max": "", "memory.limit_in_bytes": "x"},
        {"pids.max": "\xb2"},
        {"pids.max": "\xc2\xb2", "memory.max": "9" * 5000},
    ],
)
def test_limits_that_cannot_be_read_are_ignored(tmp_path: Path, limits: dict[str, str]) -> None:
    for name, limit in limits.items():
        (tmp_path / name).write_text(f"{limit}\n", "latin-1")
    assert default_workers([tmp_path]) == default_workers([])


def test_a_group_may_have_any_name(tmp_path: Path) -> None:
    root, own = tmp_path / "groups", tmp_path / "cgroup"
    group = Path(os.fsdecode(os.fsencode(root) + b"/\xc3\xbc\xff"))
    group.mkdir(parents=True)
    own.write_bytes(b"0::/\xc3\xbc\xff\n3:garbage\n\n")
    assert own_control_groups(root, own) == [root, group]


def test_too_few_tasks_for_the_workers_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "pids.max").write_text("128\n")
    warn_of_few_tasks(1, [tmp_path])
    warn_of_few_tasks(4, [])
    assert not caplog.messages
    warn_of_few_tasks(4, [tmp_path])
    (message,) = caplog.messages
    assert message.startswith("4 workers may need 512 threads and processes")


def test_a_small_computer_gets_one_or_two_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4), raising=False)
    (tmp_path / "memory.max").write_text(str(920 << 20))
    assert default_workers([tmp_path]) == 2


@pytest.mark.parametrize(("processors", "helpers"), [(1, 0), (2, 2), (3, 3), (64, MOST_HELPERS)])
def test_builds_use_helpers_on_several_processors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, processors: int, helpers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(processors), raising=False)
    monkeypatch.setattr(os, "sysconf", lambda _: 1 << 20)
    assert default_helpers([tmp_path]) == helpers
    (tmp_path / "memory.max").write_text(str(WORKER_MEMORY))
    assert default_helpers([tmp_path]) == 0
