"""Parse untrusted JSON with the standard parser, under limits.

orjson is faster, but rejects what real maps contain: raw control characters, lone surrogates,
numbers beyond 64 bits. ``json`` accepts them. This module limits size and depth, and does not
convert numbers of thousands of digits to ``int``.
"""

import json

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.readers.parsing.limits import Limits


def parse_json(text: str, limits: Limits) -> object:
    """Parse ``text``. Strings may contain lone surrogates and control characters.

    Raises:
        BrokenFile: it is not JSON.
        TooLarge: it has too many values or levels.
    """
    # A cheap upper bound (it includes brackets in strings), checked before memory is allocated.
    if sum(text.count(mark) for mark in "{[,") > 10 * limits.elements:
        raise TooLarge(f"it has more than {10 * limits.elements:,} JSON values")
    try:
        value: object = json.loads(
            text, strict=False, parse_int=_whole_number, parse_constant=lambda _: None
        )
    except RecursionError:
        raise TooLarge("its JSON is nested too deep") from None
    except json.JSONDecodeError as error:
        raise BrokenFile(f"its JSON is broken at line {error.lineno}: {error.msg}") from error
    return value


def as_object(value: object) -> dict[str, object]:
    """Return ``value`` if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return ``value`` if it is a list, otherwise an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return a string as it is, an integer as digits, and for anything else an empty string."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else ""


def _whole_number(digits: str) -> int | float:
    # Python refuses to convert more than 4,300 digits; the longest numbers in maps are timestamps.
    return int(digits) if len(digits) < 40 else float("inf")
