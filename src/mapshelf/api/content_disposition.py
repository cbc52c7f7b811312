"""The header with the name of a file that is downloaded or uploaded (RFC 6266, RFC 8187)."""

import unicodedata
from email.message import Message
from typing import Final
from urllib.parse import quote

from mapshelf.formats.file_names import file_name, safe_ending, safe_stem, without_folders

_UNRESERVED: Final = "!#$&+-.^_`|~"
"""Characters that RFC 8187 does not encode, in addition to letters and digits."""


def attachment(stem: str, suffix: str) -> bytes:
    """Return the Content-Disposition for a file to save under ``stem`` and ``suffix``."""
    return b"attachment; " + _names(stem, suffix)


def inline(stem: str, suffix: str) -> bytes:
    """Return the Content-Disposition for a file that browsers show, and save under this name."""
    return b"inline; " + _names(stem, suffix)


def sent_name(header: bytes) -> str:
    """Return the name of a file in a Content-Disposition that a client sends, without folders.

    It is empty if there is none.
    """
    message = Message()
    message["content-disposition"] = header.decode("utf-8", "replace")
    return without_folders(message.get_filename() or "")


def _names(stem: str, suffix: str) -> bytes:
    """Return the parameters: old browsers get a name in ASCII, all others the complete name."""
    whole = file_name(stem, suffix)
    plain = unicodedata.normalize("NFKD", safe_stem(stem)).encode("ascii", "ignore").decode()
    # Some programs interpret a percent sign as the start of an escape, even in quotes.
    plain = safe_stem(plain).replace("%", "_") + safe_ending(suffix)
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(whole, safe=_UNRESERVED)}".encode()
