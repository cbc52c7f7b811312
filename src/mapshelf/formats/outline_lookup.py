"""Look up facts in encoded outlines without decoding them.

Decoding a whole outline may take a tenth of a second, and much longer for hostile ones. Meanwhile,
Python does nothing else.
"""

import re
import zlib
from itertools import islice
from typing import Any, Final

import orjson

from mapshelf.formats.outline_bytes import decoding_errors, unpacked, unpacked_up_to
from mapshelf.formats.outline_size import LARGE, MOST_DECODED

_TOPICS: Final = b',"topics":['
"""Precedes the rows of the topics, which are the last value."""

_SHEETS: Final = b',"sheets":['
"""Follows the metadata. Inside a text, its quotation marks would be escaped."""

_SHEET: Final = b'{"root":'
"""Begins each sheet."""

_TEXT: Final = re.compile(rb'\[-?\d+,"(?:[^"\\]|\\.)*",("(?:[^"\\]|\\.)*"),"')
"""Index of the text in the row of a topic, after its parent and its id."""


@decoding_errors()
def first_texts(data: bytes, most: int) -> list[str]:
    """Return the texts of the first topics in ``data``, without decoding the others.

    Raises:
        StoreDamaged: as ``decode_outline``.
    """
    beginning = zlib.decompressobj().decompress(data, LARGE)
    _, _, topics = beginning.partition(_TOPICS)
    texts = islice((found[1] for found in _TEXT.finditer(topics)), most)
    return [str(orjson.loads(text)) for text in texts]


@decoding_errors()
def may_have(data: bytes, topic_id: str, sheet: int) -> bool:
    """Return whether an outline may contain a topic and a sheet, without decoding it.

    There are no false negatives, and few false positives.

    Args:
        data: the outline, encoded.
        topic_id: empty for any.
        sheet: its number, from 1; 0 for any.

    Raises:
        StoreDamaged: as ``decode_outline``.
        TooLarge: it is larger than any that is stored now.
    """
    if not (topic_id or sheet):
        return True
    head, _, topics = unpacked(data).partition(_TOPICS)
    if _SHEETS in head and sheet > head.count(_SHEET):
        return False
    try:
        wanted = orjson.dumps(topic_id)
    except TypeError:  # a lone surrogate
        return False
    # Inside a text, the quotation marks around the id would be escaped. A search for a pattern, or
    # decoding the sheets, may take half a second, in which Python does nothing else.
    return not topic_id or b"," + wanted + b"," in topics


@decoding_errors()
def outline_picture(data: bytes) -> str:
    """Return ``Outline.picture`` of the outline in ``data``, empty if that is too large to decode.

    Raises:
        StoreDamaged: as ``decode_outline``.
    """
    facts = _metadata(data)
    if "picture" not in facts:
        document = unpacked_up_to(data, MOST_DECODED)
        facts = orjson.loads(document) if document else {}
    return str(facts.get("picture", ""))


def _metadata(data: bytes) -> dict[str, Any]:
    """Return the metadata at the beginning of ``data``, without decoding the rest.

    It is empty if it is too long. Decoding a whole outline may take a tenth of a second, in which
    Python does nothing else.
    """
    beginning = zlib.decompressobj().decompress(data, LARGE)
    facts, found, _ = beginning.partition(_SHEETS)
    known: dict[str, Any] = orjson.loads(facts + b"}") if found else {}
    return known
