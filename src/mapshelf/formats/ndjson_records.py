"""Records: maps as NDJSON, to move a catalogue or to import one from another system.

A record is a JSON object with the keys of a Map (``docs/api.md``), ``Template``, ``Tags`` and
``Visibility``. All values are strings. Each key is one row of ``FIELDS``, which says how to read
and write it. The API uses the same texts.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from mapshelf.errors import InvalidRecord
from mapshelf.model import (
    LARGEST_COUNT,
    LARGEST_ID,
    Map,
    MapDraft,
    Visibility,
    format_tags,
    is_public_id,
    is_user_name,
    parse_tags,
)

LARGEST_SIZE: Final = 10**14 - 1
"""Largest size, in hundredths of a kilobyte."""

LONGEST_TEXT: Final = 1 << 18
"""Bytes of a value, in imports and exports."""

LONGEST_LINE: Final = 1 << 24
"""Bytes of a record: all values at their longest, with most characters escaped."""

_EPOCH: Final = datetime(1970, 1, 1)  # UTC throughout, but written without a zone
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?", re.ASCII)
_SIZE: Final = re.compile(r"\d{1,12}(\.\d{1,12})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a record.

    Attributes:
        key: as it is written.
        name: the attribute of ``MapDraft``, and of ``Map``.
        read: turns the text into the attribute; raises ``ValueError`` with what it must be.
        write: turns the attribute of a map into text.
        blank: whether an empty text says something ("none") rather than nothing.
    """

    key: str
    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    blank: bool = False


def parse_record(line: bytes) -> tuple[MapDraft, list[str]]:
    """Read one line; return the draft of a map, and the unknown keys.

    Raises:
        InvalidRecord: it is no record; the message says which key is wrong and why.
    """
    if len(line) > LONGEST_LINE:
        raise InvalidRecord(f"longer than {LONGEST_LINE} bytes")
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidRecord(f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InvalidRecord("not a JSON object")
    values = {}
    for field in FIELDS:
        text = record.pop(field.key, None)
        if text is not None:
            values[field.name] = _read(field, text)
    return MapDraft(**values), list(record)


def format_record(found: Map) -> bytes:
    """Return a map as one line.

    Addresses that Mapshelf generates are left out, so that the catalogue can move to another base
    URL. So are ``Tags`` if there are none, and ``Visibility`` of a published map.
    """
    record = {field.key: field.write(getattr(found, field.name)) for field in FIELDS}
    return orjson.dumps({key: text for key, text in record.items() if text or key not in _OPTIONAL})


def format_date(milliseconds: int) -> str:
    """Return a time as ``YYYY-MM-DD HH:MM:SS.mmm`` in UTC."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(" ", "milliseconds")


def format_size(hundredths: int | None) -> str:
    """Return a size in kilobytes with two decimals, empty if unknown."""
    return "" if hundredths is None else f"{hundredths // 100}.{hundredths % 100:02d}"


def format_id(number: int | None) -> str:
    """Return an id as text, empty if unknown."""
    return "" if number is None else str(number)


def size_of(count: int) -> int:
    """Return a number of bytes in hundredths of a kilobyte, rounded to the nearest."""
    return (count * 100 + 512) // 1024


def _read(field: Field, text: object) -> Any:
    if not isinstance(text, str):
        raise InvalidRecord(f"{field.key} must be a string")
    if len(text.encode()) > LONGEST_TEXT:
        raise InvalidRecord(f"{field.key} is longer than {LONGEST_TEXT} bytes")
    if "\0" in text:
        raise InvalidRecord(f"{field.key} holds a NUL character")
    if not text and not field.blank:
        return None
    try:
        return field.read(text)
    except ValueError as error:
        raise InvalidRecord(f"{field.key} must be {error}") from error


def _number(most: int, least: int = 0) -> Callable[[str], int]:
    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) <= 19 and least <= int(text) <= most:
            return int(text)
        raise ValueError(f"a whole number from {least} to {most}, not {text[:40]!r}")

    return read


def _public_id(text: str) -> str:
    if not is_public_id(text):
        raise ValueError(f"up to 32 letters and digits, not {text[:40]!r}")
    return text


def _date(text: str) -> int:
    problem = f"a time like 2024-01-31 23:59:59.000, not {text[:40]!r}"
    if not _DATE.fullmatch(text):
        raise ValueError(problem)
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
    except ValueError as error:
        raise ValueError(problem) from error


def _size(text: str) -> int:
    if not _SIZE.fullmatch(text):
        raise ValueError(f"a decimal number of kilobytes, not {text[:40]!r}")
    hundredths = int((Decimal(text) * 100).to_integral_value(ROUND_HALF_UP))
    if hundredths > LARGEST_SIZE:
        raise ValueError(f"at most {format_size(LARGEST_SIZE)}, not {text[:40]!r}")
    return hundredths


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc or not text.isprintable():
        raise ValueError(f"an absolute http or https address, not {text[:80]!r}")
    return text


def _owner(text: str) -> str:
    if not is_user_name(text):
        raise ValueError(f"a username of one printable line, not {text[:40]!r}")
    return text


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"true or false, not {text[:40]!r}")
    return text == "true"


def _visibility(text: str) -> Visibility:
    if text not in (Visibility.PUBLISHED, Visibility.UNLISTED, Visibility.PRIVATE):
        raise ValueError(f"published, unlisted or private, not {text[:40]!r}")
    return Visibility(text)


def _unpublished(visibility: Visibility) -> str:
    return "" if visibility is Visibility.PUBLISHED else visibility.value


def _optional(text: str | None) -> str:
    return text or ""


FIELDS: Final = (
    Field("File_ID", "file_id", _number(LARGEST_ID, least=1)),
    Field("ID", "id", _public_id),
    Field("Title", "title", str, blank=True),
    Field("Description", "description", str, blank=True),
    Field("ThumbsUp", "thumbs_up", _number(LARGEST_COUNT)),
    Field("ThumbsDown", "thumbs_down", _number(LARGEST_COUNT)),
    Field("Views", "views", _number(LARGEST_COUNT)),
    Field("Downloads", "downloads", _number(LARGEST_COUNT)),
    Field("Thumbnail", "thumbnail", _address, _optional),
    Field("URL", "url", _address, _optional),
    Field("Category", "category", str),
    Field("CategoryID", "category_id", _number(LARGEST_ID)),
    Field("DateAdded", "date_added", _date, format_date),
    Field("Owner", "owner", _owner),
    Field("Size", "size", _size, format_size),
    Field("Copyright", "copyright", str, blank=True),
    Field("LicenceTypeID", "licence_type_id", _number(LARGEST_ID), format_id),
    Field("Software", "software", str, blank=True),
    Field("Template", "template", _flag, lambda template: str(template).lower()),
    Field("Tags", "tags", parse_tags, format_tags, blank=True),
    Field("Visibility", "visibility", _visibility, _unpublished),
)

_OPTIONAL: Final = ("Thumbnail", "URL", "Tags", "Visibility")
