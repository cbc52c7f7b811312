"""Dates as map files write them, to the one form the catalogue keeps.

Each format has its own way to say when, and so have different versions of one program. All are
tried here, since a date that cannot be understood is no reason to refuse a map: it is left out.
What the language or country of the author decides (``02/09/2017``) is never guessed at.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

_EARLIEST: Final = datetime(1980, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_LONGEST: Final = 100
"""Characters of a date; JavaScript's, with the name of the time zone in brackets, have seventy."""

_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_JAVASCRIPT: Final = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d{4}) (\d\d:\d\d:\d\d) GMT([+-]\d{4})", re.ASCII
)
_MILLISECONDS: Final = re.compile(r"\d{12,13}", re.ASCII)


def moment(value: object) -> int | None:
    """Return the date ``value`` stands for in milliseconds since 1970-01-01 UTC.

    Understood are milliseconds since 1970 (a number or its digits), ISO 8601, the dates of mail
    and RSS (RFC 822), and those JavaScript writes. Without a time zone it is taken for UTC.
    ``None`` is returned for anything else, and for years no map can be from.
    """
    if isinstance(value, datetime):
        return _checked(value)
    if isinstance(value, int):
        value = str(value)
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        return None
    try:
        return _checked(_parsed(value.strip()))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _parsed(text: str) -> datetime:
    if _MILLISECONDS.fullmatch(text):
        return _EPOCH + int(text) * _MILLISECOND
    if found := _ISO.fullmatch(text):
        day, time, zone = found.groups("")
        return datetime.fromisoformat(f"{day}T{time or '00:00'}{zone}")
    if found := _JAVASCRIPT.match(text):
        month, day, year, time, zone = found.groups()
        text = f"{day} {month} {year} {time} {zone}"
    return parsedate_to_datetime(text)


def _checked(date: datetime) -> int | None:
    date = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    if not _EARLIEST <= date < _LATEST:
        return None
    return (date - _EPOCH) // _MILLISECOND
