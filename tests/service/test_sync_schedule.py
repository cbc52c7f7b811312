"""Folders are synchronized soon after a change, and never take all of a processor."""

from typing import Final

import pytest

from mapshelf.service.sync_schedule import LONGEST_INTERVAL, LONGEST_PAUSE, SyncSchedule

NOW: Final = 1000.0


def synced(took: float, *, again_soon: bool = False) -> SyncSchedule:
    """Return a schedule after the first synchronization, which ended ``NOW``."""
    schedule = SyncSchedule()
    assert schedule.is_due(NOW - took)
    schedule.note_sync(NOW - took, NOW, again_soon=again_soon)
    return schedule


def due_at(schedule: SyncSchedule) -> float:
    """Return how many seconds after ``NOW`` the schedule is due, in tenths."""
    return next(tenth / 10 for tenth in range(10_000) if schedule.is_due(NOW + tenth / 10))


@pytest.mark.parametrize(
    ("took", "expected"), [(0.01, 30), (1.5, 30), (2.5, 50), (24, LONGEST_INTERVAL)]
)
def test_large_folders_are_looked_at_less_often_while_nothing_changes(
    took: float, expected: float
) -> None:
    assert due_at(synced(took)) == expected


@pytest.mark.parametrize(("took", "expected"), [(0.0, 0), (2.5, 2.5), (600, LONGEST_PAUSE)])
def test_changes_wait_as_long_as_the_last_synchronization_took(
    took: float, expected: float
) -> None:
    schedule = synced(took)
    schedule.note_change()
    assert due_at(schedule) == expected
    schedule.note_sync(NOW + 10, NOW + 10, again_soon=False)
    assert due_at(schedule) == 40, "each change counts once"


def test_files_that_are_being_written_are_looked_at_again_soon() -> None:
    assert due_at(synced(0.1, again_soon=True)) == 1


def test_a_failure_is_tried_again_after_its_pause() -> None:
    schedule = SyncSchedule()
    schedule.note_change()
    schedule.note_failure(NOW, 7.0)
    assert due_at(schedule) == 7
    schedule.note_change()
    assert due_at(schedule) == 7
