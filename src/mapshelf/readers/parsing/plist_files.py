"""Parse untrusted Apple property lists, XML and binary, under limits.

The standard library parses both without limits: in a binary list, a few bytes can repeat a list of
a million entries in thousands of places. So XML lists are parsed with ``parse_xml``, and a binary
list is refused if two objects share bytes.
"""

import plistlib
import re
import struct
from datetime import datetime
from itertools import pairwise
from typing import Final
from xml.etree.ElementTree import Element
from xml.parsers.expat import ExpatError

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.xml_files import parse_xml

MAGIC: Final = b"bplist00"
_TRAILER: Final = struct.Struct(">6xBBQQQ")
_CONTAINERS: Final = {0xA: 1, 0xC: 1, 0xD: 2}
"""Types of objects that contain references → references per entry."""

_WHOLE_NUMBER: Final = 0x1
_LARGEST_NUMBER: Final = 4
"""Binary logarithm of the size of the largest number Apple writes; plistlib accepts 32 KiB."""

_NUMBER: Final = re.compile(r"[-+]?\d{1,38}(\.\d{0,40}(?:e[-+]?\d{1,3})?)?", re.ASCII)

# The exceptions that plistlib raises for invalid input.
_DAMAGE: Final = (
    plistlib.InvalidFileException,
    ExpatError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    struct.error,
)


def parse_plist(data: bytes, limits: Limits) -> object:
    """Return the content of a property list: dictionaries, lists, strings, numbers, dates, bytes.

    In a binary list, an object may occur in several places, even inside itself.

    Raises:
        BrokenFile: it is not a property list.
        TooLarge: it has too many objects or levels.
    """
    if not data.startswith(MAGIC):
        return _from_xml(parse_xml(decode(data), limits, doctype="plist"))
    try:
        _check(data, limits)
        value: object = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
    except _DAMAGE as error:
        raise BrokenFile("its property list is damaged") from error
    except RecursionError:
        raise TooLarge("its property list is nested too deep") from None
    return value


# --- Binary ------------------------------------------------------------------------------------


def _check(data: bytes, limits: Limits) -> None:
    """Refuse lists for which plistlib would do more work than their size justifies.

    Raises:
        BrokenFile: objects share bytes, or a number is larger than property lists allow.
        TooLarge: there are too many objects.
        ValueError: the list is truncated.
    """
    offset_size, reference_size, count, _, table = _TRAILER.unpack(data[-_TRAILER.size :])
    if not 1 <= offset_size <= 8 or table + count * offset_size > len(data):
        raise ValueError("no offset table")
    if count > limits.elements:
        raise TooLarge(f"it has more than {limits.elements:,} objects")
    starts = sorted(
        int.from_bytes(data[place : place + offset_size], "big")
        for place in range(table, table + count * offset_size, offset_size)
    )
    for start, following in pairwise([*starts, table]):
        if start + _size(data, start, reference_size) > following:
            raise BrokenFile("its property list is damaged: its objects overlap")


def _size(data: bytes, start: int, reference_size: int) -> int:
    """Return the size of the object at ``start`` in bytes; scalars count as one."""
    kind, length = divmod(data[start], 16)
    if kind == _WHOLE_NUMBER and length > _LARGEST_NUMBER:
        raise BrokenFile("its property list is damaged: it has a number of over 128 bits")
    if kind not in _CONTAINERS:
        return 1
    header = 1
    if length == 0xF:
        width = 1 << (data[start + 1] & 0xF)
        length = int.from_bytes(data[start + 2 : start + 2 + width], "big")
        header = 2 + width
    return header + length * _CONTAINERS[kind] * reference_size


# --- XML ---------------------------------------------------------------------------------------


def _from_xml(document: Element) -> object:
    if document.tag != "plist" or len(document) == 0:
        raise BrokenFile("its property list is damaged")
    top: list[object] = []
    pending: list[tuple[Element, list[object] | dict[str, object], str]]
    pending = [(document[0], top, "")]
    while pending:
        element, holder, key = pending.pop()
        value = _value(element)
        if isinstance(holder, dict):
            holder[key] = value
        else:
            holder.append(value)
        if isinstance(value, list):
            pending.extend((child, value, "") for child in reversed(element))
        elif isinstance(value, dict):
            pairs = zip(element[::2], element[1::2], strict=False)
            pending.extend((child, value, name.text or "") for name, child in pairs)
    return top[0]


def _value(element: Element) -> object:
    if element.tag == "dict":
        return {}
    if element.tag == "array":
        return []
    text = element.text or ""
    if element.tag == "string":
        return text
    if element.tag == "date":
        return _date(text)
    if element.tag in {"integer", "real"}:
        return _number(text)
    return {"true": True, "false": False}.get(element.tag)


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    return float(text) if found[1] else int(text)


def _date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
