"""Dates of tasks, which are in the time zone of the author."""

import pytest

from mapshelf.readers.parsing.task_dates import task_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", "2026-01-31"),
        (" 2026/01/31 09:30 ", "2026-01-31T09:30"),
        ("2026-01-31T09:30:15+05:00", "2026-01-31T09:30"),
        ("2026-01-31T00:00:00", "2026-01-31"),
        ("1769850000000", "2026-01-31T09:00"),
        ("1769850000", "2026-01-31T09:00"),
        *(("", ""), ("soon", ""), ("31.01.2026", ""), ("5", ""), ("9" * 40, "")),
    ],
)
def test_task_date(text: str, expected: str) -> None:
    assert task_date(text) == expected
