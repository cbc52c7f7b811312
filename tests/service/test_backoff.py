"""Work that fails is retried after growing delays, and each reason is logged once."""

import logging

import pytest

from mapshelf.service.backoff import FIRST_DELAY, LONGEST_DELAY, LoggedBackoff


@pytest.fixture(autouse=True)
def _heard(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def test_pauses_grow_and_a_reason_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    backoff = LoggedBackoff("building")
    pauses = [backoff.record_failure("the disk is full") for _ in range(10)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (FIRST_DELAY, LONGEST_DELAY)
    assert caplog.messages == ["building failed and will be retried: the disk is full"]


def test_alternating_reasons_are_logged_once_each(
    caplog: pytest.LogCaptureFixture,
) -> None:
    backoff = LoggedBackoff("building")
    for reason in ("a", "b", "a", "b"):
        backoff.record_failure(reason)
    assert len(caplog.messages) == 2


def test_success_resets_pauses_and_reasons(caplog: pytest.LogCaptureFixture) -> None:
    backoff = LoggedBackoff("building")
    backoff.record_success()
    assert not caplog.messages
    backoff.record_failure("a")
    backoff.record_failure("a")
    backoff.record_success()
    backoff.record_success()
    assert backoff.record_failure("a") == FIRST_DELAY
    assert caplog.messages == [
        "building failed and will be retried: a",
        "building works again",
        "building failed and will be retried: a",
    ]
