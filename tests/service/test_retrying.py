"""What fails again and again is tried more seldom, and told of once."""

import logging

import pytest

from mapshelf.service.retrying import LONGEST, SHORTEST, Retrying


@pytest.fixture(autouse=True)
def _heard(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def test_pauses_grow_and_a_reason_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    retrying = Retrying("building")
    pauses = [retrying.failed("the disk is full") for _ in range(10)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (SHORTEST, LONGEST)
    assert caplog.messages == ["building goes on later: the disk is full"]


def test_another_reason_is_told_once_too_however_they_take_turns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    retrying = Retrying("building")
    for reason in ("a", "b", "a", "b"):
        retrying.failed(reason)
    assert len(caplog.messages) == 2


def test_what_works_again_begins_anew(caplog: pytest.LogCaptureFixture) -> None:
    retrying = Retrying("building")
    retrying.worked()
    assert not caplog.messages
    retrying.failed("a")
    retrying.failed("a")
    retrying.worked()
    retrying.worked()
    assert retrying.failed("a") == SHORTEST
    assert caplog.messages == [
        "building goes on later: a",
        "building goes on",
        "building goes on later: a",
    ]
