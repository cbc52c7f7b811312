"""Parse the dates in map files, which come in half a dozen formats.

Date formats differ between programs, and between versions of one program, so all of them are tried
here. Invalid dates never raise, because a map is not refused for one. A date that is ambiguous
between countries (``02/09/2017``) is never guessed.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

_EARLIEST: Final = datetime(1980, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_LARGEST: Final = 10**13
_LONGEST: Final = 100
"""In characters; JavaScript dates, with the name of the time zone in brackets, have seventy."""

_DIGITS: Final = re.compile(r"[0-9]{9,13}")
_SECONDS: Final = 11  # numbers with more digits are milliseconds

_SLASHES: Final = re.compile(r"(\d{4})/(\d{2})/(\d{2})", re.ASCII)
_ISO: Final = re.compile(r"\d{4}-?\d\d", re.ASCII)
_FINE: Final = re.compile(r"(\.\d{6})\d+")
_JAVASCRIPT: Final = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d{4}) (\d\d:\d\d:\d\d) GMT([+-]\d{4})", re.ASCII
)


def milliseconds(value: object) -> int | None:
    """Return a date in milliseconds since 1970-01-01 UTC, ``None`` if ``value`` is not a date.

    Accepts ISO 8601 (also with a space instead of the ``T``, slashes instead of hyphens, or only
    digits), counts of seconds or milliseconds, the dates of mail and RSS (RFC 822), and those of
    JavaScript. A time without a zone counts as UTC. Years before 1980 and from 2200 are rejected.
    """
    if isinstance(value, datetime):
        return _checked(value)
    if isinstance(value, int):
        value = str(value) if 0 < value < _LARGEST else ""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    try:
        return _checked(_parsed(value.strip()))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _parsed(text: str) -> datetime:
    if _DIGITS.fullmatch(text):
        return _EPOCH + int(text) * _MILLISECOND * (1 if len(text) > _SECONDS else 1000)
    text = _SLASHES.sub(r"\1-\2-\3", text)
    if _ISO.match(text):
        return datetime.fromisoformat(_FINE.sub(r"\1", text))
    if found := _JAVASCRIPT.match(text):
        month, day, year, time, zone = found.groups()
        text = f"{day} {month} {year} {time} {zone}"
    return parsedate_to_datetime(text)


def _checked(date: datetime) -> int | None:
    date = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    if not _EARLIEST <= date < _LATEST:
        return None
    return (date - _EPOCH) // _MILLISECOND
