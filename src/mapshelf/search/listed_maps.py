"""Build the entries of map lists from a map in the store and the content of its outline."""

from typing import Final

from mapshelf.formats.outline_codec import LONGEST_TEXT, Passages, outline_passages
from mapshelf.model import ListedMap, Map, Origin
from mapshelf.text.language_detection import guess_language

_EARLIEST: Final = -62_135_596_800_000
_LATEST: Final = 253_402_300_799_999
"""The first and the last valid date, in the years 1 and 9999, in milliseconds since 1970."""


def passages_of(found: Map, outline: bytes | None, most: int = LONGEST_TEXT) -> Passages:
    """Return the passages of a map from its outline.

    Without an outline, only the language of its title and description is known.

    Args:
        found: the map.
        outline: its outline, encoded, ``None`` if it has none.
        most: maximum number of characters to read from the outline.

    Raises:
        StoreDamaged: the outline cannot be read.
        TooLarge: it is larger than any that is stored now.
    """
    if outline:
        return outline_passages(outline, most)
    return Passages(language=guess_language(f"{found.title}. {found.description}"))


def listed_map(found: Map, origin: Origin, passages: Passages) -> ListedMap:
    """Return a map as it appears in lists.

    Args:
        found: the map.
        origin: the origin of its file.
        passages: the content of its outline.
    """
    dates = (passages.edited, origin.modified, found.date_added)
    edited = next(date for date in dates if date is not None)
    return ListedMap(
        found,
        edited=max(_EARLIEST, min(_LATEST, edited)),
        source=origin.source,
        language=passages.language,
        topics=passages.topics,
        notes=passages.notes,
        tasks=passages.tasks,
    )
