"""The file name under which a browser saves a download (RFC 6266, RFC 8187).

Titles and file names are untrusted and end up on people's disks. So the name is one that every file
system accepts and that cannot be mistaken for another: without folders, control characters,
characters that reverse text, or names that Windows reserves for devices.
"""

import re
import unicodedata
from typing import Final
from urllib.parse import quote

LONGEST: Final = 150
"""Bytes of a name in UTF-8, without its extension; file systems allow 255 in all."""

_UNSAFE: Final = re.compile(
    '[\x00-\x1f\x7f-\x9f<>:"/\\\\|?*'
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_SUFFIX: Final = re.compile(r"[A-Za-z0-9]{1,16}")
_NAMELESS: Final = "map"
_UNRESERVED: Final = "!#$&+-.^_`|~"
"""Characters that RFC 8187 does not encode, in addition to letters and digits."""


def attachment(stem: str, suffix: str) -> bytes:
    """Return the Content-Disposition for a file to save under ``stem`` and ``suffix``.

    Old browsers get a name in ASCII, all others the complete name.
    """
    end = f".{suffix}" if _SUFFIX.fullmatch(suffix) else ""
    name = _safe(stem)
    plain = _safe(unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode())
    # Some programs interpret a percent sign as the start of an escape, even in quotes.
    plain = plain.replace("%", "_")
    whole = quote(name + end, safe=_UNRESERVED)
    return f"attachment; filename=\"{plain}{end}\"; filename*=UTF-8''{whole}".encode()


def split_name(name: str) -> tuple[str, str]:
    """Return the name of a file without its extension, and the extension without its dot."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, suffix) if dot and _SUFFIX.fullmatch(suffix) else (name, "")


def _safe(name: str) -> str:
    words = " ".join(_UNSAFE.sub(" ", name).split())
    short = words.encode()[:LONGEST].decode(errors="ignore").strip(". ")
    if _DEVICE.fullmatch(short):
        return f"_{short}"
    return short or _NAMELESS
