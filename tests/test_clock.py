"""The time of a process: that of its machine, or of a clock that it follows."""

import time
from dataclasses import dataclass

import pytest

from mapshelf import clock


@dataclass
class Machine:
    """The clocks of a machine.

    Attributes:
        shown: what its clock shows, in seconds.
        passed: seconds since its start.
    """

    shown: float = 1_000_000.0
    passed: float = 50.0

    def follow(self, theirs: float, took: float) -> None:
        """Read a clock, with an answer that takes so many seconds."""
        asked = clock.steady()
        self.passed += took
        clock.follow(round(theirs * 1e6), asked)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(clock, "_followed", clock.Followed())
    monkeypatch.setattr(time, "time_ns", lambda: round(machine.shown * 1e9))
    monkeypatch.setattr(time, "clock_gettime_ns", lambda _: round(machine.passed * 1e9))
    return machine


def test_the_clock_of_the_machine_shows_the_time(machine: Machine) -> None:
    assert clock.milliseconds() == clock.milliseconds_here() == 1_000_000_000
    machine.shown -= 90_000
    assert clock.milliseconds() == 910_000_000
    assert not clock.is_following()


def test_the_clock_that_is_followed_goes_on_whatever_the_machine_shows(machine: Machine) -> None:
    machine.follow(5000.0, took=0.0)
    assert clock.is_following()
    assert clock.milliseconds() == 5_000_000
    machine.shown = 1.0
    machine.passed += 60
    assert clock.milliseconds() == 5_060_000
    assert clock.milliseconds_here() == 1000


def test_a_slow_answer_makes_the_time_no_less_accurate(machine: Machine) -> None:
    machine.follow(5000.0, took=0.002)
    assert clock.milliseconds() == 5_000_001
    machine.follow(5000.4, took=0.8)
    assert clock.milliseconds() == 5_000_801
    machine.follow(5000.802, took=0.8)
    assert clock.milliseconds() == 5_001_601


def test_a_clock_that_is_set_is_followed(machine: Machine) -> None:
    for theirs in (5000.0, 4000.0, 9000.0):
        machine.follow(theirs, took=0.0)
        assert clock.milliseconds() == theirs * 1000
