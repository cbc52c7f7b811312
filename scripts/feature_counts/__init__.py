"""Count features in raw files independently, to judge what the readers find.

A test that uses the readers cannot see what they miss. So the features of each format are counted
here a second time, by different code. Nothing from ``mapshelf`` is imported.
"""

from pathlib import Path
from typing import Any, Final

from feature_counts.drawings import EDRAWMIND, IMINDMAP, NOVAMIND, SIMPLEMIND
from feature_counts.freemind import FREEMIND
from feature_counts.json_trees import KITYMINDER, MINDMEISTER, MINDMUP, MINDNODE
from feature_counts.mindmanager import MINDMANAGER
from feature_counts.raw_files import RawFile
from feature_counts.table import FEATURES, Feature, Format
from feature_counts.text_maps import MARKMAP, NB
from feature_counts.xmind import XMIND_JSON, XMIND_XML
from feature_counts.xml_trees import ITHOUGHTS, MINDOMO, OPML, VYM, WISEMAPPING

__all__ = ["FEATURES", "FORMATS", "Feature", "Format", "count_file", "count_raw", "format_counts"]

FORMATS: Final[tuple[Format[Any], ...]] = (
    FREEMIND,
    XMIND_XML,
    XMIND_JSON,
    MINDMANAGER,
    EDRAWMIND,
    WISEMAPPING,
    MINDNODE,
    ITHOUGHTS,
    MINDMUP,
    SIMPLEMIND,
    VYM,
    KITYMINDER,
    MINDMEISTER,
    MINDOMO,
    IMINDMAP,
    NOVAMIND,
    OPML,
    NB,
    MARKMAP,
)
"""The formats in the order in which they are tried; Markdown last, as nearly any text matches."""


def format_counts(raw: RawFile) -> tuple[str, dict[str, int]]:
    """Return the format of a file and its counts; both are empty if it is not a readable map."""
    for kind in FORMATS:
        counts = kind.count(raw)
        if counts is not None:
            return kind.name, counts
    return "", {}


def count_raw(name: str, data: bytes) -> dict[str, int]:
    """Return how much of each feature is in a file's bytes; empty if it is not a readable map."""
    return format_counts(RawFile(name, data))[1]


def count_file(path: Path) -> dict[str, int]:
    """Return how much of each feature is in a file; empty if it is not a readable map."""
    return format_counts(RawFile.at(path))[1]
