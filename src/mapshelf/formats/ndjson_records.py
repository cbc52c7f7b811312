"""Parse and format map records as NDJSON, for moving a catalogue or importing one.

A record is a JSON object with the keys of a Map (``docs/api.md``), ``Template``, ``Tags`` and
``Visibility``. All values are strings. Each key is one row of ``FIELDS``, which defines how to
parse and format it. The API uses the same representation.
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
"""Maximum size, in hundredths of a kilobyte."""

LONGEST_TEXT: Final = 1 << 18
"""Maximum length of a value in imports and exports, in bytes."""

LONGEST_LINE: Final = 1 << 24
"""Maximum length of a record in bytes: all values at their longest, with most characters escaped.
"""

_EPOCH: Final = datetime(1970, 1, 1)  # always UTC, but written without a time zone
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?", re.ASCII)
_SIZE: Final = re.compile(r"\d{1,12}(\.\d{1,12})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a record.

    Attributes:
        key: the key in a record.
        name: the attribute of ``MapDraft``, and of ``Map``.
        read: parses the text; raises ``ValueError`` with the rule for valid values.
        write: formats the attribute of a map.
        blank: whether an empty text is a value, which clears the field; otherwise it is ignored.
    """

    key: str
    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    blank: bool = False


def parse_record(line: bytes) -> tuple[MapDraft, list[str]]:
    """Parse one line; return the draft of a map, and the unknown keys.

    Raises:
        InvalidRecord: it is not a valid record; the message names the key and the reason.
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
    """Format a map as one line.

    URLs that Mapshelf generates are omitted, so that the catalogue can move to another base URL.
    Empty ``Tags`` and the ``Visibility`` of a published map are omitted as well.
    """
    record = {field.key: field.write(getattr(found, field.name)) for field in FIELDS}
    return orjson.dumps({key: text for key, text in record.items() if text or key not in _OPTIONAL})


def format_date(milliseconds: int) -> str:
    """Format a time as ``YYYY-MM-DD HH:MM:SS.mmm`` in UTC."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(" ", "milliseconds")


def format_size(hundredths: int | None) -> str:
    """Format a size in kilobytes with two decimals, empty if unknown."""
    return "" if hundredths is None else f"{hundredths // 100}.{hundredths % 100:02d}"


def format_id(number: int | None) -> str:
    """Format an id, empty if unknown."""
    return "" if number is None else str(number)


def size_of(count: int) -> int:
    """Convert bytes to hundredths of a kilobyte, rounded to the nearest."""
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


LARGEST_FILE_ID: Final = LARGEST_ID // 2
"""The largest ``File_ID`` of a record. New maps get higher ones, so it must leave some."""

FIELDS: Final = (
    Field("File_ID", "file_id", _number(LARGEST_FILE_ID, least=1)),
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
