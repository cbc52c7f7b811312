"""The header with the name of a file that is downloaded or uploaded (RFC 6266, RFC 8187)."""

import re
import unicodedata
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from mapshelf.formats.file_names import file_name, safe_ending, safe_stem, without_folders

_UNRESERVED: Final = "!#$&+-.^_`|~"
"""Characters that RFC 8187 does not encode, in addition to letters and digits."""

_CHARSETS: Final = ("utf-8", "iso-8859-1")

_PARAMETER: Final = re.compile(
    r';\s*+([\w*]+)\s*+=\s*+(?:"((?:[^"\\]|\\.?)*+)"?|([^;]*+))', re.DOTALL
)
"""A parameter, whose value may be quoted.

It never backtracks: the header may have 60 kilobytes, on which the parser of the standard library
takes seconds."""


def attachment(stem: str, suffix: str) -> bytes:
    """Return the Content-Disposition for a file to save under ``stem`` and ``suffix``."""
    return b"attachment; " + _names(stem, suffix)


def inline(stem: str, suffix: str) -> bytes:
    """Return the Content-Disposition for a file that browsers show, and save under this name."""
    return b"inline; " + _names(stem, suffix)


def sent_name(header: bytes) -> str:
    """Return the name of a file in a Content-Disposition that a client sends, without folders.

    It is empty if there is none. If there are two, ``filename*`` is the complete one.
    """
    values = {
        name.lower(): _plain(quoted) if quoted else value.strip()
        for name, quoted, value in _PARAMETER.findall(header.decode("utf-8", "replace"))
    }
    name = _decoded(values.get("filename*", "")) or values.get("filename", "")
    return without_folders(name)


def _plain(quoted: str) -> str:
    return quoted.replace("\\\\", "\\").replace('\\"', '"')


def _decoded(value: str) -> str:
    """Return a value in the encoding of RFC 8187, empty if it is not in it."""
    charset, _, rest = value.partition("'")
    _, quote_mark, encoded = rest.partition("'")
    if not quote_mark or charset.lower() not in _CHARSETS:
        return ""
    return unquote_to_bytes(encoded).decode(charset, "replace")


def _names(stem: str, suffix: str) -> bytes:
    """Return the parameters: old browsers get a name in ASCII, all others the complete name."""
    whole = file_name(stem, suffix)
    plain = unicodedata.normalize("NFKD", safe_stem(stem)).encode("ascii", "ignore").decode()
    # Some programs interpret a percent sign as the start of an escape, even in quotes.
    plain = safe_stem(plain).replace("%", "_") + safe_ending(suffix)
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(whole, safe=_UNRESERVED)}".encode()
