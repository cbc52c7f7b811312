"""File names from titles and from names that others chose.

Both are untrusted and end up on people's disks. So a name is one that every file system accepts and
that cannot be mistaken for another: without folders, control characters, characters that reverse
text, or names that Windows reserves for devices.
"""

import re
from typing import Final

LONGEST: Final = 150
"""Bytes of a name in UTF-8, without its extension; file systems allow 255 in all."""

_UNSAFE: Final = re.compile(
    '[\x00-\x1f\x7f-\x9f<>:"/\\\\|?*'
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_SUFFIX: Final = re.compile(r"[A-Za-z0-9]{1,16}")
_NAMELESS: Final = "map"


def file_name(stem: str, suffix: str) -> str:
    """Return a file name that every file system accepts, as the members of a zip need one."""
    return safe_stem(stem) + safe_ending(suffix)


def safe_stem(stem: str) -> str:
    """Return a name without its extension in a form that every file system accepts."""
    words = " ".join(_UNSAFE.sub(" ", stem).split())
    short = words.encode()[:LONGEST].decode(errors="ignore").strip(". ")
    if _DEVICE.fullmatch(short):
        return f"_{short}"
    return short or _NAMELESS


def safe_ending(suffix: str) -> str:
    """Return an extension with its dot, empty if it is not a plain one."""
    return f".{suffix}" if _SUFFIX.fullmatch(suffix) else ""


def split_name(name: str) -> tuple[str, str]:
    """Return the name of a file without its extension, and the extension without its dot."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, suffix) if dot and _SUFFIX.fullmatch(suffix) else (name, "")


def without_folders(path: str) -> str:
    """Return the file name in a path of any system, without unprintable characters."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in name if letter.isprintable()).strip()
