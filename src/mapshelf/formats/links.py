"""Classify the links of topics and extract the paths of linked files.

Readers store links as they are in the file, except links within the map, which become ``#`` and the
id of the topic in every format. All other code classifies links with this module.
"""

import re
from collections.abc import Container
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote

MAP_SUFFIXES: Final = frozenset(
    {
        *(".emmx", ".imx", ".itmz", ".km", ".mind", ".mindnode", ".mm", ".mmap", ".mmat", ".mom"),
        *(".mup", ".nm5", ".opml", ".smmx", ".vym", ".wxml", ".xmind", ".xmmap", ".xmt"),
    }
)
"""File extensions used only for maps; a test compares them with the table of readers."""

_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HOST: Final = re.compile(r"\A//[^/]*")
_WEB: Final = frozenset({"http", "https", "ftp", "ftps"})


class TargetKind(StrEnum):
    """The kinds of link targets."""

    WEB = "web"
    MAP = "map"
    TOPIC = "topic"
    FILE = "file"
    MAIL = "mail"


def target_kind(link: str, topics: Container[str] = ()) -> TargetKind:
    """Return the kind of ``link``, judging only by its text.

    Args:
        link: a link of a topic (``Topic.links``).
        topics: the ids of all topics of the map. ``#x`` with any other id is a fragment of a file.
    """
    if link.startswith("#") and link[1:] in topics:
        return TargetKind.TOPIC
    scheme = "" if _DRIVE.match(link) else _scheme(link)
    if scheme in _WEB:
        return TargetKind.WEB
    if scheme == "mailto":
        return TargetKind.MAIL
    if PurePosixPath(file_path(link)).suffix.lower() in MAP_SUFFIXES:
        return TargetKind.MAP
    return TargetKind.FILE


def file_path(link: str) -> str:
    """Return the decoded path of a link to a file, with ``/`` as the separator.

    The path is relative to the folder of the map, unless it begins with ``/`` or a drive letter. It
    is empty if the link does not target a file. A trailing ``#topic`` is removed.
    """
    scheme = "" if _DRIVE.match(link) else _scheme(link)
    if scheme == "file":
        path = _HOST.sub("", link[len("file:") :].replace("\\", "/").partition("#")[0])
        path = path[1:] if _DRIVE.match(path[1:]) else path
    elif scheme:
        return ""
    else:
        path = link.partition("#")[0]
    return unquote(path).replace("\\", "/")


def _scheme(link: str) -> str:
    found = _SCHEME.match(link)
    return found[1].lower() if found else ""
