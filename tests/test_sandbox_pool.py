"""Children that work for a service give way to it."""

import os

import pytest

from mapshelf.sandbox.pool import ConfinedChild

pytestmark = pytest.mark.process


def test_a_child_has_a_lower_priority_than_its_parent() -> None:
    child = ConfinedChild(1 << 30, 64)
    try:
        priority = child.call(os.getpriority, (os.PRIO_PROCESS, 0), 30.0)
    finally:
        child.close()
    assert priority == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


def _complain() -> int:
    return os.write(2, b"memory allocation of 9 bytes failed\nstack backtrace:\n")


def test_nothing_that_a_child_prints_gets_into_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    child = ConfinedChild(1 << 30, 64)
    try:
        assert child.call(_complain, (), 30.0) > 0
    finally:
        child.close()
    assert "backtrace" not in "".join(capfd.readouterr())
