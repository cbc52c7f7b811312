"""The file name under which a browser saves a download (RFC 6266, RFC 8187).

Titles and file names are untrusted and end up on people's disks. So the name is one that every file
system accepts and that cannot be mistaken for another: without folders, control characters,
characters that reverse text, or names that Windows reserves for devices.
"""

import re
import unicodedata
from email.message import Message
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
    """Return the Content-Disposition for a file to save under ``stem`` and ``suffix``."""
    return b"attachment; " + _names(stem, suffix)


def inline(stem: str, suffix: str) -> bytes:
    """Return the Content-Disposition for a file that browsers show, and save under this name."""
    return b"inline; " + _names(stem, suffix)


def file_name(stem: str, suffix: str) -> str:
    """Return a file name that every file system accepts, as the members of a zip need one."""
    return _safe(stem) + (f".{suffix}" if _SUFFIX.fullmatch(suffix) else "")


def _names(stem: str, suffix: str) -> bytes:
    """Return the parameters: old browsers get a name in ASCII, all others the complete name."""
    end = f".{suffix}" if _SUFFIX.fullmatch(suffix) else ""
    name = _safe(stem)
    plain = _safe(unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode())
    # Some programs interpret a percent sign as the start of an escape, even in quotes.
    plain = plain.replace("%", "_")
    whole = quote(name + end, safe=_UNRESERVED)
    return f"filename=\"{plain}{end}\"; filename*=UTF-8''{whole}".encode()


def sent_name(header: bytes) -> str:
    """Return the name of a file in a Content-Disposition that a client sends, without folders.

    It is empty if there is none.
    """
    message = Message()
    message["content-disposition"] = header.decode("utf-8", "replace")
    name = (message.get_filename() or "").replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in name if letter.isprintable()).strip()


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
