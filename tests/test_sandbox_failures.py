"""Failed tasks are not retried at once, and only if the machine may have caused the failure."""

import pytest
from pebble import ProcessExpired

from mapshelf.errors import NotFound
from mapshelf.sandbox import failures as module
from mapshelf.sandbox.failures import TaskFailure, TaskFailures


def expired(signal: int) -> ProcessExpired:
    return ProcessExpired("Abnormal termination", code=-signal)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("error", [TimeoutError(), expired(9)])
def test_failures_of_the_machine_are_retried_after_a_while(error: Exception) -> None:
    clock = [0.0]
    failures = TaskFailures(120, lambda: clock[0])
    added = failures.add("key", error)
    assert (added.is_temporary, added.retry_after) == (True, 120)
    clock[0] = 100
    assert failures.get("key") == added._replace(retry_after=20)
    assert failures.get("other") is None
    clock[0] = 120
    assert failures.get("key") is None


@pytest.mark.parametrize("error", [MemoryError(), expired(27), NotFound("It is too large.")])
def test_failures_of_the_task_are_not_retried(error: Exception) -> None:
    clock = [0.0]
    failures = TaskFailures(120, lambda: clock[0])
    added = failures.add("key", error)
    clock[0] = 1e9
    assert failures.get("key") == added
    assert not added.is_temporary


def test_a_failure_without_a_message_has_a_reason() -> None:
    failures = TaskFailures(120)
    assert failures.add("key", MemoryError()).reason == "MemoryError"
    assert failures.add("key", NotFound("It is too large.")).reason == "It is too large."


def test_the_number_of_remembered_failures_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FAILURES", 2)
    failures = TaskFailures(120)
    for key in ("a", "b", "c"):
        failures.add(key, MemoryError())
    found = [failures.get(key) for key in ("a", "b", "c")]
    assert found == [None, None, TaskFailure("MemoryError", float("inf"))]
