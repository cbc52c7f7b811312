"""Parse the dates of tasks, to the day or the minute.

Unlike the dates of files (``readers.parsing.dates``), these are calendar dates that the author
entered: they are in the author's unknown time zone, and are never converted.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from mapshelf.readers.parsing.dates import milliseconds

_ISO: Final = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d:\d\d))?", re.ASCII)
_MIDNIGHT: Final = "00:00"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def task_date(text: str) -> str:
    """Return a date in the format of ``Task``: ``2026-01-31``, or ``2026-01-31T09:30``.

    Midnight counts as no time of day: programs write it if the author chose only a day.

    Args:
        text: ISO 8601, or a count of seconds or milliseconds since 1970-01-01 UTC; the result is
            empty for any other text.
    """
    text = text.strip()
    if found := _ISO.match(text):
        year, month, day, time = found.groups()
        return f"{year}-{month}-{day}" + (f"T{time}" if time and time != _MIDNIGHT else "")
    moment = milliseconds(text) if text.isdecimal() else None
    if moment is None:
        return ""
    return task_date((_EPOCH + timedelta(milliseconds=moment)).isoformat())
